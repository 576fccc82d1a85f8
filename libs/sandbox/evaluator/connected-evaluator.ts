/** An evaluator process of another container: a connection to the host that starts one for it, and ends it with it. */
import { connect } from 'node:net';
import { join } from 'node:path';
import type { EvaluatorChannel, EvaluatorUse } from './evaluator-channel.js';

/** The socket of each use in the folder that both containers see. */
export const socketOf = (folder: string, use: EvaluatorUse): string => join(folder, `${use}.sock`);

export function connectEvaluator(folder: string, use: EvaluatorUse): EvaluatorChannel {
  const socket = connect(socketOf(folder, use));
  const ended = new Promise<string>((resolve) => {
    let how = 'the host of evaluators ended it';
    socket.on('error', (error) => (how = `the host of evaluators cannot be reached: ${error.message}`));
    socket.once('close', () => resolve(how));
  });
  return {
    pipe: socket,
    pid: undefined,
    ended,
    processorUse: () => null,
    hold(isHeld) {
      if (isHeld) socket.ref();
      else socket.unref();
    },
    kill: () => void socket.destroy(),
  };
}

/**
 * Starts an evaluator process for each connection to its sockets, and ends it with the connection. It is what runs in a
 * container that has no network: code that breaks out of an evaluator finds nothing there, neither keys nor data nor a server.
 */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from '#runtime/logger';
import { socketOf } from './connected-evaluator.js';
import { evaluatorUses, type EvaluatorChannel, type EvaluatorUse } from './evaluator-channel.js';

export interface EvaluatorHostOptions {
  /** Where the sockets are made: a folder that the containers share, and nobody else sees. */
  readonly folder: string;
  /** Evaluator processes at once; a connection beyond them is closed. */
  readonly maxProcesses: number;
  /** Throws where no process can be started. */
  open(use: EvaluatorUse): EvaluatorChannel;
  readonly logger: Logger;
}

export interface EvaluatorHost {
  /** Ends every evaluator. */
  close(): Promise<void>;
}

/** The owner and the group that the containers have in common. */
const socketMode = 0o660;

async function listen(server: Server, path: string): Promise<void> {
  // Left behind by a process that was killed: only one process listens in a folder.
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, socketMode);
}

/** Rejects where the sockets cannot be made. */
export async function startEvaluatorHost(options: EvaluatorHostOptions): Promise<EvaluatorHost> {
  const { folder, maxProcesses, logger } = options;
  const running = new Map<Socket, EvaluatorChannel>();

  const serve = (socket: Socket, use: EvaluatorUse): void => {
    socket.on('error', () => undefined);
    if (running.size >= maxProcesses) {
      logger.warn({ use, maxProcesses }, 'an evaluator is refused: as many run as may');
      socket.destroy();
      return;
    }
    let channel: EvaluatorChannel;
    try {
      channel = options.open(use);
    } catch (error) {
      logger.error({ use, error: String(error) }, 'an evaluator cannot be started');
      socket.destroy();
      return;
    }
    running.set(socket, channel);
    channel.hold(true);
    channel.pipe.on('error', () => socket.destroy());
    socket.pipe(channel.pipe).pipe(socket);
    let isWanted = true;
    socket.once('close', () => {
      isWanted = false;
      channel.kill();
    });
    void channel.ended.then((why) => {
      running.delete(socket);
      channel.pipe.destroy();
      if (isWanted) logger.warn({ use, why }, 'an evaluator process ended by itself');
      socket.destroy();
    });
  };

  await mkdir(folder, { recursive: true });
  const servers = evaluatorUses.map((use) => ({ use, server: createServer((socket) => serve(socket, use)) }));
  for (const { use, server } of servers) await listen(server, socketOf(folder, use));
  return {
    async close() {
      const closed = servers.map(({ server }) => new Promise<void>((resolve) => server.close(() => resolve())));
      const ended = [...running.values()].map(({ ended: one }) => one);
      for (const socket of running.keys()) socket.destroy();
      await Promise.all([...closed, ...ended]);
    },
  };
}

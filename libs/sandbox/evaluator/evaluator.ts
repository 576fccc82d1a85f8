/**
 * The evaluator process: a pool of threads behind a pipe. It is started by `evaluator-process.ts` with an empty environment
 * and no rights but to read its own code, holds nothing between jobs, and ends when the pipe does.
 */
import { Socket } from 'node:net';
import { encodeFrame, FrameReader } from './frames.js';
import type { Frame } from './frames.js';
import { endings, jobKinds, largestAnswerBytes, largestRequestBytes, signals, urgentMark } from './messages.js';
import type { EvaluatorSettings, TextOutcome } from './messages.js';
import { WorkerPool } from './worker-pool.js';

const pipeFd = 3;
/** A page of 100 KB arrives in one read. */
const readBytes = 256 * 1024;

function startPool(settings: EvaluatorSettings): WorkerPool {
  return new WorkerPool({ ...settings, workerUrl: new URL('./worker.js', import.meta.url) });
}

function statusOf(outcome: TextOutcome): { readonly word: number; readonly text: string } {
  if (!outcome.ok) return { word: 1 + endings.indexOf(outcome.ended), text: outcome.message ?? '' };
  if (outcome.text.length <= largestAnswerBytes / 3) return { word: 0, text: outcome.text };
  return { word: 1 + endings.indexOf('unavailable'), text: 'the result is larger than is accepted' };
}

function serve(pool: WorkerPool): void {
  // An error here cannot be reported: the product sees the process exit and judges the jobs in flight.
  const exit = (): never => process.exit();
  const reader = new FrameReader(largestRequestBytes);

  function send(id: number, word: number, text: string): void {
    for (const piece of encodeFrame({ id, word, ms: 0, text })) {
      // Backpressure: while answers are not read, no more jobs are.
      if (!pipe.write(piece)) pipe.pause();
    }
  }

  async function run({ id, word, ms, text, body }: Frame): Promise<void> {
    if (id === 0) return word === signals.warmUp ? await pool.warmUp() : send(0, signals.pong, '');
    const kind = jobKinds[word % urgentMark];
    if (kind === undefined) return exit();
    const isUrgent = word >= urgentMark;
    const outcome = statusOf(await pool.run({ kind, text, body }, { cpuMs: ms, isUrgent }));
    send(id, outcome.word, outcome.text);
  }

  function receive(byteLength: number, buffer: Uint8Array): boolean {
    try {
      reader.push(buffer.subarray(0, byteLength), (frame) => void run(frame).catch(exit));
    } catch {
      exit();
    }
    return true;
  }

  const pipe = new Socket({ fd: pipeFd, onread: { buffer: new Uint8Array(readBytes), callback: receive } });
  pipe.on('drain', () => pipe.resume());
  for (const end of ['end', 'close', 'error']) pipe.on(end, exit);
  pipe.resume();
  send(0, signals.ready, '');
}

serve(startPool(JSON.parse(process.argv[2] ?? '{}') as EvaluatorSettings));

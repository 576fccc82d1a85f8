import { afterEach, describe, expect, it } from '@jest/globals';
import { found } from '#runtime/probe.kit';
import { createWorkerThread, ThreadEnded, type WorkerThread, type WorkerThreadOptions } from './worker-thread.js';

/** Adds one to a number, and does what a text says. */
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  let answered = 0;
  parentPort.on('message', (request) => {
    if (request === 'spin') for (;;);
    if (request === 'throw') throw new Error('broken');
    if (request === 'exit') process.exit(3);
    if (request === 'grow') for (const all = []; ; ) all.push(new Array(1e6).fill(0));
    answered += 1;
    parentPort.postMessage(request === 'count' ? answered : request === 'data' ? workerData : request === 'env' ? { ...process.env } : request + 1);
  });
  parentPort.postMessage('ready');
`;
const script = (): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { createRequire } from 'node:module'; const require = createRequire('file:///');${program}`)}`,
  );

describe('a worker thread', () => {
  let thread: WorkerThread<number | string, unknown>;
  afterEach(() => thread.stop());
  const create = (options: Partial<WorkerThreadOptions> = {}): void => {
    thread = createWorkerThread({ script, ...options });
  };

  it('answers requests one at a time, in their order, without the environment of its process', async () => {
    create({ workerData: 'given' });
    const answers = await Promise.all([thread.ask(1), thread.ask(2), thread.ask('data'), thread.ask('env')]);
    expect(answers).toEqual([2, 3, 'given', {}]);
  });

  it.each(['spin', 'throw', 'exit', 'grow'])(
    'that ends in %s rejects that request alone, and the next starts another',
    async (deed) => {
      create({ answerMs: 2_000, resourceLimits: { maxOldGenerationSizeMb: 32 } });
      expect(await thread.ask('count')).toBe(1);
      const [ended, queued] = await Promise.allSettled([thread.ask(deed), thread.ask('count')]);
      expect(ended).toMatchObject({ status: 'rejected', reason: expect.any(ThreadEnded) });
      expect(queued).toEqual({ status: 'fulfilled', value: 1 });
    },
  );

  it('rejects with what keeps its script from being found, and tries again', async () => {
    let isBuilt = false;
    create({
      script() {
        if (isBuilt) return script();
        throw new Error('it is not built');
      },
    });
    await expect(thread.ask(1)).rejects.toThrow('it is not built');
    isBuilt = true;
    expect(await thread.ask(1)).toBe(2);
  });

  it('takes a value that cannot be sent as the fault of that request alone', async () => {
    create();
    await expect(thread.ask((() => 1) as unknown as string)).rejects.not.toBeInstanceOf(ThreadEnded);
    expect(await thread.ask('count')).toBe(1);
  });

  it('ends when it was idle, and starts again', async () => {
    create({ idleMs: 1 });
    expect(await thread.ask('count')).toBe(1);
    expect(await found(async () => (await thread.ask('count')) === 1)).toBe(true);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { builtScript } from '#runtime/built-script';
import { createThreadCalls, type ThreadCalls } from './thread-calls.js';

const served = builtScript(import.meta.url, ['../../dist/libs/concurrency/thread-calls.js']);

/** Answers what it is asked, in a thread. */
const program = `
  import { threadId, workerData } from 'node:worker_threads';
  import { serveCalls } from ${JSON.stringify(served.href)};
  class Known extends Error {}
  const later = () => new Promise((resolve) => setImmediate(resolve));
  serveCalls({
    double: async (number) => 2 * number,
    lateDouble: async (number) => { await later(); return 2 * number; },
    given: async () => ({ workerData, env: { ...process.env } }),
    thread: async () => threadId,
    refuse: async (why) => { throw new Known(why); },
    fail: async (why) => { throw new Error(why); },
    untilAborted: (word, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(word))),
    bytes: async (length) => new Uint8Array(length).fill(7),
    exit: async () => process.exit(3),
    crash: () => { setImmediate(() => { throw new Error('broken'); }); return new Promise(() => undefined); },
  }, { pack: (error) => (error instanceof Known ? { why: error.message } : null) }, (answer) => (answer instanceof Uint8Array ? [answer.buffer] : []));
`;

class Known extends Error {}

describe('calls of a thread', () => {
  let calls: ThreadCalls;
  beforeEach(() => {
    calls = createThreadCalls({
      script: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
      workerData: 'given',
      errors: { pack: () => null, unpack: (packed) => new Known(JSON.stringify(packed)) },
      onEnd: (why) => new Error(`ended: ${why}`),
    });
  });
  afterEach(() => calls.stop());

  it('are answered each by its own, whichever is done first, without the environment of the process', async () => {
    const answers = ['lateDouble', 'double'].flatMap((method) => [1, 2, 3].map((at) => calls.call(method, at)));
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 2, 4, 6]);
    expect(await calls.call('given', null)).toEqual({ workerData: 'given', env: {} });
  });

  it('reject as the method does', async () => {
    await expect(calls.call('refuse', 'why')).rejects.toThrow(new Known('{"why":"why"}'));
    await expect(calls.call('fail', 'so')).rejects.toThrow(new Error('so'));
    await expect(calls.call('nothing', null)).rejects.toThrow('there is no method nothing');
  });

  it('tell the method that nobody wants its answer any more', async () => {
    const ending = new AbortController();
    const answer = calls.call('untilAborted', 'done', { signal: ending.signal });
    ending.abort();
    expect(await answer).toBe('done');
    expect(await calls.call('untilAborted', 'at once', { signal: ending.signal })).toBe('at once');
  });

  it('move bytes that are said to be moved', async () => {
    expect(await calls.call('bytes', 4)).toEqual(new Uint8Array([7, 7, 7, 7]));
  });

  it.each(['exit', 'crash'])('reject where the thread ends in %s, and the next starts another', async (deed) => {
    expect(calls.isRunning).toBe(false);
    const first = await calls.call('thread', null);
    const [waiting, ending] = await Promise.allSettled([calls.call('untilAborted', ''), calls.call(deed, null)]);
    expect(waiting).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(/^ended: /) } });
    expect(ending.status).toBe('rejected');
    expect(await calls.call('thread', null)).not.toBe(first);
  });
});

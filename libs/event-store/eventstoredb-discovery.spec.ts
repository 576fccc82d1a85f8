import { describe, expect, it } from '@jest/globals';
import { createDiscovery, NoLeader, type Member } from './eventstoredb-discovery.js';

const node = (port: number) => ({ host: 'n', port });
const member = (port: number, isLeader = false, isAlive = true): Member => ({ ...node(port), isLeader, isAlive });
const never = new Promise<never>(() => undefined);
const open = new AbortController().signal;

describe('the discovery of a leader', () => {
  /** What each member answers; at one that is not named nobody listens. */
  const discovering = (answers: Map<number, () => Promise<readonly Member[]>>, seeds = [1, 2, 3]) => {
    const asked: number[] = [];
    const discovery = createDiscovery({
      seeds: seeds.map(node),
      gossipTimeoutMs: 1_000,
      intervalMs: 1,
      ask({ port }) {
        asked.push(port);
        return answers.get(port)?.() ?? Promise.reject(new Error('nobody listens'));
      },
      isRefusal: (error) => error instanceof RangeError,
      isTimeout: (error) => error instanceof EvalError,
    });
    return { discovery, asked };
  };

  it('takes the member that says of itself that it leads', async () => {
    const answer = async () => [member(1), member(2, true), member(3)];
    const { discovery } = discovering(new Map([1, 2, 3].map((port) => [port, answer])));
    expect(await discovery.leader(1_000, open)).toEqual(node(2));
  });

  it('does not wait for one that hangs, whom the others still take for the leader', async () => {
    let isElected = false;
    const old = [member(1, true), member(2), member(3)];
    const now = [member(1, false, false), member(2, true), member(3)];
    const answer = async () => {
      const members = isElected ? now : old;
      isElected = true;
      return members;
    };
    const { discovery } = discovering(
      new Map<number, () => Promise<readonly Member[]>>([
        [1, () => never],
        [2, answer],
        [3, answer],
      ]),
    );
    expect(await discovery.leader(5_000, open)).toEqual(node(2));
  });

  it('asks whom a seed names, and the members once they are known', async () => {
    let leader = 7;
    const answer = async () => [member(7, leader === 7), member(8, leader === 8)];
    const answers = new Map([
      [1, answer],
      [7, answer],
      [8, answer],
    ]);
    const { discovery, asked } = discovering(answers, [1]);
    expect(await discovery.leader(1_000, open)).toEqual(node(7));
    answers.delete(1);
    answers.delete(7);
    leader = 8;
    asked.length = 0;
    expect(await discovery.leader(1_000, open)).toEqual(node(8));
    expect(new Set(asked)).toEqual(new Set([1, 7, 8]));
  });

  it.each([
    ['nobody answers', new Map<number, () => Promise<readonly Member[]>>()],
    ['nobody leads', new Map([[1, async () => [member(1), member(2)]]])],
    ['the one who is said to lead is dead', new Map([[1, async () => [member(1), member(2, true)]]])],
  ])('rejects in time where %s', async (_, answers) => {
    const { discovery } = discovering(answers);
    await expect(discovery.leader(20, open)).rejects.toThrow(NoLeader);
  });

  it('keeps the reason of a round that failed while the next one hangs', async () => {
    const hanging = Promise.withResolvers<void>();
    const answers = [
      () => Promise.reject(new Error('self-signed certificate')),
      () => {
        hanging.resolve();
        return never;
      },
    ];
    const { discovery } = discovering(new Map([[1, () => (answers.shift() ?? (() => never))()]]), [1]);
    expect(discovery.lastFailure()).toBeNull();
    void discovery.leader(1_000, open).catch(() => undefined);
    await hanging.promise;
    expect(discovery.lastFailure()?.message).toContain('self-signed certificate');
  });

  it('tells the reason of an earlier round where the last one just ran out of time', async () => {
    let rounds = 0;
    const answer = () =>
      Promise.reject((rounds += 1) === 1 ? new Error('self-signed certificate') : new EvalError('time'));
    const { discovery } = discovering(new Map([[1, answer]]), [1]);
    await expect(discovery.leader(50, open)).rejects.toThrow('self-signed certificate');
    expect(rounds).toBeGreaterThan(1);
  });

  it('forgets what refused an earlier search, which may be over', async () => {
    let isRefusing = true;
    const answer = () => Promise.reject(isRefusing ? new RangeError('a wrong password') : new EvalError('time'));
    const { discovery } = discovering(new Map([[1, answer]]), [1]);
    await expect(discovery.leader(50, open)).rejects.toThrow(RangeError);
    isRefusing = false;
    await expect(discovery.leader(50, open)).rejects.toThrow(NoLeader);
  });

  it('says at once that it is refused, for another round would be, too', async () => {
    const refusal = new RangeError('a wrong password');
    const { discovery, asked } = discovering(new Map([[2, () => Promise.reject(refusal)]]));
    await expect(discovery.leader(60_000, open)).rejects.toBe(refusal);
    expect(asked).toHaveLength(3);
  });

  it('takes a member that leads where another one refuses', async () => {
    const { discovery } = discovering(
      new Map([
        [1, () => Promise.reject(new RangeError('not ready for users'))],
        [2, async () => [member(2, true)]],
      ]),
    );
    expect(await discovery.leader(60_000, open)).toEqual(node(2));
  });

  it('says why nobody answered', async () => {
    const { discovery } = discovering(new Map([[1, async () => [member(1)]]]));
    await expect(discovery.leader(0, open)).rejects.toThrow('no leader among n:1, n:2, n:3 (Error: nobody listens)');
  });

  it('ends at once when the store is closed', async () => {
    const { discovery } = discovering(new Map());
    const ending = new AbortController();
    const found = discovery.leader(60_000, ending.signal);
    ending.abort();
    await expect(found).rejects.toThrow('no leader among n:1, n:2, n:3');
  });
});

import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { claimStream } from '#contracts/run';
import type { DueRun } from '#contracts/schedule';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import { derivedId } from '#runtime/ids';
import { claim, type ClaimDeps } from './claim.js';

const start = Date.parse('2026-11-21T10:00:00.000Z');
const taskId = derivedId('ntf', start, 'claimed');
const metadata: EventMetadata = {
  organizationId: 'org_1',
  actor: 'system:execution',
  requestId: 'req_1',
  causationId: null,
  at: new Date(start).toISOString(),
};

const runOf = (name: string): DueRun => ({
  runId: derivedId('exe', start, name),
  taskId,
  trigger: 'manual',
  scheduledFor: metadata.at,
  queuedAt: metadata.at,
  force: false,
  dryRun: false,
});

let eventStore: EventStore;
let nowMs: number;

beforeEach(() => {
  eventStore = createSqliteEventStore(':memory:');
  nowMs = start;
});

const worker = (memberId: string): ClaimDeps => ({
  eventStore,
  clock: { now: () => nowMs },
  leases: { ...createSoleLeases(), memberId, isLiving: () => true },
});
const claimBy = async (memberId: string, run: DueRun) => {
  const claimed = await claim(worker(memberId), run, metadata, metadata.at);
  claimed.release();
};
const claims = async () =>
  (await Array.fromAsync(eventStore.read(claimStream(taskId)))).map(({ data }) => [
    (data['run'] as unknown as DueRun).runId,
    data['worker'],
  ]);

describe('a claim', () => {
  it('keeps its run from other workers, however many runs of the task were claimed since', async () => {
    await claimBy('w1', runOf('first'));
    for (let other = 0; other < 40; other += 1) await claimBy('w2', runOf(`other ${other}`));
    await expect(claimBy('w3', runOf('first'))).rejects.toMatchObject({ reason: 'run_claimed' });
    expect(await claims()).toHaveLength(41);
  });

  it('that has run out keeps nobody away, and is looked for no further back than that', async () => {
    await claimBy('w1', runOf('first'));
    nowMs += 20_000;
    await claimBy('w2', runOf('second'));
    nowMs += 10_000;
    await claimBy('w3', runOf('first'));
    expect(await claims()).toEqual([
      [runOf('first').runId, 'w1'],
      [runOf('second').runId, 'w2'],
      [runOf('first').runId, 'w3'],
    ]);
  });

  it('of each of several runs is written where they are claimed at once, and of the same run one', async () => {
    const runs = Array.from({ length: 8 }, (_, index) => runOf(`run ${index}`));
    await Promise.all(runs.map((run, index) => claimBy(`w${index}`, run)));
    expect(new Set((await claims()).map(([id]) => id)).size).toBe(8);
    const both = await Promise.allSettled([claimBy('w1', runOf('one')), claimBy('w2', runOf('one'))]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('is renewed behind the claims of other runs, until its own is taken over', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const claimed = await claim(worker('w1'), runOf('long'), metadata, metadata.at);
      await claimBy('w2', runOf('short'));
      await jest.advanceTimersByTimeAsync(10_000);
      const untilLength = async (length: number) => {
        while ((await claims()).length < length) await new Promise((resolve) => setImmediate(resolve));
      };
      await untilLength(3);
      expect((await claims()).at(-1)).toEqual([runOf('long').runId, 'w1']);
      claimed.release();
    } finally {
      jest.useRealTimers();
    }
  });
});

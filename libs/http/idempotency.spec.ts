import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createSqliteEventStore } from '#event-store/sqlite';
import { encodeEvent } from '#eventing/codec';
import { createSqliteReadStore } from '#read-store/sqlite';
import { found } from '#runtime/probe.kit';
import { createDocumentState } from '#shared-state/document-state';
import type { SharedState } from '#shared-state/shared-state';
import { createEventVault } from '#vault/event-vault';
import { vaultMetadata, vaultStream } from '#vault/owner-keys';
import { createIdempotencyRecords, idempotencyCollection, type StoredAnswer } from './idempotency.js';

const dayMs = 24 * 3_600_000;
const eventStore = createSqliteEventStore(':memory:');
const readStore = createSqliteReadStore(':memory:');
const sharedState = createDocumentState(readStore);
const time = { ms: 1_000 };
const vault = createEventVault(eventStore, Buffer.alloc(32, 1));
const clock = { now: () => time.ms };
const everybodyLives = () => true;

/** A process of its own, in whose eyes `isLiving` says who else is there. */
const processOf = (store: SharedState = sharedState, isLiving: (memberId: string) => boolean = everybodyLives) =>
  createIdempotencyRecords(store, vault, clock, { memberId: randomUUID(), isLiving });

/** The store as one sees it to whom something happens right after the first look. */
const happensAfterFirstLook = (happen: () => Promise<unknown>): SharedState => {
  let looked = false;
  const after = async <T>(found: T): Promise<T> => {
    if (!looked) {
      looked = true;
      await happen();
    }
    return found;
  };
  return {
    ...sharedState,
    load: async (collection, keys) => after(await sharedState.load(collection, keys)),
  };
};

afterAll(async () => {
  await readStore.close();
  await eventStore.close();
});

const answer: StoredAnswer = { status: 201, headers: { etag: '"0"' }, body: '{"a":"canary"}' };
const asked = (key: string) => ({ organizationId: 'org_1', key, content: 'POST /x {}' });

describe('idempotency records', () => {
  it('outlive the process that wrote them', async () => {
    await processOf().once(asked('a'), async () => answer);
    const again = await processOf().once(asked('a'), () => Promise.reject(new Error('must not run again')));
    expect(again).toEqual({ answer, replayed: true });
  });

  it('keep no cookie: who reads what is stored is signed in by none', async () => {
    const headers = { etag: '"0"', 'set-cookie': 'meerkat_session=canary' };
    const first = await processOf().once(asked('cookie'), async () => ({ ...answer, headers }));
    expect(first).toEqual({ answer: { ...answer, headers }, replayed: false });
    const again = await processOf().once(asked('cookie'), () => Promise.reject(new Error('must not run again')));
    expect(again).toEqual({ answer, replayed: true });
  });

  it('that tell of a task are gone once another process has dropped its key, for the process that wrote them too', async () => {
    const taskId = 'ntf_01m88pq11g2wz9yy0m5k6jjx69';
    const here = processOf();
    const request = { ...asked('of-a-task'), content: `POST /api/notifications/${taskId}/execute {}` };
    await here.once(request, async () => ({ ...answer, status: 200 }));
    const dropped = encodeEvent({ type: 'vault.key_dropped', data: {} }, randomUUID(), vaultMetadata('req_1'));
    await eventStore.append(vaultStream(taskId), [dropped], 0);
    const again = here.once(request, () => Promise.reject(new Error('must not run again')));
    await expect(again).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('give a repeat after a crash the start of the first try', async () => {
    const starts: number[] = [];
    const cut = processOf().once(asked('b'), async ({ startedAtMs }) => {
      starts.push(startedAtMs);
      throw new Error('killed');
    });
    await expect(cut).rejects.toThrow('killed');
    time.ms += 60_000;
    await processOf().once(asked('b'), async ({ startedAtMs }) => {
      starts.push(startedAtMs);
      return answer;
    });
    expect(starts[1]).toBe(starts[0]);
  });

  it('have a repeat elsewhere wait for a worker that lives, and give its answer', async () => {
    const isWaitedFor = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = processOf().once(asked('c'), async () => {
      begun.resolve();
      await isWaitedFor.promise;
      return answer;
    });
    await begun.promise;
    const looks = happensAfterFirstLook(async () => isWaitedFor.resolve());
    const second = processOf(looks).once(asked('c'), () => Promise.reject(new Error('must not run')));
    expect([(await first).replayed, await second]).toEqual([false, { answer, replayed: true }]);
  });

  it('are taken over from a worker that is gone, with its start', async () => {
    const starts: number[] = [];
    const never = processOf().once(asked('gone'), ({ startedAtMs }) => {
      starts.push(startedAtMs);
      return new Promise(() => {});
    });
    await found(async () => starts.length === 1);
    time.ms += 60_000;
    const over = await processOf(sharedState, () => false).once(asked('gone'), async ({ startedAtMs }) => {
      starts.push(startedAtMs);
      return answer;
    });
    expect([over.replayed, starts[1]]).toEqual([false, starts[0]]);
    expect(await Promise.race([never, Promise.resolve('still at it')])).toBe('still at it');
  });

  it('are given back by a worker that met an outage', async () => {
    const cut = processOf().once(asked('outage'), () => Promise.reject(new Error('503')));
    await expect(cut).rejects.toThrow('503');
    expect((await processOf().once(asked('outage'), async () => answer)).replayed).toBe(false);
  });

  it('are given back once the store takes it, where that is away as well', async () => {
    let refusals = 2;
    let isOver = false;
    const store: SharedState = {
      ...sharedState,
      async save(collection, writes) {
        if (isOver && refusals > 0) {
          refusals -= 1;
          throw new Error('away');
        }
        return sharedState.save(collection, writes);
      },
    };
    const cut = processOf(store).once(asked('both away'), () => {
      isOver = true;
      return Promise.reject(new Error('503'));
    });
    await expect(cut).rejects.toThrow('503');
    expect((await processOf().once(asked('both away'), async () => answer)).replayed).toBe(false);
    expect(refusals).toBe(0);
  });

  it('are given back by a worker whose answer cannot be sealed', async () => {
    const sealed = { ...vault, seal: () => Promise.reject(new Error('no key')) };
    const worker = createIdempotencyRecords(sharedState, sealed, clock, {
      memberId: randomUUID(),
      isLiving: everybodyLives,
    });
    await expect(worker.once(asked('unsealed'), async () => answer)).rejects.toThrow('no key');
    expect((await processOf().once(asked('unsealed'), async () => answer)).replayed).toBe(false);
  });

  it('let nobody take a key over who looked for it just before another made it', async () => {
    const first = () => processOf().once(asked('between'), async () => answer);
    const late = processOf(happensAfterFirstLook(first)).once(asked('between'), () =>
      Promise.reject(new Error('must not run again')),
    );
    expect(await late).toEqual({ answer, replayed: true });
  });

  it('have two workers, of which one was taken for gone, give the same answer', async () => {
    const bothWork = Promise.withResolvers<void>();
    let working = 0;
    const answers = await Promise.all(
      ['left', 'right'].map((body) =>
        processOf(sharedState, () => false).once(asked('both'), async () => {
          working += 1;
          if (working === 2) bothWork.resolve();
          await bothWork.promise;
          return { ...answer, body };
        }),
      ),
    );
    expect(new Set(answers.map((one) => one.answer.body)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed)).toHaveLength(1);
  });

  it('are free again after a day, and are dropped then', async () => {
    await processOf().once(asked('d'), async () => answer);
    time.ms += dayMs;
    const other = { ...asked('d'), content: 'POST /x {"other":1}' };
    expect((await processOf().once(other, async () => answer)).replayed).toBe(false);
    await sharedState.removeExpired(idempotencyCollection, time.ms);
    const records = await sharedState.list(idempotencyCollection, 100);
    expect(records).toHaveLength(1);
    expect(JSON.stringify(records)).not.toContain('canary');
  });
});

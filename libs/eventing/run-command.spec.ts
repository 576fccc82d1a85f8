import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reject, unavailable } from '#runtime/errors';
import type { Decider } from './decider.js';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { runCommand } from './run-command.js';
import { createSqliteEventStore } from '#event-store/sqlite';

/** One of the catalogue that takes any text: who counted, and up to where. */
interface Counted {
  readonly type: 'task.archived';
  readonly data: { readonly externalKey: string };
}

const counted = (by: string, count: number): Counted => ({
  type: 'task.archived',
  data: { externalKey: `${by} ${count}` },
});

/** Counts up; who is called `nobody` may not. */
const counter: Decider<number, { readonly by: string }, Counted> = {
  initial: 0,
  evolve: (_, { data }) => Number(data.externalKey.split(' ')[1]),
  decide({ by }, count) {
    if (by === 'nobody') throw reject('nobody', 'Nobody counts.');
    return [counted(by, count + 1)];
  },
};
const metadata: EventMetadata = {
  organizationId: 'o',
  actor: 'a',
  requestId: 'r',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};

/** A stream of which each event adds to the state. */
const adder: Decider<readonly string[], { readonly by: string }, Counted> = {
  initial: [],
  evolve: (names, { data }) => [...names, data.externalKey],
  decide: ({ by }) => [counted(by, 1)],
};

describe('a command', () => {
  let events: EventStore & { close(): Promise<void> };
  beforeEach(() => {
    events = createSqliteEventStore(':memory:');
  });
  afterEach(() => events.close());

  const countBy = (by: string, store: EventStore = events, commandId = by) =>
    runCommand(store, counter, { stream: 'counter', command: { by }, commandId, metadata, from: 'last' });
  const written = async (): Promise<unknown[]> =>
    (await Array.fromAsync(events.read('counter'))).map(({ data }) => data);
  const names = Array.from({ length: 100 }, (_, index) => `by-${index}`);

  it('is handled after those before it on the same stream, on the state that they left', async () => {
    let reads = 0;
    const watched: EventStore = {
      ...events,
      readLast(stream) {
        reads += 1;
        return events.readLast(stream);
      },
    };
    await Promise.all(names.map((by) => countBy(by, watched)));
    expect(await written()).toEqual(names.map((by, index) => counted(by, index + 1).data));
    expect(reads).toBe(names.length);
  });

  it('that is rejected does not block those behind it', async () => {
    const outcomes = await Promise.allSettled(['a', 'nobody', 'b', 'nobody', 'c'].map((by) => countBy(by)));
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await written()).toEqual(['a', 'b', 'c'].map((by, index) => counted(by, index + 1).data));
  });

  it('that comes twice under one id is handled once', async () => {
    await Promise.all([countBy('a', events, 'same'), countBy('a', events, 'same')]);
    expect(await written()).toHaveLength(1);
  });

  it('behind one that the store does not answer fails with it, and later ones are handled', async () => {
    let asked = 0;
    const away: EventStore = {
      ...events,
      async append() {
        asked += 1;
        await new Promise((resolve) => setImmediate(resolve));
        throw unavailable('event_store_unavailable', 'The event store does not answer.', 5);
      },
    };
    const outcomes = await Promise.allSettled(names.map((by) => countBy(by, away)));
    expect(outcomes).toEqual(
      names.map(() =>
        expect.objectContaining({ reason: expect.objectContaining({ reason: 'event_store_unavailable' }) }),
      ),
    );
    expect(asked).toBe(1);
    await expect(countBy('later', away)).rejects.toMatchObject({ reason: 'event_store_unavailable' });
    expect(asked).toBe(2);
  });

  it('is decided again where another process wrote between reading and appending', async () => {
    let others = 3;
    const contested: EventStore = {
      ...events,
      async append(stream, some, expected) {
        if (others > 0) {
          others -= 1;
          const last = await events.readLast(stream);
          const theirs = {
            ...counted('another', (last?.revision ?? -1) + 2),
            id: `00000000-0000-5000-a000-00000000000${others}`,
            version: 1,
            metadata,
          };
          await events.append(stream, [theirs], last?.revision ?? 'none');
        }
        return events.append(stream, some, expected);
      },
    };
    const { state, revision } = await countBy('a', contested);
    expect({ state, revision }).toEqual({ state: 4, revision: 3 });
    expect(await written()).toHaveLength(4);
  });

  const addBy = (by: string, store: EventStore, commandId = by) =>
    runCommand(store, adder, { stream: 'names', command: { by }, commandId, metadata, from: 'all' });
  const added = (...by: readonly string[]) => by.map((name) => counted(name, 1).data.externalKey);

  it('reads of a stream what came since the one before, however long it is', async () => {
    let read = 0;
    const watched: EventStore = {
      ...events,
      async *read(stream, from) {
        for await (const event of events.read(stream, from)) {
          read += 1;
          yield event;
        }
      },
    };
    for (const by of names) await addBy(by, watched);
    const { state } = await addBy('last', watched);
    expect(state).toEqual(added(...names, 'last'));
    // The last event that is known and the one that was written behind it.
    expect(read).toBeLessThanOrEqual(2 * names.length);
  });

  it('sees what another process wrote since', async () => {
    const [one, other]: readonly EventStore[] = [{ ...events }, { ...events }];
    if (one === undefined || other === undefined) throw new Error('there are two');
    await addBy('a', one);
    await addBy('b', other);
    await addBy('c', other);
    expect((await addBy('d', one)).state).toEqual(added('a', 'b', 'c', 'd'));
  });

  it('finds that it was carried out before, whatever came after it', async () => {
    const store = { ...events };
    for (const by of ['a', 'b', 'c']) await addBy(by, store);
    expect(await addBy('a', store)).toMatchObject({ events: [], position: null, state: added('a', 'b', 'c') });
  });

  it('forgets what it remembers where the stream was put back to an older state', async () => {
    const older = createSqliteEventStore(':memory:');
    let now: EventStore = events;
    const replaced: EventStore = {
      ...events,
      append: (...all) => now.append(...all),
      read: (...all) => now.read(...all),
      readLast: (stream) => now.readLast(stream),
    };
    for (const store of [older, events]) await addBy('a', { ...store });
    for (const by of ['b', 'c']) await addBy(by, replaced);
    now = older;
    expect((await addBy('d', replaced)).state).toEqual(added('a', 'd'));
    await older.close();
  });

  it('fails with too_many_writers where other writers always come first', async () => {
    const lost: EventStore = { ...events, append: async () => ({ ok: false, revision: 7 }) };
    await expect(countBy('a', lost)).rejects.toMatchObject({ reason: 'too_many_writers' });
  });
});

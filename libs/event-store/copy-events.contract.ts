/** What copying a history must do, whatever engines it goes between. A spec calls this with a way to make both ends. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { unavailable } from '#runtime/errors';
import { copyEvents, verifyCopy, type Copied } from './copy-events.js';
import type { EventArchive, NewEvent, RecordedEvent, StreamAppend } from './event-store.js';
import { everyEvent } from './read-through.js';

export interface StoreForCopy {
  readonly store: EventArchive;
  /** Closes it and opens another on the same data. */
  reopen(): Promise<EventArchive>;
  destroy(): Promise<void>;
}

let counter = 0;
function event(data: NewEvent['data'] = {}): NewEvent {
  counter += 1;
  return {
    id: `00000000-0000-5000-b000-${String(counter).padStart(12, '0')}`,
    type: 'a.n',
    version: 1 + (counter % 3),
    data: { n: counter, ...data },
    metadata: {
      organizationId: 'org_1',
      actor: 'key:key_1',
      requestId: `req_${counter}`,
      causationId: counter % 2 === 0 ? null : 'evt_1',
      at: `2026-11-21T10:00:${String(counter % 60).padStart(2, '0')}.000Z`,
    },
  };
}

/** Appends over several streams in turn, of one event and of several, the same for the same count. */
function appendsOf(count: number): StreamAppend[] {
  const revisions = new Map<string, number>();
  return Array.from({ length: count }, (_, index) => {
    const stream = `s-${(index * 7 + Math.floor(index / 5)) % 11}`;
    const events = Array.from({ length: 1 + (index % 4 === 0 ? index % 3 : 0) }, () => event({ index }));
    const last = revisions.get(stream) ?? -1;
    revisions.set(stream, last + events.length);
    return { stream, events, expected: last < 0 ? ('none' as const) : last };
  });
}

/** All but the engine's own position. */
const withoutPositions = (events: readonly RecordedEvent[]): unknown[] =>
  events.map(({ position, ...event }) => ({ ...event, position: typeof position }));

class Killed extends Error {}

/** A target whose writer dies: so many appends are written, and nothing after them. */
function dyingAfter(target: EventArchive, appends: number): EventArchive {
  let left = appends;
  return {
    ...target,
    async appendInOrder(wanted) {
      const some = wanted.slice(0, left);
      left -= some.length;
      const answers = await target.appendInOrder(some);
      if (some.length < wanted.length) throw new Killed();
      return answers;
    },
  };
}

/** A target that stores something else than it was given, where `change` says so. */
function storing(
  target: EventArchive,
  change: (appends: readonly StreamAppend[]) => readonly StreamAppend[],
): EventArchive {
  return { ...target, appendInOrder: (appends) => target.appendInOrder(change(appends)) };
}

export function copyContract(
  name: string,
  createSource: () => Promise<StoreForCopy>,
  createTarget: () => Promise<StoreForCopy>,
): void {
  describe(`copying events ${name}`, () => {
    let from: StoreForCopy;
    let to: StoreForCopy;
    let source: EventArchive;
    let target: EventArchive;
    beforeEach(async () => {
      [from, to] = await Promise.all([createSource(), createTarget()]);
      ({ store: source } = from);
      ({ store: target } = to);
    });
    afterEach(async () => {
      await Promise.all([from.destroy(), to.destroy()]);
    });

    const fill = (appends: readonly StreamAppend[]) => source.appendInOrder(appends);
    const reopenTarget = async (): Promise<void> => {
      target = await to.reopen();
    };
    const expectSame = async ({ history }: Copied): Promise<void> => {
      await reopenTarget();
      await verifyCopy({ target, history });
      expect(withoutPositions(await everyEvent(target))).toEqual(withoutPositions(await everyEvent(source)));
    };

    it('keeps ids, types, versions, data, metadata, revisions and the order over all streams', async () => {
      await fill(appendsOf(700));
      const copied = await copyEvents({ source, target });
      expect(copied.copied).toBe(copied.history.summary().events);
      await expectSame(copied);
    });

    describe('of which first events were folded and dropped', () => {
      const cut = async (): Promise<void> => {
        await fill(appendsOf(300));
        await source.truncate('s-3', 12);
        await source.truncate('s-5', 1);
        await source.truncate('s-7', 1_000);
        await fill([{ stream: 'other-1', events: [event(), event()], expected: 'none' }]);
      };
      const streamsOf = (store: EventArchive) =>
        Promise.all(
          ['s-3', 's-5', 's-7', 's-1', 'other-1'].map((stream) =>
            Array.fromAsync(store.read(stream)).then(withoutPositions),
          ),
        );

      it('keeps the revisions of those that are left, and the first that there is', async () => {
        await cut();
        const copied = await copyEvents({ source, target });
        await reopenTarget();
        await verifyCopy({ target, history: copied.history });
        expect(await streamsOf(target)).toEqual(await streamsOf(source));
        for (const [stream, revision] of [
          ['s-3', 12],
          ['s-5', 1],
        ] as const) {
          expect(await target.stored.beginning(stream)).toMatchObject({ revision });
        }
        // Goes on as the source would.
        const last = await target.readLast('s-3');
        expect(await target.append('s-3', [event()], last?.revision ?? 'none')).toMatchObject({ ok: true });
      });

      it('goes on from a copy of before they were dropped', async () => {
        await fill(appendsOf(300));
        await copyEvents({ source, target });
        const last = (await source.readLast('s-3'))?.revision ?? 0;
        await fill([{ stream: 's-3', events: [event(), event(), event()], expected: last }]);
        // One of those that were never copied is dropped as well.
        await source.truncate('s-3', last + 2);
        await source.truncate('s-5', 2);
        await reopenTarget();
        const { history } = await copyEvents({ source, target });
        await reopenTarget();
        await verifyCopy({ target, history });
        expect(await streamsOf(target)).toEqual(await streamsOf(source));
      });

      it.each([1, 2, 40, 90])('is finished by another copy where %i writes were the last', async (writes) => {
        await cut();
        await expect(copyEvents({ source, target: dyingAfter(target, writes) })).rejects.toThrow(Killed);
        await reopenTarget();
        const { history } = await copyEvents({ source, target });
        await reopenTarget();
        await verifyCopy({ target, history });
        expect(await streamsOf(target)).toEqual(await streamsOf(source));
        // And once more, with nothing left to do.
        expect((await copyEvents({ source, target })).copied).toBe(0);
      });
    });

    it('keeps whatever JSON holds, in events of any size and streams of any name', async () => {
      const data = JSON.parse(
        '{"__proto__":{"a":1},"constructor":null,"10":1,"2":2,"":"é\\u0000\\ud83d\\ude00\\u2028","n":-0.1e-7,"big":9007199254740991,"deep":[[[[{"z":1,"a":[]}]]]]}',
      ) as NewEvent['data'];
      await fill([
        { stream: 'ümlaut-日本 $x:y', events: [event(data)], expected: 'none' },
        { stream: 'big-1', events: [event({ text: 'x'.repeat(700_000) })], expected: 'none' },
        { stream: 'big-1', events: [event({ text: 'y'.repeat(700_000) }), event({ text: 'z' })], expected: 0 },
        { stream: 'many-1', events: Array.from({ length: 1_300 }, () => event()), expected: 'none' },
        { stream: 'a.b.c', events: [event()], expected: 'none' },
      ]);
      await expectSame(await copyEvents({ source, target }));
    });

    it('copies nothing from where nothing is', async () => {
      const copied = await copyEvents({ source, target });
      expect({ ...copied.history.summary(), copied: copied.copied }).toMatchObject({
        events: 0,
        streams: 0,
        copied: 0,
      });
      await verifyCopy({ target, history: copied.history });
    });

    it('finishes a copy that was killed, wherever that was, and writes nothing twice', async () => {
      await fill(appendsOf(18));
      const whole = withoutPositions(await everyEvent(source));
      let killed = 0;
      let copied: Copied | null = null;
      // One append further each time: every place between two appends is one where it died.
      while (copied === null) {
        copied = await copyEvents({ source, target: dyingAfter(target, 1) }).catch((error: unknown) => {
          if (!(error instanceof Killed)) throw error;
          return null;
        });
        killed += 1;
        await reopenTarget();
        const there = withoutPositions(await everyEvent(target));
        expect(there).toEqual(whole.slice(0, there.length));
      }
      expect(killed).toBeGreaterThan(10);
      expect(copied.history.summary().events).toBe(whole.length);
      await expectSame(copied);
      expect((await copyEvents({ source, target })).copied).toBe(0);
    }, 120_000);

    it('goes on behind an append of a killed copy that arrives late', async () => {
      const events = [event(), event(), event(), event()];
      await fill([{ stream: 'a-1', events, expected: 'none' }, ...appendsOf(20)]);
      let isLate = true;
      const copied = await copyEvents({
        source,
        target: {
          ...target,
          async appendInOrder(appends) {
            if (isLate) await target.append('a-1', events.slice(0, 3), 'none');
            isLate = false;
            return target.appendInOrder(appends);
          },
        },
      });
      await expectSame(copied);
    });

    it('goes on from a beginning that was copied before the source went on', async () => {
      const appends = appendsOf(60);
      await fill(appends.slice(0, 25));
      await expectSame(await copyEvents({ source, target }));
      await fill(appends.slice(25));
      const copied = await copyEvents({ source, target });
      expect(copied.copied).toBe(appends.slice(25).flatMap(({ events }) => events).length);
      await expectSame(copied);
    });

    it('refuses a target that holds something else, and writes nothing into it', async () => {
      await fill(appendsOf(10));
      await target.append('other-1', [event()], 'none');
      await expect(copyEvents({ source, target })).rejects.toMatchObject({ reason: 'target_holds_others' });
      expect(await everyEvent(target)).toHaveLength(1);
    });

    it('refuses a target whose beginning is another one, down to a single value', async () => {
      const appends = appendsOf(10);
      await fill(appends);
      const changed = appends.slice(0, 5).map((append, index) =>
        index === 3
          ? {
              ...append,
              events: append.events.map((one) => ({ ...one, metadata: { ...one.metadata, requestId: 'x' } })),
            }
          : append,
      );
      await target.appendInOrder(changed);
      const refused = copyEvents({ source, target });
      await expect(refused).rejects.toMatchObject({ reason: 'target_holds_others' });
      await expect(refused).rejects.toThrow(changed[3]?.events[0]?.id);
    });

    it('refuses a target that has gone on by itself', async () => {
      const appends = appendsOf(10);
      await fill(appends);
      await target.appendInOrder(appends);
      await target.append('task-new', [event()], 'none');
      const refused = copyEvents({ source, target });
      await expect(refused).rejects.toMatchObject({ reason: 'target_holds_others' });
      await expect(refused).rejects.toThrow('the source has no more events');
    });

    it('refuses a source that grows while it is copied', async () => {
      await fill(appendsOf(10));
      let isWritten = false;
      const refused = copyEvents({
        source,
        target: {
          ...target,
          async appendInOrder(appends) {
            if (!isWritten) await source.append('grown-1', [event()], 'none');
            isWritten = true;
            return target.appendInOrder(appends);
          },
        },
      });
      await expect(refused).rejects.toMatchObject({ reason: 'source_in_use' });
      await expect(refused).rejects.toThrow('grown-1@0');
      await expectSame(await copyEvents({ source, target }));
    });

    it('stops where somebody else writes into the target', async () => {
      await fill(appendsOf(10));
      const [first] = await everyEvent(source);
      const refused = copyEvents({
        source,
        target: {
          ...target,
          async appendInOrder(appends) {
            await target.append(first?.stream ?? '', [event()], 'none');
            return target.appendInOrder(appends);
          },
        },
      });
      await expect(refused).rejects.toMatchObject({ reason: 'target_in_use' });
    });

    it('waits for a target that is away for a while, and says so where it stays away', async () => {
      await fill(appendsOf(30));
      let away = 2;
      const copied = await copyEvents({
        source,
        target: {
          ...target,
          async appendInOrder(appends) {
            away -= 1;
            // Written, and the answer lost: then not written at all.
            if (away === 1) await target.appendInOrder(appends.slice(0, 5));
            if (away >= 0) throw unavailable('event_store_unavailable', 'away');
            return target.appendInOrder(appends);
          },
        },
      });
      await expectSame(copied);
      await source.append('more-1', [event()], 'none');
      const gone = { ...target, appendInOrder: () => Promise.reject(unavailable('event_store_unavailable', 'away')) };
      await expect(copyEvents({ source, target: gone, patienceMs: 600 })).rejects.toMatchObject({
        reason: 'event_store_unavailable',
      });
    });

    it('gives up a source that says nothing any more', async () => {
      await fill(appendsOf(3));
      const silent: EventArchive = {
        ...source,
        // oxlint-disable-next-line require-yield -- a stream that says nothing
        async *subscribe({ signal }) {
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      };
      await expect(copyEvents({ source: silent, target, patienceMs: 100 })).rejects.toMatchObject({
        reason: 'event_store_unavailable',
      });
    });

    describe('reads back what was stored, and finds', () => {
      const copyAltered = async (change: (appends: readonly StreamAppend[]) => readonly StreamAppend[]) => {
        await fill(appendsOf(40));
        const { history } = await copyEvents({ source, target: storing(target, change) });
        await reopenTarget();
        return verifyCopy({ target, history });
      };
      const alterOne = (alter: (one: NewEvent) => NewEvent) => (appends: readonly StreamAppend[]) =>
        appends.map((append, index) =>
          index === 17 ? { ...append, events: append.events.map((one, at) => (at === 0 ? alter(one) : one)) } : append,
        );

      it.each<[string, (one: NewEvent) => NewEvent]>([
        ['other data', (one) => ({ ...one, data: { ...one.data, n: -1 } })],
        ['other metadata', (one) => ({ ...one, metadata: { ...one.metadata, at: '2026-11-21T10:00:00.001Z' } })],
        ['another version', (one) => ({ ...one, version: one.version + 1 })],
        ['another type', (one) => ({ ...one, type: 'a.m' })],
        ['another id', (one) => ({ ...one, id: '00000000-0000-5000-b000-ffffffffffff' })],
      ])('%s of one event', async (_, alter) => {
        const differs = copyAltered(alterOne(alter));
        await expect(differs).rejects.toMatchObject({ reason: 'copy_differs' });
        await expect(differs).rejects.toThrow(/different: s-\d+\./);
      });

      it('another order over the streams', async () => {
        const differs = copyAltered((appends) => {
          const [first, second, ...rest] = appends;
          if (first === undefined || second === undefined) return appends;
          return [second, first, ...rest];
        });
        await expect(differs).rejects.toThrow('no stream, but their order');
      });

      it('an event that is missing', async () => {
        await fill(appendsOf(40));
        const { history } = await copyEvents({ source, target });
        const shorter = await createTarget();
        try {
          const copyOfMost = (await everyEvent(source)).slice(0, -1);
          for (const { stream, revision, ...one } of copyOfMost) {
            await shorter.store.append(stream, [one], revision === 0 ? 'none' : revision - 1);
          }
          await expect(verifyCopy({ target: await shorter.reopen(), history })).rejects.toMatchObject({
            reason: 'copy_differs',
          });
        } finally {
          await shorter.destroy();
        }
      });

      it('an event too many', async () => {
        await fill(appendsOf(40));
        const { history } = await copyEvents({ source, target });
        await target.append('extra-1', [event()], 'none');
        await expect(verifyCopy({ target, history })).rejects.toThrow('different: extra-1');
      });
    });

    it('tells how far it is', async () => {
      await fill(appendsOf(1_500));
      const shares: number[] = [];
      const { history } = await copyEvents({ source, target, progress: ({ share }) => shares.push(share) });
      expect(shares.length).toBeGreaterThan(1);
      expect(shares).toEqual(shares.toSorted((one, other) => one - other));
      expect(shares.at(-1)).toBe(1);
      const read: number[] = [];
      await verifyCopy({ target, history, progress: (_, events) => read.push(events) });
      expect(read.at(-1)).toBe(history.summary().events);
    });
  });
}

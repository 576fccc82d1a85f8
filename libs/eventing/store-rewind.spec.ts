import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore, NewEvent, RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { LeasedWork } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import type { Json, JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { createDocumentState } from '#shared-state/document-state';
import { resetAfterRewind, resetViewsAfterRewind, detectStoreRewind } from './store-rewind.js';
import { startProjection } from './projection.js';
import type { ViewDefinition, ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';

const view: ViewDefinition = { name: 'counts', fields: [], indexes: [] };
const newEvent = (note: string): NewEvent => ({
  id: crypto.randomUUID(),
  type: 'counted',
  version: 1,
  data: { note },
  metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '2026-01-01T00:00:00.000Z' },
});

describe('an event store rewind', () => {
  let folder: string;
  let eventStore: ReturnType<typeof createSqliteEventStore>;
  let readStore: ViewStore;
  const working: LeasedWork[] = [];

  const append = async (stream: string, note: string): Promise<number> => {
    const last = await eventStore.readLast(stream);
    const result = await eventStore.append(stream, [newEvent(note)], last?.revision ?? 'none');
    if (!result.ok) throw new Error('a lost race');
    return result.position;
  };
  const file = (name: string): string => join(folder, name);
  /** Keeps a copy of what there is now, which `putBack` puts in its place. */
  const keepCopy = async (): Promise<void> => {
    await eventStore.close();
    copyFileSync(file('events.db'), file('copy.db'));
    eventStore = createSqliteEventStore(file('events.db'));
  };
  const putBack = async (): Promise<void> => {
    await eventStore.close();
    for (const ending of ['', '-wal', '-shm']) rmSync(file(`events.db${ending}`), { force: true });
    copyFileSync(file('copy.db'), file('events.db'));
    eventStore = createSqliteEventStore(file('events.db'));
  };

  const reduce = (document: JsonObject | null, { data }: RecordedEvent): JsonObject => ({
    notes: [...((document?.['notes'] as Json[] | undefined) ?? []), data['note'] ?? null],
  });
  const parts = () => ({
    eventStore: eventStore as EventStore,
    readStore,
    logger: silentLogger,
    secondLookAfterMs: 1,
  });
  /** Keeps the view until it has come to the end. */
  const keep = async (): Promise<void> => {
    const work = startProjection({
      ...parts(),
      sharedState: createDocumentState(readStore),
      view,
      prefixes: ['a-'],
      leases: createSoleLeases(),
      idOf: ({ stream }) => stream,
      reduce,
    });
    working.push(work);
    const end = (await eventStore.lastPosition()) ?? 0;
    await found(
      async () => (await detectStoreRewind(parts(), view)) === null && ((await readStore.checkpoint(view)) ?? 0) >= end,
    );
    await work.stop();
  };
  const expectRight = async (): Promise<void> => {
    const expected = new Map<string, JsonObject>();
    for (const event of await everyEvent(eventStore)) {
      if (event.stream.startsWith('a-')) expected.set(event.stream, reduce(expected.get(event.stream) ?? null, event));
    }
    const { documents } = await readStore.page(view, { where: [], sort: [], limit: 100, offset: 0, count: false });
    expect(documents).toEqual([...expected].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, document]) => document));
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'meerkat-other-history-'));
    eventStore = createSqliteEventStore(file('events.db'));
    readStore = createSqliteReadStore(file('views.db'));
  });
  afterEach(async () => {
    await Promise.all(working.splice(0).map((work) => work.stop()));
    await readStore.close();
    await eventStore.close();
    rmSync(folder, { recursive: true });
  });

  it('keeps a view that has seen no more than the store holds', async () => {
    await append('a-1', 'one');
    await append('b-1', 'no matter');
    await keep();
    expect(await detectStoreRewind(parts(), view)).toBeNull();
    await append('a-1', 'two');
    expect(await detectStoreRewind(parts(), view)).toBeNull();
    await keepCopy();
    await putBack();
    expect(await detectStoreRewind(parts(), view)).toBeNull();
  });

  it('is detected where the view is beyond the end of the store, and the view is rebuilt', async () => {
    await append('a-1', 'one');
    await keepCopy();
    await append('a-1', 'lost');
    await append('a-2', 'lost too');
    await keep();
    await putBack();
    expect(await detectStoreRewind(parts(), view)).toBe('it has seen position 3, the last is 1');
    await keep();
    await expectRight();
  });

  it('is looked for in all views before any is looked at again, so that one wait is enough for them', async () => {
    const views = ['one', 'two', 'right'].map((name): ViewDefinition => ({ name, fields: [], indexes: [] }));
    const position = await append('a-1', 'one');
    const [one, two, right] = views as [ViewDefinition, ViewDefinition, ViewDefinition];
    for (const each of [one, two]) await readStore.save(each, [], position + 1);
    await readStore.save(right, [], position);
    const looked: string[] = [];
    const watched: ViewStore = {
      ...readStore,
      seen(each) {
        looked.push(each.name);
        return readStore.seen(each);
      },
    };
    await resetViewsAfterRewind({ ...parts(), readStore: watched }, views);
    expect(looked).toEqual(['one', 'two', 'right', 'one', 'two']);
    const left = await Promise.all(views.map((each) => readStore.checkpoint(each)));
    expect(left).toEqual([null, null, position]);
  });

  it('is detected where the store has grown beyond the view since, by a different event', async () => {
    await append('a-1', 'one');
    await keepCopy();
    await append('a-1', 'lost');
    await keep();
    await putBack();
    for (const note of ['another', 'and more', 'and more']) await append('a-1', note);
    expect(await detectStoreRewind(parts(), view)).toMatch(/^a-1@1 is \S+, and was \S+$/);
    await keep();
    await expectRight();
  });

  it('is detected where the store has grown beyond the view since, by a missing event', async () => {
    await append('a-1', 'one');
    await keepCopy();
    await append('a-9', 'lost');
    await keep();
    await putBack();
    for (const note of ['another', 'and more']) await append('a-1', note);
    expect(await detectStoreRewind(parts(), view)).toBe('a-9@0 is not there any more');
    await keep();
    await expectRight();
  });

  it('is detected where the store is empty', async () => {
    await keepCopy();
    await append('a-1', 'lost');
    await keep();
    await putBack();
    await resetAfterRewind(parts(), view);
    expect(await readStore.seen(view)).toBeNull();
    await append('a-1', 'first');
    await keep();
    await expectRight();
  });

  it('is not believed where a second look shows that the store was only behind', async () => {
    await append('a-1', 'one');
    await keep();
    const ends = [0, 1];
    const behind: EventStore = { ...eventStore, lastPosition: async () => ends.shift() ?? 1 };
    expect(
      await detectStoreRewind({ ...parts(), eventStore: { ...behind, lastPosition: async () => 0 } }, view),
    ).not.toBeNull();
    await resetAfterRewind({ ...parts(), eventStore: behind }, view);
    expect(ends).toEqual([]);
    expect(await readStore.seen(view)).toMatchObject({ position: 1 });
  });

  it('is detected by views stored before they kept their last event', async () => {
    await append('a-1', 'one');
    await keep();
    await readStore.close();
    const database = new DatabaseSync(file('views.db'));
    database.exec('ALTER TABLE checkpoints DROP COLUMN event');
    database.close();
    readStore = createSqliteReadStore(file('views.db'));
    expect(await readStore.seen(view)).toEqual({ position: 1, event: null });
    expect(await detectStoreRewind(parts(), view)).toBeNull();
    await append('a-1', 'two');
    await keep();
    expect(await readStore.seen(view)).toMatchObject({ position: 2, event: { stream: 'a-1', revision: 1 } });
  });
});

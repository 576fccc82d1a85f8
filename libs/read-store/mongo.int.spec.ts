import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { keysView, organizationsView } from '#contracts/account';
import { membersView } from '#contracts/member';
import { deliveriesView } from '#contracts/delivery';
import { executionsView } from '#contracts/run';
import { schedulesView } from '#contracts/schedule';
import { tasksView } from '#contracts/task';
import { idempotencyCollection } from '#http/idempotency';
import type { RecordedEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { leaseMembersCollection } from '#leases/members';
import { leasesCollection } from '#leases/shared';
import { createSoleLeases } from '#leases/sole';
import type { JsonObject } from '#runtime/json';
import { silentLogger, type Logger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { createDocumentState, toDefinition } from '#shared-state/document-state';
import { startProjection } from '#eventing/projection';
import { rebuildOf, requestRebuild } from '#eventing/rebuild/requests';
import { createSqliteReadStore } from './sqlite.js';
import { query, view } from './kit.contract.js';
import { createMongoReadStore } from './mongo.js';
import { toFilter, toRanges, toSort, type Filter } from './mongo-query.js';
import { readStoreContract } from './read-store.contract.js';
import type { AnyView, PageQuery, ReadStore, ViewAdmin } from './read-store.js';

const url = process.env['READ_STORE_URL'];
if (url === undefined) throw new Error('READ_STORE_URL must name a MongoDB (npm run servers -- up mongo)');

const freshInstallation = (): string => `spec-${randomBytes(6).toString('hex')}`;
const openOn = (installation: string, logger: Logger = silentLogger, at: string = url) =>
  createMongoReadStore({ url: at, installation, logger });

async function connected<T>(work: (connection: mongoose.Connection) => Promise<T>): Promise<T> {
  const connection = await mongoose.createConnection(url ?? '').asPromise();
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

const dropInstallation = (installation: string): Promise<void> =>
  connected(async (connection) => {
    for (const { name } of await connection.listCollections()) {
      if (name.startsWith(`${installation}.`)) await connection.dropCollection(name);
    }
  });

readStoreContract('MongoDB', async () => {
  const installation = freshInstallation();
  const opened: (ReadStore & ViewAdmin)[] = [];
  const open = async () => {
    const store = await openOn(installation);
    opened.push(store);
    return store;
  };
  const closeAll = () => Promise.all(opened.splice(0).map((store) => store.close()));
  return {
    store: await open(),
    second: open,
    async reopen() {
      await closeAll();
      return open();
    },
    async destroy() {
      await closeAll();
      await dropInstallation(installation);
    },
  };
});

describe('a MongoDB that several installations share', () => {
  let installation: string;
  let store: ReadStore & ViewAdmin;
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (_, message) => void warnings.push(message) };
  beforeEach(async () => {
    warnings.length = 0;
    installation = freshInstallation();
    store = await openOn(installation, logger);
  });
  afterEach(async () => {
    await store.close();
    await dropInstallation(installation);
  });

  it('keeps them apart', async () => {
    const neighbour = await openOn(`${installation}-2`);
    await store.save(view, [{ id: '1', revision: 1, document: { name: 'mine' } }], 4);
    expect(await neighbour.get(view, '1')).toBeNull();
    expect(await neighbour.checkpoint(view)).toBeNull();
    await neighbour.close();
    await dropInstallation(`${installation}-2`);
  });

  it('does not bring a removed document back by a late write, and tells those who write of the removal', async () => {
    await store.save(view, [{ id: '1', revision: 1, document: { name: 'a' } }], null);
    await store.save(
      view,
      [
        { id: '1', revision: 5, document: null },
        { id: '2', revision: 6, document: null },
      ],
      6,
    );
    await store.save(
      view,
      [
        { id: '1', revision: 4, document: { name: 'late' } },
        { id: '2', revision: 3, document: { name: 'late' } },
      ],
      null,
    );
    expect(await store.page(view, query())).toEqual({ documents: [], total: 0 });
    expect(await store.get(view, '1')).toBeNull();
    expect([...(await store.load(view, ['1', '2', '3'])).values()]).toEqual([
      { id: '1', revision: 5, document: null },
      { id: '2', revision: 6, document: null },
    ]);
    await store.save(view, [{ id: '1', revision: 7, document: { name: 'again' } }], 7);
    expect(await store.get(view, '1')).toEqual({ name: 'again' });
  });

  it('forgets removed documents by an index that drops them after days', async () => {
    await store.checkpoint(view);
    await connected(async (connection) => {
      const indexes = await connection.collection(`${installation}.view_things`).listIndexes().toArray();
      expect(indexes).toContainEqual(
        expect.objectContaining({ key: { removedAt: 1 }, expireAfterSeconds: 7 * 86_400 }),
      );
    });
  });

  it('is opened by many processes at once without being made anew', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => openOn(installation, logger)));
    try {
      for (let round = 0; round < 5; round += 1) {
        const fresh = { ...view, name: `${view.name}_${round}` };
        await Promise.all(stores.map((one, index) => one.save(fresh, [], index)));
        expect(await store.checkpoint(fresh)).toBe(stores.length - 1);
      }
      expect(warnings).toEqual([]);
    } finally {
      await Promise.all(stores.map((one) => one.close()));
    }
  });

  it('makes an index again that somebody dropped, and says so', async () => {
    await store.save(view, [{ id: '1', revision: 1, document: { name: 'a', owner: 'x' } }], 1);
    expect(warnings).toEqual([]);
    await connected((connection) => connection.collection(`${installation}.view_things`).dropIndexes());
    await store.close();
    store = await openOn(installation, logger);
    expect((await store.page(view, query({ where: [{ field: 'owner', equals: 'x' }] }))).total).toBe(1);
    expect(warnings).toEqual(['indexes are missing; making them again']);
    await connected(async (connection) => {
      const indexes = await connection.collection(`${installation}.view_things`).listIndexes().toArray();
      expect(indexes).toContainEqual(expect.objectContaining({ key: { live: 1, 'f.owner': 1, 'f.name': 1, _id: 1 } }));
    });
  });

  it('makes a collection again that somebody dropped: a projection begins anew, without a restart', async () => {
    await store.save(view, [{ id: '1', revision: 1, document: { name: 'a' } }], 1);
    const indexes = (connection: mongoose.Connection) =>
      connection.collection(`${installation}.view_things`).listIndexes().toArray();
    const before = await connected(indexes);
    await connected((connection) => connection.dropCollection(`${installation}.view_things`));
    await expect(store.save(view, [{ id: '2', revision: 2, document: { name: 'b' } }], 2, 1)).rejects.toMatchObject({
      reason: 'view_out_of_step',
    });
    expect(await store.checkpoint(view)).toBeNull();
    await store.save(view, [{ id: '1', revision: 1, document: { name: 'a' } }], 1, null);
    expect(await store.checkpoint(view)).toBe(1);
    expect(before.length).toBeGreaterThan(view.indexes.length);
    expect(await connected(indexes)).toEqual(before);
  });

  it('refuses a writer of an older version, which would leave fields out', async () => {
    const older = await openOn(installation);
    await older.save({ ...view, fields: ['name'] }, [], 1, null);
    await store.save(view, [], 1, null);
    const late = older.save({ ...view, fields: ['name'] }, [{ id: '1', revision: 2, document: { owner: 'x' } }], 2, 1);
    await expect(late).rejects.toMatchObject({ reason: 'view_of_newer_version' });
    expect(await store.get(view, '1')).toBeNull();
    await older.close();
  });

  it('is rebuilt while two processes believe to keep it, to the bytes of one that stands in SQLite', async () => {
    const eventStore = createSqliteEventStore(':memory:');
    const other = await openOn(installation);
    const inSqlite = createSqliteReadStore(':memory:');
    const projected = {
      view,
      prefixes: ['a-'],
      idOf: ({ stream }: RecordedEvent) => stream,
      reduce: (document: JsonObject | null, { type, position }: RecordedEvent): JsonObject | null =>
        type === 'end' ? null : { ...document, [`$${position % 5}`]: position, owner: 'x', name: `n${position % 3}` },
    };
    const works = [store, other, inSqlite].map((readStore) =>
      startProjection({
        ...projected,
        eventStore,
        readStore,
        sharedState: createDocumentState(readStore),
        leases: createSoleLeases(),
        logger: silentLogger,
      }),
    );
    const revisions = new Map<string, number>();
    const metadata = { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '' };
    let written = 0;
    const append = async (count: number): Promise<void> => {
      for (const end = written + count; written < end; written += 1) {
        const stream = `a-${written % 11}`;
        const type = written % 23 === 22 ? 'end' : 'more';
        const event = { id: crypto.randomUUID(), type, version: 1, data: {}, metadata };
        const result = await eventStore.append(stream, [event], revisions.get(stream) ?? 'none');
        if (!result.ok) throw new Error('a lost race');
        revisions.set(stream, result.revision);
      }
    };
    const seenAll = async (readStore: ReadStore): Promise<void> => {
      await found(async () => (await readStore.checkpoint(view)) === written);
    };
    const bytes = async (of: ReadStore): Promise<string> =>
      JSON.stringify((await of.page(view, query({ sort: [] }))).documents);
    try {
      await append(120);
      await seenAll(store);
      await requestRebuild(createDocumentState(store), view.name, 'now');
      for (let round = 0; round < 20; round += 1) {
        await append(5);
        // A live view that goes on.
        await seenAll(other);
      }
      await found(async () => (await rebuildOf(createDocumentState(other), view.name))?.state === 'done');
      await Promise.all([seenAll(store), seenAll(inSqlite)]);
      expect(await bytes(store)).toBe(await bytes(inSqlite));
      const { build } = (await rebuildOf(createDocumentState(store), view.name)) ?? {};
      expect((await store.page({ ...view, name: build ?? 'none' }, query())).total).toBe(0);
    } finally {
      await Promise.all(works.map((work) => work.stop()));
      await Promise.all([eventStore.close(), other.close(), inSqlite.close()]);
    }
  }, 90_000);

  it('says which document is too large for it', async () => {
    const document = { name: 'big', text: 'x'.repeat(17 * 1_024 * 1_024) };
    await expect(store.save(view, [{ id: 'one', revision: 1, document }], 1)).rejects.toMatchObject({
      reason: 'document_too_large',
      message: expect.stringMatching(/one.*things.*\d+ bytes/),
    });
    expect(await store.checkpoint(view)).toBeNull();
    const fits = { name: 'large', text: 'x'.repeat(12 * 1_024 * 1_024) };
    await store.save(view, [{ id: 'two', revision: 1, document: fits }], 1);
    expect(await store.get(view, 'two')).toEqual(fits);
  });

  describe('lists', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const one = (field: string, equals: string) => ({ field, equals });
    const newest = (field: string): PageQuery['sort'] => [{ field, descending: true }];
    const oldest = (field: string): PageQuery['sort'] => [{ field, descending: false }];
    const due = (field: string) => [{ field, from: '', to: at }];
    /** Of the execution service, which no library knows. */
    const unansweredView: AnyView = { name: 'unanswered_notifications', fields: ['since'], indexes: [['since']] };
    /**
     * Every list that the services ask for, with the filters that its index serves. What else is asked for (a status, a tag,
     * the shards) is held against what the index finds; SecantusDB, though not MongoDB, uses no index beside such a filter.
     */
    const lists: [string, AnyView, PageQuery['where'], PageQuery['sort']][] = [
      ['tasks', tasksView, [one('organizationId', 'o')], newest('createdAt')],
      ['tasks by name', tasksView, [one('organizationId', 'o')], oldest('name')],
      ['tasks by their next run', tasksView, [one('organizationId', 'o')], oldest('nextRunAt')],
      ['executions', executionsView, [one('organizationId', 'o')], newest('queuedAt')],
      [
        'executions of a time',
        executionsView,
        [one('organizationId', 'o'), { field: 'queuedAt', from: at }, { field: 'queuedAt', to: at }],
        newest('queuedAt'),
      ],
      ['executions of a task', executionsView, [one('notificationId', 't')], newest('queuedAt')],
      ['deliveries', deliveriesView, [one('organizationId', 'o')], newest('createdAt')],
      ['deliveries of a task', deliveriesView, [one('notificationId', 't')], newest('createdAt')],
      ['deliveries that are due', deliveriesView, [{ field: 'dueAt', to: at }], oldest('dueAt')],
      ['schedules that are due', schedulesView, due('nextDueAt'), oldest('nextDueAt')],
      ['schedules with open runs', schedulesView, due('pendingSince'), oldest('pendingSince')],
      ['notifications without a delivery', unansweredView, due('since'), oldest('since')],
      ['keys', keysView, [one('organizationId', 'o'), { field: 'revokedAt', equals: null }], newest('createdAt')],
      ['the member of an address', membersView, [one('emailHash', 'h')], []],
      ['whether there is an organisation', organizationsView, [], []],
      [
        'old idempotency records',
        toDefinition(idempotencyCollection),
        [{ field: 'expiresAtMs', to: 1 }],
        oldest('expiresAtMs'),
      ],
      ['leases', toDefinition(leasesCollection), [], []],
      ['members of leases', toDefinition(leaseMembersCollection), [], []],
    ];

    async function planOf(listed: AnyView, filter: Filter, sort: PageQuery['sort']): Promise<string> {
      return connected(async (connection) => {
        const found = connection.collection(`${installation}.view_${listed.name}`).find(filter);
        return JSON.stringify(await found.sort(toSort(sort)).limit(20).explain('queryPlanner'));
      });
    }

    it.each(lists)('%s: by an index', async (_, listed, where, sort) => {
      await store.save(listed, [{ id: 'a', revision: 1, document: documentOf(listed) }], 1);
      const plan = await planOf(listed, toFilter(where), sort);
      expect(plan).toContain('IXSCAN');
      expect(plan).not.toContain('COLLSCAN');
    });

    const walked = lists.filter(
      ([, , where, sort]) => sort.length === 1 && where.every((filter) => 'equals' in filter),
    );
    it.each(walked)('%s: further pages by the same index', async (_, listed, where, sort) => {
      await store.save(listed, [{ id: 'a', revision: 1, document: documentOf(listed) }], 1);
      for (const range of toRanges(query({ where, sort, behind: { values: [at], id: 'a' } }))) {
        const plan = await planOf(listed, range, sort);
        expect(plan).toContain('IXSCAN');
        expect(plan).not.toContain('COLLSCAN');
      }
    });

    function documentOf({ fields }: AnyView): JsonObject {
      return Object.fromEntries(fields.map((field) => [field, at]));
    }
  });
});

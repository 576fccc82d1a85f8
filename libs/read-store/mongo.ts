/**
 * Read store in MongoDB: a collection per view. Needs no transactions: documents are written first, each guarded by its
 * revision, then the checkpoint, which never goes back; what a crash in between leaves is written again to no effect.
 *
 * Writes wait for a majority's journal. Reads go to the primary with read concern `local`: whatever a majority has
 * acknowledged is seen there at once, by every process and also right after a failover, when `majority` may still show an
 * older state. What `local` shows too early and a failover takes back was derived from events, and is derived again.
 *
 * Of mongoose the connection is used, not its models: documents are kept as text, and filters are built here from plain
 * values, so that no request's content is ever read as an operator.
 */
import type { mongo } from 'mongoose';
import { hasNoPrimary, openMongo, writeConcern, type MongoConnection } from '#mongo/connection';
import { unavailable, type AppError } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import { createViewCollections, patienceMs, type ViewCollections } from './mongo-collections.js';
import { toFilter, toRanges, toSort } from './mongo-query.js';
import { collectionName, ensureIndexes, recordId, type Stored } from './mongo-view.js';
import { createTextLookup } from './mongo-texts.js';
import { createSharedCounts } from './shared-counts.js';
import { advancing, duplicates, toWrite, writeGuarded, type Write } from './mongo-write.js';
import {
  noPrimary,
  viewOutOfStep,
  type AnyView,
  type DocumentWrite,
  type PageQuery,
  type ReadStore,
  type SeenEvent,
  type ViewAdmin,
  type ViewDefinition,
  type ViewStore,
} from './read-store.js';

export interface MongoReadStoreOptions {
  /** `mongodb://…`; its path names the database, `meerkat` where it has none. */
  readonly url: string;
  /** Prefix of the collections: several installations may share a database. */
  readonly installation: string;
  readonly logger: Logger;
}

interface Parts {
  readonly connection: MongoConnection;
  readonly collections: ViewCollections;
  readonly installation: string;
}

/** Writes or documents per round trip: a slow server answers before the patience ends. */
const maxPerRoundTrip = 100;
/** A server carries out ordered writes one by one, others together: with more documents than this two round trips are shorter. */
const maxWritesWithCheckpoint = 4;
const renamePatienceMs = 60_000;
/** Indexes of a million documents take minutes on a slow server. */
const indexPatienceMs = 600_000;

const outOfReach = (cause: unknown): AppError =>
  hasNoPrimary(cause)
    ? unavailable(noPrimary, 'No member of the read store is its primary: nothing can be read or written.', 5, cause)
    : unavailable('read_store_unavailable', 'The read store does not answer.', 5, cause);

function createSave({ connection: { within }, collections }: Parts): ReadStore['save'] {
  const advance = async (
    view: AnyView,
    checkpoint: number,
    after: number | null | undefined,
    event: SeenEvent | undefined,
  ): Promise<void> => {
    const collection = await collections.open(view);
    const { filter, update } = advancing(checkpoint, after, event);
    const { matchedCount } = await within(collection.updateOne(filter, update));
    if (matchedCount === 1) return;
    collections.forget(view);
    throw viewOutOfStep(view);
  };

  /**
   * Few documents and the checkpoint in one round trip: in order, so that the checkpoint is written after all of them. False
   * where another process created a document in the same instant, and the server went no further, or where the record of the
   * checkpoint is not the expected one: separate writes find out which.
   */
  const saveAtOnce = async (view: AnyView, writes: readonly Write[], checkpoint: Write): Promise<boolean> => {
    const collection = await collections.open(view);
    const operations = writes.map((one) => ({ updateOne: { ...one, upsert: true } }));
    const written = collection.bulkWrite([...operations, { updateOne: checkpoint }], { ordered: true }).then(
      ({ matchedCount, upsertedCount }) => matchedCount + upsertedCount === writes.length + 1,
      (error: unknown) => duplicates(error).length === 0,
    );
    return within(written);
  };

  return async (view, writes, checkpoint, after, event) => {
    const collection = await collections.open(view);
    const prepared = writes.map((write) => toWrite(view, write));
    if (after !== undefined) await collections.checkUnreplaced(view, after);
    if (checkpoint !== null && prepared.length <= maxWritesWithCheckpoint) {
      if (await saveAtOnce(view, prepared, advancing(checkpoint, after, event))) return;
    }
    for (let start = 0; start < prepared.length; start += maxPerRoundTrip) {
      await writeGuarded(collection, prepared.slice(start, start + maxPerRoundTrip), within);
    }
    if (checkpoint !== null) await advance(view, checkpoint, after, event);
  };
}

/** The documents that `found` looks up, where it does, are compared with all that is asked. */
async function findPage(
  collections: ViewCollections,
  view: AnyView,
  query: PageQuery,
  found: mongo.Filter<Stored> | null,
): Promise<string[]> {
  const collection = await collections.open(view);
  const ranges = toRanges(query);
  const wanted = query.offset + query.limit;
  const texts: string[] = [];
  // To MongoDB a limit of 0 is none.
  if (query.limit <= 0) return texts;
  const isCut = ranges.length > 1;
  for (const range of ranges) {
    const limit = isCut ? wanted - texts.length : query.limit;
    const filter = range as mongo.Filter<Stored>;
    const [projection, sort, skip] = [{ _id: 0, document: 1 }, toSort(query.sort), isCut ? 0 : query.offset];
    const options = { batchSize: limit, maxTimeMS: patienceMs };
    const page = await collections.read(() =>
      found === null
        ? collection.find(filter, { ...options, projection, sort, skip, limit }).toArray()
        : collection
            .aggregate<Pick<Stored, 'document'>>(
              [
                { $match: found },
                { $match: filter },
                { $sort: sort },
                { $skip: skip },
                { $limit: limit },
                { $project: projection },
              ],
              options,
            )
            .toArray(),
    );
    for (const { document } of page) if (document !== undefined) texts.push(document);
    if (texts.length >= wanted) break;
  }
  return isCut ? texts.slice(query.offset) : texts;
}

async function countMatches(
  collections: ViewCollections,
  view: AnyView,
  { where }: PageQuery,
  found: mongo.Filter<Stored> | null,
): Promise<number> {
  const collection = await collections.open(view);
  const filter = toFilter(where) as mongo.Filter<Stored>;
  if (found === null) return collections.read(() => collection.countDocuments(filter, { maxTimeMS: patienceMs }));
  const counting = [{ $match: found }, { $match: filter }, { $count: 'total' }];
  const [counted] = await collections.read(() =>
    collection.aggregate<{ total: number }>(counting, { maxTimeMS: patienceMs }).toArray(),
  );
  return counted?.total ?? 0;
}

function createReads({ collections }: Parts): Omit<ReadStore, 'save' | 'close'> {
  const texts = createTextLookup((view) => collections.open(view));
  const counts = createSharedCounts();
  return {
    async get<D extends object>(view: AnyView, id: string) {
      const collection = await collections.open(view);
      const found = await collections.read(() => collection.findOne({ _id: id }, { maxTimeMS: patienceMs }));
      return found?.document === undefined ? null : (JSON.parse(found.document) as D);
    },

    async load<D extends object>(view: ViewDefinition<D>, ids: readonly string[]) {
      const collection = await collections.open(view);
      const stored = new Map<string, DocumentWrite<D>>();
      const projection = { revision: 1, document: 1, position: 1, fields: 1 };
      for (let start = 0; start < ids.length; start += maxPerRoundTrip) {
        const some = ids.slice(start, start + maxPerRoundTrip);
        const found = await collections.read(() =>
          collection.find({ _id: { $in: [...some, recordId] } }, { projection, maxTimeMS: patienceMs }).toArray(),
        );
        for (const one of found) {
          const { _id, revision = 0, document } = one;
          if (typeof _id !== 'string') {
            collections.noteRecord(view, one);
            continue;
          }
          stored.set(_id, { id: _id, revision, document: document === undefined ? null : (JSON.parse(document) as D) });
        }
      }
      return stored;
    },

    async page<D extends object>(view: AnyView, query: PageQuery) {
      const found = await texts.conditionFor(view, query.where);
      const [page, total] = await Promise.all([
        findPage(collections, view, query, found),
        query.count
          ? counts(JSON.stringify([view.name, query.where]), () => countMatches(collections, view, query, found))
          : null,
      ]);
      return { documents: page.map((text) => JSON.parse(text) as D), total };
    },

    checkpoint: async (view) => (await collections.recordOf(view))?.position ?? null,
  };
}

function createAdmin({ connection: { database, within }, collections, installation }: Parts): ViewAdmin {
  const index = async (view: AnyView, built: AnyView): Promise<void> => {
    await within(ensureIndexes(await collections.open(built), view), indexPatienceMs);
  };
  const checkpointOf = async (view: AnyView): Promise<number | null> =>
    (await collections.recordOf(view))?.position ?? null;

  return {
    backfiller: null,
    index,

    async seen(view) {
      const record = await collections.recordOf(view);
      return typeof record?.position === 'number' ? { position: record.position, event: record.event ?? null } : null;
    },

    async forget(view, { where, revision }) {
      const collection = await collections.open(view);
      const filter = { $and: [toFilter(where), { revision: { $lt: revision } }] } as mongo.Filter<Stored>;
      for (;;) {
        const found = await within(
          collection.find(filter, { projection: { _id: 1 }, limit: maxPerRoundTrip, maxTimeMS: patienceMs }).toArray(),
        );
        if (found.length > 0) {
          const ids = found.map(({ _id }) => _id);
          await within(collection.deleteMany({ _id: { $in: ids }, revision: { $lt: revision } }));
        }
        if (found.length < maxPerRoundTrip) return;
      }
    },

    // The server has no call for it.
    scrub: async () => undefined,

    async reset(view) {
      collections.forget(view);
      await within(database.collection(collectionName(installation, view)).drop());
    },

    async replace(view, built) {
      const [seen, seenByBuilt] = await Promise.all([checkpointOf(view), checkpointOf(built)]);
      if (seenByBuilt === null || (seen ?? -1) > seenByBuilt) throw viewOutOfStep(view);
      const [from, to] = [collectionName(installation, built), collectionName(installation, view)];
      await index(view, built);
      // One step: documents, record and indexes move together. It waits for running operations on either collection.
      await within(database.renameCollection(from, to, { dropTarget: true, writeConcern }), renamePatienceMs);
      collections.forget(built);
      collections.forgetRecord(view);
    },
  };
}

/** Rejects with `read_store_unavailable` where no server answers, with `ConfigError` where the address cannot be read. */
export async function createMongoReadStore(options: MongoReadStoreOptions): Promise<ViewStore> {
  const { installation, logger } = options;
  const connection = await openMongo({
    ...options,
    appName: 'meerkat',
    words: { away: 'the read store is out of reach', back: 'the read store is back' },
    patienceMs,
    outOfReach,
  });
  const collections = createViewCollections(connection, installation, logger);
  const parts = { connection, collections, installation };
  return {
    save: createSave(parts),
    ...createReads(parts),
    ...createAdmin(parts),
    close: () => connection.close(),
  };
}

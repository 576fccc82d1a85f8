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
import { mongo } from 'mongoose';
import { openMongo, writeConcern, type MongoConnection } from '#mongo/connection';
import { AppError, unavailable } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import { toFields, toFilter, toRanges, toSort } from './mongo-query.js';
import {
  collectionName,
  ensureIndexes,
  isPassing,
  openCollection,
  recordId,
  type Stored,
  type ViewCollection,
} from './mongo-view.js';
import {
  viewOutOfStep,
  type AnyView,
  type DocumentWrite,
  type PageQuery,
  type ReadStore,
  type SeenEvent,
  type ViewDefinition,
  type ViewAdmin,
} from './read-store.js';

export interface MongoReadStoreOptions {
  /** `mongodb://…`; its path names the database, `meerkat` where it has none. */
  readonly url: string;
  /** Prefix of the collections: several installations may share a database. */
  readonly installation: string;
  readonly logger: Logger;
}

/** Each round trip is given up after this long. */
const patienceMs = 5_000;
/** So many writes and documents in one round trip: a slow server answers before the patience ends. */
const writesAtOnce = 100;
/** A server carries out ordered writes one by one, others together: with more documents than this two round trips are shorter. */
const writesWithCheckpoint = 4;
/** What was read so lately stands: whoever asks again may be overtaken just as well before it writes. */
const freshMs = 100;
const renamePatienceMs = 60_000;
/** Indexes of a million documents take minutes on a slow server. */
const indexPatienceMs = 600_000;
/** MongoDB takes documents up to 16 MiB; the rest of what is stored with the text is small. */
const largestBytes = 16 * 1_024 * 1_024 - 64 * 1_024;

const duplicateKey = 11_000;
const outOfReach = (cause: unknown): AppError =>
  unavailable('read_store_unavailable', 'The read store does not answer.', 5, cause);

const toSeenEvent = ({ stream, revision, id, position }: SeenEvent): SeenEvent => ({ stream, revision, id, position });

type Write = Extract<mongo.AnyBulkWriteOperation<Stored>, { updateOne: unknown }>['updateOne'];

/**
 * An upsert that keeps what is there at the same or a later revision. The guard stands in the update, not in the filter: a
 * filter on the id alone is the shortest way to a document, and an upsert does not try to make one that is there.
 */
function guarded(id: string, revision: number, document: mongo.BSON.Document): Write {
  const isOlder = { $lt: ['$revision', revision] };
  return { filter: { _id: id }, update: [{ $replaceWith: { $cond: [isOlder, document, '$$ROOT'] } }] };
}

function toWrite(view: AnyView, { id, revision, document }: DocumentWrite<object>): Write {
  if (document === null) {
    // The server's clock: tombstones are dropped by it.
    return guarded(id, revision, { _id: { $literal: id }, revision: { $literal: revision }, removedAt: '$$NOW' });
  }
  const text = JSON.stringify(document);
  const f = toFields(view, document);
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(f));
  if (bytes > largestBytes) {
    throw new AppError(
      'SERVER_ERROR',
      'document_too_large',
      `The document ${id} of the view ${view.name} has ${bytes} bytes; MongoDB takes ${largestBytes}.`,
    );
  }
  const stored: Stored = { _id: id, revision, live: true, document: text, f };
  // Nothing in it is read as an expression.
  return guarded(id, revision, { $literal: stored });
}

/** A view's checkpoint moves on and never back, as long as the view is the one that was meant. */
function advancing(checkpoint: number, after: number | null | undefined, event: SeenEvent | undefined): Write {
  const guard = after === undefined || after === null ? {} : { position: { $gte: after } };
  return {
    filter: { _id: recordId, ...guard },
    update: { $max: { position: checkpoint }, ...(event === undefined ? {} : { $set: { event: toSeenEvent(event) } }) },
  };
}

/** Which writes met a document that was made meanwhile; rejects with the error where it is about anything else. */
function duplicates(error: unknown): readonly number[] {
  if (!(error instanceof mongo.MongoBulkWriteError)) throw error;
  const faults = [error.writeErrors].flat();
  const others = faults.length === 0 || faults.some(({ code }) => code !== duplicateKey);
  if (others || error.result.getWriteConcernError() !== undefined) throw error;
  return faults.map(({ index }) => index);
}

/** Guarded upserts. One fails where somebody made the document in the same instant: it is there now, and an update decides. */
async function writeGuarded(
  collection: ViewCollection,
  writes: readonly Write[],
  within: MongoConnection['within'],
): Promise<void> {
  const write = (some: readonly Write[], upsert: boolean): Promise<unknown> =>
    collection.bulkWrite(
      some.map((one) => ({ updateOne: { ...one, upsert } })),
      { ordered: false },
    );
  const missed = await within(write(writes, true).then(() => [], duplicates));
  if (missed.length > 0)
    await within(
      write(
        missed.flatMap((index) => writes[index] ?? []),
        false,
      ),
    );
}

/** Rejects with `read_store_unavailable` where no server answers, with `ConfigError` where the address cannot be read. */
export async function createMongoReadStore(options: MongoReadStoreOptions): Promise<ReadStore & ViewAdmin> {
  const { installation, logger } = options;
  const connection = await openMongo({
    ...options,
    appName: 'meerkat',
    words: { away: 'the read store is out of reach', back: 'the read store is back' },
    patienceMs,
    outOfReach,
  });
  const { database, within } = connection;
  const opened = new Map<string, Promise<ViewCollection>>();
  /** Records that came with documents which are about to be written: who writes need not ask again. */
  const lately = new Map<string, { readonly record: Stored; readonly atMs: number }>();

  const open = (view: AnyView): Promise<ViewCollection> => {
    const known = opened.get(view.name);
    if (known !== undefined) return within(known);
    const collection = database.collection<Stored>(collectionName(installation, view));
    const opening = openCollection(collection, view, logger).then(() => collection);
    opened.set(view.name, opening);
    opening.catch(() => opened.delete(view.name));
    // Indexes of a large view may take longer; whoever comes meanwhile is told to try again.
    return within(opening);
  };

  /** The collection may be renamed or dropped under a reader: then it is read again. */
  const read = <T>(work: () => Promise<T>): Promise<T> =>
    within(work().catch((error: unknown) => (isPassing(error) ? work() : Promise.reject(error))));

  const recordOf = async (view: AnyView): Promise<Stored | null> => {
    const collection = await open(view);
    const record = await read(() => collection.findOne({ _id: recordId }, { maxTimeMS: patienceMs }));
    // Somebody dropped the collection: the next call makes it again.
    if (record === null) opened.delete(view.name);
    return record;
  };

  const checkpointOf = async (view: AnyView): Promise<number | null> => (await recordOf(view))?.position ?? null;

  /** That the view is still the one whose documents were read: without a record, with more fields or behind, it is not. */
  const checkUnreplaced = async (view: AnyView, after: number | null): Promise<void> => {
    const reaches = (record: Stored): boolean => after === null || (record.position ?? -1) >= after;
    const known = lately.get(view.name);
    lately.delete(view.name);
    // Another who read it before may have left it here: it can tell that all is well, and never that it is not.
    const isKnown = known !== undefined && performance.now() - known.atMs < freshMs && reaches(known.record);
    const record = isKnown ? known.record : await recordOf(view);
    if (record === null || !reaches(record)) throw viewOutOfStep(view);
    if (record.fields?.some((field) => !view.fields.includes(field)) === true) {
      throw unavailable('view_of_newer_version', `The view ${view.name} was made by a newer version of Meerkat.`, 5);
    }
  };

  const advance = async (
    view: AnyView,
    checkpoint: number,
    after: number | null | undefined,
    event: SeenEvent | undefined,
  ): Promise<void> => {
    const collection = await open(view);
    const { filter, update } = advancing(checkpoint, after, event);
    const { matchedCount } = await within(collection.updateOne(filter, update));
    if (matchedCount === 1) return;
    opened.delete(view.name);
    throw viewOutOfStep(view);
  };

  /**
   * Few documents and the checkpoint in one round trip: in order, so that the checkpoint is written after all of them. False
   * where somebody made one in the same instant, and the server went no further, or the checkpoint's record is not the one
   * meant: whoever writes one by one finds out which.
   */
  const saveAtOnce = async (view: AnyView, writes: readonly Write[], advance: Write): Promise<boolean> => {
    const collection = await open(view);
    const operations = writes.map((one) => ({ updateOne: { ...one, upsert: true } }));
    const record = { updateOne: advance };
    const written = collection.bulkWrite([...operations, record], { ordered: true }).then(
      ({ matchedCount, upsertedCount }) => matchedCount + upsertedCount === writes.length + 1,
      (error: unknown) => duplicates(error).length === 0,
    );
    return within(written);
  };

  const makeIndexes = async (view: AnyView, built: AnyView): Promise<void> => {
    await within(ensureIndexes(await open(built), view), indexPatienceMs);
  };

  const find = async (view: AnyView, query: PageQuery): Promise<string[]> => {
    const collection = await open(view);
    const ranges = toRanges(query);
    const wanted = query.offset + query.limit;
    const texts: string[] = [];
    // To MongoDB a limit of 0 is none.
    if (query.limit <= 0) return texts;
    const isCut = ranges.length > 1;
    for (const range of ranges) {
      const limit = isCut ? wanted - texts.length : query.limit;
      const found = await read(() =>
        collection
          .find(range as mongo.Filter<Stored>, {
            projection: { _id: 0, document: 1 },
            sort: toSort(query.sort),
            skip: isCut ? 0 : query.offset,
            limit,
            batchSize: limit,
            maxTimeMS: patienceMs,
          })
          .toArray(),
      );
      for (const { document } of found) if (document !== undefined) texts.push(document);
      if (texts.length >= wanted) break;
    }
    return isCut ? texts.slice(query.offset) : texts;
  };

  const count = async (view: AnyView, { where }: PageQuery): Promise<number> => {
    const collection = await open(view);
    const filter = toFilter(where) as mongo.Filter<Stored>;
    return read(() => collection.countDocuments(filter, { maxTimeMS: patienceMs }));
  };

  return {
    backfiller: null,

    async save(view, writes, checkpoint, after, event) {
      const collection = await open(view);
      const prepared = writes.map((write) => toWrite(view, write));
      if (after !== undefined) await checkUnreplaced(view, after);
      if (checkpoint !== null && prepared.length <= writesWithCheckpoint) {
        if (await saveAtOnce(view, prepared, advancing(checkpoint, after, event))) return;
      }
      for (let start = 0; start < prepared.length; start += writesAtOnce) {
        await writeGuarded(collection, prepared.slice(start, start + writesAtOnce), within);
      }
      if (checkpoint !== null) await advance(view, checkpoint, after, event);
    },

    async get<D extends object>(view: AnyView, id: string) {
      const collection = await open(view);
      const found = await read(() => collection.findOne({ _id: id }, { maxTimeMS: patienceMs }));
      return found?.document === undefined ? null : (JSON.parse(found.document) as D);
    },

    async load<D extends object>(view: ViewDefinition<D>, ids: readonly string[]) {
      const collection = await open(view);
      const stored = new Map<string, DocumentWrite<D>>();
      const projection = { revision: 1, document: 1, position: 1, fields: 1 };
      for (let start = 0; start < ids.length; start += writesAtOnce) {
        const some = ids.slice(start, start + writesAtOnce);
        const found = await read(() =>
          collection.find({ _id: { $in: [...some, recordId] } }, { projection, maxTimeMS: patienceMs }).toArray(),
        );
        for (const one of found) {
          const { _id, revision = 0, document } = one;
          if (typeof _id !== 'string') {
            lately.set(view.name, { record: one, atMs: performance.now() });
            continue;
          }
          stored.set(_id, { id: _id, revision, document: document === undefined ? null : (JSON.parse(document) as D) });
        }
      }
      return stored;
    },

    async page<D extends object>(view: AnyView, query: PageQuery) {
      const [texts, total] = await Promise.all([find(view, query), query.count ? count(view, query) : null]);
      return { documents: texts.map((text) => JSON.parse(text) as D), total };
    },

    checkpoint: checkpointOf,

    async seen(view) {
      const record = await recordOf(view);
      return typeof record?.position === 'number' ? { position: record.position, event: record.event ?? null } : null;
    },

    index: makeIndexes,

    async reset(view) {
      opened.delete(view.name);
      lately.delete(view.name);
      await within(database.collection(collectionName(installation, view)).drop());
    },

    async replace(view, built) {
      const [seen, seenByBuilt] = await Promise.all([checkpointOf(view), checkpointOf(built)]);
      if (seenByBuilt === null || (seen ?? -1) > seenByBuilt) {
        throw viewOutOfStep(view);
      }
      const names = [built, view].map((one) => collectionName(installation, one));
      const [from = '', to = ''] = names;
      await makeIndexes(view, built);
      // One step: documents, record and indexes move together. It waits for what is running on either collection.
      await within(database.renameCollection(from, to, { dropTarget: true, writeConcern }), renamePatienceMs);
      opened.delete(built.name);
      for (const one of [built, view]) lately.delete(one.name);
    },

    close: () => connection.close(),
  };
}

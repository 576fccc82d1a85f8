/**
 * A view as a collection of MongoDB: its documents, the tombstones of removed ones, and one record of the view itself with
 * its checkpoint. All in one collection, so that a rename moves them together.
 */
import { mongo } from 'mongoose';
import { sleep } from '#concurrency/sleep';
import { unavailable } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import { toIndexKeys } from './mongo-query.js';
import type { AnyView, SeenEvent } from './read-store.js';
import { partOfName, type IndexedValue } from './indexed-fields.js';

/** What lies in a view's collection: a document, a tombstone or the record. */
export interface Stored {
  /** Documents have a text; the record has 0, which no text equals. */
  readonly _id: string | 0;
  readonly revision?: number;
  readonly live?: true;
  /** The document's JSON, to the byte. */
  readonly document?: string;
  /** The searched fields. */
  readonly f?: Readonly<Record<string, IndexedValue>>;
  /** The threes of letters in the searched texts. */
  readonly t?: readonly number[];
  readonly removedAt?: Date;
  /** Of the record: which fields the documents' `f` holds, and of which texts their `t`. */
  readonly fields?: readonly string[];
  /** Of the record: up to which position the view has seen the events. */
  readonly position?: number | null;
  /** Of the record: the last event that the view was made of. */
  readonly event?: SeenEvent;
}

/** A collection was renamed or dropped while it was used (QueryPlanKilled, CursorNotFound, NamespaceNotFound). */
const passingCodes: readonly unknown[] = [175, 43, 26];

export const isPassing = (error: unknown): boolean =>
  error instanceof mongo.MongoError && passingCodes.includes(error.code);

export type ViewCollection = mongo.Collection<Stored>;

export const recordId = 0;

/** A stale write that comes later than this after its document's removal could bring it back. */
const tombstoneSeconds = 7 * 86_400;

export function collectionName(installation: string, view: AnyView): string {
  return `${installation}.view_${partOfName(view.name)}`;
}

/** What the documents hold beside their text, as the record names it. */
export const heldFields = ({ fields, searched = [] }: AnyView): readonly string[] => [
  ...fields,
  ...searched.map((field) => `${field}:text`),
];

const isSearched = ({ searched = [], isBuild }: AnyView): boolean => isBuild !== true && searched.length > 0;

const indexesOf = (view: AnyView): mongo.IndexDescription[] => [
  ...toIndexKeys(view).map((key) => ({ key })),
  ...(isSearched(view) ? [{ key: { t: 1 }, sparse: true }] : []),
  { key: { removedAt: 1 }, sparse: true, expireAfterSeconds: tombstoneSeconds },
];

/**
 * The view's record, made where there is none. null: somebody makes it, or drops it, in this very moment.
 *
 * A collection is made by its indexes, never by its first document: some servers hang where one process writes what another
 * makes the indexes of.
 */
async function findRecord(collection: ViewCollection, view: AnyView): Promise<Stored | null> {
  const found = await collection.findOne({ _id: recordId });
  if (found !== null) return found;
  await collection.createIndexes(indexesOf(view));
  const made = await collection.findOneAndUpdate(
    { _id: recordId },
    { $setOnInsert: { fields: heldFields(view), position: null } },
    { upsert: true, returnDocument: 'after' },
  );
  // Of several that make it at once some servers tell one only what it is.
  return made ?? (await collection.findOne({ _id: recordId }));
}

/** Makes what is missing; `tell` is told how many. */
export async function ensureIndexes(
  collection: ViewCollection,
  view: AnyView,
  tell: (missing: number) => void = () => undefined,
): Promise<void> {
  const present = new Set((await collection.listIndexes().toArray()).map(({ key }) => JSON.stringify(key)));
  const missing = indexesOf(view).filter(({ key }) => !present.has(JSON.stringify(key)));
  if (missing.length === 0) return;
  tell(missing.length);
  await collection.createIndexes(missing);
}

const openTries = 5;

/** The view's collection with its record and indexes. One that lacks a searched field is dropped: it comes anew from the events. */
export async function openCollection(collection: ViewCollection, view: AnyView, logger: Logger): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      if (await openOnce(collection, view, logger)) return;
      if (tries >= openTries) throw unavailable('read_store_unavailable', `The view ${view.name} comes and goes.`);
    } catch (error) {
      // Another process dropped or renamed it in this very moment.
      if (!isPassing(error) || tries >= openTries) throw error;
    }
    await sleep(tries * 20);
  }
}

/** False where its record was not to be had. */
async function openOnce(collection: ViewCollection, view: AnyView, logger: Logger): Promise<boolean> {
  const record = await findRecord(collection, view);
  if (record === null) return false;
  const known = record.fields ?? [];
  if (heldFields(view).every((field) => known.includes(field))) {
    await ensureIndexes(collection, view, (indexes) => {
      // One that has seen nothing is new: another process may be making them too.
      if (typeof record.position === 'number')
        logger.warn({ view: view.name, indexes }, 'indexes are missing; making them again');
    });
    return true;
  }
  logger.warn({ view: view.name }, 'the view has gained a field; it is made anew from the events');
  await collection.drop();
  return openOnce(collection, view, logger);
}

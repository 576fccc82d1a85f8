/** The open collections of a MongoDB read store, and the records of their views. */
import type { MongoConnection } from '#mongo/connection';
import { unavailable } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import {
  collectionName,
  heldFields,
  isPassing,
  openCollection,
  recordId,
  type Stored,
  type ViewCollection,
} from './mongo-view.js';
import { viewOutOfStep, type AnyView } from './read-store.js';

/** Each round trip is given up after this long. */
export const patienceMs = 5_000;
/** A record read so recently counts as current: a writer that read again could be overtaken before its write just as well. */
const freshMs = 100;

export interface ViewCollections {
  open(view: AnyView): Promise<ViewCollection>;
  /** Opens the collection again at its next use. */
  forget(view: AnyView): void;
  /** Tries again once where the collection is renamed or dropped under a reader. */
  read<T>(work: () => Promise<T>): Promise<T>;
  recordOf(view: AnyView): Promise<Stored | null>;
  /** Keeps a record that came with documents about to be written: their writer need not read it again. */
  noteRecord(view: AnyView, record: Stored): void;
  forgetRecord(view: AnyView): void;
  /** Rejects where the view is not the one whose documents were read at `after`: it has no record, more fields or is behind. */
  checkUnreplaced(view: AnyView, after: number | null): Promise<void>;
}

export function createViewCollections(
  { database, within }: Pick<MongoConnection, 'database' | 'within'>,
  installation: string,
  logger: Logger,
): ViewCollections {
  const opened = new Map<string, Promise<ViewCollection>>();
  const recent = new Map<string, { readonly record: Stored; readonly atMs: number }>();

  const open = (view: AnyView): Promise<ViewCollection> => {
    const known = opened.get(view.name);
    if (known !== undefined) return within(known);
    const collection = database.collection<Stored>(collectionName(installation, view));
    const opening = openCollection(collection, view, logger).then(() => collection);
    opened.set(view.name, opening);
    opening.catch(() => opened.delete(view.name));
    // Indexes of a large view may take longer; callers are asked to try again meanwhile.
    return within(opening);
  };

  const read = <T>(work: () => Promise<T>): Promise<T> =>
    within(work().catch((error: unknown) => (isPassing(error) ? work() : Promise.reject(error))));

  const recordOf = async (view: AnyView): Promise<Stored | null> => {
    const collection = await open(view);
    const record = await read(() => collection.findOne({ _id: recordId }, { maxTimeMS: patienceMs }));
    // The collection was dropped: the next call creates it again.
    if (record === null) opened.delete(view.name);
    return record;
  };

  return {
    open,
    read,
    recordOf,

    forget(view) {
      opened.delete(view.name);
      recent.delete(view.name);
    },

    noteRecord: (view, record) => void recent.set(view.name, { record, atMs: performance.now() }),
    forgetRecord: (view) => void recent.delete(view.name),

    async checkUnreplaced(view, after) {
      const reaches = (record: Stored): boolean => after === null || (record.position ?? -1) >= after;
      const known = recent.get(view.name);
      recent.delete(view.name);
      // Another caller may have left it here earlier: it can prove that the view is unreplaced, never that it was replaced.
      const isKnown = known !== undefined && performance.now() - known.atMs < freshMs && reaches(known.record);
      const record = isKnown ? known.record : await recordOf(view);
      if (record === null || !reaches(record)) throw viewOutOfStep(view);
      if (record.fields?.some((field) => !heldFields(view).includes(field)) === true) {
        throw unavailable('view_of_newer_version', `The view ${view.name} was made by a newer version of Meerkat.`, 5);
      }
    },
  };
}

/** Writes of the read store in MongoDB: upserts that are guarded by revisions, and checkpoints that never move back. */
import { mongo } from 'mongoose';
import type { MongoConnection } from '#mongo/connection';
import { AppError } from '#runtime/errors';
import { toFields } from './mongo-query.js';
import { threesOfDocument } from './mongo-texts.js';
import { recordId, type Stored, type ViewCollection } from './mongo-view.js';
import type { AnyView, DocumentWrite, SeenEvent } from './read-store.js';

/** MongoDB takes documents up to 16 MiB; the rest of what is stored with the text is small. */
const largestBytes = 16 * 1_024 * 1_024 - 64 * 1_024;
/** In a list: its type, its place as text and four bytes. */
const bytesOfThree = 12;
const duplicateKey = 11_000;

const toSeenEvent = ({ stream, revision, id, position }: SeenEvent): SeenEvent => ({ stream, revision, id, position });

export type Write = Extract<mongo.AnyBulkWriteOperation<Stored>, { updateOne: unknown }>['updateOne'];

/**
 * An upsert that keeps what is there at the same or a later revision. The guard stands in the update, not in the filter: a
 * filter on the id alone is the shortest way to a document, and an upsert does not try to make one that is there.
 */
function guarded(id: string, revision: number, document: mongo.BSON.Document): Write {
  const isOlder = { $lt: ['$revision', revision] };
  return { filter: { _id: id }, update: [{ $replaceWith: { $cond: [isOlder, document, '$$ROOT'] } }] };
}

export function toWrite(view: AnyView, { id, revision, document }: DocumentWrite<object>): Write {
  if (document === null) {
    // The server's clock: tombstones are dropped by it.
    return guarded(id, revision, { _id: { $literal: id }, revision: { $literal: revision }, removedAt: '$$NOW' });
  }
  const text = JSON.stringify(document);
  const f = toFields(view, document);
  const t = threesOfDocument(view, document);
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(f)) + (t?.length ?? 0) * bytesOfThree;
  if (bytes > largestBytes) {
    throw new AppError(
      'SERVER_ERROR',
      'document_too_large',
      `The document ${id} of the view ${view.name} has ${bytes} bytes; MongoDB takes ${largestBytes}.`,
    );
  }
  const stored: Stored = { _id: id, revision, live: true, document: text, f, ...(t !== null && { t }) };
  // Nothing in it is read as an expression.
  return guarded(id, revision, { $literal: stored });
}

/** Moves a view's checkpoint forward, never back, as long as the view has not been replaced by one behind `after`. */
export function advancing(checkpoint: number, after: number | null | undefined, event: SeenEvent | undefined): Write {
  const guard = after === undefined || after === null ? {} : { position: { $gte: after } };
  return {
    filter: { _id: recordId, ...guard },
    update: { $max: { position: checkpoint }, ...(event === undefined ? {} : { $set: { event: toSeenEvent(event) } }) },
  };
}

/** Indexes of the writes whose document was created meanwhile; throws any other error. */
export function duplicates(error: unknown): readonly number[] {
  if (!(error instanceof mongo.MongoBulkWriteError)) throw error;
  const faults = [error.writeErrors].flat();
  const others = faults.length === 0 || faults.some(({ code }) => code !== duplicateKey);
  if (others || error.result.getWriteConcernError() !== undefined) throw error;
  return faults.map(({ index }) => index);
}

/** Guarded upserts. One fails where another process creates the document in the same instant: then an update decides. */
export async function writeGuarded(
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

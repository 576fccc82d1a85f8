/**
 * Snapshots in MongoDB: contents in GridFS, each once per organisation, beside a document that says which snapshots name
 * it. Needs no transactions. A name is added to, and the last one taken from, a document in one atomic step each; what a
 * crash leaves in between keeps too much, never too little, and is swept.
 */
import { Readable } from 'node:stream';
import { mongo } from 'mongoose';
import { openMongo, type MongoConnection } from '#mongo/connection';
import { AppError, unavailable } from '#runtime/errors';
import { timeOfId } from '#runtime/ids';
import type { Logger } from '#runtime/logger';
import { createLooks } from './looks.js';
import { packed, unpacked } from './packed-body.js';
import { parseFacts } from './snapshot-facts.js';
import { keptSince, type Retention, type Snapshot, type Snapshots, type OlderSnapshots } from './snapshots.js';

export interface MongoSnapshotsOptions {
  /** `mongodb://…`; its path names the database, `meerkat` where it has none. */
  readonly url: string;
  /** Prefix of the collections: several installations may share a database. */
  readonly installation: string;
  /** Names the collections: pages have `snapshot`. */
  readonly kind?: 'snapshot' | 'screenshot';
  readonly retention: Retention;
  readonly logger: Logger;
}

/** Each round trip is given up after this long; a content of megabytes may take several. */
const patienceMs = 10_000;
/** What is half done this long after it was begun, nobody finishes any more. */
const abandonedMs = 3_600_000;
const sweptAtOnce = 200;
const saveRounds = 5;

interface KeptDocument {
  readonly _id: string;
  readonly taskId: string;
  readonly takenAt: string;
  /** The snapshot as text: its headers may have names that MongoDB reads as paths. */
  readonly facts: string;
}

interface ContentDocument {
  /** Organisation and hash. */
  readonly _id: string;
  readonly file: mongo.ObjectId;
  /** Ids of the snapshots that name it. */
  readonly names: readonly string[];
}

const outOfReach = (cause: unknown): AppError =>
  unavailable('snapshots_unavailable', 'The store of snapshots does not answer.', 5, cause);

const contentIdOf = ({ organizationId, contentHash }: Snapshot): string => `${organizationId}:${contentHash}`;
const factsOf = ({ facts }: KeptDocument): Snapshot | null => parseFacts(facts);
const isDuplicate = (error: unknown): boolean => error instanceof mongo.MongoServerError && error.code === 11_000;

class MongoSnapshots implements Snapshots {
  readonly #mongo: MongoConnection;
  readonly #retention: Retention;
  readonly #kept: mongo.Collection<KeptDocument>;
  readonly #contents: mongo.Collection<ContentDocument>;
  readonly #files: mongo.GridFSBucket;
  readonly #isLookDue: (taskId: string) => boolean;

  constructor(connection: MongoConnection, { installation, retention, kind = 'snapshot' }: MongoSnapshotsOptions) {
    const { database } = connection;
    this.#mongo = connection;
    this.#retention = retention;
    this.#isLookDue = createLooks(retention);
    this.#kept = database.collection(`${installation}.${kind}s`);
    this.#contents = database.collection(`${installation}.${kind}_contents`);
    this.#files = new mongo.GridFSBucket(database, { bucketName: `${installation}.${kind}_bytes` });
  }

  async prepare(): Promise<void> {
    await this.#mongo.within(this.#kept.createIndex({ taskId: 1, takenAt: -1, _id: -1 }));
    await this.#mongo.within(this.#kept.createIndex({ takenAt: 1 }));
    await this.#mongo.within(this.#contents.createIndex({ file: 1 }));
  }

  async save(snapshot: Snapshot, body: Uint8Array): Promise<void> {
    const { id, taskId, takenAt } = snapshot;
    await this.#nameContent(snapshot, body);
    const facts = JSON.stringify(snapshot);
    await this.#mongo.within(
      this.#kept.updateOne({ _id: id }, { $setOnInsert: { taskId, takenAt, facts } }, { upsert: true }),
    );
    await this.#letGoBeyond(taskId);
  }

  async list(taskId: string, limit: number): Promise<readonly Snapshot[]> {
    const most = Math.min(limit, this.#retention.keepCount);
    const newest = this.#kept
      .find({ taskId: String(taskId) }, { sort: { takenAt: -1, _id: -1 }, limit: most })
      .toArray();
    return (await this.#mongo.within(newest)).map(factsOf).filter((snapshot) => snapshot !== null);
  }

  async read(taskId: string, id: string) {
    const found = await this.#mongo.within(this.#kept.findOne({ _id: String(id), taskId: String(taskId) }));
    if (found === null) return null;
    const snapshot = factsOf(found);
    if (snapshot === null) return null;
    const content = await this.#mongo.within(this.#contents.findOne({ _id: contentIdOf(snapshot) }));
    const stored = content === null ? null : await this.#mongo.within(this.#bytesOf(content.file));
    const body = stored === null ? null : await unpacked(stored, snapshot);
    return body === null ? null : { snapshot, body };
  }

  async forget(taskId: string, older?: OlderSnapshots): Promise<void> {
    const which =
      older === undefined
        ? {}
        : { takenAt: { $lt: String(older.takenBefore) }, _id: { $nin: older.except.map(String) } };
    await this.#letGo(await this.#mongo.within(this.#kept.find({ taskId: String(taskId), ...which }).toArray()));
  }

  async sweep(nowMs: number): Promise<number> {
    const since = keptSince(nowMs, this.#retention);
    let gone = 0;
    for (;;) {
      const old = await this.#mongo.within(
        this.#kept.find({ takenAt: { $lt: since } }, { limit: sweptAtOnce }).toArray(),
      );
      await this.#letGo(old);
      gone += old.length;
      if (old.length < sweptAtOnce) break;
    }
    await this.#sweepNames(nowMs - abandonedMs);
    await this.#sweepFiles(nowMs - abandonedMs);
    return gone;
  }

  async close(): Promise<void> {
    await this.#mongo.close();
  }

  /** Lets go of what the task has too many of, now and then. */
  async #letGoBeyond(taskId: string): Promise<void> {
    const { keepCount } = this.#retention;
    if (!this.#isLookDue(taskId)) return;
    const beyond = this.#kept.find({ taskId }, { sort: { takenAt: -1, _id: -1 }, skip: keepCount }).toArray();
    await this.#letGo(await this.#mongo.within(beyond));
  }

  /** Adds the snapshot's name to its content, which is stored where it is not there. */
  async #nameContent(snapshot: Snapshot, body: Uint8Array): Promise<void> {
    const _id = contentIdOf(snapshot);
    for (let round = 0; round < saveRounds; round += 1) {
      const named = await this.#mongo.within(this.#contents.updateOne({ _id }, { $addToSet: { names: snapshot.id } }));
      if (named.matchedCount === 1) return;
      const file = await this.#store(_id, await packed(body));
      try {
        await this.#mongo.within(this.#contents.insertOne({ _id, file, names: [snapshot.id] }));
        return;
      } catch (error) {
        // Somebody stored the same content in the same instant: that one is named in the next round.
        if (error instanceof AppError && isDuplicate(error.cause)) await this.#dropFile(file);
        else throw error;
      }
    }
    throw unavailable('snapshots_unavailable', 'The page could not be kept: its content comes and goes.', 1);
  }

  async #store(name: string, bytes: Uint8Array): Promise<mongo.ObjectId> {
    const upload = this.#files.openUploadStream(name);
    const stored = new Promise<void>((resolve, reject) => {
      Readable.from([Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)])
        .pipe(upload)
        .once('finish', resolve)
        .once('error', reject);
    });
    await this.#mongo.within(stored);
    return upload.id;
  }

  /** null: the file is gone. */
  async #bytesOf(file: mongo.ObjectId): Promise<Uint8Array | null> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of this.#files.openDownloadStream(file)) chunks.push(chunk as Buffer);
    } catch (error) {
      if (error instanceof mongo.MongoRuntimeError) return null; // no such file, or chunks of it are missing
      throw error;
    }
    return Buffer.concat(chunks);
  }

  /** The snapshots first, then their names, then contents that have none: a crash in between leaves too much, and no gap. */
  async #letGo(kept: readonly KeptDocument[]): Promise<void> {
    if (kept.length === 0) return;
    await this.#mongo.within(this.#kept.deleteMany({ _id: { $in: kept.map(({ _id }) => _id) } }));
    const names = Map.groupBy(kept, (one) => {
      const snapshot = factsOf(one);
      return snapshot === null ? null : contentIdOf(snapshot);
    });
    for (const [content, named] of names) {
      // Whose content is not known any more is swept later.
      if (content === null) continue;
      await this.#takeNames(
        content,
        named.map(({ _id }) => _id),
      );
    }
  }

  async #takeNames(_id: string, names: readonly string[]): Promise<void> {
    await this.#mongo.within(this.#contents.updateOne({ _id }, { $pull: { names: { $in: [...names] } } }));
    const gone = await this.#mongo.within(this.#contents.findOneAndDelete({ _id, names: { $size: 0 } }));
    if (gone !== null) await this.#dropFile(gone.file);
  }

  async #dropFile(file: mongo.ObjectId): Promise<void> {
    try {
      await this.#mongo.within(this.#files.delete(file));
    } catch (error) {
      // Somebody else dropped it.
      if (!(error instanceof AppError && error.cause instanceof mongo.MongoRuntimeError)) throw error;
    }
  }

  /** Names of snapshots that were never written, or are gone. */
  async #sweepNames(beforeMs: number): Promise<void> {
    for await (const { _id, names } of this.#contents.find({}, { batchSize: sweptAtOnce })) {
      const there = await this.#mongo.within(
        this.#kept.find({ _id: { $in: [...names] } }, { projection: { _id: 1 } }).toArray(),
      );
      const known = new Set(there.map((kept) => kept._id));
      const lost = names.filter((name) => !known.has(name) && timeOfId(name) < beforeMs);
      if (lost.length > 0 || names.length === 0) await this.#takeNames(_id, lost);
    }
  }

  /** Files whose content was never named. */
  async #sweepFiles(beforeMs: number): Promise<void> {
    for await (const { _id, uploadDate } of this.#files.find({}, { batchSize: sweptAtOnce })) {
      if (uploadDate.getTime() >= beforeMs) continue;
      if ((await this.#mongo.within(this.#contents.findOne({ file: _id }))) === null) await this.#dropFile(_id);
    }
  }
}

/** Rejects with `snapshots_unavailable` where no server answers, with `ConfigError` where the address cannot be read. */
export async function createMongoSnapshots(options: MongoSnapshotsOptions): Promise<Snapshots> {
  const connection = await openMongo({
    ...options,
    appName: 'meerkat-snapshots',
    words: { away: 'the store of snapshots is out of reach', back: 'the store of snapshots is back' },
    patienceMs,
    outOfReach,
  });
  const snapshots = new MongoSnapshots(connection, options);
  try {
    await snapshots.prepare();
  } catch (error) {
    await snapshots.close();
    throw error;
  }
  return snapshots;
}

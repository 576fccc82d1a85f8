/**
 * Snapshots in a folder that processes of several machines may share. Each snapshot holds its content by a hard link, so
 * the file system itself counts who names a content: none can be lost to a race, and one that nobody links any more is
 * seen by its count.
 */
import { randomUUID } from 'node:crypto';
import { constants, link, mkdir, open, readdir, rename, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from '#runtime/config';
import { unavailable } from '#runtime/errors';
import { isId } from '#runtime/ids';
import { packed, unpacked } from './packed-body.js';
import { parseFacts } from './snapshot-facts.js';
import { keptSince, type Retention, type Snapshot, type Snapshots, type OlderSnapshots } from './snapshots.js';

/** What is half done this long after it was begun, nobody finishes any more. */
const abandonedMs = 3_600_000;
/** A snapshot whose folder another process clears away in the same instant is written again. */
const saveRounds = 5;

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

/** What a step comes to; null where one of these faults says that there is nothing to do. */
async function unless<T>(codes: readonly string[], step: Promise<T>): Promise<T | null> {
  try {
    return await step;
  } catch (error) {
    if (codes.includes(String(codeOf(error)))) return null;
    throw error;
  }
}

/** `ELOOP`: a link, which this product never makes. */
const missing = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/** null where it is anything but a file: a pipe or a device that somebody put there would be read for ever. */
async function readRegular(path: string): Promise<Buffer | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return (await file.stat()).isFile() ? await file.readFile() : null;
  } finally {
    await file.close();
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await unless(missing, readdir(folder))) ?? [];
}

/** `1767268800000-snp_….json`: sorted by name they are sorted by time. */
const stemOf = ({ takenAt, id }: Snapshot): string => `${String(Date.parse(takenAt)).padStart(15, '0')}-${id}`;
const timeOfStem = (stem: string): number => Number(stem.slice(0, 15));

interface Kept {
  readonly stem: string;
  /** Without it a content was linked, and nothing more. */
  readonly isWhole: boolean;
}

function keptOf(names: readonly string[]): readonly Kept[] {
  const stems = new Set(names.map((name) => name.slice(0, name.lastIndexOf('.'))));
  const all = new Set(names);
  return [...stems]
    .toSorted()
    .toReversed()
    .map((stem) => ({ stem, isWhole: all.has(`${stem}.json`) }));
}

function isOlder(stem: string, { takenBefore, except }: OlderSnapshots): boolean {
  return timeOfStem(stem) < Date.parse(takenBefore) && !except.some((id) => stem.endsWith(`-${id}`));
}

class Folder implements Snapshots {
  readonly #root: string;
  readonly #retention: Retention;

  constructor(root: string, retention: Retention) {
    this.#root = root;
    this.#retention = retention;
  }

  async save(snapshot: Snapshot, body: Uint8Array): Promise<void> {
    try {
      for (let round = 1; ; round += 1) {
        const done = await unless(round < saveRounds ? missing : [], this.#write(snapshot, body));
        if (done !== null) return;
      }
    } catch (error) {
      throw unavailable('snapshots_unavailable', 'The page could not be kept.', 5, error);
    }
  }

  async list(taskId: string, limit: number): Promise<readonly Snapshot[]> {
    const found: Snapshot[] = [];
    for (const { stem, isWhole } of await this.#keptOf(taskId)) {
      if (found.length >= limit) break;
      const snapshot = isWhole ? await this.#factsOf(taskId, stem) : null;
      if (snapshot !== null) found.push(snapshot);
    }
    return found;
  }

  async read(taskId: string, id: string) {
    if (!isId(id, 'snp')) return null;
    const kept = (await this.#keptOf(taskId)).find(({ stem, isWhole }) => isWhole && stem.endsWith(`-${id}`));
    const snapshot = kept === undefined ? null : await this.#factsOf(taskId, kept.stem);
    if (kept === undefined || snapshot === null) return null;
    const stored = await unless(missing, readRegular(join(this.#taskFolder(taskId), `${kept.stem}.zst`)));
    const body = stored === null ? null : await unpacked(stored, snapshot);
    return body === null ? null : { snapshot, body };
  }

  async forget(taskId: string, older?: OlderSnapshots): Promise<void> {
    for (const { stem } of await this.#keptOf(taskId)) {
      if (older === undefined || isOlder(stem, older)) await this.#letGo(taskId, stem);
    }
    if (older !== undefined) return;
    if (isId(taskId, 'ntf')) await unless([...missing, 'ENOTEMPTY', 'EEXIST'], rmdir(this.#taskFolder(taskId)));
  }

  async sweep(nowMs: number): Promise<number> {
    const since = Date.parse(keptSince(nowMs, this.#retention));
    const abandoned = nowMs - abandonedMs;
    let gone = 0;
    for (const taskId of await namesIn(join(this.#root, 'tasks'))) {
      for (const { stem, isWhole } of await this.#keptOf(taskId)) {
        const takenMs = timeOfStem(stem);
        if (takenMs >= since && (isWhole || takenMs >= abandoned)) continue;
        await this.#letGo(taskId, stem);
        if (isWhole) gone += 1;
      }
    }
    for (const name of await namesIn(join(this.#root, 'unfinished'))) {
      if (timeOfStem(name) < abandoned) await unless(missing, unlink(join(this.#root, 'unfinished', name)));
    }
    await this.#sweepContents();
    return gone;
  }

  async close(): Promise<void> {}

  #taskFolder(taskId: string): string {
    return join(this.#root, 'tasks', taskId);
  }

  #contentFile({ organizationId, contentHash }: Snapshot): string {
    const digest = contentHash.slice(contentHash.indexOf(':') + 1);
    return join(this.#root, 'contents', organizationId, digest.slice(0, 2), `${digest}.zst`);
  }

  async #keptOf(taskId: string): Promise<readonly Kept[]> {
    return isId(taskId, 'ntf') ? keptOf(await namesIn(this.#taskFolder(taskId))) : [];
  }

  async #factsOf(taskId: string, stem: string): Promise<Snapshot | null> {
    const text = await unless(missing, readRegular(join(this.#taskFolder(taskId), `${stem}.json`)));
    return text === null ? null : parseFacts(text.toString('utf8'));
  }

  /** Rejects with ENOENT where another process clears the task's folder away meanwhile. */
  async #write(snapshot: Snapshot, body: Uint8Array): Promise<true> {
    const folder = this.#taskFolder(snapshot.taskId);
    const stem = stemOf(snapshot);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const reference = join(folder, `${stem}.zst`);
    const content = this.#contentFile(snapshot);
    // Too many links to one file: the next ones link a new file of the same content.
    const isLinked =
      (await unless(
        [...missing, 'EMLINK', 'EEXIST'],
        link(content, reference).then(() => true),
      )) ?? false;
    if (!isLinked) {
      const unfinished = await this.#unfinished(await packed(body));
      await mkdir(dirname(content), { recursive: true, mode: 0o700 });
      await unless(['EEXIST'], link(unfinished, reference));
      await rename(unfinished, content);
    }
    const facts = await this.#unfinished(JSON.stringify(snapshot));
    await rename(facts, join(folder, `${stem}.json`));
    const beyond = (await this.#keptOf(snapshot.taskId)).filter(({ isWhole }) => isWhole);
    for (const old of beyond.slice(this.#retention.keepCount)) await this.#letGo(snapshot.taskId, old.stem);
    return true;
  }

  async #unfinished(bytes: Uint8Array | string): Promise<string> {
    const file = join(this.#root, 'unfinished', `${String(Date.now()).padStart(15, '0')}-${randomUUID()}`);
    await writeFile(file, bytes, { flag: 'wx', mode: 0o600 });
    return file;
  }

  /** The facts first: without them a snapshot is not there. */
  async #letGo(taskId: string, stem: string): Promise<void> {
    const snapshot = await this.#factsOf(taskId, stem);
    await unless(missing, unlink(join(this.#taskFolder(taskId), `${stem}.json`)));
    await unless(missing, unlink(join(this.#taskFolder(taskId), `${stem}.zst`)));
    if (snapshot !== null) await this.#dropUnlinked(this.#contentFile(snapshot));
  }

  /** A snapshot that links the content at this instant has it under its own name. */
  async #dropUnlinked(file: string): Promise<void> {
    const found = await unless(missing, stat(file));
    if (found?.nlink === 1) await unless(missing, unlink(file));
  }

  async #sweepContents(): Promise<void> {
    const contents = join(this.#root, 'contents');
    for (const organization of await namesIn(contents)) {
      for (const group of await namesIn(join(contents, organization))) {
        for (const name of await namesIn(join(contents, organization, group))) {
          await this.#dropUnlinked(join(contents, organization, group, name));
        }
      }
    }
  }
}

/** Not by `recursive`: that never comes back where a file system answers ENOENT to it, as /proc does. */
async function makeFolder(path: string): Promise<void> {
  const made = await unless(
    [...missing, 'EEXIST'],
    mkdir(path, { mode: 0o700 }).then(() => true),
  );
  if (made !== null || (await unless(missing, stat(path))) !== null || dirname(path) === path) return;
  await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o700 });
}

/** Rejects with `ConfigError` where the folder cannot be written, or its file system has no hard links. */
export async function createFileSnapshots(root: string, retention: Retention): Promise<Snapshots> {
  const unfinished = join(root, 'unfinished');
  const probe = join(unfinished, `${String(Date.now()).padStart(15, '0')}-${randomUUID()}`);
  try {
    await makeFolder(unfinished);
    await writeFile(probe, '', { flag: 'wx', mode: 0o600 });
    await link(probe, `${probe}-linked`);
    await Promise.all([unlink(probe), unlink(`${probe}-linked`)]);
  } catch (error) {
    throw new ConfigError([
      `SNAPSHOT_URL: ${root} cannot be used (${String(error)}); name a folder that can be written, on a file system with hard links.`,
    ]);
  }
  return new Folder(root, retention);
}

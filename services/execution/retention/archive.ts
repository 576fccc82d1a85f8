/** Files of folded days: their events as they were stored, one a line, compressed, a file per task and day. */
import { randomBytes } from 'node:crypto';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { PassThrough } from 'node:stream';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { RecordedEvent } from '#event-store/event-store';

export const archiveKinds = ['runs', 'deliveries'] as const;
export type ArchiveKind = (typeof archiveKinds)[number];

export interface ArchivedDay {
  readonly taskId: string;
  /** `2026-11-24` */
  readonly day: string;
  readonly kind: ArchiveKind;
}

/** `<yyyy>/<mm>/<dd>/<task>.jsonl.zst`, of deliveries `<task>.deliveries.jsonl.zst`. */
export function archivePath({ taskId, day, kind }: ArchivedDay): string {
  return join(...day.split('-'), `${taskId}${kind === 'runs' ? '' : '.deliveries'}.jsonl.zst`);
}

/** An event as a line: what the hash of a fold is over. */
export function archiveLine({ stream, revision, position, id, type, version, data, metadata }: RecordedEvent): string {
  return `${JSON.stringify({ stream, revision, position, id, type, version, data, metadata })}\n`;
}

/** null: the folder is there and can be written; else what is wrong. */
export async function archiveFault(folder: string): Promise<string | null> {
  try {
    if (!(await stat(folder)).isDirectory()) return `${folder} is no folder`;
    await access(folder, constants.W_OK);
    return null;
  } catch {
    return `${folder} is no folder that can be written; make it, or give this process the right to`;
  }
}

/** A day on its way to the archive. */
export interface ArchiveWriter {
  write(line: string): Promise<void>;
  /** It is on disk under its name when this resolves. */
  finish(): Promise<void>;
  /** Nothing is left of it. */
  abandon(): Promise<void>;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Folders that this process has written to. */
const tidied = new Set<string>();

/** One process folds: what was begun and not finished is of one that was killed. */
async function tidy(folder: string): Promise<void> {
  if (tidied.has(folder)) return;
  for (const name of await readdir(folder)) if (name.endsWith('.part')) await rm(join(folder, name), { force: true });
  tidied.add(folder);
}

/** Written beside its place, and moved there once it is on disk: what stands under its name is whole. */
export async function openArchiveFile(root: string, archived: ArchivedDay): Promise<ArchiveWriter> {
  const file = join(root, archivePath(archived));
  const folder = dirname(file);
  // The folder itself must be there: where it was not mounted, nothing may go elsewhere.
  const fault = await archiveFault(root);
  if (fault !== null) throw new Error(fault);
  await mkdir(folder, { recursive: true });
  await tidy(folder);
  const part = `${file}.${randomBytes(6).toString('hex')}.part`;
  const lines = new PassThrough({ highWaterMark: 256 * 1_024 });
  const written = pipeline(lines, createZstdCompress(), createWriteStream(part, { flush: true, mode: 0o640 }));
  // Awaited at the end; until then a rejection is not one that nobody handles.
  written.catch(() => lines.destroy());
  const abandon = async (): Promise<void> => {
    lines.destroy();
    await written.catch(() => undefined);
    await rm(part, { force: true });
  };
  return {
    async write(line) {
      if (lines.destroyed) await written;
      if (!lines.write(line)) await Promise.race([once(lines, 'drain'), written]);
    },
    async finish() {
      try {
        lines.end();
        await written;
        await rename(part, file);
        for (let inside = folder; inside.length >= root.length; inside = dirname(inside)) await syncFolder(inside);
      } catch (error) {
        await abandon();
        throw error;
      }
    },
    abandon,
  };
}

/** The lines of a day, without their ends. Rejects where there is no such file, or it is damaged. */
export async function* archivedLines(root: string, archived: ArchivedDay): AsyncGenerator<string> {
  const file = createReadStream(join(root, archivePath(archived)));
  const text = createZstdDecompress();
  const read = pipeline(file, text);
  read.catch(() => undefined);
  for await (const line of createInterface({ input: text, crlfDelay: Infinity })) yield line;
  await read;
}

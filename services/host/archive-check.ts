/** `meerkat archive`: the files of folded days, read and held against the folds, beside a running product or without one. */
import { createHash } from 'node:crypto';
import { statsStream, type FoldEvent } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { isAbsent } from '#runtime/absent-file';
import { ConfigError, type Config } from '#runtime/config';
import { reject } from '#runtime/errors';
import { archivedLines, archiveKinds, archivePath, type ArchivedDay } from '../execution/retention/archive.js';
import type { ArchiveChecked, ArchiveFault } from './cli/product.js';
import { lookAtEvents, toRecorded, type LookedAt } from './folded-history.js';

function folderOf({ archiveDir }: Config): string {
  if (archiveDir !== null) return archiveDir;
  throw new ConfigError(['ARCHIVE_DIR: must be set to the folder of the archive.']);
}

/** Each event of the day as a line of JSON, opened. Rejects with `not_archived` where there is no file of it. */
export async function readArchivedDay(
  config: Config,
  taskId: string,
  day: string,
  print: (line: string) => void,
): Promise<void> {
  const folder = folderOf(config);
  const events = await lookAtEvents(config);
  let files = 0;
  try {
    for (const kind of archiveKinds) {
      try {
        for await (const line of archivedLines(folder, { taskId, day, kind })) {
          const [opened] = await events.open([JSON.parse(line) as RecordedEvent]);
          if (opened !== undefined) print(JSON.stringify(opened));
        }
        files += 1;
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    }
  } finally {
    await events.close();
  }
  if (files === 0) throw reject('not_archived', `There is no file of ${taskId} for ${day} in ${folder}.`);
}

/** null: its task was purged, and the record of what was archived went with it. */
const foldOf = (opened: RecordedEvent): FoldEvent | null =>
  Object.keys(opened.data).length > 0 ? decodeEvent<FoldEvent>(opened) : null;

async function* foldsOf(events: LookedAt, taskId: string | null): AsyncGenerator<FoldEvent | null> {
  if (taskId !== null) {
    for await (const recorded of events.stream(statsStream(taskId))) {
      for (const opened of await events.open([recorded])) yield foldOf(opened);
    }
    return;
  }
  if (events.lastPosition === null) return;
  for await (const stretch of events.history.read(null, events.lastPosition)) {
    const folds = stretch.filter(({ stream }) => stream.startsWith(statsStream(''))).map(toRecorded);
    for (const opened of await events.open(folds)) yield foldOf(opened);
  }
}

async function faultOf(
  folder: string,
  archived: ArchivedDay,
  { events }: FoldEvent['data'],
): Promise<ArchiveFault['what'] | null> {
  const hash = createHash('sha256');
  try {
    for await (const line of archivedLines(folder, archived)) hash.update(`${line}\n`);
  } catch (error) {
    return isAbsent(error) ? 'gone' : 'damaged';
  }
  return hash.digest('hex') === events.hash ? null : 'differs';
}

/**
 * Calls `found` for each file that is not as its fold says. Days that were folded without an archive, or whose task was purged,
 * are counted apart.
 */
export async function verifyArchive(
  config: Config,
  taskId: string | null,
  found: (fault: ArchiveFault) => void,
): Promise<ArchiveChecked> {
  const folder = folderOf(config);
  const events = await lookAtEvents(config);
  let [days, unarchived, purged] = [0, 0, 0];
  try {
    for await (const fold of foldsOf(events, taskId)) {
      if (fold === null) {
        purged += 1;
        continue;
      }
      const { type, data } = fold;
      if (!data.events.archived) {
        unarchived += 1;
        continue;
      }
      days += 1;
      const kind = type === 'runs.folded' ? 'runs' : 'deliveries';
      const archived = { taskId: data.taskId, day: data.day, kind } as const;
      const what = await faultOf(folder, archived, data);
      if (what !== null) found({ what, task: data.taskId, day: data.day, file: archivePath(archived) });
    }
  } finally {
    await events.close();
  }
  return { days, unarchived, purged };
}

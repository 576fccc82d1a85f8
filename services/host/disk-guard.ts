/**
 * Refuses writes before the disk is full: a full disk leaves no room to end in order, or to make room. Refuses them too where
 * the data folder was taken away: what is written to files that nobody can reach any more is lost with the process.
 */
import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventStore } from '#event-store/event-store';
import { isAbsent } from '#runtime/absent-file';
import type { DiskSpace, DiskState } from '#runtime/disk-space';
import { unavailable } from '#runtime/errors';
import type { Logger } from '#runtime/logger';
import type { Snapshots } from '#snapshots/snapshots';

const mebibyte = 1_024 * 1_024;
export const fullBelowBytes = 64 * mebibyte;
export const nearlyFullBelowBytes = 512 * mebibyte;
/** Often enough that no burst of writes uses up the reserve in between. */
const everyMs = 500;

/** What a process without root's privileges may still write there. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export interface WatchedDisk extends DiskSpace {
  /** Measures now. */
  measure(): Promise<void>;
  stop(): void;
}

export function diskStateOf(freeBytes: number): DiskState {
  if (freeBytes < fullBelowBytes) return 'full';
  return freeBytes < nearlyFullBelowBytes ? 'nearly_full' : 'ok';
}

/** Device and number of a file: another one of the same name has others. null where there is none. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

const databases = ['events.db', 'bus.db', 'views.db', 'snapshots.db', 'screenshots.db'] as const;

/** The data folder and the databases in it, which are open by now. */
export interface WatchedFolder {
  freeBytes(): Promise<number>;
  /** Whether one of them was removed, moved or replaced since. Rejects where that cannot be told. */
  isGone(): Promise<boolean>;
}

export async function watchedFolder(path: string): Promise<WatchedFolder> {
  const paths = [path, ...databases.map((name) => join(path, name)).filter((file) => existsSync(file))];
  const identities = (): Promise<(string | null)[]> => Promise.all(paths.map(identityOf));
  const opened = await identities();
  return {
    freeBytes: () => freeBytesOf(path),
    isGone: async () => (await identities()).some((identity, index) => identity !== opened[index]),
  };
}

const said = {
  full: 'the disk is full: writes are refused until there is room',
  gone: 'the data folder or a database in it was removed, moved or replaced under this process: writes are refused; put the same files back, or stop this process and restore a backup',
  nearly_full: 'the disk is nearly full',
  ok: 'the disk has room again',
} as const satisfies Record<DiskState, string>;

/** A disk that cannot be measured counts as it was measured last. */
export async function watchDiskSpace(folder: WatchedFolder, logger: Logger): Promise<WatchedDisk> {
  let state: DiskState = 'ok';
  const measure = async (): Promise<void> => {
    const [isGone, free] = await Promise.all([
      folder.isGone().catch(() => false),
      folder.freeBytes().catch(() => null),
    ]);
    const measured = free === null ? state : diskStateOf(free);
    const now = isGone ? 'gone' : measured;
    if (now === state) return;
    const fields = isGone ? {} : { freeMegabytes: Math.floor((free ?? 0) / mebibyte) };
    if (now === 'full' || now === 'gone') logger.error(fields, said[now]);
    else if (now === 'nearly_full') logger.warn(fields, said[now]);
    else logger.info(fields, state === 'gone' ? 'the data folder is back' : said[now]);
    state = now;
  };
  await measure();
  const timer = setInterval(() => void measure(), everyMs).unref();
  return {
    get state() {
      return state;
    },
    measure,
    stop: () => clearInterval(timer),
  };
}

function refuseUnwritable(disk: DiskSpace): void {
  if (disk.state === 'gone') {
    throw unavailable(
      'data_folder_gone',
      'The data folder of this instance was removed or replaced while it ran: nothing can be stored until it is back.',
      30,
    );
  }
  if (disk.state !== 'full') return;
  throw unavailable('disk_full', 'The disk of this instance is full: nothing can be stored until there is room.', 30);
}

/** What is refused is tried again by its caller, or answered 503: nothing is lost. */
export function refusingUnwritable<Stores extends { readonly eventStore: EventStore }>(
  stores: Stores,
  disk: DiskSpace,
): Stores {
  const { eventStore } = stores;
  return {
    ...stores,
    eventStore: {
      ...eventStore,
      async append(...args) {
        refuseUnwritable(disk);
        return eventStore.append(...args);
      },
    },
  };
}

/** A run goes on without its page. */
export function snapshotsRefusingUnwritable(snapshots: Snapshots, disk: DiskSpace): Snapshots {
  return {
    async save(...args) {
      refuseUnwritable(disk);
      return snapshots.save(...args);
    },
    list: (...args) => snapshots.list(...args),
    read: (...args) => snapshots.read(...args),
    forget: (...args) => snapshots.forget(...args),
    sweep: (...args) => snapshots.sweep(...args),
    close: () => snapshots.close(),
  };
}

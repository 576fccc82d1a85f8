/** Refuses writes before the disk is full: a full disk leaves no room to end in order, or to make room. */
import { statfs } from 'node:fs/promises';
import type { EventStore } from '#event-store/event-store';
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

export function diskStateOf(freeBytes: number): DiskState {
  if (freeBytes < fullBelowBytes) return 'full';
  return freeBytes < nearlyFullBelowBytes ? 'nearly_full' : 'ok';
}

export interface WatchedDisk extends DiskSpace {
  /** Measures now. */
  measure(): Promise<void>;
  stop(): void;
}

/** A disk that cannot be measured counts as it was measured last. */
export async function watchDiskSpace(freeBytes: () => Promise<number>, logger: Logger): Promise<WatchedDisk> {
  let state: DiskState = 'ok';
  const measure = async (): Promise<void> => {
    const free = await freeBytes().catch(() => null);
    const now = free === null ? state : diskStateOf(free);
    if (now === state) return;
    const fields = { freeMegabytes: Math.floor((free ?? 0) / mebibyte) };
    if (now === 'full') logger.error(fields, 'the disk is full: writes are refused until there is room');
    else if (now === 'nearly_full') logger.warn(fields, 'the disk is nearly full');
    else logger.info(fields, 'the disk has room again');
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

function refuseWhenFull(disk: DiskSpace): void {
  if (disk.state !== 'full') return;
  throw unavailable('disk_full', 'The disk of this instance is full: nothing can be stored until there is room.', 30);
}

/** What is refused is tried again by its caller, or answered 503: nothing is lost. */
export function refusingWhenFull<Stores extends { readonly eventStore: EventStore }>(
  stores: Stores,
  disk: DiskSpace,
): Stores {
  const { eventStore } = stores;
  return {
    ...stores,
    eventStore: {
      ...eventStore,
      async append(...args) {
        refuseWhenFull(disk);
        return eventStore.append(...args);
      },
    },
  };
}

/** A run goes on without its page. */
export function snapshotsRefusingWhenFull(snapshots: Snapshots, disk: DiskSpace): Snapshots {
  return {
    async save(...args) {
      refuseWhenFull(disk);
      return snapshots.save(...args);
    },
    list: (...args) => snapshots.list(...args),
    read: (...args) => snapshots.read(...args),
    forget: (...args) => snapshots.forget(...args),
    sweep: (...args) => snapshots.sweep(...args),
    close: () => snapshots.close(),
  };
}

/** What is left on the disk that holds the data folder, as probes and writers see it. */

/** `full`: nothing is written any more, so that what runs can end in order and space can be made. */
export type DiskState = 'ok' | 'nearly_full' | 'full';

export interface DiskSpace {
  /** As measured last; `ok` where this process keeps nothing on a disk. */
  readonly state: DiskState;
}

export const DISK_SPACE = Symbol('DiskSpace');

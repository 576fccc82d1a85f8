/** What is left on the disk that holds the data folder, as probes and writers see it. */

/**
 * `full`: nothing is written any more, so that what runs can end in order and space can be made. `gone`: the data folder is no
 * longer the one that was opened, so that nothing written would be found again.
 */
export type DiskState = 'ok' | 'nearly_full' | 'full' | 'gone';

export interface DiskSpace {
  /** As measured last; `ok` where this process keeps nothing on a disk. */
  readonly state: DiskState;
}

export const DISK_SPACE = Symbol('DiskSpace');

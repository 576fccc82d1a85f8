/** What commands must know of the folder of embedded parts before they open it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, type Config } from '#runtime/config';
import { Refused } from './terminal.js';

/** The embedded event store is not there yet: opening it would found a new installation beside the one that is meant. */
export function refuseEmptyFolder({ eventStoreUrl, dataDir }: Config): void {
  if (eventStoreUrl !== 'sqlite' || existsSync(join(dataDir, 'events.db'))) return;
  throw new Refused(
    'not_set_up',
    `There is no instance in ${dataDir}. Set DATA_DIR to its folder, or start and set it up first.`,
  );
}

/** Whether a part could not be opened because a server runs on the folder. */
export function isInUse(error: unknown): boolean {
  return error instanceof ConfigError && error.faults.some((fault) => fault.includes('in use by another'));
}

/** An installation in the mode of this run. */
import { canFillDisk } from './full-disk.js';
import type { Installation, InstallationOptions } from './installation.js';
import { serversOfThisRun } from './servers.js';

/** Whether `breakEventStore` can be had here. */
export const canBreakEventStore = serversOfThisRun() !== null || canFillDisk;

/** As this run of the specs is meant: everything in one process, or services and replicas on the servers that are named. */
export async function createInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const servers = serversOfThisRun();
  if (servers === null) return (await import('./embedded.js')).embeddedInstallation(options);
  return (await import('./distributed.js')).distributedInstallation(servers, options);
}

/**
 * A disk that is full, made from outside: the kernel is set (RLIMIT_FSIZE, by `prlimit` of util-linux) so that no file of the
 * running process may reach beyond some bytes. From then on its writes fail as they do on a full disk, reads go on, and
 * the limit can be lifted again, as space is freed. Node.js ignores SIGXFSZ, so a failed write is an error and no death.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Not below the size of what is written in place; above all files of a process this small, appends fail. */
const fullAtBytes = 8_192;

/** Only Linux can limit a process that runs already. */
export const canFillDisk = process.platform === 'linux';

export async function fillDisk(pid: number): Promise<void> {
  // The soft limit alone: the hard one stays, so that the soft one can be lifted again.
  await run('prlimit', [`--pid=${pid}`, `--fsize=${fullAtBytes}:`]);
}

export async function freeDisk(pid: number): Promise<void> {
  await run('prlimit', [`--pid=${pid}`, '--fsize=unlimited:']);
}

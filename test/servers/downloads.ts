/** What servers are made of, fetched once by the package managers and kept in the user's cache folder. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const patienceMs = 5 * 60_000;

/** Something is missing on this machine; the message says what to do about it. */
export class MissingPart extends Error {}

const said = (error: unknown): string => {
  const { stderr, stdout, message } = error as { stderr?: string; stdout?: string; message: string };
  return ((stderr ?? '').trim() || (stdout ?? '').trim() || message).split('\n').slice(-12).join('\n');
};

/** Runs a tool to its end. Rejects with `MissingPart` and `advice` where there is none, else with what it said. */
export async function runTool(program: string, args: readonly string[], advice: string): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, args, { timeout: patienceMs, maxBuffer: 16 * 1024 * 1024 });
    return stdout + stderr;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') {
      throw new MissingPart(`\`${program}\` is not installed. ${advice}`, { cause: error });
    }
    throw new Error(`\`${program} ${args.join(' ')}\` failed. ${advice}\n${said(error)}`, { cause: error });
  }
}

function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'meerkat-servers');
}

/**
 * The folder `name` of the cache; filled by `fetch` in a folder beside it and renamed when it is whole, so that an
 * interrupted download leaves nothing half and two at once do no harm.
 */
export async function cached(name: string, fetch: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheFolder(), name);
  if (existsSync(folder)) return folder;
  await mkdir(cacheFolder(), { recursive: true });
  const scratch = await mkdtemp(join(cacheFolder(), '.partial-'));
  try {
    process.stderr.write(`fetching ${name} (once; kept in ${cacheFolder()})\n`);
    await fetch(scratch);
    await rename(scratch, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return folder;
}

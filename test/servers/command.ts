/** `npm run servers -- up|down|status`: the servers of the distributed mode, kept running from one call to the next. */
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isRunning, ownIdentity, type ProcessIdentity } from './process.ts';
import { attach, kinds, startServer } from './servers.ts';

const usage = `Usage: npm run servers -- <up|down|status> [names…] [--data <folder>]

  up      starts what is not running and prints one line per server: NAME=address
  down    stops what up started; scratch data is deleted, a folder named by --data is kept
  status  says of each server whether it runs; exit code 3 where one does not

  names   any of ${kinds.map(({ name }) => name).join(', ')}; all of them where none is given
  --data  where the servers keep their data; a scratch folder per user and checkout where it is not given
`;

interface Entry extends ProcessIdentity {
  readonly port: number;
}
type State = Readonly<Record<string, Entry>>;

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const print = (text: string): void => void process.stdout.write(`${text}\n`);

function scratchFolder(): string {
  const checkout = createHash('sha256')
    .update(import.meta.url)
    .digest('hex')
    .slice(0, 8);
  return join(tmpdir(), `meerkat-servers-${userInfo().username}-${checkout}`);
}

async function readState(folder: string): Promise<State> {
  const text = await readFile(join(folder, 'servers.json'), 'utf8').catch(() => '{}');
  return JSON.parse(text) as State;
}

async function writeState(folder: string, state: State): Promise<void> {
  const file = join(folder, 'servers.json');
  await writeFile(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`);
  await rename(`${file}.new`, file);
}

const lockPatienceMs = 10 * 60_000;

/** One call at a time per folder; what a call that was killed left behind is cleared away. */
async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = join(folder, 'servers.lock');
  const until = Date.now() + lockPatienceMs;
  for (let isTold = false; ; await wait(200)) {
    try {
      const lock = await open(file, 'wx');
      await lock.writeFile(JSON.stringify(await ownIdentity()));
      await lock.close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const text = await readFile(file, 'utf8').catch(() => '');
    // Empty: its owner is just writing it, or was killed in that instant; the wait below tells the two apart.
    const owner = text === '' ? null : (JSON.parse(text) as ProcessIdentity);
    if (owner !== null && !(await isRunning(owner))) await rm(file, { force: true });
    if (!isTold) say('another call is at work on these servers; waiting for it');
    isTold = true;
    if (Date.now() > until) throw new Error(`${file} has been held for too long; delete it if nothing uses it.`);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function up(folder: string, names: readonly string[]): Promise<number> {
  let failed = 0;
  const start = async (kind: (typeof kinds)[number]): Promise<string | null> => {
    const known = (await readState(folder))[kind.name];
    if (known !== undefined && (await isRunning(known))) {
      say(`${kind.name} runs already (pid ${known.pid})`);
      return kind.url(known.port);
    }
    const startedMs = performance.now();
    // On the same port, so that its address stays valid.
    const options = { dataFolder: join(folder, kind.name), ...(known === undefined ? {} : { port: known.port }) };
    const { pid, startedAt, port, url } = await startServer(kind, options);
    await writeState(folder, { ...(await readState(folder)), [kind.name]: { pid, startedAt, port } });
    say(`${kind.name} is up (pid ${pid}, ${((performance.now() - startedMs) / 1000).toFixed(1)} s)`);
    return url;
  };
  // One after the other: each start wants the processor to itself, and the state file is written by one at a time.
  for (const kind of kinds.filter(({ name }) => names.includes(name))) {
    try {
      const url = await start(kind);
      print(`${kind.variable}=${url}`);
    } catch (error) {
      failed += 1;
      say(`${kind.name} could not be started: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failed === 0 ? 0 : 1;
}

async function down(folder: string, names: readonly string[], isScratch: boolean): Promise<number> {
  const state = { ...(await readState(folder)) };
  for (const kind of kinds.filter(({ name }) => names.includes(name))) {
    const known = state[kind.name];
    if (known !== undefined && (await isRunning(known))) {
      await attach(kind, known.port, known).stop();
      say(`${kind.name} is down (pid ${known.pid})`);
    } else {
      say(`${kind.name} was not running`);
    }
    if (isScratch) await rm(join(folder, kind.name), { recursive: true, force: true });
    delete state[kind.name];
    await writeState(folder, state);
  }
  return 0;
}

async function status(folder: string, names: readonly string[]): Promise<number> {
  const state = await readState(folder);
  let missing = 0;
  for (const kind of kinds.filter(({ name }) => names.includes(name))) {
    const known = state[kind.name];
    const runs = known !== undefined && (await isRunning(known));
    const isWell = runs && (await kind.isReady(known.port));
    if (!isWell) missing += 1;
    if (!runs) print(`${kind.name}: down${known === undefined ? '' : ` (pid ${known.pid} is gone)`}`);
    else print(`${kind.name}: ${isWell ? 'up' : 'does not answer'}, pid ${known.pid}, ${kind.url(known.port)}`);
  }
  return missing === 0 ? 0 : 3;
}

async function main(args: readonly string[]): Promise<number> {
  const options = { data: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const [verb, ...given] = positionals;
  if (values.help === true) {
    print(usage);
    return 0;
  }
  const unknown = given.filter((name) => !kinds.some((kind) => kind.name === name));
  if (unknown.length > 0) throw new Error(`There is no server called ${unknown.join(', ')}.\n\n${usage}`);
  const names = given.length === 0 ? kinds.map(({ name }) => name) : given;
  const folder = values.data === undefined ? scratchFolder() : resolve(process.env['INIT_CWD'] ?? '', values.data);
  if (verb === 'status') return status(folder, names);
  if (verb !== 'up' && verb !== 'down') throw new Error(usage);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return withLock(folder, () => (verb === 'up' ? up(folder, names) : down(folder, names, values.data === undefined)));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}

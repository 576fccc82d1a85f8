// The built product and its baselines as real processes: started, asked, measured from outside, ended.
import { fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { profileFolder } from './profile.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const startTimeoutMs = 60_000;
const probeAgainMs = 5;

/** Known to everybody, from the documentation: the product under measurement listens on loopback for seconds. */
export const apiKey = 'mk_Ab3dEf9h_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd3qYUag';
export const authorized = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

const children = new Set();
const folders = new Set();
// Whatever ends this process ends what it started; a benchmark leaves nothing behind.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void removeFolders().then(() => process.exit(1)));

export async function makeFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-bench-'));
  folders.add(folder);
  return folder;
}

export async function removeFolders() {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([...folders].map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
  folders.clear();
}

/**
 * Runs a script of this repository and waits until a line of its output names where it listens.
 * `startedMs` is from the start of the process to the first 200 from `probe`.
 */
export async function startProcess(
  script,
  { env = {}, probe, profileAs = null, withinMs = startTimeoutMs, nodeFlags = [], cores = null } = {},
) {
  const flags = [...nodeFlags, ...(profileAs === null ? [] : profileFlags(profileAs))];
  const folder = await makeFolder();
  const beganAt = performance.now();
  const words = [...(cores === null ? [] : ['taskset', '-c', cores]), process.execPath, ...flags, join(root, script)];
  const child = spawn(words[0], words.slice(1), {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  void ended.then(() => children.delete(child));
  child.once('error', (error) => process.stderr.write(`${words[0]} could not be started: ${error.message}\n`));
  let output = '';
  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${script} did not start:\n${output}`)), withinMs);
    const read = (chunk) => {
      output += chunk;
      const found = /ready at (http:\/\/\S+)/.exec(output)?.[1];
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    void ended.then(({ code, signal }) => {
      clearTimeout(late);
      reject(new Error(`${script} ended (${code ?? signal}):\n${output}`));
    });
  });
  // A process among several says that it is up before the others, whom it needs, are.
  for (;;) {
    const answer = await fetch(new URL(probe, url));
    await answer.arrayBuffer();
    if (answer.status === 200) break;
    if (performance.now() - beganAt > withinMs) throw new Error(`${script} answers ${answer.status} to ${probe}`);
    await delay(probeAgainMs);
  }
  const startedMs = performance.now() - beganAt;
  const end = async (signal) => {
    child.kill(signal);
    const result = await ended;
    return result;
  };
  return {
    url,
    /** Of all its processes. */
    urls: [url],
    pid: child.pid,
    /** Where it runs. */
    folder,
    startedMs,
    output: () => output,
    memoryMb: () => treeMemoryMb(child.pid),
    cpuMs: () => processorMs(child.pid),
    /** Of its main thread, of its other threads together, and of the processes that it started. */
    cpuMsByPart: () => processorMsByPart(child.pid),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

const isProfiled = (name) => name !== null && profileFolder !== null;

function profileFlags(name) {
  return profileFolder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}`];
}

/** The built product on a data folder, set up unattended. */
export function startProduct(dataDir, { env = {}, profileAs = null, withinMs, nodeFlags, cores } = {}) {
  return startProcess(isProfiled(profileAs) ? 'test/bench/unbundled.mjs' : 'scripts/start.mjs', {
    withinMs,
    nodeFlags,
    cores,
    probe: '/readyz',
    profileAs,
    env: {
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'warn',
      OWNER_EMAIL: 'bench@example.com',
      OWNER_PASSWORD: 'correct horse battery staple',
      OWNER_API_KEY: apiKey,
      EGRESS_ALLOW: '127.0.0.1/32',
      ...env,
    },
  });
}

const servers = ['EVENT_STORE_URL', 'BUS_URL', 'READ_STORE_URL'];

/** The built product on the servers that the environment names; `layout`: the roles of each process, the first of which answers. */
export async function startServices({ env, layout, cores = null }) {
  const shared = {
    ...Object.fromEntries(servers.map((name) => [name, process.env[name]])),
    INSTALLATION: `bench-${Date.now()}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    ...env,
  };
  const started = await Promise.all(
    layout.map(async (roles) => startProduct(await makeFolder(), { env: { ...shared, ROLES: roles }, cores })),
  );
  const [{ url }] = started;
  return {
    url,
    urls: started.map((one) => one.url),
    cpuMs: () => started.reduce((sum, one) => sum + one.cpuMs(), 0),
    cpuMsByPart: () =>
      started
        .map((one) => one.cpuMsByPart())
        .reduce((sum, { main, threads, children }) => ({
          main: sum.main + main,
          threads: sum.threads + threads,
          children: sum.children + children,
        })),
    memoryMb: () => started.reduce((sum, one) => sum + one.memoryMb(), 0),
    stop: () => Promise.all(started.map((one) => one.stop())),
  };
}

/** JSON over the API; throws with the answer where it is refused. */
export async function ask(url, method, path, body) {
  const answer = await fetch(new URL(path, url), {
    method,
    headers: authorized,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(json.error ?? json)}`);
  return json;
}

/** Runs a script of this folder to its end, its settings and its result as JSON. */
export async function runScript(script, settings) {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url)), JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  children.delete(child);
  if (code !== 0) throw new Error(`${script} ended with code ${code}`);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** A script of this folder that says when it is ready and then answers one question after the other; null where it has nothing to say. */
export async function startAnswering(script, settings) {
  const child = fork(new URL(script, import.meta.url), [JSON.stringify(settings ?? null)], { execArgv: [] });
  children.add(child);
  const gone = once(child, 'exit');
  void gone.then(() => children.delete(child));
  const ended = gone.then(() => Promise.reject(new Error(`${script} ended`)));
  // Awaited by the caller; an exit without one is not a failure.
  ended.catch(() => undefined);
  const isThere = await Promise.race([
    once(child, 'message').then(() => true),
    once(child, 'disconnect').then(() => false),
  ]);
  if (!isThere) return null;
  return {
    pid: child.pid,
    async ask(question) {
      const answered = once(child, 'message');
      child.send(question);
      const [answer] = await Promise.race([answered, ended]);
      return answer;
    },
    async close() {
      if (child.connected) child.disconnect();
      await gone;
    },
  };
}

/** Runs the command line to its end; what it printed. */
export async function runCommand(words, { env = {}, profileAs = null } = {}) {
  const flags = profileAs === null ? [] : profileFlags(profileAs);
  const child = spawn(process.execPath, [...flags, join(root, 'bin/meerkat.mjs'), ...words], {
    cwd: await makeFolder(),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  children.delete(child);
  const output = Buffer.concat(chunks).toString('utf8');
  if (code !== 0) throw new Error(`meerkat ${words.join(' ')} ended with code ${code}:\n${output}`);
  return output;
}

const hasProc = existsSync('/proc/self/stat');

function statOf(pid) {
  try {
    // The name of a program may hold blanks and brackets: fields are counted from behind it.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** A process and all that it started, as far as they still run. */
function treeOf(pid) {
  const parents = new Map();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(name) : null;
    if (stat !== null) parents.set(Number(name), Number(stat[1]));
  }
  const isInTree = (id) => id === pid || (parents.has(id) && parents.get(id) > 0 && isInTree(parents.get(id)));
  return [...parents.keys()].filter(isInTree);
}

const ticksOf = (id) => {
  const stat = statOf(id);
  return stat === null ? 0 : Number(stat[11]) + Number(stat[12]);
};

/**
 * The evaluator process that does the work of all tasks, or undefined; neither those that stand by, nor those for a single
 * job, nor what starts them in namespaces of their own.
 */
export function busyEvaluatorOf(pid) {
  if (!hasProc) return undefined;
  const shared = treeOf(pid).filter((id) => {
    try {
      const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
      // Behind the flags, one of which names it too.
      const at = words.findLastIndex((word) => word.endsWith('/evaluator.js'));
      return /node[^/]*$/.test(words[0]) && at > 0 && JSON.parse(words[at + 1]).idleMs > 0;
    } catch {
      return false;
    }
  });
  return shared.toSorted((one, other) => ticksOf(other) - ticksOf(one))[0];
}

/** Resident memory of one process, or NaN where this system does not report it. */
export function memoryMbOf(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** Resident memory of a process and of all that it started, or NaN where this system does not report it. */
function treeMemoryMb(pid) {
  if (!hasProc) return Number.NaN;
  // One may have ended while we counted.
  const all = treeOf(pid).map(memoryMbOf);
  return all.reduce((sum, mb) => sum + (Number.isNaN(mb) ? 0 : mb), 0);
}

/**
 * Processor time so far of all threads of a process and of what it started, or NaN where this system does not report it.
 * A tick is 10 ms on every Linux.
 */
export function processorMs(pid) {
  if (!hasProc) return Number.NaN;
  // Those that ended count with the one that started them.
  const ticks = (stat) => [11, 12, 13, 14].reduce((sum, field) => sum + Number(stat[field]), 0);
  return treeOf(pid).reduce((sum, id) => {
    const stat = statOf(id);
    return stat === null ? sum : sum + ticks(stat) * 10;
  }, 0);
}

/** The same by who used it: the thread that answers requests, all others of that process, and the processes that it started. */
function processorMsByPart(pid) {
  const msOf = (stat) => (Number(stat[11]) + Number(stat[12])) * 10;
  const stat = statOf(`${pid}/task/${pid}`);
  const main = stat === null ? Number.NaN : msOf(stat);
  const whole = statOf(pid);
  const threads = whole === null ? Number.NaN : msOf(whole) - main;
  return { main, threads, children: processorMs(pid) - main - threads };
}

/** Processor time of this process and of all that it started, in ms: finer where it started nothing. */
export function ownProcessorMs(pids) {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + pids.reduce((sum, pid) => sum + processorMs(pid), 0);
}

/** A server as a process of its own: it outlives who started it, and is known by its id and the time it started. */
import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An id alone may by now belong to somebody else's process. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** When a process started, in the words of the system; null where it is gone. */
async function startTimeOf(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : `ticks ${fields[19]}`;
  } catch {
    if (process.platform === 'linux') return null;
  }
  try {
    const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return stdout.trim() === '' ? null : stdout.trim();
  } catch {
    return null;
  }
}

export async function isRunning({ pid, startedAt }: ProcessIdentity): Promise<boolean> {
  return (await startTimeOf(pid)) === startedAt;
}

/** This process, as others can look it up. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  return { pid: process.pid, startedAt: (await startTimeOf(process.pid)) ?? '' };
}

/** Starts a program in a group of its own, what it prints in a file. Rejects where it cannot be started at all. */
export async function startDetached({ program, args, env }: Program, logFile: string): Promise<ProcessIdentity> {
  await mkdir(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'a');
  try {
    const child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    const pid = child.pid ?? 0;
    return { pid, startedAt: (await startTimeOf(pid)) ?? '' };
  } finally {
    closeSync(log);
  }
}

const pollMs = 25;

/** Signals the whole group and resolves once the process is gone; what does not end in time is killed. */
export async function stopProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  patienceMs: number,
): Promise<void> {
  const send = (name: NodeJS.Signals): void => {
    try {
      process.kill(-identity.pid, name);
    } catch {
      // It ended meanwhile.
    }
  };
  if (!(await isRunning(identity))) return;
  send(signal);
  for (const until = Date.now() + patienceMs; Date.now() < until; await wait(pollMs)) {
    if (!(await isRunning(identity))) return;
  }
  send('SIGKILL');
  while (await isRunning(identity)) await wait(pollMs);
}

/** The states of all threads; the one that `ps` tells where the system keeps no `/proc`. */
async function threadStates(pid: number): Promise<string[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await run('ps', ['-o', 'state=', '-p', String(pid)]);
    return [stdout.trim().slice(0, 1)];
  }
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')));
  return stats.map((stat) => stat.charAt(stat.lastIndexOf(')') + 2));
}

/**
 * Halts the whole group and resolves once no thread of the process runs: a signal is only queued when it has been sent, and
 * a thread on the other core still answers. SIGCONT to the group lets it go on.
 */
export async function haltProcess({ pid }: ProcessIdentity): Promise<void> {
  process.kill(-pid, 'SIGSTOP');
  while ((await threadStates(pid)).some((state) => state !== 'T')) await wait(1);
}

const portsFrom = 15_000;
const portsTo = 32_000;

/**
 * A port nobody listens on, below those the system gives to outgoing connections: while its server is down, no client
 * that tries to reach it can be given the very same port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = portsFrom + Math.floor(Math.random() * (portsTo - portsFrom));
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/**
 * Connects, sends `greeting` where there is one and waits for any answer to it. Without a greeting an accepted
 * connection is answer enough. Never rejects.
 */
export function answers(port: number, greeting: Uint8Array | null, patienceMs = 1_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const end = (isAnswered: boolean): void => {
      socket.destroy();
      resolve(isAnswered);
    };
    socket.setTimeout(patienceMs, () => end(false));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
    socket.once('connect', () => {
      if (greeting === null) end(true);
      else socket.write(greeting);
    });
    socket.once('data', () => end(true));
  });
}

/** The processes that a browser is made of: what they hold, how they yield, and how all of them end. */
import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { yieldAsSession } from '#runtime/session-weight';

const pageBytes = 4_096;
const mostProcesses = 500;

/** None of a process that has ended. */
function threadsOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

function childrenOf(pid: number, thread: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The processes below one, itself first; by what the kernel shows, else itself alone. */
export function processesBelow(rootPid: number): readonly number[] {
  const below: number[] = [rootPid];
  for (let at = 0; at < below.length && below.length < mostProcesses; at += 1) {
    const pid = below[at] ?? 0;
    for (const thread of threadsOf(pid)) below.push(...childrenOf(pid, thread));
  }
  return below;
}

function privateBytesOf(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return Math.max(0, resident - shared) * pageBytes;
  } catch {
    return 0;
  }
}

/** What they hold for themselves; 0 where that cannot be told. */
export function privateBytesBelow(rootPid: number): number {
  return processesBelow(rootPid).reduce((sum, pid) => sum + privateBytesOf(pid), 0);
}

/** A third of the weight of what is not rendered: with less, pages run out of their time on a machine that is busy otherwise. */
export const yielding = 5;

/** Of what may have ended meanwhile, or is not there on this kernel. */
function tried(step: () => void): void {
  try {
    step();
  } catch {
    // The others yield all the same.
  }
}

/**
 * Pages that are rendered wait for those that are not. Niceness is each thread's own on Linux: what a thread starts later
 * begins with that of its starter, and a browser with the right to do so raises it again.
 */
export function yieldBelow(rootPid: number): void {
  for (const pid of processesBelow(rootPid)) {
    for (const thread of new Set([pid, ...threadsOf(pid)])) tried(() => setPriority(thread, yielding));
    tried(() => yieldAsSession(pid, yielding));
  }
}

/** At once, whatever they are doing. */
export function killBelow(rootPid: number): void {
  for (const pid of processesBelow(rootPid).toReversed()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

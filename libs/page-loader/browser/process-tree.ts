/** The processes that a browser is made of: what they hold, how they yield, and how all of them end. */
import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

const pageBytes = 4_096;
const mostProcesses = 500;

/** The processes below one, itself first; by what the kernel shows, else itself alone. */
export function processesBelow(rootPid: number): readonly number[] {
  const below: number[] = [rootPid];
  try {
    for (let at = 0; at < below.length && below.length < mostProcesses; at += 1) {
      const pid = below[at] ?? 0;
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean);
        below.push(...children.map(Number));
      }
    }
  } catch {
    // One has ended meanwhile.
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

/** Pages that are rendered wait for those that are not: what these processes fork later yields as they do. */
export function yieldBelow(rootPid: number): void {
  for (const pid of processesBelow(rootPid)) {
    try {
      setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // It has ended meanwhile.
    }
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

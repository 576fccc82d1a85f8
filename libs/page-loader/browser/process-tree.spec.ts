/** Processes with threads and children of their own, as the kernel shows them. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { killBelow, processesBelow, yieldBelow, yielding } from './process-tree.js';

const inner = `setInterval(() => 0, 60_000); process.stdout.write('there');`;
const outer = `
  const { spawn } = require('node:child_process');
  spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: ['ignore', 'inherit', 'ignore'] });
  setInterval(() => 0, 60_000);`;

let root: ChildProcess;

/** With a session of its own, as a browser has it. */
beforeEach(async () => {
  root = spawn(process.execPath, ['-e', outer], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  if (root.stdout !== null) await once(root.stdout, 'data');
});
afterEach(async () => {
  const ended = once(root, 'close');
  killBelow(root.pid ?? 0);
  await ended;
});

const threadsOf = (pid: number): readonly number[] => readdirSync(`/proc/${pid}/task`).map(Number);

describe('the processes of a browser', () => {
  it('yield with every thread, those of their children too', () => {
    const pids = processesBelow(root.pid ?? 0);
    const threads = pids.flatMap(threadsOf);
    expect({ processes: pids.length, hasThreads: threads.length > 2 * pids.length }).toEqual({
      processes: 2,
      hasThreads: true,
    });
    expect(threads.map((thread) => getPriority(thread))).not.toContain(yielding);

    yieldBelow(root.pid ?? 0);

    expect(new Set(pids.flatMap(threadsOf).map((thread) => getPriority(thread)))).toEqual(new Set([yielding]));
  });

  it('yield as a session where the kernel weighs sessions, and the session of this process does not', () => {
    const groupOf = (pid: number): string => {
      const file = `/proc/${pid}/autogroup`;
      return existsSync(file) ? (readFileSync(file, 'utf8').trim().split(' ').at(-1) ?? '') : String(yielding);
    };
    const own = groupOf(process.pid);

    yieldBelow(root.pid ?? 0);

    expect({ theirs: groupOf(root.pid ?? 0), ours: groupOf(process.pid) }).toEqual({
      theirs: String(yielding),
      ours: own,
    });
  });
});

/** An evaluator process that this one starts: with an empty environment, under Node's permission model, in what namespaces the machine offers. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Duplex } from 'node:stream';
import { yieldAsSession } from '#runtime/session-weight';
import type { EvaluatorChannel } from './evaluator-channel.js';
import { machineIsolation } from './isolation.js';
import type { EvaluatorSettings } from './messages.js';
import { closedFeatures, knownFlags } from './permissions.js';
import { createProcessorMeter } from './processor-use.js';

export interface EvaluatorPlaces {
  /** The program; it and the thread's program lie in one folder. */
  readonly entryPath: string;
  /** Everything else that it reads. */
  readonly readable: readonly string[];
}

const stderrTailBytes = 2_048;
/** Of its main thread, which only forwards messages; the threads have limits of their own. */
const heapMb = 64;

function flagsFor({ entryPath, readable }: EvaluatorPlaces): string[] {
  return [
    '--permission',
    '--allow-worker',
    ...[entryPath, ...readable].map((path) => `--allow-fs-read=${path}`),
    ...closedFeatures,
    // A signal would else open an inspector, in this process too.
    ...knownFlags(['--disable-sigusr1']),
    '--disallow-code-generation-from-strings',
    '--no-warnings',
    `--max-old-space-size=${heapMb}`,
  ];
}

/** As its threads step back within it: in a session of its own, an evaluator would else weigh as much as all of the product. */
export const sessionNiceness = 5;

function stepBack({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) yieldAsSession(pid, sessionNiceness);
  } catch {
    // A courtesy, as with the threads.
  }
}

/** What some versions of the launcher say when what they started was killed. */
const launcherNoise = /^unshare: sigprocmask unblock failed/;

/** The process that the launcher started; null where the machine does not say. */
function onlyChildOf(pid: number): number | null {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    return Number(first) || null;
  } catch {
    return null;
  }
}

/** The last words of a process that ended, behind how it ended. */
async function endOf(child: ChildProcess): Promise<string> {
  let stderrTail = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderrTail = `${stderrTail}${chunk}`.slice(-stderrTailBytes);
  });
  child.stderr?.on('error', () => undefined);
  const how = await new Promise<string>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve(code === null ? `it was ended by ${signal ?? 'a signal'}` : `it exited with code ${code}`),
    );
    child.once('error', (error) => resolve(error.message));
  });
  const words = stderrTail.split('\n').find((line) => line !== '' && !launcherNoise.test(line)) ?? '';
  return [how, words].filter((part) => part !== '').join(': ');
}

/** Throws where no process can be started. */
export function spawnEvaluator(places: EvaluatorPlaces, settings: EvaluatorSettings): EvaluatorChannel {
  const { launcher, signals } = machineIsolation();
  const words = [...launcher, process.execPath, ...flagsFor(places), places.entryPath, JSON.stringify(settings)];
  const [command = process.execPath, ...args] = words;
  const child = spawn(command, args, {
    env: {},
    // A thread may read below its working folder, whatever the flags say.
    cwd: dirname(places.entryPath),
    // In the product's process group, a signal to the own group would reach the product, out of any namespace.
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  stepBack(child);
  const pipe = child.stdio[3];
  if (!(pipe instanceof Duplex)) throw new Error('the evaluator process has no pipe');
  let innerPid: number | null = null;
  const pidOf = (): number | undefined => {
    const { pid } = child;
    if (pid === undefined || !signals) return pid;
    innerPid ??= onlyChildOf(pid);
    return innerPid ?? pid;
  };
  const meter = createProcessorMeter(pidOf);
  return {
    pipe,
    ended: endOf(child),
    processorUse: () => meter.read(),
    get pid() {
      return pidOf();
    },
    hold(isHeld) {
      for (const holder of [child, pipe, child.stderr] as readonly { ref?(): void; unref?(): void }[]) {
        if (isHeld) holder.ref?.();
        else holder.unref?.();
      }
    },
    /** The launcher waits for what it started, so its exit says that both are gone. */
    kill() {
      // Another process may have its number by now.
      if (child.exitCode !== null || child.signalCode !== null) return;
      const pid = pidOf();
      try {
        if (pid !== undefined && pid !== child.pid) {
          process.kill(pid, 'SIGKILL');
          return;
        }
      } catch {
        // It has ended meanwhile; its launcher may not have.
      }
      child.kill('SIGKILL');
    },
  };
}

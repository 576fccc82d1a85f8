/** What a process has had of the processors, as the kernel counts it: nothing that the process says about itself. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessorUse {
  /** Processor time of all of its threads. */
  readonly ranMs: number;
  /** Time in which a thread could have run and got no processor; of all threads. A wait is counted at its end. */
  readonly waitedMs: number;
  /** Whether a thread runs, or waits for a processor, at this moment. */
  readonly isRunnable: boolean;
}

export interface ProcessorMeter {
  /** Since the first reading; null where this machine does not tell. */
  read(): ProcessorUse | null;
}

const nanosecondsPerMs = 1e6;

interface Threads {
  /** Of each the nanoseconds it ran and waited. */
  readonly times: ReadonlyMap<string, readonly [number, number]>;
  readonly isRunnable: boolean;
}

/** Throws where the process is gone or the machine has no such record. */
function readThreads(pid: number): Threads {
  const folder = `/proc/${pid}/task`;
  const times = new Map<string, readonly [number, number]>();
  let isRunnable = false;
  for (const thread of readdirSync(folder)) {
    const [ran = 0, waited = 0] = readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ').map(Number);
    times.set(thread, [ran, waited]);
    // Behind its name, which may have any letters.
    isRunnable ||= /\) R /.test(readFileSync(`${folder}/${thread}/stat`, 'utf8'));
  }
  return { times, isRunnable };
}

/** Read now and then: what a thread had since the last reading is lost when it ends. */
export function createProcessorMeter(pid: () => number | undefined): ProcessorMeter {
  let last: Threads['times'] = new Map();
  let ran = 0;
  let waited = 0;
  return {
    read() {
      const known = pid();
      if (known === undefined) return null;
      try {
        const now = readThreads(known);
        for (const [thread, [ranNow, waitedNow]] of now.times) {
          const [ranThen, waitedThen] = last.get(thread) ?? [0, 0];
          ran += Math.max(0, ranNow - ranThen);
          waited += Math.max(0, waitedNow - waitedThen);
        }
        last = now.times;
        const { isRunnable } = now;
        return { ranMs: ran / nanosecondsPerMs, waitedMs: waited / nanosecondsPerMs, isRunnable };
      } catch {
        return null;
      }
    },
  };
}

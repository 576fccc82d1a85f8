/** What a process has had of the processors, as the kernel counts it: nothing that the process says about itself. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessorUse {
  /** Processor time of all of its threads. */
  readonly ranMs: number;
  /** Time in which a thread could have run and got no processor; of all threads. */
  readonly waitedMs: number;
}

export interface ProcessorMeter {
  /** Since the first reading; null where this machine does not tell. */
  read(): ProcessorUse | null;
}

const nanosecondsPerMs = 1e6;

/** Of each thread the nanoseconds it ran and waited. Throws where the process is gone or the machine has no such record. */
function readThreads(pid: number): ReadonlyMap<string, readonly [number, number]> {
  const folder = `/proc/${pid}/task`;
  const found = new Map<string, readonly [number, number]>();
  for (const thread of readdirSync(folder)) {
    const [ran = 0, waited = 0] = readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ').map(Number);
    found.set(thread, [ran, waited]);
  }
  return found;
}

/** Read now and then: what a thread had since the last reading is lost when it ends. */
export function createProcessorMeter(pid: () => number | undefined): ProcessorMeter {
  let last: ReadonlyMap<string, readonly [number, number]> = new Map();
  let ran = 0;
  let waited = 0;
  return {
    read() {
      const known = pid();
      if (known === undefined) return null;
      try {
        const now = readThreads(known);
        for (const [thread, [ranNow, waitedNow]] of now) {
          const [ranThen, waitedThen] = last.get(thread) ?? [0, 0];
          ran += Math.max(0, ranNow - ranThen);
          waited += Math.max(0, waitedNow - waitedThen);
        }
        last = now;
        return { ranMs: ran / nanosecondsPerMs, waitedMs: waited / nanosecondsPerMs };
      } catch {
        return null;
      }
    },
  };
}

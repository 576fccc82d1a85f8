/** Turns of the event loop for work that becomes ready all at once, so that what comes from outside meanwhile has its turn too. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Turns {
  /** Resolves at once, or in a later turn where this one was used up. First come, first served. */
  next(): Promise<void>;
}

/** What is ready runs for so long, about; a request that comes waits no longer for it. */
const longestMs = 5;

/** Resolves once everything has run that was ready, and what that made ready. */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

export function createTurns(): Turns {
  let waiting: (() => void)[] = [];
  let isRunning = false;

  const run = async (): Promise<void> => {
    let beganAtMs = performance.now();
    while (waiting.length > 0) {
      const ready = waiting;
      waiting = [];
      for (const resume of ready) {
        resume();
        await settled();
        if (performance.now() - beganAtMs < longestMs) continue;
        await nextTurn();
        beganAtMs = performance.now();
      }
    }
    isRunning = false;
  };

  return {
    next() {
      return new Promise((resolve) => {
        waiting.push(resolve);
        if (isRunning) return;
        isRunning = true;
        void run();
      });
    },
  };
}

/** Of this thread, which has one event loop. */
export const turns = createTurns();

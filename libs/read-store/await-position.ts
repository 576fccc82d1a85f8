/** Read your own writes: waits until a view has seen a position. One read of the checkpoint serves all waiting calls. */
import { awaitView } from './awaited-views.js';
import type { AnyView, ReadStore } from './read-store.js';

export interface PositionWaiter {
  /** True once the view has seen the position; false where that took longer than `timeoutMs`. */
  reached(position: number, timeoutMs: number): Promise<boolean>;
}

interface Waiting {
  readonly position: number;
  readonly giveUpAt: number;
  readonly resolve: (reached: boolean) => void;
}

/** Upper bound of the pause between two reads: a view in the same process is up to date at once, one across a network soon. */
const slowestLookMs = 25;

export function createPositionWaiter(readStore: ReadStore, view: AnyView): PositionWaiter {
  let waiting: Waiting[] = [];
  let looking = false;
  let seen = -1;

  const look = async (): Promise<void> => {
    for (let round = 0; waiting.length > 0; round += 1) {
      seen = Math.max(seen, (await readStore.checkpoint(view).catch(() => null)) ?? -1);
      const now = Date.now();
      const still: Waiting[] = [];
      for (const one of waiting) {
        if (one.position <= seen) one.resolve(true);
        else if (one.giveUpAt <= now) one.resolve(false);
        else still.push(one);
      }
      waiting = still;
      if (waiting.length === 0) break;
      await new Promise<void>((resolve) => {
        if (round < 3) setImmediate(resolve);
        else setTimeout(resolve, Math.min(slowestLookMs, round - 2));
      });
    }
    looking = false;
  };

  return {
    async reached(position, timeoutMs) {
      if (position <= seen) return true;
      awaitView(readStore, view, position);
      return new Promise((resolve) => {
        waiting.push({ position, giveUpAt: Date.now() + timeoutMs, resolve });
        if (looking) return;
        looking = true;
        setImmediate(() => void look());
      });
    },
  };
}

/** The clock of what shows relative times, for components. */
import { useSyncExternalStore } from 'react';

/** One clock for all that shows relative times, so that they are drawn anew together. */
const readers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;
let nowMs = Date.now();
const tickMs = 5_000;

function onTick(): void {
  nowMs = Date.now();
  for (const read of readers) read();
}

function watchClock(read: () => void): () => void {
  if (readers.size === 0) ticking = setInterval(onTick, tickMs);
  readers.add(read);
  return () => {
    readers.delete(read);
    if (readers.size === 0) clearInterval(ticking);
  };
}

/** Now, again and again: what shows relative times is drawn anew every five seconds. */
export function useNow(): number {
  useSyncExternalStore(watchClock, () => nowMs);
  return Date.now();
}

const startOfMinute = (): number => Math.floor(Date.now() / 60_000) * 60_000;

/** The beginning of this minute: what shows it is drawn anew when the next one begins, give or take five seconds. */
export function useMinute(): number {
  return useSyncExternalStore(watchClock, startOfMinute);
}

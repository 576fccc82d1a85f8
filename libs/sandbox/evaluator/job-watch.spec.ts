import { describe, expect, it } from '@jest/globals';
import { JobWatch, type WatchedJob } from './job-watch.js';

interface Second {
  readonly ran?: number;
  readonly waited?: number;
  readonly sent?: number;
  /** Of the product, which looks every second unless it is held up. */
  readonly lasts?: number;
}

/** The second in which a job that may take three seconds is found over its time, with a margin of one; null where it never is. */
function foundOver(seconds: readonly Second[]): number | null {
  const watch = new JobWatch(1_000);
  const job: WatchedJob = { allowedMs: 3_000, since: null };
  let [atMs, ranMs, waitedMs, sentMs] = [0, 0, 0, 3_000];
  watch.firstOver([], { atMs, use: { ranMs, waitedMs }, sentMs });
  for (const [index, { ran = 0, waited = 0, sent = 0, lasts = 1_000 }] of seconds.entries()) {
    [atMs, ranMs, waitedMs, sentMs] = [atMs + lasts, ranMs + ran, waitedMs + waited, sentMs + sent];
    if (watch.firstOver([job], { atMs, use: { ranMs, waitedMs }, sentMs }) !== null) return index;
  }
  return null;
}

const seconds = (count: number, second: Second): readonly Second[] => Array.from({ length: count }, () => second);

describe('the watch over jobs in a process', () => {
  it('finds a job over its time where the process sleeps', () => {
    expect(foundOver(seconds(60, {}))).toBe(5);
  });

  it('finds a job over its time where the process runs on', () => {
    expect(foundOver(seconds(60, { ran: 1_000 }))).toBe(5);
    expect(foundOver(seconds(60, { ran: 3_000, waited: 10_000 }))).toBe(2);
  });

  it('lets a process be that gets no processor', () => {
    expect(foundOver(seconds(60, { ran: 50, waited: 950 }))).toBeNull();
  });

  it('lets a process be that runs what it was sent later', () => {
    expect(foundOver(seconds(60, { ran: 2_000, waited: 1_000, sent: 3_000 }))).toBeNull();
  });

  it('begins anew where the product itself was held up', () => {
    expect(foundOver([...seconds(4, {}), { lasts: 8_000 }, ...seconds(4, {})])).toBeNull();
  });
});

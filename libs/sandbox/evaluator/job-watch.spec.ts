import { describe, expect, it } from '@jest/globals';
import { JobWatch, type WatchedJob } from './job-watch.js';

interface Quarter {
  readonly ran?: number;
  readonly waited?: number;
  /** A thread could run at the end of it. */
  readonly isRunnable?: boolean;
  readonly sent?: number;
  readonly answers?: number;
  /** Of the product, which looks every quarter of a second unless it is held up. */
  readonly lasts?: number;
}

/** The look at which a job that may take three seconds is found over its time; null where it never is. */
function foundOver(quarters: readonly Quarter[], answeredBefore = 0): number | null {
  const watch = new JobWatch({ overMs: 1_000, idleMs: 750 });
  const job: WatchedJob = { allowedMs: 3_000, since: null };
  let [atMs, ranMs, waitedMs, sentMs, answered] = [0, 0, 0, 3_000, answeredBefore];
  watch.firstOver([], { atMs, use: { ranMs, waitedMs, isRunnable: false }, sentMs, answers: answered });
  for (const [
    index,
    { ran = 0, waited = 0, isRunnable = false, sent = 0, answers = 0, lasts = 250 },
  ] of quarters.entries()) {
    [atMs, ranMs, waitedMs, sentMs] = [atMs + lasts, ranMs + ran, waitedMs + waited, sentMs + sent];
    answered += answers;
    const use = { ranMs, waitedMs, isRunnable };
    if (watch.firstOver([job], { atMs, use, sentMs, answers: answered }) !== null) return index;
  }
  return null;
}

const quarters = (count: number, quarter: Quarter): readonly Quarter[] => Array.from({ length: count }, () => quarter);

describe('the watch over jobs in a process', () => {
  it('finds a job over its time where the process sleeps', () => {
    expect(foundOver(quarters(200, {}))).toBe(17);
  });

  it('finds one within a second where the process has answered before, and sleeps now', () => {
    expect(foundOver(quarters(200, {}), 1)).toBe(4);
    expect(foundOver(quarters(200, { ran: 20, waited: 10 }), 1)).toBe(4);
  });

  it('finds a job over its time where others are answered, and it never is', () => {
    expect(foundOver(quarters(200, { answers: 1, ran: 10 }), 1)).toBe(17);
  });

  it('finds a job over its time where the process runs on', () => {
    expect(foundOver(quarters(200, { ran: 250 }), 1)).toBe(17);
    expect(foundOver(quarters(200, { ran: 750, waited: 2_500 }), 1)).toBe(6);
  });

  it('lets a process be that gets no processor', () => {
    expect(foundOver(quarters(200, { ran: 12, waited: 240 }), 1)).toBeNull();
  });

  it('lets a process be whose wait for a processor is not over, and so in no count', () => {
    const waits = [...quarters(19, { isRunnable: true }), { ran: 10, waited: 4_990, isRunnable: true }];
    expect(foundOver([...waits, ...waits, ...waits], 1)).toBeNull();
  });

  it('finds one over its time that has a thread which could run, and runs on', () => {
    expect(foundOver(quarters(200, { ran: 250, isRunnable: true }), 1)).toBe(17);
  });

  it('lets a process be that runs what it was sent later', () => {
    expect(foundOver(quarters(200, { ran: 500, waited: 250, sent: 750 }), 1)).toBeNull();
  });

  it('begins anew where the product itself was held up', () => {
    const asleep = quarters(3, {});
    expect(foundOver([...asleep, { lasts: 8_000 }, ...asleep], 1)).toBeNull();
  });
});

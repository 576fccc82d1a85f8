import { describe, expect, it } from '@jest/globals';
import { cellsAtEnd, cellsOf, cellsOverTime, type StripBucket, type StripRun } from './strip-cells.js';

const minute = 60_000;
const at = (minutes: number): string => new Date(minutes * minute).toISOString();
const run = (minutes: number, changes: Partial<StripRun> = {}): StripRun => ({
  id: `exe ${minutes}`,
  at: at(minutes),
  status: 'succeeded',
  outcome: false,
  notified: false,
  ...changes,
});
const bucket = (from: number, to: number, changes: Partial<StripBucket> = {}): StripBucket => ({
  from: at(from),
  to: at(to),
  runs: 10,
  failed: 0,
  skipped: 0,
  missed: 0,
  notified: 0,
  trueShare: 0,
  ...changes,
});

describe('the cells of a strip', () => {
  it('show the worst of a span, failed before met before not met, and a message of any of them', () => {
    const runs = [run(1, { status: 'failed' }), run(2, { outcome: true, notified: true }), run(3)];
    expect(cellsOf(runs, 1)).toMatchObject([{ kind: 'failed', notified: true, count: 3 }]);
  });

  it('stand at the right edge where there are fewer runs than cells', () => {
    expect(cellsAtEnd([run(1), run(2)], 5).map(({ index }) => index)).toEqual([3, 4]);
  });

  it('stand at their time on a time axis, and nothing stands where nothing ran', () => {
    const time = { from: 0, to: 100 * minute, knownFrom: 0 };
    const placed = cellsOverTime([run(5), run(55, { outcome: true })], [], time, 10);
    expect(placed.map(({ index, cell }) => [index, cell.kind])).toEqual([
      [0, 'not-met'],
      [5, 'met'],
    ]);
  });

  it('are told by figures before the time from which on each run is known', () => {
    const time = { from: 0, to: 100 * minute, knownFrom: 60 * minute };
    const buckets = [bucket(0, 30, { failed: 1 }), bucket(30, 60, { runs: 0 }), bucket(60, 90, { trueShare: 1 })];
    const placed = cellsOverTime([run(95)], buckets, time, 10);
    expect(placed.map(({ index, span, cell }) => [index, span, cell.kind])).toEqual([
      [0, 3, 'failed'],
      [9, 1, 'not-met'],
    ]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { createProgress, type Progress, type TakenOffset } from './kafka-progress.js';

const at = (offset: number, mark = `record ${offset}`) => ({ offset, mark });

function take(progress: Progress, ...offsets: number[]): (TakenOffset | null)[] {
  return offsets.map((offset) => progress.take(at(offset)));
}
function finish(...taken: (TakenOffset | null | undefined)[]): void {
  for (const entry of taken) if (entry) entry.isDone = true;
}

describe('progress in a partition', () => {
  it('has nothing to commit before anything is done', () => {
    const progress = createProgress();
    expect(progress.uncommitted()).toBeNull();
    take(progress, 10, 11);
    expect(progress.uncommitted()).toBeNull();
    expect(progress.span()).toBe(2);
  });

  it('commits up to the first that is not done, in whatever order they end', () => {
    const progress = createProgress();
    const [a, b, c] = take(progress, 10, 11, 12);
    finish(b, c);
    expect(progress.uncommitted()).toBeNull();
    finish(a);
    expect(progress.uncommitted()).toBe(13);
    progress.committed(13);
    expect(progress.uncommitted()).toBeNull();
    expect(progress.span()).toBe(0);
  });

  it('commits past offsets that the log leaves out', () => {
    const progress = createProgress();
    finish(...take(progress, 10, 15));
    expect(progress.uncommitted()).toBe(16);
  });

  it('takes nothing twice that a rejoined group fetches again', () => {
    const progress = createProgress();
    const [a] = take(progress, 10, 11, 12);
    finish(a);
    progress.committed(11);
    progress.expectRepeats();
    expect(progress.continuesWith(at(11))).toBe(true);
    expect(take(progress, 11, 12)).toEqual([null, null]);
    expect(progress.continuesWith(at(13))).toBe(true);
    expect(take(progress, 13)).toMatchObject([{ offset: 13, isDone: false }]);
  });

  it('knows a log that begins anew from one that goes on', () => {
    const progress = createProgress();
    take(progress, 10, 11, 12);
    expect(progress.continuesWith(at(13))).toBe(true);
    expect(progress.continuesWith(at(20))).toBe(true);
    expect(progress.continuesWith(at(0))).toBe(false);
    expect(progress.continuesWith(at(12))).toBe(false);
    progress.expectRepeats();
    expect(progress.continuesWith(at(10))).toBe(true);
    expect(progress.continuesWith(at(9))).toBe(false);
  });

  it('knows a log that begins anew by what it finds at an offset it has seen', () => {
    const progress = createProgress();
    const [first] = take(progress, 0, 1);
    finish(first);
    progress.expectRepeats();
    expect(progress.continuesWith(at(0))).toBe(true);
    expect(progress.continuesWith(at(0, 'another record'))).toBe(false);
  });

  it('keeps count over many records', () => {
    const progress = createProgress();
    const stuck = progress.take(at(0));
    for (let offset = 1; offset < 10_000; offset += 1) finish(progress.take(at(offset)));
    expect(progress.span()).toBe(10_000);
    expect(progress.uncommitted()).toBeNull();
    finish(stuck);
    expect(progress.uncommitted()).toBe(10_000);
    expect(progress.span()).toBe(0);
    for (let offset = 10_000; offset < 20_000; offset += 1) finish(progress.take(at(offset)));
    expect(progress.uncommitted()).toBe(20_000);
    progress.committed(20_000);
    expect(progress.uncommitted()).toBeNull();
    expect(progress.continuesWith(at(20_000))).toBe(true);
  });
});

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { dayMs, hourMs, statsStream, type FoldEvent } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import { everyEvent } from '#event-store/read-through';
import { playedTaskId, type PlayedStep } from '../execution/figures.kit.js';
import { archivedLines } from '../execution/retention/archive.js';
import { dropFolded } from '../execution/retention/drop-events.js';
import { foldOldDays } from '../execution/retention/folding.js';
import { Played, viewsOf } from './retention.kit.js';

const step = (afterMs: number, notify: boolean): PlayedStep => ({
  kind: 'run',
  afterMs,
  status: 'succeeded',
  outcome: notify,
  condition: 'false',
  isFlapping: false,
  notify,
  reason: 'not_true',
  isManual: false,
  value: 1,
  fetchMs: 5,
  evaluateMs: 5,
});
const steps = [true, false, true, false].map((notify) => step(11 * hourMs, notify));

class CutOff extends Error {}

/** Ends at the step of this number: before something is written, or behind it. */
function endingAt(last: number) {
  let passed = 0;
  const pass = (): void => {
    passed += 1;
    if (passed === last) throw new CutOff();
  };
  return {
    isOver: () => passed < last,
    around:
      <Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        pass();
        const result = await work(...args);
        pass();
        return result;
      },
  };
}

describe('folding and dropping that are cut off', () => {
  let archiveDir: string;
  let played: Played;
  beforeEach(async () => {
    archiveDir = mkdtempSync(join(tmpdir(), 'meerkat-archive-'));
    await begin();
  });
  afterEach(async () => {
    await played.close();
    rmSync(archiveDir, { recursive: true });
  });

  async function begin(): Promise<void> {
    played = new Played();
    await played.play(steps);
    played.nowMs += 5 * dayMs;
  }

  /** Once through, as one process does it; false where it came to its end. */
  async function runUntil(last: number): Promise<boolean> {
    const { eventStore } = played;
    const { isOver, around } = endingAt(last);
    const deps = played.deps({ archiveDir });
    const stored = { ...deps.stored, truncate: around(eventStore.truncate.bind(eventStore)) };
    const forget = around(async () => undefined);
    try {
      await foldOldDays({
        ...deps,
        stored,
        eventStore: { ...eventStore, append: around(eventStore.append.bind(eventStore)) },
      });
      const folds = await Array.fromAsync(eventStore.read(statsStream(playedTaskId)));
      await dropFolded({ ...deps, stored, snapshots: { forget } } as never, folds);
    } catch (error) {
      if (!(error instanceof CutOff)) throw error;
    }
    const seen = played.events.at(-1)?.position ?? 0;
    played.events.push(...(await everyEvent(eventStore)).filter(({ position }) => position > seen));
    await played.project();
    return !isOver();
  }

  async function outcome() {
    const folds = (await Array.fromAsync(played.eventStore.read(statsStream(playedTaskId)))).map(
      (recorded) => decodeEvent<FoldEvent>(recorded).data,
    );
    for (const { taskId, day, events, ...fold } of folds) {
      const kind = 'figures' in fold ? 'runs' : 'deliveries';
      const hash = createHash('sha256');
      for await (const line of archivedLines(archiveDir, { taskId, day, kind })) hash.update(`${line}\n`);
      expect(hash.digest('hex')).toBe(events.hash);
    }
    const left = await everyEvent(played.eventStore);
    const files = readdirSync(archiveDir, { recursive: true }).filter((name) => String(name).includes('.jsonl'));
    return {
      folds,
      left: left.map(({ stream, revision, type }) => `${stream}@${revision} ${type}`).toSorted(),
      views: viewsOf(left),
      files: files.length,
    };
  }

  it('lose nothing and do nothing twice, whatever step was the last', async () => {
    expect(await runUntil(Infinity)).toBe(false);
    await runUntil(Infinity);
    const wanted = await outcome();
    expect(wanted.folds.length).toBeGreaterThan(2);
    let cuts = 0;
    for (let last = 1; ; last += 1) {
      await played.close();
      rmSync(archiveDir, { recursive: true });
      archiveDir = mkdtempSync(join(tmpdir(), 'meerkat-archive-'));
      await begin();
      if (!(await runUntil(last))) break;
      cuts += 1;
      await runUntil(Infinity);
      await runUntil(Infinity);
      expect(await outcome()).toEqual(wanted);
    }
    expect(cuts).toBeGreaterThan(15);
  });
});

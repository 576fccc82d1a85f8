import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldingState, foldingStateKey } from '#contracts/folding-state';
import { dayMs, dayOf, hourMs, statsStream, type RunsFolded } from '#contracts/retention';
import type { RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { playedStep, playedTaskId, type PlayedStep } from '../execution/figures.kit.js';
import { archivedLines } from '../execution/retention/archive.js';
import { foldingSweep } from '../execution/retention/folding.js';
import { keptViews } from './projections.js';
import { viewsOf, withPlayed } from './retention.kit.js';

const histories = fc.array(playedStep(15 * hourMs), { minLength: 3, maxLength: 20 });

describe('folding', () => {
  it('leaves the same bytes in every view, whatever part of the folded events is gone', async () => {
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.integer({ min: 0, max: 8 }),
        fc.infiniteStream(fc.boolean()),
        async (steps, laterDays, isGone) => {
          await withPlayed(steps, async (played) => {
            played.nowMs += laterDays * dayMs;
            await played.fold();
            const live = viewsOf(played.events);
            await played.drop();
            const left = await everyEvent(played.eventStore);
            expect(viewsOf(left)).toEqual(live);
            // As on an engine that has cleaned up a part of it.
            const kept = new Set(left.map(({ position }) => position));
            const some = played.events.filter(({ position }) => kept.has(position) || isGone.next().value === true);
            expect(viewsOf(some)).toEqual(live);
          });
        },
      ),
      { numRuns: 40 },
    );
  });

  it('counts each run once, in the fold of its day or among those that are left', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }), async (steps, waits) => {
        await withPlayed(steps, async (played) => {
          const all = played.events.filter(({ type }) => type === 'run.recorded');
          const folds: RunsFolded[] = [];
          for (const days of [0, ...waits]) {
            played.nowMs += days * dayMs;
            folds.push(...(await played.fold()));
            await played.drop();
          }
          expect(await played.fold()).toEqual([]);
          expect(folds.map(({ day }) => day)).toEqual([...new Set(folds.map(({ day }) => day))].toSorted());
          const last = folds.at(-1)?.day ?? '';
          const countOf = ({ figures }: RunsFolded) =>
            Object.values(figures.status).reduce((sum, count) => sum + count, 0);
          const folded = folds.reduce((sum, one) => sum + countOf(one), 0);
          expect(folded).toBe(all.filter(({ metadata }) => dayOf(metadata.at) <= last).length);
          for (const fold of folds) {
            expect(countOf(fold)).toBe(all.filter(({ metadata }) => dayOf(metadata.at) === fold.day).length);
          }
        });
      }),
      { numRuns: 40 },
    );
  });

  describe('with an archive', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'meerkat-archive-'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    const steps = (): PlayedStep[] => fc.sample(playedStep(6 * hourMs), { numRuns: 30, seed: 7 });

    it('has every event of a folded day in a file, which its record fits', async () => {
      await withPlayed(steps(), async (played) => {
        played.nowMs += 5 * dayMs;
        const folds = await played.fold({ archiveDir: folder });
        expect(folds.length).toBeGreaterThan(1);
        for (const { day, events } of folds) {
          const lines = await Array.fromAsync(archivedLines(folder, { taskId: playedTaskId, day, kind: 'runs' }));
          expect(lines).toHaveLength(events.count);
          const hash = createHash('sha256').update(lines.map((line) => `${line}\n`).join(''));
          expect(hash.digest('hex')).toBe(events.hash);
          const found = lines.map((line) => (JSON.parse(line) as RecordedEvent).id);
          const wanted = played.events.filter(
            ({ stream, metadata }) => /^(run|schedule|claim)-/.test(stream) && dayOf(metadata.at) === day,
          );
          expect(found).toEqual(wanted.map(({ id }) => id));
        }
      });
    });

    it('that fails is told to probes until it can be written again', async () => {
      await withPlayed(steps(), async (played) => {
        played.nowMs += 5 * dayMs;
        const deps = played.deps({ archiveDir: folder });
        const stateNow = async () =>
          (await deps.sharedState.load(foldingState, [foldingStateKey])).get(foldingStateKey);
        const { sweep } = foldingSweep(deps);
        for (const { view } of keptViews) {
          await played.readStore.save(view, [], (await played.eventStore.lastPosition()) ?? 0);
        }
        rmSync(folder, { recursive: true });
        await sweep();
        expect((await stateNow())?.value).toMatchObject({ archiveFault: expect.stringContaining(folder) });
        expect(await played.eventStore.readLast(statsStream(playedTaskId))).toBeNull();
        mkdirSync(folder);
        await sweep();
        expect((await stateNow())?.value).toMatchObject({ archiveFault: null });
        expect(await played.eventStore.readLast(statsStream(playedTaskId))).not.toBeNull();
      });
    });

    it('folds nothing where that cannot be written, and goes on once it can', async () => {
      await withPlayed(steps(), async (played) => {
        played.nowMs += 5 * dayMs;
        rmSync(folder, { recursive: true });
        await expect(played.fold({ archiveDir: folder })).rejects.toMatchObject({ name: 'ArchiveFailed' });
        expect(await played.eventStore.readLast(statsStream(playedTaskId))).toBeNull();
        const again = mkdtempSync(join(tmpdir(), 'meerkat-archive-'));
        expect((await played.fold({ archiveDir: again })).length).toBeGreaterThan(1);
        rmSync(again, { recursive: true });
      });
    });
  });

  it('keeps everything where that is asked for', async () => {
    await withPlayed(fc.sample(playedStep(6 * hourMs), { numRuns: 20, seed: 3 }), async (played) => {
      played.nowMs += 400 * dayMs;
      expect(await played.fold({ keepRunsDays: 0, keepDeliveriesDays: 0 })).toEqual([]);
    });
  });

  it('takes no more than two kilobytes for a day of a task that runs every minute', async () => {
    const [sample] = fc.sample(playedStep(1), { numRuns: 1, seed: 1 });
    if (sample === undefined) throw new Error('nothing was made');
    const minutes = Array.from({ length: 1_440 }, (_, index): PlayedStep => ({
      kind: 'run',
      afterMs: 60_000,
      status: 'succeeded',
      outcome: false,
      condition: 'false',
      isFlapping: false,
      notify: false,
      reason: 'not_true',
      isManual: false,
      value: 1_299 + (index % 7),
      fetchMs: 80 + ((index * 37) % 140),
      evaluateMs: 2 + ((index * 13) % 9),
    }));
    await withPlayed(minutes, async (played) => {
      played.nowMs += 10 * dayMs;
      const [first] = await played.fold();
      expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThanOrEqual(2_048);
    });
  });
});

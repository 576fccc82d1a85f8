import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deliveriesView } from '#contracts/delivery';
import { schedulesView } from '#contracts/schedule';
import { dayMs, dayOf, figuresView, statsStream, type FoldEvent, type RunsFolded } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import type { EventArchive, RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import { playedStep, playedTaskId, playEvents, type PlayedStep } from '../execution/figures.kit.js';
import { archivedLines } from '../execution/retention/archive.js';
import { dropFolded } from '../execution/retention/drop-events.js';
import { foldOldDays, type FoldingDeps } from '../execution/retention/folding.js';
import { undeliveredView } from '../execution/undelivered-view.js';
import { storedIn } from '../execution/retention/retention.kit.js';
import { keptViews } from './projections.js';

const startMs = Date.parse('2026-10-01T05:30:00.000Z');
const hourMs = 3_600_000;

const asked = [figuresView.name, schedulesView.name, deliveriesView.name, undeliveredView.name];

/** An installation of one task, in memory. */
class Played {
  readonly eventStore: EventArchive = createSqliteEventStore(':memory:');
  readonly readStore: ViewStore = createSqliteReadStore(':memory:');
  /** Every event that there ever was. */
  readonly events: RecordedEvent[] = [];
  nowMs = startMs;

  async play(steps: readonly PlayedStep[]): Promise<void> {
    const { recorded, endMs } = playEvents(steps, startMs);
    for (const { stream, revision, ...event } of recorded) {
      await this.eventStore.append(stream, [event], revision === 0 ? 'none' : revision - 1);
    }
    this.events.push(...(await everyEvent(this.eventStore)));
    this.nowMs = endMs;
    await this.project();
  }

  deps(more: Partial<FoldingDeps> = {}): FoldingDeps {
    const { eventStore, readStore } = this;
    return {
      eventStore,
      readStore,
      stored: storedIn(eventStore),
      sharedState: createDocumentState(readStore),
      clock: { now: () => this.nowMs },
      logger: silentLogger,
      keepRunsDays: 2,
      keepDeliveriesDays: 3,
      archiveDir: null,
      ...more,
    };
  }

  /** The views that folding asks, from the first event on. */
  async project(): Promise<void> {
    for (const { build, name } of keptViews) {
      if (!asked.includes(name)) continue;
      const builder = await build(this.readStore);
      await builder.apply(this.events);
      await builder.flush(this.events.at(-1)?.position ?? 0);
    }
  }

  /** Returns what was folded. */
  async fold(more: Partial<FoldingDeps> = {}): Promise<readonly RunsFolded[]> {
    const after = this.events.at(-1)?.position ?? 0;
    await foldOldDays(this.deps(more));
    const folds = (await Array.fromAsync(this.eventStore.read(statsStream(playedTaskId)))).filter(
      ({ position }) => position > after,
    );
    this.events.push(...folds);
    await this.project();
    return folds.flatMap((recorded) => {
      const event = decodeEvent<FoldEvent>(recorded);
      return event.type === 'runs.folded' ? [event.data] : [];
    });
  }

  drop(): Promise<void> {
    const folds = this.events.filter(({ stream }) => stream === statsStream(playedTaskId));
    const { eventStore, readStore } = this;
    const forget = async (): Promise<void> => undefined;
    return dropFolded({ eventStore, readStore, stored: eventStore, snapshots: { forget } } as never, folds);
  }

  async close(): Promise<void> {
    await this.readStore.close();
    await this.eventStore.close();
  }
}

/** Every document of every view as these events make it, in text. */
function viewsOf(events: readonly RecordedEvent[]): Record<string, Record<string, string>> {
  return Object.fromEntries(
    keptViews.map(({ name, replay }) => [
      name,
      Object.fromEntries(
        [...replay(events)]
          .map(([id, document]) => [id, JSON.stringify(document)] as const)
          .toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ),
    ]),
  );
}

async function withPlayed(steps: readonly PlayedStep[], work: (played: Played) => Promise<void>): Promise<void> {
  const played = new Played();
  try {
    await played.play(steps);
    await work(played);
  } finally {
    await played.close();
  }
}

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
            ({ stream, metadata }) => !/^(task|stats)-/.test(stream) && dayOf(metadata.at) === day,
          );
          expect(found).toEqual(wanted.map(({ id }) => id));
        }
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

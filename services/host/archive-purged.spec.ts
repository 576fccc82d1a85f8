import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { dayMs, statsStream, type FoldEvent } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import { beginIntegrity } from '#eventing/integrity';
import { createEventChain } from '#event-store/event-chain';
import type { EventArchive, EventStore, RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import { createContentEraser } from '#vault/content-eraser';
import { createOwnerKeys } from '#vault/owner-keys';
import { createEventOpener, createSealedEvents, type EventOpener } from '#vault/sealed-events';
import { playedTaskId, playEvents, type PlayedStep } from '../execution/figures.kit.js';
import { archivedLines, type ArchiveKind } from '../execution/retention/archive.js';
import { dropFolded } from '../execution/retention/drop-events.js';
import { foldOldDays } from '../execution/retention/folding.js';
import { keptViews } from './projections.js';
import { playedFromMs } from './retention.kit.js';

const secretKey = Buffer.alloc(32, 8);
const canary = 'canary-on-the-page';

const run = {
  kind: 'run',
  afterMs: 60_000,
  status: 'succeeded',
  outcome: true,
  condition: 'true',
  isFlapping: false,
  notify: true,
  reason: 'became_true',
  isManual: false,
  value: canary,
  fetchMs: 1,
  evaluateMs: 1,
} satisfies PlayedStep;

describe('the archive of a purged task', () => {
  let archiveDir: string;
  let stored: EventArchive;
  let events: EventStore;
  let opener: EventOpener;
  let readStore: ViewStore;
  let purge: () => Promise<void>;

  beforeEach(async () => {
    archiveDir = await mkdtemp(join(tmpdir(), 'meerkat-archive-'));
    stored = createSqliteEventStore(':memory:', { secretKey });
    readStore = createSqliteReadStore(':memory:');
    const keys = createOwnerKeys(stored, secretKey);
    opener = createEventOpener(keys);
    events = createSealedEvents(stored, keys, opener);
    purge = () => createContentEraser(stored, keys).erase(playedTaskId);
    await beginIntegrity(stored, createEventChain(secretKey), '2026-11-01T00:00:00.000Z');
  });
  afterEach(async () => {
    await stored.close();
    await readStore.close();
    await rm(archiveDir, { recursive: true });
  });

  async function foldAll(): Promise<void> {
    const later = { ...run, afterMs: 5 * dayMs, condition: 'false' as const };
    const { recorded, endMs } = playEvents([run, run, later], playedFromMs);
    for (const { stream, revision, ...event } of recorded) {
      await events.append(stream, [event], revision === 0 ? 'none' : revision - 1);
    }
    const all = await opener.open(await everyEvent(stored));
    for (const { build } of keptViews) {
      const builder = await build(readStore);
      await builder.apply(all);
      await builder.flush(all.at(-1)?.position ?? 0);
    }
    const eventStore = events;
    const truncate = (stream: string, before: number) => stored.truncate(stream, before);
    const asStored = { read: stored.read, truncate, open: (some: readonly RecordedEvent[]) => opener.open(some, true) };
    const common = { eventStore, readStore, stored: asStored, logger: silentLogger };
    const sharedState = createDocumentState(readStore);
    const keep = { keepRunsDays: 2, keepDeliveriesDays: 2, archiveDir };
    await foldOldDays({ ...common, ...keep, sharedState, clock: { now: () => endMs } });
    const folds = await Array.fromAsync(events.read(statsStream(playedTaskId)));
    expect(folds.map((fold) => decodeEvent<FoldEvent>(fold).type)).toEqual(['runs.folded', 'deliveries.folded']);
    await dropFolded({ ...common, snapshots: { forget: async () => undefined } } as never, folds);
  }

  const linesOf = (kind: ArchiveKind): Promise<string[]> =>
    Array.fromAsync(archivedLines(archiveDir, { taskId: playedTaskId, day: '2026-10-01', kind }));
  const opened = (lines: readonly string[]) =>
    opener.open(
      lines.map((line) => JSON.parse(line) as RecordedEvent),
      true,
    );

  it.each<ArchiveKind>(['runs', 'deliveries'])('made before gives nothing of its %s in clear', async (kind) => {
    await foldAll();
    const lines = await linesOf(kind);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.filter((line) => line.includes(canary))).toEqual([]);
    // With the key it does.
    expect(JSON.stringify(await opened(lines))).toContain(canary);
    await purge();
    expect(await linesOf(kind)).toEqual(lines);
    const left = await opened(lines);
    expect(JSON.stringify(left)).not.toContain(canary);
    expect(left.filter(({ stream, isPurged }) => /^(run|dlv)-/.test(stream) && isPurged !== true)).toEqual([]);
  });
});

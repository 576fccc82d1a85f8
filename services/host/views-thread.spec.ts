import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { executionsView } from '#contracts/run';
import { schedulesView } from '#contracts/schedule';
import type { EventArchive, NewEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import type { Backfill, AnyView, ViewStore } from '#read-store/read-store';
import { rebuildOf, requestRebuild } from '#eventing/rebuild/requests';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { createDocumentState } from '#shared-state/document-state';
import { keptViews } from './projections.js';

const script = new URL('../../dist/services/host/views-thread.js', import.meta.url);
const tasks = 30;
const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();

const digits = (number: number): string => String(number).padStart(26, '0');

/** A slot that fired, as the schedule of the task tells it. */
function fired(task: number, round: number): NewEvent[] {
  const taskId = `ntf_${digits(task)}`;
  const [due, next] = [at(round * 10), at(round * 10 + 10)];
  const plan = {
    taskId,
    taskRevision: 0,
    schedule: { type: 'interval', intervalSeconds: 10, catchUp: 'latest' },
    active: true,
    nextDueAt: next,
    highWaterMark: due,
  };
  const run = {
    runId: `exe_${digits(task * 10_000 + round)}`,
    taskId,
    trigger: 'schedule',
    scheduledFor: due,
    queuedAt: due,
  };
  const metadata = {
    organizationId: `org_${digits(1)}`,
    actor: 'system:scheduling',
    requestId: 'r',
    causationId: null,
    at: due,
  };
  const data = { plan, run: { ...run, force: false, dryRun: false }, skipped: null };
  return [{ id: randomUUID(), type: 'slot.fired', version: 1, data, metadata }];
}

describe('views that a worker thread backfills', () => {
  let folder: string;
  let eventStore: EventArchive;
  let readStore: ViewStore;
  let eventsFile: string;

  /** So many rounds of all tasks; the position of the last event. */
  const append = async (rounds: number): Promise<number> => {
    for (let task = 0; task < tasks; task += 1) {
      const events = Array.from({ length: rounds }, (_, round) => fired(task, round)).flat();
      await eventStore.append(`schedule-ntf_${task}`, events, 'none');
    }
    return (await eventStore.lastPosition()) ?? 0;
  };
  const buildOf = (view: AnyView, end: number, more: Partial<Backfill> = {}): Backfill => ({
    view,
    built: { ...view, name: `${view.name}_build_1`, indexes: [] },
    end,
    onProgress: async () => undefined,
    signal: new AbortController().signal,
    ...more,
  });
  const build = (one: Backfill) => {
    if (readStore.backfiller === null) throw new Error('the store cannot backfill');
    return readStore.backfiller.run(one);
  };
  /** Documents as they are, and as the events alone make them. */
  const compared = async (view: AnyView, kept: AnyView) => {
    const expected = keptViews.find(({ name }) => name === view.name)?.replay(await everyEvent(eventStore));
    const ids = [...(expected?.keys() ?? [])];
    const stored = await readStore.load(kept, ids);
    const { total } = await readStore.page(kept, { where: [], sort: [], limit: 1, offset: 0, count: true });
    return {
      total,
      stored: ids.map((id) => JSON.stringify(stored.get(id)?.document)),
      expected: [...(expected?.values() ?? [])].map((document) => JSON.stringify(document)),
    };
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-views-thread-spec-'));
    eventsFile = join(folder, 'events.db');
    eventStore = createSqliteEventStore(eventsFile);
    readStore = createSqliteReadStore(join(folder, 'views.db'), { script, eventsFile, secretKey: null });
  });
  afterEach(async () => {
    await readStore.close();
    await eventStore.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('are byte for byte what their events make of them, several in one pass', async () => {
    const end = await append(100);
    const builds = [buildOf(executionsView, end), buildOf(schedulesView, end)];
    expect(await Promise.all(builds.map(build))).toEqual(
      builds.map(() => ({ position: end, events: end, forgotten: [] })),
    );
    for (const { view, built } of builds) {
      const { total, stored, expected } = await compared(view, built);
      expect(total).toBe(expected.length);
      expect(stored).toEqual(expected);
      expect(await readStore.seen(built)).toMatchObject({ position: end, event: { position: end } });
    }
  });

  it('hold no event behind the end that was asked for', async () => {
    const end = (await append(20)) - 7;
    const one = buildOf(executionsView, end);
    expect(await build(one)).toEqual({ position: end, events: end, forgotten: [] });
    expect((await compared(executionsView, one.built)).total).toBe(end);
  });

  it('a backfill gives up where the worker cannot read the event file', async () => {
    const end = await append(2);
    await readStore.close();
    const broken = join(folder, 'broken.db');
    await writeFile(broken, 'no database at all, whatever its name says');
    readStore = createSqliteReadStore(join(folder, 'views.db'), { script, eventsFile: broken, secretKey: null });
    expect(await build(buildOf(executionsView, end))).toBeNull();
  });

  it('a backfill gives up at an unreadable event, and the others of its pass are complete', async () => {
    const end = await append(20);
    const [poison] = fired(0, 99);
    if (poison === undefined) throw new Error('no event');
    await eventStore.append('claim-exe_1', [{ ...poison, type: 'no.such' }], 'none');
    const answers = await Promise.all([
      build(buildOf(executionsView, end + 1)),
      build(buildOf(schedulesView, end + 1)),
    ]);
    expect(answers).toEqual([null, { position: end + 1, events: end, forgotten: [] }]);
  });

  it('a backfill rejects as its progress callback does', async () => {
    const end = await append(50);
    const onProgress = async (): Promise<void> => {
      throw new Error('taken over');
    };
    await expect(build(buildOf(executionsView, end, { onProgress }))).rejects.toThrow('taken over');
  });

  it('a backfill ends at once when it is aborted or the store is closed', async () => {
    const end = await append(50);
    const ending = new AbortController();
    const one = build(buildOf(executionsView, end, { signal: ending.signal }));
    ending.abort();
    expect(await one).toBeNull();
    const other = build(buildOf(executionsView, end));
    await readStore.close();
    expect(await other).toBeNull();
  });

  it('take the place of the live one once they have seen what came meanwhile', async () => {
    await append(400);
    const views = keptViews.filter(({ name }) => [executionsView.name, schedulesView.name].includes(name));
    const leases = createSoleLeases();
    const sharedState = createDocumentState(readStore);
    const kept = views.map((view) => view.keep({ eventStore, readStore, sharedState, leases, logger: silentLogger }));
    const isDone = async (requestedAt: string): Promise<void> => {
      await found(async () => {
        const rebuilds = await Promise.all(views.map(({ name }) => rebuildOf(sharedState, name)));
        return rebuilds.every((rebuild) => rebuild?.state === 'done' && rebuild.requestedAt >= requestedAt);
      });
    };
    // A view that has seen nothing is begun in the same way.
    await isDone('');
    const requestedAt = new Date().toISOString();
    for (const { name } of views) await requestRebuild(sharedState, name, requestedAt);
    for (let round = 0; round < 50; round += 1) {
      await eventStore.append('schedule-ntf_late', fired(99, round), round === 0 ? 'none' : round - 1);
    }
    await isDone(requestedAt);
    const end = await eventStore.lastPosition();
    await found(async () => {
      const seen = await Promise.all(views.map(({ view }) => readStore.checkpoint(view)));
      return seen.every((position) => position === end);
    });
    for (const { view } of views) {
      const { total, stored, expected } = await compared(view, view);
      expect(total).toBe(expected.length);
      expect(stored).toEqual(expected);
    }
    await Promise.all(kept.map((work) => work.stop()));
  });
});

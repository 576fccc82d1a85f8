import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { OpenedBus } from '#bus/bus';
import { createSqliteBus } from '#bus/sqlite';
import { scheduleStream, schedulesView, type DueRun, type ScheduleEvent } from '#contracts/schedule';
import { decodeEvent, encodeEvents } from '#eventing/codec';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import type { BackgroundWork } from '#eventing/service';
import { createSqliteEventStore } from '#event-store/sqlite';
import { runCommand } from '#eventing/run-command';
import { shardCount, shardOf } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import { projectBatch } from '#eventing/projected';
import { createSqliteReadStore } from '#read-store/sqlite';
import { unavailable } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { scheduleDecider } from './domain/schedule.js';
import { DueSlots } from './due-slots.js';
import { schedulesProjection } from './schedule-view.js';
import { startTimer, sweepPending, type TimerDeps } from './timer.js';

const taskId = 'ntf_00000000000000000000000001';
const start = Date.parse('2026-11-21T10:00:00.000Z');
const metadata: EventMetadata = {
  organizationId: 'org_00000000000000000000000001',
  actor: 'system:scheduling',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};

/** A timer that has settled nothing, as after a start. Returns how many schedules it found. */
async function fireDue(parts: TimerDeps, slots = new DueSlots(parts)): Promise<number> {
  const count = await slots.look(0);
  await slots.fire();
  return count;
}

describe('the timer', () => {
  let nowMs: number;
  let parts: TimerDeps & { readonly bus: OpenedBus };

  beforeEach(async () => {
    nowMs = start;
    parts = {
      shards: createSoleLeases().shards('slots'),
      eventStore: createSqliteEventStore(':memory:'),
      readStore: createSqliteReadStore(':memory:'),
      bus: createSqliteBus(':memory:', silentLogger),
      clock: { now: () => nowMs },
      logger: silentLogger,
    };
    await runCommand(parts.eventStore, scheduleDecider, {
      stream: scheduleStream(taskId),
      command: {
        type: 'planRuns',
        taskId,
        taskRevision: 0,
        schedule: { type: 'interval', intervalSeconds: 10, catchUp: 'latest' },
        active: true,
        nowMs: start,
      },
      commandId: 'c1',
      metadata,
      from: 'last',
    });
    await project();
  });
  afterEach(async () => {
    await parts.bus.close();
    await parts.readStore.close();
    await parts.eventStore.close();
  });

  /** Brings the view up to date, as the projection of the running service does. */
  const project = async (): Promise<void> => {
    const events = [
      ...(await Array.fromAsync(parts.eventStore.read(scheduleStream(taskId)))),
      ...(await Array.fromAsync(parts.eventStore.read(`run-${taskId}`))),
    ].toSorted((a, b) => a.position - b.position);
    const options = { ...schedulesProjection, readStore: parts.readStore };
    await parts.readStore.save(schedulesView, await projectBatch(options, events), events.at(-1)?.position ?? 0);
  };

  const fired = async (): Promise<DueRun[]> => {
    const events = await Array.fromAsync(parts.eventStore.read(scheduleStream(taskId)));
    return events.flatMap((stored) => {
      const event = decodeEvent<ScheduleEvent>(stored);
      return event.type === 'slot.fired' ? [event.data.run] : [];
    });
  };

  const finish = async (run: DueRun, timesEnded = 0): Promise<void> => {
    const known = await parts.eventStore.readLast(`run-${taskId}`);
    const result = { ...run, taskRevision: 0, status: 'succeeded', outcome: true, values: {}, logs: [], error: null };
    const [event] = encodeEvents(
      [
        {
          type: 'run.recorded',
          data: {
            result: {
              ...result,
              page: null,
              snapshotId: null,
              startedAt: run.queuedAt,
              finishedAt: run.queuedAt,
              timings: { queueMs: 0, fetchMs: 0, parseMs: 0, evaluateMs: 0 },
              seed: run.runId,
            },
            decision: { notify: false, reason: 'still_true', transition: null },
            late: false,
            notifications: [],
            alert: {
              condition: 'true',
              told: 'true',
              health: 'ok',
              consecutiveErrors: 0,
              episode: 1,
              healthEpisode: 0,
              healthTold: false,
              codeRevision: 0,
              attention: 0,
              lastSlot: run.scheduledFor,
              recentRuns: [run.runId],
              previous: null,
              state: {},
              timesEnded,
            },
          },
        },
      ],
      { commandId: run.runId, metadata },
    );
    if (event === undefined) throw new Error('no event');
    await parts.eventStore.append(`run-${taskId}`, [event], known?.revision ?? 'none');
  };

  it('fires a due slot once, however often it looks before the view has reached it', async () => {
    await Promise.all([fireDue(parts), fireDue(parts)]);
    await fireDue(parts);
    expect(await fired()).toHaveLength(1);
  });

  it('says once what keeps slots from being fired, and not at each look', async () => {
    const said: unknown[] = [];
    const full = unavailable('disk_full', 'The disk of this instance is full.', 30);
    const failing: TimerDeps = {
      ...parts,
      eventStore: { ...parts.eventStore, append: () => Promise.reject(full) },
      logger: { ...silentLogger, warn: (_fields, line) => said.push(line), error: (_fields, line) => said.push(line) },
    };
    const slots = new DueSlots(failing);
    for (let look = 0; look < 5; look += 1) await fireDue(failing, slots);
    expect(said).toEqual(['a slot could not be fired; trying again']);
    expect(await fireDue(parts)).toBe(1);
    expect(await fired()).toHaveLength(1);
  });

  it('leaves slots of shards that other processes hold', async () => {
    const own = shardOf(taskId);
    const others = Array.from({ length: shardCount }, (_, shard) => shard).filter((shard) => shard !== own);
    expect(await fireDue({ ...parts, shards: { held: () => others, holds: () => false } })).toBe(0);
    expect(await fireDue({ ...parts, shards: { held: () => [], holds: () => false } })).toBe(0);
    expect(await fireDue({ ...parts, shards: { held: () => [own], holds: () => true } })).toBe(1);
  });

  it('does not fire the following slot before the view has reached the first', async () => {
    await fireDue(parts);
    nowMs = start + 10_000;
    await fireDue(parts);
    expect(await fired()).toHaveLength(1);
    await project();
    await fireDue(parts);
    const events = await Array.fromAsync(parts.eventStore.read(scheduleStream(taskId)));
    expect(events.at(-1)?.type).toBe('slots.skipped');
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('fires the next slot when its time has come and the run before it has its result', async () => {
    await fireDue(parts);
    await project();
    const [first] = await fired();
    if (first === undefined) throw new Error('nothing fired');
    await finish(first);
    await project();
    nowMs = start + 9_999;
    expect(await fireDue(parts)).toBe(0);
    nowMs = start + 10_000;
    await fireDue(parts);
    expect((await fired()).map(({ scheduledFor }) => scheduledFor)).toEqual([
      '2026-11-21T10:00:00.000Z',
      '2026-11-21T10:00:10.000Z',
    ]);
  });

  it('fires one slot of four while a task backs off, and the next one after a run that ended well', async () => {
    const finishLast = async (timesEnded: number): Promise<void> => {
      const run = (await fired()).at(-1);
      if (run === undefined) throw new Error('nothing fired');
      await finish(run, timesEnded);
      await project();
    };
    const fireAt = async (seconds: number): Promise<void> => {
      nowMs = start + seconds * 1_000;
      await fireDue(parts);
      await project();
    };
    await fireAt(0);
    await finishLast(3);
    for (const seconds of [10, 20, 30, 39.9, 40]) await fireAt(seconds);
    await finishLast(0);
    await fireAt(50);
    expect((await fired()).map(({ scheduledFor }) => (Date.parse(scheduledFor) - start) / 1_000)).toEqual([0, 40, 50]);
  });

  it('fires at its own pace again once the code of a task that backs off is changed', async () => {
    await fireDue(parts);
    await project();
    const [run] = await fired();
    if (run === undefined) throw new Error('nothing fired');
    await finish(run, 3);
    await project();
    await runCommand(parts.eventStore, scheduleDecider, {
      stream: scheduleStream(taskId),
      command: { type: 'planRuns', taskId, taskRevision: 1, codeChanged: true, nowMs: start },
      commandId: 'c2',
      metadata,
      from: 'last',
    });
    await project();
    nowMs = start + 10_000;
    expect(await fireDue(parts)).toBe(1);
    expect(await fired()).toHaveLength(2);
  });

  it('passes a slot over while the run before it is still going', async () => {
    await fireDue(parts);
    await project();
    nowMs = start + 10_000;
    await fireDue(parts);
    const last = await parts.eventStore.readLast(scheduleStream(taskId));
    expect(last).toMatchObject({ type: 'slots.skipped', data: { reason: 'overlap', slots: { count: 1 } } });
  });

  it('fires a slot where the run before it has its result and the view has not reached that', async () => {
    await fireDue(parts);
    await project();
    const [first] = await fired();
    if (first === undefined) throw new Error('nothing fired');
    await finish(first);
    nowMs = start + 10_000;
    await fireDue(parts);
    expect(await fired()).toHaveLength(2);
  });

  it('waits for the view where the result of the run before makes the task back off', async () => {
    await fireDue(parts);
    await project();
    const [first] = await fired();
    if (first === undefined) throw new Error('nothing fired');
    await finish(first, 3);
    nowMs = start + 10_000;
    await fireDue(parts);
    expect((await parts.eventStore.readLast(scheduleStream(taskId)))?.type).toBe('slot.fired');
    await project();
    expect(await fireDue(parts)).toBe(0);
    nowMs = start + 40_000;
    await fireDue(parts);
    expect(await fired()).toHaveLength(2);
  });

  it('does not read the stream again for a slot that it settled a moment ago, but does some seconds later', async () => {
    let asked = 0;
    const eventStore: EventStore = {
      ...parts.eventStore,
      readLast(stream) {
        asked += 1;
        return parts.eventStore.readLast(stream);
      },
    };
    const watched = { ...parts, eventStore };
    const slots = new DueSlots(watched);
    await fireDue(watched, slots);
    expect(asked).toBe(1);
    nowMs = start + 1_900;
    await fireDue(watched, slots);
    expect(asked).toBe(1);
    nowMs = start + 2_000;
    await fireDue(watched, slots);
    expect(asked).toBe(2);
    expect(await fired()).toHaveLength(1);
  });

  it('finds its own slots among more due slots of other processes than one look finds', async () => {
    const document = await parts.readStore.get(schedulesView, taskId);
    if (document === null) throw new Error('no schedule');
    const shard = (document.shard + 1) % shardCount;
    const others = Array.from({ length: 500 }, (_, number) => {
      const id = `ntf_${String(number + 10).padStart(26, '0')}`;
      const nextDueAt = new Date(start - 60_000).toISOString();
      return { id, revision: 1_000, document: { ...document, taskId: id, nextDueAt, shard } };
    });
    await parts.readStore.save(schedulesView, others, null);
    expect(await fireDue({ ...parts, shards: { held: () => [document.shard], holds: () => true } })).toBe(1);
    expect(await fired()).toHaveLength(1);
  });

  it('emits a run again under the same id after half a minute without a result', async () => {
    await fireDue(parts);
    await project();
    nowMs = start + 29_000;
    expect(await sweepPending(parts)).toBe(0);
    nowMs = start + 31_000;
    expect(await sweepPending(parts)).toBe(1);
    const [run] = await fired();
    const again = Promise.withResolvers<unknown>();
    const options = { topic: 'schedule', group: 'g', concurrency: 1, handlerTimeoutMs: 1_000 };
    await parts.bus.consume(options, async ({ type, data }) => again.resolve({ type, run: data['run'] }));
    expect(await again.promise).toEqual({ type: 'run.due', run });
    if (run !== undefined) await finish(run);
    await project();
    expect(await sweepPending(parts)).toBe(0);
  });

  describe('that is started', () => {
    const lookedBeforeMs = 150;
    let looks: number;
    let timer: BackgroundWork;
    afterEach(() => timer.stop());

    /** Its first look, before the slot is due, is the only one that finds anything. */
    const lookingOnce = (): TimerDeps => {
      looks = 0;
      const begunAt = performance.now();
      return {
        ...parts,
        clock: { now: () => start - lookedBeforeMs + Math.floor(performance.now() - begunAt) },
        readStore: {
          ...parts.readStore,
          async page(view, query) {
            looks += 1;
            const page = await parts.readStore.page(view, query);
            return looks === 1 ? page : { ...page, documents: [] };
          },
        },
      };
    };

    it('fires a slot that it found ahead of time at its time, and not before', async () => {
      timer = startTimer(lookingOnce());
      await found(async () => (await fired()).length === 1);
      await timer.stop();
      const event = await parts.eventStore.readLast(scheduleStream(taskId));
      expect(Date.parse(event?.metadata.at ?? '')).toBeGreaterThanOrEqual(start);
    });

    it('leaves a slot that it found to the process that has taken over its shard', async () => {
      const { shards } = parts;
      timer = startTimer({ ...lookingOnce(), shards: { held: () => shards.held(), holds: () => false } });
      // The slot was due before the third look.
      await found(async () => looks === 3);
      await timer.stop();
      expect(await fired()).toEqual([]);
    });
  });
});

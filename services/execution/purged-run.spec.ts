import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { claimStream, executionsView, type RunEvent } from '#contracts/run';
import { scheduleStream, type Plan, type ScheduleEvent } from '#contracts/schedule';
import { tasksView, taskStream } from '#contracts/task';
import type { RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { encodeEvents } from '#eventing/codec';
import { createContentEraser } from '#vault/content-eraser';
import { createOwnerKeys, type OwnerKeys } from '#vault/owner-keys';
import { createSealedEvents } from '#vault/sealed-events';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import type { EventArchive } from '#event-store/event-store';
import {
  closeRunDeps,
  document,
  due,
  metadata,
  page,
  runDeps,
  saveTasks,
  scriptedOutbound,
  taskId,
} from './run.kit.js';
import { executionsProjection } from './execution-view.js';
import { executeRun, type RunDeps } from './run.js';

const running = new AbortController().signal;

const plan: Plan = {
  taskId,
  taskRevision: 0,
  schedule: { type: 'manual' },
  active: true,
  nextDueAt: null,
  highWaterMark: null,
};

function recordedOf(stream: string, event: RunEvent | ScheduleEvent): RecordedEvent {
  const [encoded] = encodeEvents([event], { commandId: crypto.randomUUID(), metadata });
  if (encoded === undefined) throw new Error('no event');
  return { ...encoded, stream, revision: 0, position: 0 };
}

describe('a run of a purged task', () => {
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  let stored: EventArchive;
  let keys: OwnerKeys;
  let parts: RunDeps;
  let whileLoading: () => Promise<void>;

  beforeEach(async () => {
    whileLoading = () => Promise.resolve();
    const opened = runDeps(
      sandbox,
      scriptedOutbound(() => page('<p id="p">yes</p>')),
    );
    stored = opened.eventStore as EventArchive;
    keys = createOwnerKeys(stored, Buffer.alloc(32, 1));
    const { pageLoader } = opened;
    parts = {
      ...opened,
      eventStore: createSealedEvents(stored, keys),
      pageLoader: {
        ...pageLoader,
        async load(request) {
          await whileLoading();
          return pageLoader.load(request);
        },
      },
    };
    await saveTasks(parts, [document()]);
    await keys.make(taskId);
  });
  afterEach(() => closeRunDeps({ ...parts, eventStore: stored }));
  // The workers outlive the specs that share them.
  afterAll(() => sandbox.close());

  async function purge(): Promise<void> {
    const event = { id: crypto.randomUUID(), type: 'task.purged', version: 1, data: {}, metadata };
    await stored.append(taskStream(taskId), [event], 'none');
    await createContentEraser(stored, keys).erase(taskId);
    await parts.snapshots.forget(taskId);
    await parts.readStore.save(tasksView, [{ id: taskId, revision: 2, document: null }], 2);
  }

  const ofRuns = async (): Promise<readonly RecordedEvent[]> =>
    (await everyEvent(stored)).filter(({ stream }) => /^(run|claim)-/.test(stream));

  it('that began before leaves no result and no page, and is over', async () => {
    whileLoading = purge;
    await executeRun(parts, due(0), metadata, running);
    expect((await ofRuns()).map(({ type }) => type)).toEqual(['run.started', 'run.forgotten']);
    expect(await parts.snapshots.list(taskId, 10)).toEqual([]);
    expect(await parts.readStore.get(executionsView, due(0).runId)).toBeNull();
  });

  it('that would begin afterwards is over without a claim, and is not shown any more', async () => {
    await purge();
    // The timer, or a person, asked for it at the very moment of the purge.
    const asked = recordedOf(scheduleStream(taskId), { type: 'run.requested', data: { plan, run: due(0) } });
    await executeRun(parts, due(0), metadata, running);
    await executeRun(parts, due(0), metadata, running);
    const events = await ofRuns();
    expect(events.map(({ type }) => type)).toEqual(['run.forgotten']);
    expect([asked, ...events].reduce(executionsProjection.reduce, null)).toBeNull();
  });

  it('that is claimed at the very moment of the purge is not shown again', () => {
    const asked = recordedOf(scheduleStream(taskId), { type: 'run.requested', data: { plan, run: due(0) } });
    const purged = { ...asked, stream: taskStream(taskId), type: 'task.purged', data: {} };
    const claimed = recordedOf(claimStream(taskId), {
      type: 'run.started',
      data: { run: due(0), startedAt: metadata.at, worker: 'w-1' },
    });
    const given = recordedOf(claimStream(taskId), {
      type: 'run.cancelled',
      data: { run: due(0), startedAt: metadata.at, worker: 'w-1', reason: 'shutdown' },
    });
    expect(executionsProjection.forgets?.(purged)).toEqual([[{ field: 'notificationId', equals: taskId }]]);
    expect([claimed, given].reduce(executionsProjection.reduce, null)).toBeNull();
  });

  it('is tried again where another part is broken', async () => {
    const broken = { ...parts, eventStore: { ...parts.eventStore, append: () => Promise.reject(new Error('broken')) } };
    await expect(executeRun(broken, due(0), metadata, running)).rejects.toThrow('broken');
  });
});

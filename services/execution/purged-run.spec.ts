import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { executionsView } from '#contracts/run';
import { tasksView, taskStream } from '#contracts/task';
import type { RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
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
import { executeRun, type RunDeps } from './run.js';

const running = new AbortController().signal;

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
    expect((await ofRuns()).map(({ type }) => type)).toEqual(['run.started']);
    expect(await parts.snapshots.list(taskId, 10)).toEqual([]);
    expect(await parts.readStore.get(executionsView, due(0).runId)).toBeNull();
  });

  it('that would begin afterwards is over without a claim', async () => {
    await purge();
    await executeRun(parts, due(0), metadata, running);
    expect(await ofRuns()).toEqual([]);
  });

  it('is tried again where another part is broken', async () => {
    const broken = { ...parts, eventStore: { ...parts.eventStore, append: () => Promise.reject(new Error('broken')) } };
    await expect(executeRun(broken, due(0), metadata, running)).rejects.toThrow('broken');
  });
});

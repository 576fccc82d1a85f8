import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runStream, type AlertState, type RunEvent } from '#contracts/run';
import { tasksView, type TaskDocument } from '#contracts/task';
import { encodeEvents } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ReadStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { isDependencyDown } from './dependencies.js';
import { initialAlert } from './domain/alert/alert.js';
import { document, due, metadata } from './run.kit.js';

const parents = ['ntf_00000000000000000000000011', 'ntf_00000000000000000000000012'] as const;
const [parentId, otherId] = parents;
const { organizationId } = metadata;

describe('a dependency', () => {
  let eventStore: EventStore;
  let readStore: ReadStore;
  let revision = 0;

  beforeEach(async () => {
    eventStore = createSqliteEventStore(':memory:');
    readStore = createSqliteReadStore(':memory:');
    await saved({});
  });
  afterEach(async () => {
    await readStore.close();
    await eventStore.close();
  });

  async function saved(more: Partial<TaskDocument>): Promise<void> {
    revision += 1;
    const writes = parents.map((id) => ({ id, revision, document: { ...document(), id, ...more } }));
    await readStore.save(tasksView, writes, revision);
  }

  async function recorded(taskId: string, alert: Partial<AlertState>): Promise<void> {
    const last = await eventStore.readLast(runStream(taskId));
    const run = { ...due((last?.revision ?? -1) + 1), taskId };
    const event: RunEvent = {
      type: 'run.recorded',
      data: {
        result: {
          ...run,
          taskRevision: 0,
          status: 'succeeded',
          outcome: true,
          values: {},
          logs: [],
          error: null,
          page: null,
          snapshotId: null,
          startedAt: metadata.at,
          finishedAt: metadata.at,
          timings: { queueMs: 0, fetchMs: 0, parseMs: 0, evaluateMs: 0 },
          seed: run.runId,
        },
        decision: { notify: false, reason: 'no_actions', transition: null },
        late: false,
        notifications: [],
        alert: { ...initialAlert, ...alert },
      },
    };
    await eventStore.append(
      runStream(taskId),
      encodeEvents([event], { commandId: `${taskId}|${run.runId}`, metadata }),
      last?.revision ?? 'none',
    );
  }
  const isDown = (dependsOn: readonly string[] = parents): Promise<boolean> =>
    isDependencyDown({ eventStore, readStore }, organizationId, { dependsOn: [...dependsOn] });

  it('is down while its condition is true, by its last run', async () => {
    await recorded(parentId, { condition: 'false' });
    expect(await isDown()).toBe(false);
    await recorded(parentId, { condition: 'true' });
    expect(await isDown()).toBe(true);
    expect(await isDown([otherId])).toBe(false);
    await recorded(parentId, { condition: 'false' });
    expect(await isDown()).toBe(false);
  });

  it('is down while its health is not ok, whatever its condition', async () => {
    await recorded(otherId, { condition: 'false', health: 'error' });
    expect(await isDown()).toBe(true);
  });

  it('is not down before its first run, and nobody is where there are none', async () => {
    expect(await isDown()).toBe(false);
    expect(await isDependencyDown({ eventStore, readStore }, organizationId, {})).toBe(false);
  });

  it('is not down while it flaps', async () => {
    await recorded(parentId, { condition: 'true', flapping: true });
    expect(await isDown()).toBe(false);
  });

  it('is not down by an outcome of code that was edited since, but by an error still', async () => {
    await recorded(parentId, { condition: 'true', codeRevision: 1 });
    await saved({ codeRevision: 2, revision: 2 });
    expect(await isDown()).toBe(false);
    await recorded(parentId, { condition: 'true', codeRevision: 2 });
    expect(await isDown()).toBe(true);
    await recorded(otherId, { health: 'error', codeRevision: 1 });
    expect(await isDown([otherId])).toBe(true);
  });

  it('holds nobody back where it is of another organisation, archived or unknown', async () => {
    await recorded(parentId, { condition: 'true' });
    await saved({ organizationId: 'org_00000000000000000000000009' });
    expect(await isDown()).toBe(false);
    await recorded('ntf_00000000000000000000000099', { condition: 'true' });
    expect(await isDown(['ntf_00000000000000000000000099'])).toBe(false);
  });
});

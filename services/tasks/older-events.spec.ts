import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { plantVersion2 } from '#contracts/plant-version.kit';
import { taskFold, taskStream, type TaskEvent } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import { checkEvent } from '#eventing/codec';
import { copyEvents } from '#event-store/copy-events';
import type { EventMetadata, NewEvent, RecordedEvent } from '#event-store/event-store';
import { foldStream } from '#eventing/fold-stream';
import { runCommand } from '#eventing/run-command';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { JsonObject } from '#runtime/json';
import { taskDecider } from './domain/task.js';
import { toMessages } from './publish.js';
import { historyOf } from './task-history.js';
import { tasksProjection } from './task-view.js';

const organizationId = 'org_01kam000000000000000000001';
const taskId = 'ntf_01kam000000000000000000001';
const stream = taskStream(taskId);
const metadata: EventMetadata = {
  organizationId,
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};
const spec = aTask({
  name: 'Lamp',
  url: 'https://shop.example/lamp',
  evaluationFunction: 'return true;',
  codeForm: 'body',
});
const { name: title, ...others } = spec;

/** As a release of before would have stored it: what is `spec.name` now was `title` then. */
const older: NewEvent = {
  id: '018f4e2a-0000-7000-8000-000000000001',
  type: 'task.created',
  version: 1,
  data: { title, spec: others as JsonObject, status: 'active', createdBy: 'key:key_1' },
  metadata,
};

describe('an event of an older version', () => {
  const planted: { restore(): void }[] = [];
  const stores: { close(): Promise<void> }[] = [];
  const openStore = () => {
    const store = createSqliteEventStore(':memory:');
    stores.push(store);
    return store;
  };
  let eventStore: ReturnType<typeof openStore>;
  let recorded: RecordedEvent;

  beforeEach(async () => {
    planted.push(
      plantVersion2('task.created', ({ title: name, spec: rest, ...data }) => ({
        ...data,
        spec: { name, ...(rest as JsonObject) } as JsonObject,
      })),
    );
    eventStore = openStore();
    await eventStore.append(stream, [older], 'none');
    const last = await eventStore.readLast(stream);
    if (last === null) throw new Error('nothing was stored');
    recorded = last;
  });
  afterEach(async () => {
    for (const { restore } of planted.splice(0)) restore();
    for (const store of stores.splice(0)) await store.close();
  });

  it('is folded in the newest shape', async () => {
    const { state } = await foldStream<typeof taskFold.initial, TaskEvent>(eventStore, taskFold, stream);
    expect(state).toEqual({ status: 'active', spec, createdBy: 'key:key_1' });
  });

  it('is decided on by a command, whose events are stored in the newest version', async () => {
    const command = { type: 'replaceTask', taskId, status: 'active', expectedRevision: 0, actor: 'a' } as const;
    const { state, events } = await runCommand(eventStore, taskDecider, {
      stream,
      command: { ...command, spec: { ...spec, name: 'Lamps' } },
      commandId: 'c1',
      metadata,
      from: 'all',
    });
    expect(events).toEqual([{ type: 'task.changed', data: { changes: { name: 'Lamps' } } }]);
    expect(state).toMatchObject({ spec: { name: 'Lamps' } });
    const another = taskStream('ntf_01kam000000000000000000002');
    await runCommand(eventStore, taskDecider, {
      stream: another,
      command: { type: 'createTask', taskId: 'ntf_01kam000000000000000000002', spec, status: 'active', actor: 'a' },
      commandId: 'c2',
      metadata,
      from: 'all',
    });
    expect(await eventStore.readLast(another)).toMatchObject({ version: 2, data: { spec } });
  });

  it('is projected, published and shown in the history in the newest shape', async () => {
    expect(tasksProjection.reduce(null, recorded)).toMatchObject({ name: 'Lamp', spec, status: 'active' });
    expect(toMessages(recorded)).toMatchObject([{ type: 'task.created', data: { active: true, taskId } }]);
    const wanted = { taskId, before: null, offset: 0, limit: 20 };
    const history = await historyOf(eventStore, wanted, organizationId);
    expect(history.entries).toMatchObject([{ type: 'task.created', data: { spec } }]);
  });

  it('is copied as it was stored, and passes the check of what others wrote', async () => {
    const target = openStore();
    await copyEvents({ source: eventStore, target });
    expect(await target.readLast(stream)).toEqual(recorded);
    expect(() => checkEvent(recorded)).not.toThrow();
  });

  it('cannot be read where its upcaster leads to nothing that its schema takes', () => {
    const wrong = { ...recorded, data: { spec: {}, title: 7 } };
    expect(() => tasksProjection.reduce(null, wrong)).toThrow(/cannot read task.created v1: spec.name: /);
    expect(() => checkEvent(wrong)).toThrow(/cannot read task.created v1: spec.name: /);
  });
});

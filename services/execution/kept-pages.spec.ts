import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BusMessage } from '#bus/bus';
import type { TaskEvent } from '#contracts/task';
import { encodeEvents } from '#eventing/codec';
import type { EventMetadata, EventStore, NewEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ReadStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createDocumentState } from '#shared-state/document-state';
import type { Snapshots } from '#snapshots/snapshots';
import { forgetArchived } from './kept-pages.js';

const taskId = 'ntf_00000000000000000000000001';
const metadata: EventMetadata = {
  organizationId: 'org_00000000000000000000000001',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};

describe('the snapshots of a task', () => {
  let eventStore: EventStore;
  let readStore: ReadStore;
  let forget: (message: BusMessage) => Promise<void>;
  let forgotten: string[];
  beforeEach(async () => {
    eventStore = createSqliteEventStore(':memory:');
    readStore = createSqliteReadStore(':memory:');
    forgotten = [];
    const sharedState = createDocumentState(readStore);
    const snapshots = { forget: async (id: string) => void forgotten.push(id), sweep: async () => 0 };
    forget = (message) =>
      forgetArchived({ snapshots: snapshots as unknown as Snapshots, eventStore, sharedState }, message);
  });
  afterEach(async () => {
    await readStore.close();
    await eventStore.close();
  });

  const archived = (commandId: string): readonly NewEvent[] => {
    const event: TaskEvent = { type: 'task.archived', data: { externalKey: null } };
    return encodeEvents([event], { commandId, metadata });
  };
  const publish = async (events: readonly NewEvent[]): Promise<void> => {
    for (const [revision, { id, type }] of events.entries()) {
      await forget({ id, type, key: taskId, data: { taskId, revision }, metadata });
    }
  };

  it('are deleted once it is archived', async () => {
    const events = archived('c1');
    await eventStore.append(`task-${taskId}`, events, 'none');
    await publish(events);
    expect(forgotten).toEqual([taskId]);
  });

  it('stay where the archiving is not in the event store', async () => {
    await publish(archived('lost'));
    await eventStore.append(`task-${taskId}`, archived('c1'), 'none');
    await publish(archived('lost'));
    expect(forgotten).toEqual([]);
  });
});

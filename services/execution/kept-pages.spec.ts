import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Bus, MessageHandler } from '#bus/bus';
import type { TaskEvent } from '#contracts/task';
import { encodeEvents } from '#eventing/codec';
import type { EventMetadata, EventStore, NewEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSoleLeases } from '#leases/sole';
import type { Leases } from '#leases/leases';
import { systemClock } from '#runtime/clock';
import { silentLogger } from '#runtime/logger';
import type { Snapshots } from '#snapshots/snapshots';
import { KeptPages } from './kept-pages.js';

const taskId = 'ntf_00000000000000000000000001';
const metadata: EventMetadata = {
  organizationId: 'org_00000000000000000000000001',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-21T10:00:00.000Z',
};

describe('the pages of a task', () => {
  let eventStore: EventStore;
  let leases: Leases;
  let keptPages: KeptPages;
  let handle: MessageHandler;
  let forgotten: string[];
  beforeEach(async () => {
    eventStore = createSqliteEventStore(':memory:');
    leases = createSoleLeases();
    forgotten = [];
    const snapshots = { forget: async (id: string) => void forgotten.push(id), sweep: async () => 0 };
    const bus = {
      async consume(_options: unknown, handler: MessageHandler) {
        handle = handler;
        return { stop: async () => undefined };
      },
    };
    keptPages = new KeptPages(
      { snapshots: snapshots as unknown as Snapshots, eventStore, leases, clock: systemClock, logger: silentLogger },
      bus as unknown as Bus,
    );
    await keptPages.onApplicationBootstrap();
  });
  afterEach(async () => {
    await keptPages.beforeApplicationShutdown();
    await leases.close();
    await eventStore.close();
  });

  const archived = (commandId: string): readonly NewEvent[] => {
    const event: TaskEvent = { type: 'task.archived', data: { externalKey: null } };
    return encodeEvents([event], { commandId, metadata });
  };
  const tell = async (events: readonly NewEvent[]): Promise<void> => {
    for (const [revision, { id, type }] of events.entries()) {
      await handle({ id, type, key: taskId, data: { taskId, revision }, metadata });
    }
  };

  it('go once it is archived', async () => {
    const events = archived('c1');
    await eventStore.append(`task-${taskId}`, events, 'none');
    await tell(events);
    expect(forgotten).toEqual([taskId]);
  });

  it('stay where it was archived in a history that is no more', async () => {
    await tell(archived('lost'));
    await eventStore.append(`task-${taskId}`, archived('c1'), 'none');
    await tell(archived('lost'));
    expect(forgotten).toEqual([]);
  });
});

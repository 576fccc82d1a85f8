import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventStore, NewEvent } from '#event-store/event-store';
import { isOnRecord } from './source-event.js';
import { createSqliteEventStore } from '#event-store/sqlite';

const stream = 'task-1';
const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const event = (number: number): NewEvent => ({
  id: id(number),
  type: 'task.archived',
  version: 1,
  data: { externalKey: null },
  metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '2026-11-22T10:00:00.000Z' },
});

describe('news of an event', () => {
  let eventStore: EventStore;
  beforeAll(async () => {
    eventStore = createSqliteEventStore(':memory:');
    await eventStore.append(stream, [event(0), event(1), event(2)], 'none');
  });
  afterAll(() => eventStore.close());

  it('is about one that there is, at its place in its stream', async () => {
    for (const revision of [0, 1, 2]) {
      expect(await isOnRecord(eventStore, { stream, revision, id: id(revision) })).toBe(true);
    }
  });

  it('is about none that there is where another stands in its place', async () => {
    expect(await isOnRecord(eventStore, { stream, revision: 1, id: id(2) })).toBe(false);
    expect(await isOnRecord(eventStore, { stream, revision: 2, id: id(7) })).toBe(false);
  });

  it('is about none that there is beyond the end of its stream, or in one that there is not', async () => {
    expect(await isOnRecord(eventStore, { stream, revision: 3, id: id(2) })).toBe(false);
    expect(await isOnRecord(eventStore, { stream: 'task-2', revision: 0, id: id(0) })).toBe(false);
  });
});

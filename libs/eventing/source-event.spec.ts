import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventStore, NewEvent } from '#event-store/event-store';
import { sourceEventExists } from './source-event.js';
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

describe('the source event of a message', () => {
  let eventStore: EventStore;
  beforeAll(async () => {
    eventStore = createSqliteEventStore(':memory:');
    await eventStore.append(stream, [event(0), event(1), event(2)], 'none');
  });
  afterAll(() => eventStore.close());

  it('exists at its revision of its stream', async () => {
    for (const revision of [0, 1, 2]) {
      expect(await sourceEventExists(eventStore, { stream, revision, id: id(revision) })).toBe(true);
    }
  });

  it('does not exist where another event has its revision', async () => {
    expect(await sourceEventExists(eventStore, { stream, revision: 1, id: id(2) })).toBe(false);
    expect(await sourceEventExists(eventStore, { stream, revision: 2, id: id(7) })).toBe(false);
  });

  it('does not exist beyond the end of its stream, or in a missing stream', async () => {
    expect(await sourceEventExists(eventStore, { stream, revision: 3, id: id(2) })).toBe(false);
    expect(await sourceEventExists(eventStore, { stream: 'task-2', revision: 0, id: id(0) })).toBe(false);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { reject, unavailable } from '#runtime/errors';
import { watchAppends } from './append-health.js';
import { createSqliteEventStore } from './sqlite.js';
import type { EventStore } from './event-store.js';

describe('the health of appends', () => {
  let failure: Error | null;
  let nowMs: number;
  let watched: ReturnType<typeof watchAppends<EventStore>>;
  beforeEach(() => {
    failure = null;
    nowMs = 0;
    const store = createSqliteEventStore(':memory:');
    const failing: EventStore = {
      ...store,
      append: async (...args) => (failure === null ? store.append(...args) : Promise.reject(failure)),
    };
    watched = watchAppends(failing, () => nowMs);
  });
  const append = () => watched.eventStore.append('a-1', [], 'none').catch(() => undefined);

  it('is failing once events could not be written, until some are', async () => {
    expect(watched.health.isFailing).toBe(false);
    failure = unavailable('event_store_unavailable', 'It takes no writes.');
    await append();
    expect(watched.health.isFailing).toBe(true);
    failure = null;
    await append();
    expect(watched.health.isFailing).toBe(false);
  });

  it('is not known any more a while after the last failure', async () => {
    failure = unavailable('event_store_unavailable', 'It takes no writes.');
    await append();
    nowMs = 14_999;
    expect(watched.health.isFailing).toBe(true);
    nowMs = 15_000;
    expect(watched.health.isFailing).toBe(false);
  });

  it('says nothing of events that are refused for what they are', async () => {
    failure = reject('too_large', 'Too large.');
    await append();
    expect(watched.health.isFailing).toBe(false);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { silentLogger } from '#runtime/logger';
import type { Bus, BusMessage, ParkedMessage } from '#bus/bus';
import { recordParked } from './record-dead-letters.js';
import { createSqliteBus } from '#bus/sqlite';

const message: BusMessage = {
  id: 'm1',
  type: 'task.created',
  key: 'ntf_1',
  data: { secret: 'canary' },
  metadata: {
    organizationId: 'org_1',
    actor: 'key:key_1',
    requestId: 'req_1',
    causationId: null,
    at: '2026-11-21T10:00:00.000Z',
  },
};
const parked = (id: string): ParkedMessage => ({
  message: { ...message, id },
  topic: 'task',
  group: 'scheduling',
  reason: 'invalid: it has no plan',
  parkedAt: '2026-11-21T10:00:05.000Z',
});

describe('a dead letter', () => {
  let eventStore: EventStore;
  beforeEach(() => {
    eventStore = createSqliteEventStore(':memory:');
  });
  afterEach(() => eventStore.close());

  const recorded = () => Array.fromAsync(eventStore.read('parked-task'));

  it('is recorded with its consumer and the reason, without its content', async () => {
    await recordParked(eventStore)(parked('m1'));
    const [event] = await recorded();
    expect(event).toMatchObject({
      type: 'message.parked',
      data: { topic: 'task', group: 'scheduling', messageId: 'm1', messageType: 'task.created', key: 'ntf_1' },
      metadata: { organizationId: 'org_1', actor: 'system:bus', causationId: 'm1', at: '2026-11-21T10:00:05.000Z' },
    });
    expect(JSON.stringify(event)).not.toContain('canary');
  });

  it('is recorded also where many come at once', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, at) => recordParked(eventStore)(parked(`m${at}`))));
    expect(new Set((await recorded()).map(({ data }) => data['messageId'])).size).toBe(8);
  });

  it('is reported by the bus that sets it aside', async () => {
    const told = Promise.withResolvers<ParkedMessage>();
    const bus: Bus = createSqliteBus(':memory:', silentLogger, {
      onParked: async (one) => told.resolve(one),
      laterRoundsMs: [],
    });
    const options = { topic: 'task', group: 'scheduling', concurrency: 1, handlerTimeoutMs: 1_000 };
    await bus.consume(options, async () => {
      throw new Error('cannot be handled');
    });
    await bus.publish('task', [message]);
    expect(await told.promise).toMatchObject({
      message: { id: 'm1' },
      group: 'scheduling',
      reason: 'Error: cannot be handled',
    });
    await bus.close();
  });
});

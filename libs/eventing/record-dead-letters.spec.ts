import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { unreadableType, type BusMessage, type DeadLetter, type OpenedBus } from '#bus/bus';
import { recordDeadLetters } from './record-dead-letters.js';
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
const letter = (id: string): DeadLetter => ({
  message: { ...message, id },
  topic: 'task',
  group: 'scheduling',
  reason: 'invalid: it has no plan',
  at: '2026-11-21T10:00:05.000Z',
});

describe('a dead letter', () => {
  let eventStore: EventStore;
  beforeEach(() => {
    eventStore = createSqliteEventStore(':memory:');
  });
  afterEach(() => eventStore.close());

  const readRecorded = () => Array.fromAsync(eventStore.read('parked-task'));

  it('is on record with who gave it up and why, without its content', async () => {
    await recordDeadLetters(eventStore)(letter('m1'));
    const [event] = await readRecorded();
    expect(event).toMatchObject({
      type: 'message.parked',
      data: { topic: 'task', group: 'scheduling', messageId: 'm1', messageType: 'task.created', key: 'ntf_1' },
      metadata: { organizationId: 'org_1', actor: 'system:bus', causationId: 'm1', at: '2026-11-21T10:00:05.000Z' },
    });
    expect(JSON.stringify(event)).not.toContain('canary');
  });

  it('is on record however many are given up at once', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, at) => recordDeadLetters(eventStore)(letter(`m${at}`))));
    expect(new Set((await readRecorded()).map(({ data }) => data['messageId'])).size).toBe(8);
  });

  it('that cannot be read is on record a hundred times an hour, however many somebody writes', async () => {
    const record = recordDeadLetters(eventStore);
    const unread = (at: string, count: number): DeadLetter[] =>
      Array.from({ length: count }, (_, index) => ({
        ...letter(''),
        at,
        message: { ...message, id: `t/0/${at}${index}`, type: unreadableType, key: 'k'.repeat(1_000) },
      }));
    for (const one of unread('2026-11-21T10:00:05.000Z', 150)) await record(one);
    await record(letter('m1'));
    for (const one of unread('2026-11-21T11:00:00.000Z', 2)) await record(one);
    const recorded = await readRecorded();
    expect(recorded.filter(({ data }) => data['messageType'] === unreadableType)).toHaveLength(102);
    expect(recorded.filter(({ data }) => data['messageId'] === 'm1')).toHaveLength(1);
    expect(recorded.filter(({ data }) => data['key'] === 'k'.repeat(200))).toHaveLength(102);
  });

  it('is recorded by the bus that gives the message up', async () => {
    const recorded = Promise.withResolvers<DeadLetter>();
    const bus: OpenedBus = createSqliteBus(':memory:', silentLogger, {
      recordDeadLetter: async (one) => recorded.resolve(one),
      laterRoundsMs: [],
    });
    const options = { topic: 'task', group: 'scheduling', concurrency: 1, handlerTimeoutMs: 1_000 };
    await bus.consume(options, async () => {
      throw new Error('cannot be handled');
    });
    await bus.publish('task', [message]);
    expect(await recorded.promise).toMatchObject({
      message: { id: 'm1' },
      group: 'scheduling',
      reason: 'Error: cannot be handled',
    });
    await bus.close();
  });
});

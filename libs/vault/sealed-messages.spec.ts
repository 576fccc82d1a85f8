import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Bus, BusMessage, MessageHandler } from '#bus/bus';
import type { EventArchive } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createContentEraser } from './content-eraser.js';
import { createOwnerKeys, type OwnerKeys } from './owner-keys.js';
import { createSealedEvents } from './sealed-events.js';
import { sealMessages } from './sealed-messages.js';

const metadata = {
  organizationId: 'org_1',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: '2026-11-01',
};
const message: BusMessage = {
  id: 'notification.requested:dlv_1',
  type: 'notification.requested',
  key: 'dlv_1',
  data: { taskId: 'ntf_1', text: 'canary' },
  metadata,
};
const options = { topic: 'run', group: 'delivery', concurrency: 1, handlerTimeoutMs: 1_000 };

describe('messages about a task', () => {
  let store: EventArchive;
  let keys: OwnerKeys;
  let sent: BusMessage[];
  let handler: MessageHandler | null;

  /** What the bus keeps, and hands over when it is asked to. */
  const kept: Bus = {
    publish: async (_, messages) => void sent.push(...messages),
    async consume(_, handle) {
      handler = handle;
      return { stop: async () => undefined };
    },
    request: () => Promise.reject(new Error('not asked')),
    respond: () => Promise.reject(new Error('not asked')),
    relay: async (_, messages, settled) => {
      sent.push(...messages);
      settled();
    },
  };

  beforeEach(() => {
    store = createSqliteEventStore(':memory:');
    keys = createOwnerKeys(store, Buffer.alloc(32, 1));
    sent = [];
    handler = null;
  });
  afterEach(() => store.close());

  const received = async (bus: Bus): Promise<BusMessage[]> => {
    const found: BusMessage[] = [];
    await bus.consume(options, async (one) => void found.push(one));
    for (const one of sent) await handler?.(structuredClone(one), new AbortController().signal);
    return found;
  };

  it('stand sealed in the bus, published or relayed, and reach their consumer as they were', async () => {
    const bus = sealMessages(kept, keys);
    await bus.publish('run', [message]);
    await bus.relay?.('run', [message], () => undefined, new AbortController().signal);
    expect(sent).toHaveLength(2);
    expect(JSON.stringify(sent)).not.toContain('canary');
    expect(await received(sealMessages(kept, createOwnerKeys(store, Buffer.alloc(32, 1))))).toEqual([message, message]);
  });

  it('that tell ids alone, or were stored in clear by an older version, stay as they are', async () => {
    const bus = sealMessages(kept, keys);
    const plain = { ...message, type: 'run.recorded' };
    await bus.publish('run', [plain]);
    expect(sent).toEqual([plain]);
    sent.push(message);
    expect(await received(bus)).toEqual([plain, message]);
  });

  it('that are relayed are told as they were, until their task is purged', async () => {
    const bus = sealMessages(kept, keys);
    await bus.relay?.('run', [message], () => undefined, new AbortController().signal);
    const told: BusMessage[] = [];
    await bus.consume(options, async (one) => void told.push(one));
    const [relayed] = sent;
    if (relayed === undefined) throw new Error('nothing was relayed');
    await handler?.(relayed, new AbortController().signal);
    expect(told).toEqual([message]);
    const id = '00000000-0000-4000-8000-000000000001';
    const events = createSealedEvents(store, keys);
    await events.append('task-ntf_1', [{ id, type: 'task.purged', version: 1, data: {}, metadata }], 'none');
    await createContentEraser(store, keys).erase('ntf_1');
    await handler?.(relayed, new AbortController().signal);
    expect(told).toHaveLength(1);
  });

  it('that was purged are let go, and none is sent any more', async () => {
    const bus = sealMessages(kept, keys);
    await bus.publish('run', [message]);
    const events = createSealedEvents(store, keys);
    const id = '00000000-0000-4000-8000-000000000001';
    await events.append('task-ntf_1', [{ id, type: 'task.purged', version: 1, data: {}, metadata }], 'none');
    await createContentEraser(store, keys).erase('ntf_1');
    expect(await received(bus)).toEqual([]);
    await bus.publish('run', [message]);
    expect(sent).toHaveLength(1);
  });
});

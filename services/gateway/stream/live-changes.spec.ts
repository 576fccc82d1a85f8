import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSqliteReadStore } from '#read-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { silentLogger } from '#runtime/logger';
import { createEventVault } from '#vault/event-vault';
import { LiveChanges } from './live-changes.js';
import { StreamReader } from './stream-reader.js';

const organizationId = 'org_00000000000000000000000001';
const taskId = 'ntf_00000000000000000000000001';
const staying = new AbortController().signal;
const idAt = (number: number): string => `dlv_${String(number).padStart(26, '0')}`;

/** Resolves once the reader was given a text that holds this. */
async function told(reader: StreamReader, text: string): Promise<string> {
  let all = '';
  for await (const chunk of reader.body) {
    all += String(chunk as Buffer);
    if (all.includes(text)) return all;
  }
  throw new Error(`ended without ${text}: ${all}`);
}

describe('the changes that readers are told', () => {
  let eventStore: EventStore;
  let readStore: ViewStore;
  let changes: LiveChanges;
  let made: number;

  beforeEach(() => {
    eventStore = createSqliteEventStore(':memory:');
    readStore = createSqliteReadStore(':memory:');
    changes = liveChanges(eventStore);
    made = 0;
  });

  afterEach(async () => {
    await readStore.close();
    await eventStore.close();
  });

  const liveChanges = (store: EventStore): LiveChanges =>
    new LiveChanges(store, readStore, createEventVault(eventStore, Buffer.alloc(32, 1)), silentLogger);

  const reader = (): StreamReader =>
    new StreamReader({ organizationId, kinds: ['task', 'execution', 'delivery'], notificationId: null });

  /** A delivery, its event and its document. `size`: of the document. Returns its position. */
  async function deliver(size = 0): Promise<number> {
    made += 1;
    const id = idAt(made);
    const at = '2026-11-24T10:00:00.000Z';
    const metadata = { organizationId, actor: 'system:delivery', requestId: 'r', causationId: null, at };
    const event = {
      id: `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`,
      type: 'x',
      version: 1,
      data: {},
      metadata,
    };
    const appended = await eventStore.append(`dlv-${id}`, [event], 'none');
    if (!appended.ok) throw new Error('not appended');
    const document: DeliveryDocument = {
      id,
      organizationId,
      notificationId: taskId,
      executionId: 'exe_00000000000000000000000001',
      actionId: 'act_00000000000000000000000001',
      actionType: 'webhook',
      type: 'notification.triggered',
      state: 'pending',
      reason: 'r'.repeat(size),
      attempts: [],
      createdAt: at,
      nextAttemptAt: null,
      expiresAt: at,
      finishedAt: null,
      dueAt: null,
    };
    const { position } = appended;
    await readStore.save(deliveriesView, [{ id, revision: position, document }], position);
    return position;
  }

  it('go on for one that comes as the last of the others leaves in the middle of a step', async () => {
    let release = (): void => undefined;
    let isAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const { load } = readStore;
    readStore.load = async (view, ids) => {
      readStore.load = load;
      isAsked();
      await new Promise<void>((resolve) => (release = resolve));
      return readStore.load(view, ids);
    };
    const first = reader();
    await changes.join(first, undefined, staying);
    await deliver();
    await asked;
    changes.leave(first);
    release();
    const second = reader();
    await changes.join(second, undefined, staying);
    await deliver();
    expect(await told(second, idAt(2))).toContain('event: delivery');
    changes.leave(second);
  });

  it('are followed for nobody once all have left before it began', async () => {
    let subscriptions = 0;
    let release = (): void => undefined;
    const slow = liveChanges({
      ...eventStore,
      lastPosition: async () => {
        await new Promise<void>((resolve) => (release = resolve));
        return eventStore.lastPosition();
      },
      subscribe: (asked) => {
        subscriptions += 1;
        return eventStore.subscribe(asked);
      },
    });
    const gone = reader();
    const joining = slow.join(gone, undefined, staying);
    slow.leave(gone);
    release();
    await joining;
    expect(subscriptions).toBe(0);
  });

  it('that one has missed come once each, as they are now, and then what is new', async () => {
    const seen = await deliver();
    await deliver();
    const back = reader();
    await changes.join(back, String(seen), staying);
    await deliver();
    const text = await told(back, idAt(3));
    expect(text).not.toContain(idAt(1));
    expect(text.match(new RegExp(idAt(2), 'g'))).toHaveLength(1);
    expect(text).not.toContain('gap');
    changes.leave(back);
  });

  it('are no gap for one that is ahead of this process, and one where no event is so far', async () => {
    await deliver();
    const other = reader();
    await changes.join(other, undefined, staying);
    const ahead = await deliver();
    const known = reader();
    await changes.join(known, String(ahead), staying);
    await deliver();
    expect(await told(known, idAt(3))).not.toContain('gap');
    const unknown = reader();
    await changes.join(unknown, String(ahead + 1_000), staying);
    expect(await told(unknown, 'gap')).toContain('event: gap');
    for (const one of [other, known, unknown]) changes.leave(one);
  });

  it('are a gap where what was missed is more than a reader may leave waiting', async () => {
    const seen = await deliver();
    for (let at = 0; at < 12; at += 1) await deliver(100_000);
    const back = reader();
    await changes.join(back, String(seen), staying);
    expect((await told(back, 'gap')).length).toBeLessThan(1_000);
    changes.leave(back);
  });
});

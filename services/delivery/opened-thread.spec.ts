import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deliveriesView, deliveryStream, type DeliveryDocument, type DeliveryEvent } from '#contracts/delivery';
import { encodeEvents } from '#eventing/codec';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { notificationOf, type KitRequest } from './delivery.kit.js';
import { documentAfter } from './delivery-view.js';
import { openedBy } from './opened-thread.js';

let eventStore: EventStore;
let readStore: ViewStore;

beforeEach(() => {
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
});
afterEach(async () => {
  await eventStore.close();
  await readStore.close();
});

/** A message of a moment after the last one that arrived, and was given this, or that was refused. */
async function sent(seconds: number, given: string | null, options: KitRequest = {}): Promise<void> {
  const createdMs = Date.parse('2026-01-02T03:04:05Z') + seconds * 1_000;
  const request = notificationOf({ createdMs, name: `sent ${seconds}`, ...options });
  const at = request.createdAt;
  const summary = { method: 'POST', url: 'https://chat.example/' };
  const receipt = given === null ? { refused: 'http_status' } : { refused: null, receipt: { id: given } };
  const events: DeliveryEvent[] = [
    { type: 'delivery.requested', data: { request, linkBase: null } },
    { type: 'attempt.started', data: { attempt: 1, at, timeoutMs: 1_000, worker: 'w', request: summary } },
    {
      type: 'attempt.ended',
      data: {
        attempt: 1,
        at,
        result: { durationMs: 1, request: summary, response: null, error: null },
        settled: [{ part: 0, ...receipt }],
        next: given === null ? { state: 'failed', reason: 'http_status' } : { state: 'delivered' },
      },
    },
  ];
  const metadata = { organizationId: 'org_1', actor: 'system:delivery', requestId: 'r', causationId: null, at };
  const { deliveryId: id } = request;
  await eventStore.append(deliveryStream(id), encodeEvents(events, { commandId: id, metadata }), 'none');
  const document = events.reduce<DeliveryDocument | null>(documentAfter, null);
  await readStore.save(deliveriesView, [{ id, revision: 2, document }], seconds);
}

const opened = (options: KitRequest = {}) =>
  openedBy({ readStore, eventStore }, notificationOf({ name: 'now', kind: 'recovered', ...options }));

describe('the first message of an episode', () => {
  it('is found by what it was given when it arrived', async () => {
    await sent(1, 'first');
    await sent(2, 'reminder');
    expect(await opened()).toEqual({ id: 'first' });
  });

  it('that was refused is passed over', async () => {
    await sent(1, null);
    await sent(2, 'second');
    expect(await opened()).toEqual({ id: 'second' });
  });

  it('is found by its id where it is of a folded day, which no view shows', async () => {
    await sent(1, 'first');
    await readStore.reset(deliveriesView);
    const { deliveryId } = notificationOf({ name: 'sent 1' });
    expect(await opened({ more: { openedBy: deliveryId } })).toEqual({ id: 'first' });
    expect(await opened()).toBeNull();
  });

  it.each<[string, KitRequest]>([
    ['another episode', { episode: 'condition:2' }],
    ['another action', { actionId: 'act_00000000000000000000000001' }],
    ['another task', { taskId: 'ntf_00000000000000000000000001' }],
  ])('of %s is not it', async (_what, options) => {
    await sent(1, 'other', options);
    const own = options.actionId === undefined ? options : {};
    await sent(2, null, own);
    expect(await opened()).toBeNull();
  });

  it('is none before there was one, nor is the message itself', async () => {
    await sent(1, 'itself', { name: 'now' });
    expect(await opened({ createdMs: Date.parse('2026-01-02T03:04:06Z') })).toBeNull();
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { kitTimeMs } from '#channels/notification.kit';
import type { EventStore } from '#event-store/event-store';
import { runCommand } from '#eventing/run-command';
import { createSqliteEventStore } from '#event-store/sqlite';
import { deliveryStream } from '#contracts/delivery';
import { changeDelivery, loadDelivery, type LoadedDelivery } from './delivery-stream.js';
import { notificationOf } from './delivery.kit.js';
import { deliveryDecider } from './domain/delivery.js';

const request = notificationOf();
const { deliveryId: id } = request;
const at = (seconds: number): string => new Date(kitTimeMs + seconds * 1_000).toISOString();
const summary = { method: 'POST', url: 'https://hooks.example/in' };
const start = (worker: string) =>
  ({ type: 'startAttempt', at: at(0), timeoutMs: 10_000, worker, request: summary }) as const;
const observer = { worker: 'other', ownerIsDead: true };
const lose = { type: 'loseAttempt', attempt: 1, at: at(1), observer, random: 0 } as const;
const record = { durationMs: 5, request: summary, response: null, error: null };
const delivered = {
  type: 'endAttempt',
  attempt: 1,
  at: at(2),
  result: { kind: 'delivered', record, settled: [] },
  random: 0,
} as const;

let eventStore: EventStore;
let reads: number;

beforeEach(async () => {
  const store = createSqliteEventStore(':memory:');
  eventStore = {
    ...store,
    read(stream, from) {
      reads += 1;
      return store.read(stream, from);
    },
  };
  await runCommand(eventStore, deliveryDecider, {
    stream: deliveryStream(id),
    command: { type: 'requestDelivery', request, linkBase: 'https://meerkat.example' },
    commandId: `${id}|request`,
    metadata: { organizationId: 'org', actor: 'a', requestId: 'req', causationId: 'evt', at: at(0) },
    from: 'all',
  });
  reads = 0;
});

afterEach(() => eventStore.close());

async function load(): Promise<LoadedDelivery> {
  const loaded = await loadDelivery(eventStore, id);
  if (loaded === null) throw new Error('no such delivery');
  return loaded;
}

describe('the stream of a delivery', () => {
  it('loads as null where the delivery is unknown', async () => {
    expect(await loadDelivery(eventStore, 'dlv_unknown')).toBeNull();
  });

  it('is read once for the two events of an attempt', async () => {
    const loaded = await load();
    const started = await changeDelivery(eventStore, loaded, start('one'), 'start');
    await changeDelivery(eventStore, { ...loaded, ...started }, delivered, 'end');
    expect(reads).toBe(1);
    expect(await load()).toMatchObject({
      state: { status: 'delivered' },
      revision: 2,
      metadata: { requestId: 'req', causationId: 'evt' },
    });
  });

  it('lets one of two workers with the same revision start', async () => {
    const [first, second] = [await load(), await load()];
    const started = await changeDelivery(eventStore, first, start('one'), 'start one');
    const late = await changeDelivery(eventStore, second, start('two'), 'start two');
    expect(started.events).toHaveLength(1);
    expect(late.events).toEqual([]);
    expect(late.state).toMatchObject({ status: 'sending', worker: 'one' });
  });

  it('accepts the result delivered after the attempt was recorded as lost', async () => {
    const loaded = await load();
    const started = { ...loaded, ...(await changeDelivery(eventStore, loaded, start('one'), 'start')) };
    await changeDelivery(eventStore, started, lose, 'lost');
    const ended = await changeDelivery(eventStore, started, delivered, 'end');
    expect(ended).toMatchObject({ state: { status: 'delivered' }, revision: 3 });
  });

  it('records a change once where it is repeated because its answer was lost', async () => {
    const loaded = await load();
    const once = await changeDelivery(eventStore, loaded, start('one'), 'start');
    expect(await changeDelivery(eventStore, loaded, start('one'), 'start')).toEqual(once);
    expect((await load()).revision).toBe(1);
  });
});

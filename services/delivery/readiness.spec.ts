/** What has an order among deliveries, through a worker and real receivers. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deliveriesView, deliveryStream } from '#contracts/delivery';
import { foldedDaysView } from '#contracts/retention';
import { derivedId } from '#runtime/ids';
import { answerWith, type KitRequest } from './delivery.kit.js';
import { changeDelivery, loadDelivery } from './delivery-stream.js';
import { WorkerKit } from './worker.kit.js';

let kit: WorkerKit;

beforeEach(() => {
  kit = new WorkerKit();
});

afterEach(() => kit.close());

const episode = 'condition:1';
const idOf = (name: string): string => derivedId('dlv', Date.parse('2026-01-02T03:04:05.678Z'), name);
const trigger = (url: string, more: KitRequest['more'] = {}): KitRequest => ({
  name: 'trigger',
  config: { url },
  more: { episode, ...more },
});
const recovery = (url: string): KitRequest => ({
  name: 'recovery',
  kind: 'recovered',
  config: { url },
  more: { episode, openedBy: idOf('trigger'), follows: idOf('trigger') },
});
/** Its clock stands still, so that timers find nothing due: what waits for another message is found by the sweep. */
const sweepsOften = { limits: { sweepMs: 50 } };
const kindsOf = (received: readonly { body: string }[]): unknown[] =>
  received.map(({ body }) => (JSON.parse(body) as { type: string }).type);

describe('the end of an episode', () => {
  it('goes out after its trigger, however long that is retried', async () => {
    const [receiver, url] = await kit.receiver(answerWith(503), answerWith(200));
    const worker = kit.start(sweepsOften);
    const first = await kit.ask(worker, trigger(url));
    const waiting = await kit.harness.untilState(first, 'retrying');
    const last = await kit.ask(worker, recovery(url));
    kit.whenDue(worker, waiting);
    await kit.harness.untilState(last, 'delivered');
    expect(kindsOf(receiver.received)).toEqual([
      'notification.triggered',
      'notification.triggered',
      'notification.recovered',
    ]);
  });

  it('waits for a trigger that has not even been asked for', async () => {
    const [receiver, url] = await kit.receiver(answerWith(200));
    const worker = kit.start(sweepsOften);
    const last = await kit.ask(worker, recovery(url));
    await kit.ask(worker, trigger(url));
    await kit.harness.untilState(last, 'delivered');
    expect(kindsOf(receiver.received)).toEqual(['notification.triggered', 'notification.recovered']);
  });

  it('is not told where its trigger was refused', async () => {
    const [receiver, url] = await kit.receiver(answerWith(400));
    const worker = kit.start();
    await kit.harness.untilState(await kit.ask(worker, trigger(url)), 'failed');
    const last = await kit.harness.untilState(await kit.ask(worker, recovery(url)), 'suppressed');
    expect([last.reason, receiver.received.length]).toEqual(['not_told', 1]);
  });

  it.each([
    ['whose events stay', false],
    ['of which the last event alone is left', true],
  ])('is told where its trigger is of a folded day, %s', async (_what, isCut) => {
    const [receiver, url] = await kit.receiver(answerWith(200));
    const worker = kit.start();
    const id = await kit.ask(worker, trigger(url));
    const { organizationId, notificationId, createdAt } = await kit.harness.untilState(id, 'delivered');
    const revision = Number.MAX_SAFE_INTEGER;
    const day = { organizationId, notificationId, kind: 'deliveries' as const, from: createdAt, ids: [id] };
    const document = { id: `${notificationId}/day/deliveries`, ...day };
    await kit.readStore.save(foldedDaysView, [{ id: document.id, revision, document }], null);
    await kit.readStore.forget(deliveriesView, { where: [{ field: 'createdAt', to: createdAt }], revision });
    if (isCut) await kit.eventStore.truncate(deliveryStream(id), revision);
    await kit.harness.untilState(await kit.ask(worker, recovery(url)), 'delivered');
    expect(kindsOf(receiver.received)).toEqual(['notification.triggered', 'notification.recovered']);
  });

  it('ends an escalation that is still held back, and is not told either', async () => {
    const [receiver, url] = await kit.receiver(answerWith(200));
    const worker = kit.start();
    const heldUntil = new Date(kit.harness.clock.nowMs + 600_000).toISOString();
    const held = await kit.ask(worker, trigger(url, { heldUntil, provided: { kind: 'condition', is: '1' } }));
    const last = await kit.ask(worker, recovery(url));
    expect((await kit.harness.untilState(last, 'suppressed')).reason).toBe('over');
    expect((await kit.harness.untilState(held, 'suppressed')).reason).toBe('over');
    expect(receiver.received).toEqual([]);
  });
});

describe('messages that are gathered', () => {
  const digestSeconds = 600;

  it('go out as one under the id of the first, oldest first', async () => {
    const [receiver, url] = await kit.receiver(answerWith(200));
    const worker = kit.start();
    const heldUntil = new Date(kit.harness.clock.nowMs + digestSeconds * 1_000).toISOString();
    const first = await kit.ask(worker, trigger(url, { heldUntil }));
    const other = await kit.ask(worker, {
      name: 'other',
      kind: 'recovered',
      config: { url },
      more: { gatheredBy: first },
    });
    expect(await kit.harness.untilState(other, 'suppressed')).toMatchObject({ reason: 'in_digest', attempts: [] });
    const gathering = await kit.harness.until(first, ({ type }) => type === 'notification.digest');
    kit.whenDue(worker, gathering);
    await kit.harness.untilState(first, 'delivered');
    const [sent, ...more] = receiver.received;
    expect(more).toEqual([]);
    expect(sent?.headers['webhook-id']).toBe(first);
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      type: 'notification.digest',
      data: {
        task: { name: 'Price watch' },
        items: [{ execution: { outcome: true } }, { execution: { outcome: true } }],
        message: expect.stringContaining('2 messages'),
        links: { task: expect.stringContaining('/tasks/') },
      },
    });
  });

  it('go with the one that gathers although that was prepared before they came', async () => {
    const [receiver, url] = await kit.receiver(answerWith(200));
    const { eventStore } = kit;
    const worker = kit.start();
    const heldUntil = new Date(kit.harness.clock.nowMs + digestSeconds * 1_000).toISOString();
    const first = await kit.ask(worker, trigger(url, { heldUntil }));
    const waiting = await kit.harness.untilState(first, 'pending');
    await worker.stop();
    let hasCome = false;
    const late = kit.start({
      eventStore: {
        ...eventStore,
        async append(stream, events, expected) {
          if (!hasCome && events.some(({ type }) => type === 'attempt.started')) {
            hasCome = true;
            const gathering = await loadDelivery(eventStore, first);
            if (gathering === null || !('request' in gathering.state)) throw new Error('nothing gathers');
            const other = { ...gathering.state.request, deliveryId: 'dlv_00000000000000000000000077' };
            const at = new Date(kit.harness.clock.nowMs).toISOString();
            await changeDelivery(eventStore, gathering, { type: 'gatherMessage', at, request: other }, 'it came');
          }
          return eventStore.append(stream, events, expected);
        },
      },
    });
    kit.whenDue(late, waiting);
    await kit.harness.untilState(first, 'delivered');
    expect(kindsOf(receiver.received)).toEqual(['notification.digest']);
  });

  it('go by themselves where the one that gathers is gone already', async () => {
    const [receiver, url] = await kit.receiver(answerWith(200));
    const worker = kit.start();
    const first = await kit.ask(worker, trigger(url));
    await kit.harness.untilState(first, 'delivered');
    const late = await kit.ask(worker, { name: 'late', config: { url }, more: { gatheredBy: first } });
    await kit.harness.untilState(late, 'delivered');
    expect(kindsOf(receiver.received)).toEqual(['notification.triggered', 'notification.triggered']);
  });

  it('of which one is alone goes as it is', async () => {
    const [receiver, url] = await kit.receiver(answerWith(200));
    const worker = kit.start();
    const heldUntil = new Date(kit.harness.clock.nowMs + digestSeconds * 1_000).toISOString();
    const first = await kit.ask(worker, trigger(url, { heldUntil }));
    kit.whenDue(worker, await kit.harness.untilState(first, 'pending'));
    await kit.harness.untilState(first, 'delivered');
    expect(kindsOf(receiver.received)).toEqual(['notification.triggered']);
  });
});

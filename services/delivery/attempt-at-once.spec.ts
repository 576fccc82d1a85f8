/** Deliveries that are stored with the start of their first attempt, and what keeps them from being sent twice. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-store/event-store';
import { unavailable } from '#runtime/errors';
import { answerWith } from './delivery.kit.js';
import type { Sender } from './send.js';
import { WorkerKit } from './worker.kit.js';

let kit: WorkerKit;
/** How many events each append had. */
let appended: number[];
let counting: EventStore;

beforeEach(() => {
  kit = new WorkerKit();
  appended = [];
  counting = {
    ...kit.eventStore,
    append(stream, events, expected) {
      if (stream.startsWith('dlv-')) appended.push(events.length);
      return kit.eventStore.append(stream, events, expected);
    },
  };
});
afterEach(() => kit.close());

const start = (sender?: Sender) => kit.start({ eventStore: counting, ...(sender === undefined ? {} : { sender }) });
const whole = ['delivery.requested', 'attempt.started', 'attempt.ended'];

describe('a delivery that can be sent at once', () => {
  it('is stored by the append in which its first attempt begins', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const request = await kit.harness.requestOf({ config: { url } });
    const id = await kit.harness.handOver(start(), request, counting);
    await kit.harness.untilState(id, 'delivered');
    expect(appended).toEqual([2, 1]);
    expect(await kit.typesOf(id)).toEqual(whole);
    expect(hooks.received).toHaveLength(1);
  });

  it('is durable before its consumer goes on, and before its receiver answers', async () => {
    const [hooks, url] = await kit.receiver(() => {});
    const request = await kit.harness.requestOf({ config: { url, timeoutSeconds: 60 } });
    const worker = kit.start({ eventStore: counting, limits: { finishMs: 1 } });
    const id = await kit.harness.handOver(worker, request, counting);
    expect(await kit.typesOf(id)).toEqual(['delivery.requested', 'attempt.started']);
    await hooks.untilReceived(1);
  });

  it('is sent once where its request comes again, while it is under way and after it arrived', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const request = await kit.harness.requestOf({ config: { url } });
    const worker = start();
    await Promise.all([1, 2, 3].map(() => kit.harness.handOver(worker, request, counting)));
    await kit.harness.untilState(request.deliveryId, 'delivered');
    await kit.harness.handOver(worker, request, counting);
    await worker.stop();
    expect(hooks.received).toHaveLength(1);
    expect(await kit.typesOf(request.deliveryId)).toEqual(whole);
  });

  it('is sent by one of several processes that have its request', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const requests = await Promise.all(
      Array.from({ length: 10 }, (_, index) => kit.harness.requestOf({ name: String(index), config: { url } })),
    );
    const workers = [start(), start(), start()];
    await Promise.all(requests.flatMap((one) => workers.map((worker) => kit.harness.handOver(worker, one, counting))));
    for (const { deliveryId } of requests) await kit.harness.untilState(deliveryId, 'delivered');
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(hooks.received).toHaveLength(10);
  });

  it('is one that comes after another message of its episode, once that was asked for in the same process', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const worker = start();
    const before = await kit.harness.requestOf({ name: 'before', config: { url } });
    await kit.harness.handOver(worker, before, counting);
    const more = { follows: before.deliveryId };
    const request = await kit.harness.requestOf({ name: 'after', config: { url }, more });
    await kit.harness.handOver(worker, request, counting);
    for (const { deliveryId } of [before, request]) {
      await kit.harness.untilState(deliveryId, 'delivered');
      expect(await kit.typesOf(deliveryId)).toEqual(whole);
    }
    expect(appended.toSorted((one, other) => one - other)).toEqual([1, 1, 2, 2]);
    expect(hooks.received).toHaveLength(2);
  });

  it('is tried again by its consumer where the store is away, and then sent once', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const request = await kit.harness.requestOf({ config: { url } });
    const worker = start();
    const away: EventStore = {
      ...counting,
      append: () => Promise.reject(unavailable('event_store_unavailable', 'The store is away.', 5)),
    };
    const offline = kit.harness.worker({ eventStore: away });
    await expect(kit.harness.handOver(offline, request, away)).rejects.toMatchObject({
      reason: 'event_store_unavailable',
    });
    await kit.harness.handOver(worker, request, counting);
    await kit.harness.untilState(request.deliveryId, 'delivered');
    expect(hooks.received).toHaveLength(1);
  });
});

describe('a delivery that cannot be sent at once', () => {
  it('is stored alone while its receiver has no slot for it', async () => {
    const answers: (() => void)[] = [];
    const [hooks, url] = await kit.receiver((...exchange) => answers.push(() => answerWith(200)(...exchange)));
    const worker = kit.start({
      eventStore: counting,
      limits: { receivers: { concurrency: 1, quickConcurrency: 1 } },
    });
    const [first, second] = await Promise.all(
      ['first', 'second'].map((name) => kit.harness.requestOf({ name, config: { url } })),
    );
    if (first === undefined || second === undefined) throw new Error('nothing was asked for');
    await kit.harness.handOver(worker, first, counting);
    await kit.harness.handOver(worker, second, counting);
    expect(appended).toEqual([2, 1]);
    await hooks.untilReceived(1);
    answers.shift()?.();
    await hooks.untilReceived(2);
    answers.shift()?.();
    await kit.harness.untilState(second.deliveryId, 'delivered');
    expect(await kit.typesOf(second.deliveryId)).toEqual(whole);
  });

  it('is stored alone where its message takes long to be made, and sent once', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const sender = kit.harness.sender();
    let go = (): void => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    const worker = start({
      ...sender,
      async prepare(...asked) {
        await held;
        return sender.prepare(...asked);
      },
    });
    const request = await kit.harness.requestOf({ config: { url } });
    await kit.harness.handOver(worker, request, counting);
    expect(appended).toEqual([1]);
    go();
    await kit.harness.untilState(request.deliveryId, 'delivered');
    await worker.stop();
    expect(hooks.received).toHaveLength(1);
    expect(await kit.typesOf(request.deliveryId)).toEqual(whole);
  });

  it('is stored alone where it says that its episode is over: what was said before has to arrive first', async () => {
    const [, url] = await kit.receiver(answerWith(200));
    const worker = start();
    const before = await kit.harness.requestOf({ name: 'before', config: { url } });
    await kit.harness.handOver(worker, before, counting);
    const more = { follows: before.deliveryId, kind: 'recovered' as const };
    const request = await kit.harness.requestOf({ name: 'after', config: { url }, more });
    appended.length = 0;
    const { deliveryId } = request;
    await kit.harness.handOver(worker, request, counting);
    expect(appended[0]).toBe(1);
    expect((await kit.typesOf(deliveryId))[0]).toBe('delivery.requested');
  });

  it('is stored alone where another message of its episode comes before it', async () => {
    const [, url] = await kit.receiver(answerWith(200));
    const before = await kit.harness.requestOf({ name: 'before', config: { url } });
    const more = { follows: before.deliveryId };
    const request = await kit.harness.requestOf({ name: 'after', config: { url }, more });
    await kit.harness.handOver(start(), request, counting);
    expect(appended).toEqual([1]);
  });
});

/** Several workers on the same deliveries, and workers that take over from one that crashed. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { notificationRequest } from '#contracts/delivery';
import { runCommand } from '#eventing/run-command';
import { unavailable } from '#runtime/errors';
import { deliveryDecider } from './domain/delivery.js';
import { answerWith } from './delivery.kit.js';
import { webhookSecret as secret, WorkerKit } from './worker.kit.js';

let kit: WorkerKit;

beforeEach(() => {
  kit = new WorkerKit();
});

afterEach(() => kit.close());

const hang = (): void => {};

describe('a crash in the middle of a send', () => {
  /** A worker whose process ends after the receiver answered and before that is written down. */
  async function crash(id: string): Promise<void> {
    const sender = kit.harness.sender();
    let sent = (): void => {};
    const done = new Promise<void>((resolve) => (sent = resolve));
    const worker = kit.harness.worker({
      name: 'dead',
      limits: { finishMs: 1, recordMs: 1 },
      sender: {
        ...sender,
        prepare: async (request, linkBase) => sender.prepare(request, linkBase),
        async send(...args) {
          await sender.send(...args);
          sent();
          return new Promise(() => {});
        },
      },
    });
    worker.offer(id, kit.harness.clock.nowMs);
    await done;
  }

  it('is recovered by the next process, which sends again with the same id and bytes', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const id = await kit.harness.ask({ config: { url, secret } }, () => {});
    await crash(id);
    const open = await kit.harness.untilState(id, 'sending');
    expect(Date.parse(open.dueAt ?? '') - kit.harness.clock.nowMs).toBe(20_000);

    kit.harness.clock.nowMs = Date.parse(open.dueAt ?? '');
    const next = kit.start();
    const lost = await kit.harness.untilState(id, 'retrying');
    expect(lost).toMatchObject({ reason: 'attempt_lost', attempts: [{ error: { reason: 'attempt_lost' } }] });
    kit.whenDue(next, lost);
    const document = await kit.harness.untilState(id, 'delivered');
    expect(document.attempts).toHaveLength(2);
    expect(hooks.received).toHaveLength(2);
    expect(hooks.received[1]?.body).toBe(hooks.received[0]?.body);
    expect(hooks.received[1]?.headers['webhook-id']).toBe(id);
    expect(await kit.typesOf(id)).toEqual([
      'delivery.requested',
      'attempt.started',
      'attempt.lost',
      'attempt.started',
      'attempt.ended',
    ]);
  });

  it('is recovered at once by a process that is alone on its data, before the attempt would have timed out', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const id = await kit.harness.ask({ config: { url, secret, timeoutSeconds: 60 } }, () => {});
    await crash(id);
    await kit.harness.untilState(id, 'sending');
    kit.harness.linkBase = 'http://another-port.example';

    const next = kit.start({ isAlone: true });
    const lost = await kit.harness.untilState(id, 'retrying');
    expect(lost).toMatchObject({ reason: 'attempt_lost' });
    expect(Date.parse(lost.nextAttemptAt ?? '') - kit.harness.clock.nowMs).toBe(5_000);
    kit.whenDue(next, lost);
    await kit.harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(2);
    expect(hooks.received[1]?.body).toBe(hooks.received[0]?.body);
    expect(hooks.received[0]?.body).toContain('https://meerkat.example/api/executions/');
  });

  it('is recovered at once where the view shows it only after the start', async () => {
    const [, url] = await kit.receiver(answerWith(200));
    const id = await kit.harness.ask({ config: { url, timeoutSeconds: 60 } }, () => {});
    await crash(id);
    const next = kit.harness.worker({ isAlone: true });
    next.notice(id, await kit.harness.untilState(id, 'sending'));
    expect(await kit.harness.untilState(id, 'retrying')).toMatchObject({ reason: 'attempt_lost' });
  });

  it('before the first byte is recovered by the next process, which sends', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const id = await kit.harness.ask({ config: { url } }, () => {});
    await kit.harness.untilState(id, 'pending');
    kit.start();
    await kit.harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(1);
  });
});

describe('delivery workers', () => {
  it('send a delivery once when several have it', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const workers = [kit.start(), kit.start(), kit.start()];
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        kit.harness.ask({ name: String(index), config: { url } }, (id, dueMs) => {
          for (const worker of workers) worker.offer(id, dueMs);
        }),
      ),
    );
    for (const id of ids) await kit.harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(20);
  });

  it('serve other receivers while one hangs', async () => {
    const [slow, slowUrl] = await kit.receiver(hang);
    const [, url] = await kit.receiver(answerWith(200));
    const worker = kit.start({ limits: { finishMs: 1 } });
    const config = { url: slowUrl, timeoutSeconds: 60 };
    const hanging = await Promise.all(
      Array.from({ length: 80 }, (_, index) => kit.ask(worker, { name: `slow ${index}`, config })),
    );
    await slow.untilReceived(8);
    const id = await kit.ask(worker, { name: 'good', config: { url } });
    await kit.harness.untilState(id, 'delivered');
    expect(slow.received).toHaveLength(8);
    expect(hanging.filter((one) => kit.harness.document(one)?.state === 'sending').length).toBeLessThanOrEqual(8);
  });

  it('build a message that waits for its receiver once, when it is its turn', async () => {
    const answers: (() => void)[] = [];
    const [hooks, url] = await kit.receiver((...exchange) => answers.push(() => answerWith(200)(...exchange)));
    const sender = kit.harness.sender();
    const built: string[] = [];
    const worker = kit.start({
      limits: { receivers: { concurrency: 1, quickConcurrency: 1 } },
      sender: {
        ...sender,
        async prepare(request, ...others) {
          built.push(request.deliveryId);
          return sender.prepare(request, ...others);
        },
      },
    });
    const ids = [await kit.ask(worker, { name: '0', config: { url } })];
    await hooks.untilReceived(1);
    // As one action has them: sealed once.
    const [requested] = await Array.fromAsync(kit.eventStore.read(`dlv-${ids[0]}`));
    const { config } = notificationRequest.parse(requested?.data['request']).action;
    for (const name of ['1', '2', '3']) ids.push(await kit.ask(worker, { name, config }));
    for (const [index, id] of ids.entries()) {
      await hooks.untilReceived(index + 1);
      expect(built).toEqual(ids.slice(0, index + 1));
      answers[index]?.();
      await kit.harness.untilState(id, 'delivered');
    }
  });

  it('stop sending to a receiver that does not answer, without using up attempts, and resume when it is back', async () => {
    const [gone, url] = await kit.receiver(answerWith(200));
    const { port } = new URL(url);
    await gone.close();
    const worker = kit.start({ limits: { receivers: { concurrency: 1, probeMs: 1_000 } } });
    const ids: string[] = [];
    for (let index = 0; index < 12; index += 1)
      ids.push(await kit.ask(worker, { name: String(index), config: { url } }));
    for (const id of ids.slice(0, 5)) await kit.harness.untilState(id, 'retrying');
    for (const id of ids.slice(5)) expect((await kit.harness.untilState(id, 'pending')).attempts).toEqual([]);

    await kit.receiverAt(Number(port), answerWith(200));
    kit.harness.clock.nowMs += 1_000;
    for (const id of ids.slice(5)) expect((await kit.harness.untilState(id, 'delivered')).attempts).toHaveLength(1);
  });

  it('send a delivery that is sent again to its new receiver at once, while others wait for the old one', async () => {
    const [gone, oldUrl] = await kit.receiver(answerWith(200));
    const [hooks, url] = await kit.receiver(answerWith(200));
    await gone.close();
    const worker = kit.start({ limits: { receivers: { failures: 1, concurrency: 1, probeMs: 3_600_000 } } });
    const first = await kit.ask(worker, { name: 'first', config: { url: oldUrl } });
    await kit.harness.untilState(first, 'retrying');
    const id = await kit.ask(worker, { name: 'mended', config: { url: oldUrl } });
    const [requested] = await Array.fromAsync(kit.eventStore.read(`dlv-${id}`));
    const { action } = notificationRequest.parse(requested?.data['request']);
    const at = new Date(kit.harness.clock.nowMs + 1).toISOString();
    kit.harness.clock.nowMs += 1;
    await runCommand(kit.eventStore, deliveryDecider, {
      stream: `dlv-${id}`,
      command: {
        type: 'resendDelivery',
        at,
        expiresAt: '2027-01-01T00:00:00.000Z',
        action: { ...action, config: { url } },
      },
      commandId: 'mended',
      metadata: { organizationId: 'org', actor: 'usr', requestId: 'req', causationId: null, at },
      from: 'all',
    });
    worker.notice(id, await kit.harness.until(id, ({ dueAt }) => dueAt === at));
    await kit.harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(1);
  });

  it('expire a delivery that waits for its receiver', async () => {
    const [gone, url] = await kit.receiver(answerWith(200));
    await gone.close();
    const worker = kit.start({
      limits: { sweepMs: 50, receivers: { failures: 1, concurrency: 1, probeMs: 3_600_000 } },
    });
    const first = await kit.ask(worker, { name: 'first', config: { url } });
    await kit.harness.untilState(first, 'retrying');
    const id = await kit.ask(worker, { name: 'second', config: { url }, expireAfterSeconds: 60 });
    kit.harness.clock.nowMs += 61_000;
    expect(await kit.harness.untilState(id, 'expired')).toMatchObject({ attempts: [] });
  });

  it('read the stream of a delivery once per attempt', async () => {
    const [, url] = await kit.receiver(answerWith(503), answerWith(200));
    let reads = 0;
    const worker = kit.harness.worker({
      eventStore: {
        ...kit.eventStore,
        read(stream, from) {
          reads += 1;
          return kit.eventStore.read(stream, from);
        },
      },
    });
    const id = await kit.ask(worker, { config: { url } });
    const first = await kit.harness.untilState(id, 'retrying');
    expect(reads).toBe(1);
    kit.whenDue(worker, first);
    await kit.harness.untilState(id, 'delivered');
    expect(reads).toBe(2);
  });

  it('keep an answer until it can be recorded', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    let failures = 2;
    const worker = kit.start({
      eventStore: {
        ...kit.eventStore,
        read: (stream, from) => kit.eventStore.read(stream, from),
        async append(stream, events, expected) {
          if (events[0]?.type === 'attempt.ended' && failures > 0) {
            failures -= 1;
            throw unavailable('event_store_unavailable', 'The disk is full.');
          }
          return kit.eventStore.append(stream, events, expected);
        },
      },
    });
    const id = await kit.ask(worker, { config: { url } });
    await kit.harness.untilState(id, 'delivered');
    expect(failures).toBe(0);
    expect(hooks.received).toHaveLength(1);
  });

  it('send the next message as soon as a receiver has answered, before the answer is durable', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const isDurable = Promise.withResolvers<void>();
    const worker = kit.start({
      limits: { receivers: { concurrency: 1, quickConcurrency: 1 } },
      eventStore: {
        ...kit.eventStore,
        read: (stream, from) => kit.eventStore.read(stream, from),
        async append(stream, events, expected) {
          if (events[0]?.type === 'attempt.ended') await isDurable.promise;
          return kit.eventStore.append(stream, events, expected);
        },
      },
    });
    const ids = [
      await kit.ask(worker, { name: 'a', config: { url } }),
      await kit.ask(worker, { name: 'b', config: { url } }),
    ];
    await hooks.untilReceived(2);
    isDurable.resolve();
    for (const id of ids) await kit.harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(2);
  });

  it('finish what is in flight before they stop, and take nothing new', async () => {
    let finish = (): void => {};
    const [hooks, url] = await kit.receiver((response) => {
      finish = () => response.end();
    });
    const worker = kit.start();
    const id = await kit.ask(worker, { name: 'in flight', config: { url } });
    await hooks.untilReceived(1);
    const stopped = worker.stop();
    const late = await kit.ask(worker, { name: 'late', config: { url } });
    finish();
    await stopped;
    await kit.harness.untilState(id, 'delivered');
    expect(await kit.typesOf(late)).toEqual(['delivery.requested']);
  });

  it('abort what takes too long when they stop, and record that', async () => {
    const [hooks, url] = await kit.receiver(hang);
    const worker = kit.start({ limits: { finishMs: 20 } });
    const id = await kit.ask(worker, { config: { url, timeoutSeconds: 60 } });
    await hooks.untilReceived(1);
    await worker.stop();
    expect(await kit.harness.untilState(id, 'retrying')).toMatchObject({ reason: 'aborted' });
  });

  it('find all due deliveries in the view, page by page', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const ids = await Promise.all(
      Array.from({ length: 1_100 }, (_, index) => kit.harness.ask({ name: `d${index}`, config: { url } }, () => {})),
    );
    for (const id of ids) await kit.harness.untilState(id, 'pending');
    kit.start();
    for (const id of ids) await kit.harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(1_100);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createSqliteBus } from '#bus/sqlite';
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createOutbound } from '#outbound/undici';
import { createSqliteReadStore } from '#read-store/sqlite';
import { unavailable } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { createEventVault } from '#vault/event-vault';
import {
  answerWith,
  DeliveryHarness,
  HttpReceiver,
  type Answer,
  type KitRequest,
  type WorkerChoice,
} from './delivery.kit.js';
import type { DeliveryWorker } from './worker.js';

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

let harness: DeliveryHarness;
let eventStore: EventStore;
let receivers: HttpReceiver[];

function build(egressAllow: readonly string[] = ['127.0.0.1']): DeliveryHarness {
  eventStore = createSqliteEventStore(':memory:');
  return new DeliveryHarness({
    eventStore,
    readStore: createSqliteReadStore(':memory:'),
    bus: createSqliteBus(':memory:', silentLogger),
    outbound: createOutbound({ egressAllow, egressProxyUrl: null, userAgent: 'Meerkat' }),
    sandbox: createQuickJsSandbox({ workers: 1, spareWorkers: 0 }),
    vault: createEventVault(eventStore, Buffer.alloc(32, 1)),
  });
}

beforeEach(() => {
  receivers = [];
  harness = build();
});

afterEach(async () => {
  for (const receiver of receivers) await receiver.close();
  await harness.close();
});

async function receiver(...answers: Answer[]): Promise<[HttpReceiver, string]> {
  const made = new HttpReceiver(...answers);
  receivers.push(made);
  return [made, await made.listen()];
}

function start(choice: WorkerChoice = {}): DeliveryWorker {
  const worker = harness.worker(choice);
  worker.start();
  return worker;
}

async function ask(worker: DeliveryWorker, options: KitRequest): Promise<string> {
  return harness.ask(options, (id, dueMs) => worker.offer(id, dueMs));
}

/** Moves the clock to when the delivery is due next, and tells the worker as its timer would. */
async function whenDue(worker: DeliveryWorker, { id, dueAt }: DeliveryDocument): Promise<void> {
  harness.clock.nowMs = Date.parse(dueAt ?? '');
  worker.offer(id, harness.clock.nowMs);
}

async function typesOf(id: string): Promise<string[]> {
  return (await Array.fromAsync(eventStore.read(`dlv-${id}`))).map(({ type }) => type);
}

const hang = (): void => {};

describe('a delivery by webhook', () => {
  it('arrives once and signed, even if requested several times', async () => {
    const [hooks, url] = await receiver(answerWith(204));
    const worker = start();
    const id = await ask(worker, { config: { url: `${url}/in?token=querysecret`, secret } });
    await ask(worker, { config: { url: `${url}/in?token=querysecret`, secret } });
    const document = await harness.untilState(id, 'delivered');
    expect(document).toMatchObject({
      id,
      type: 'notification.triggered',
      actionType: 'webhook',
      reason: null,
      attempts: [{ request: { method: 'POST', url: `${url}/in` }, response: { status: 204, body: '' }, error: null }],
      nextAttemptAt: null,
      dueAt: null,
    });
    expect(document.finishedAt).not.toBeNull();
    expect(hooks.received).toHaveLength(1);
    const [received] = hooks.received;
    expect(received?.headers['webhook-id']).toBe(id);
    const headers = received?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(received?.body ?? '', headers)).toMatchObject({ type: 'notification.triggered' });
    expect(await typesOf(id)).toEqual(['delivery.requested', 'attempt.started', 'attempt.ended']);
  });

  it('is repeated with the same id and bytes until it arrives', async () => {
    const [hooks, url] = await receiver(answerWith(500, 'oops'), answerWith(503), answerWith(200, 'ok'));
    const worker = start();
    const id = await ask(worker, { config: { url, secret } });
    const first = await harness.untilState(id, 'retrying');
    expect(first).toMatchObject({ reason: 'http_status', attempts: [{ response: { status: 500, body: 'oops' } }] });
    expect(Date.parse(first.nextAttemptAt ?? '') - harness.clock.nowMs).toBe(5_000);
    await whenDue(worker, first);
    const second = await harness.until(id, ({ state, attempts }) => state === 'retrying' && attempts.length === 2);
    expect(Date.parse(second.nextAttemptAt ?? '') - harness.clock.nowMs).toBe(30_000);
    await whenDue(worker, second);
    const document = await harness.untilState(id, 'delivered');
    expect(document.attempts.map(({ response }) => response?.status)).toEqual([500, 503, 200]);
    expect(new Set(hooks.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(hooks.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]));
  });

  it('waits as long as the receiver asks', async () => {
    const [, url] = await receiver(answerWith(429, '', { 'retry-after': '120' }));
    const id = await ask(start(), { config: { url } });
    const document = await harness.untilState(id, 'retrying');
    expect(Date.parse(document.nextAttemptAt ?? '') - harness.clock.nowMs).toBe(120_000);
  });

  it.each([400, 404, 410])('that is answered %i fails permanently', async (status) => {
    const [hooks, url] = await receiver(answerWith(status));
    const id = await ask(start(), { config: { url } });
    expect(await harness.untilState(id, 'failed')).toMatchObject({ reason: status === 410 ? 'gone' : 'http_status' });
    expect(hooks.received).toHaveLength(1);
  });

  it('does not follow a redirect', async () => {
    const [other, otherUrl] = await receiver(answerWith(200));
    const [, url] = await receiver(answerWith(307, '', { location: otherUrl }));
    const id = await ask(start(), { config: { url } });
    expect(await harness.untilState(id, 'retrying')).toMatchObject({ reason: 'redirected' });
    expect(other.received).toHaveLength(0);
  });

  it('records little of a huge answer', async () => {
    const [, url] = await receiver(answerWith(200, 'é'.repeat(3_000_000)));
    const id = await ask(start(), { config: { url } });
    const { attempts } = await harness.untilState(id, 'delivered');
    expect(Buffer.byteLength(attempts[0]?.response?.body ?? '')).toBe(2_048);
  });

  it('that is never answered times out and is repeated', async () => {
    const [, url] = await receiver(hang);
    const id = await ask(start(), { config: { url, timeoutSeconds: 1 } });
    expect(await harness.untilState(id, 'retrying')).toMatchObject({ reason: 'timed_out' });
  });

  it('that is cut off in the middle of its answer is repeated', async () => {
    const [, url] = await receiver((response) => response.socket?.destroy(), answerWith(200));
    const worker = start();
    const id = await ask(worker, { config: { url } });
    const document = await harness.untilState(id, 'retrying');
    expect(document.attempts[0]).toMatchObject({ response: null, error: { reason: expect.any(String) } });
    await whenDue(worker, document);
    await harness.untilState(id, 'delivered');
  });

  it('to an address that is not allowed fails permanently, and nothing is sent', async () => {
    await harness.close();
    harness = build([]);
    const [hooks, url] = await receiver(answerWith(200));
    const id = await ask(start(), { config: { url } });
    expect(await harness.untilState(id, 'failed')).toMatchObject({ reason: 'address_denied' });
    expect(hooks.received).toHaveLength(0);
  });

  it('leaves no secret in events, views and logs, even if the receiver echoes them', async () => {
    const [, url] = await receiver((response, { path, headers, body }) => {
      response.writeHead(400).end(JSON.stringify({ path, headers, body }));
    });
    const id = await ask(start(), {
      config: {
        url: `${url.replace('http://', 'http://someone:canary-password@')}/in?key=canary-query`,
        secret,
        headers: { Authorization: 'Bearer canary-token', 'X-Api': 'canary"quoted' },
      },
    });
    const document = await harness.untilState(id, 'failed');
    const events = await Array.fromAsync(eventStore.read(`dlv-${id}`));
    const everything = JSON.stringify([document, events, harness.logged]);
    expect(everything).toContain('********');
    for (const word of ['canary', secret.slice(6), Buffer.from('someone:canary-password').toString('base64')]) {
      expect(everything).not.toContain(word);
    }
  });

  it('whose template cannot be rendered fails permanently, with one attempt started and ended', async () => {
    const id = await ask(start(), {
      config: { url: 'http://127.0.0.1:9/', body: '{% for i in (1..9999999) %}x{% endfor %}' },
    });
    expect(await harness.untilState(id, 'failed')).toMatchObject({ reason: 'template_failed' });
    expect(await typesOf(id)).toEqual(['delivery.requested', 'attempt.started', 'attempt.ended']);
  });

  it('whose stored settings break the current rules fails with a clear reason', async () => {
    const [hooks, url] = await receiver(answerWith(200));
    const id = await ask(start(), { config: { url: `${url}/in`, headers: { 'X-Mark': 'naïve ✓' } } });
    expect(await harness.untilState(id, 'failed')).toMatchObject({
      reason: 'config_invalid',
      attempts: [{ request: { method: 'POST' } }],
    });
    expect(hooks.received).toHaveLength(0);
  });

  it('expires where its request comes too late, and nothing is sent', async () => {
    const [hooks, url] = await receiver(answerWith(200));
    const worker = harness.worker();
    const id = await harness.ask({ config: { url }, expireAfterSeconds: 60 }, () => {});
    harness.clock.nowMs += 60_000;
    worker.offer(id, harness.clock.nowMs);
    expect(await harness.untilState(id, 'expired')).toMatchObject({ reason: 'expired', attempts: [], dueAt: null });
    expect(hooks.received).toHaveLength(0);
  });
});

describe('a crash in the middle of a send', () => {
  /** A worker whose process ends after the receiver answered and before that is written down. */
  async function crash(id: string): Promise<void> {
    const sender = harness.sender();
    let sent = (): void => {};
    const done = new Promise<void>((resolve) => (sent = resolve));
    const worker = harness.worker({
      name: 'dead',
      limits: { finishMs: 1, recordMs: 1 },
      sender: {
        prepare: async (request, linkBase) => sender.prepare(request, linkBase),
        async send(...args) {
          await sender.send(...args);
          sent();
          return new Promise(() => {});
        },
      },
    });
    worker.offer(id, harness.clock.nowMs);
    await done;
  }

  it('is recovered by the next process, which sends again with the same id and bytes', async () => {
    const [hooks, url] = await receiver(answerWith(200));
    const id = await harness.ask({ config: { url, secret } }, () => {});
    await crash(id);
    const open = await harness.untilState(id, 'sending');
    expect(Date.parse(open.dueAt ?? '') - harness.clock.nowMs).toBe(20_000);

    harness.clock.nowMs = Date.parse(open.dueAt ?? '');
    const next = start();
    const lost = await harness.untilState(id, 'retrying');
    expect(lost).toMatchObject({ reason: 'attempt_lost', attempts: [{ error: { reason: 'attempt_lost' } }] });
    await whenDue(next, lost);
    const document = await harness.untilState(id, 'delivered');
    expect(document.attempts).toHaveLength(2);
    expect(hooks.received).toHaveLength(2);
    expect(hooks.received[1]?.body).toBe(hooks.received[0]?.body);
    expect(hooks.received[1]?.headers['webhook-id']).toBe(id);
    expect(await typesOf(id)).toEqual([
      'delivery.requested',
      'attempt.started',
      'attempt.lost',
      'attempt.started',
      'attempt.ended',
    ]);
  });

  it('is recovered at once by a process that is alone on its data, before the attempt would have timed out', async () => {
    const [hooks, url] = await receiver(answerWith(200));
    const id = await harness.ask({ config: { url, secret, timeoutSeconds: 60 } }, () => {});
    await crash(id);
    await harness.untilState(id, 'sending');
    harness.linkBase = 'http://another-port.example';

    const next = start({ isAlone: true });
    const lost = await harness.untilState(id, 'retrying');
    expect(lost).toMatchObject({ reason: 'attempt_lost' });
    expect(Date.parse(lost.nextAttemptAt ?? '') - harness.clock.nowMs).toBe(5_000);
    await whenDue(next, lost);
    await harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(2);
    expect(hooks.received[1]?.body).toBe(hooks.received[0]?.body);
    expect(hooks.received[0]?.body).toContain('https://meerkat.example/api/executions/');
  });

  it('is recovered at once where the view shows it only after the start', async () => {
    const [, url] = await receiver(answerWith(200));
    const id = await harness.ask({ config: { url, timeoutSeconds: 60 } }, () => {});
    await crash(id);
    const next = harness.worker({ isAlone: true });
    next.notice(id, await harness.untilState(id, 'sending'));
    expect(await harness.untilState(id, 'retrying')).toMatchObject({ reason: 'attempt_lost' });
  });

  it('before the first byte is recovered by the next process, which sends', async () => {
    const [hooks, url] = await receiver(answerWith(200));
    const id = await harness.ask({ config: { url } }, () => {});
    await harness.untilState(id, 'pending');
    start();
    await harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(1);
  });
});

describe('delivery workers', () => {
  it('send a delivery once when several have it', async () => {
    const [hooks, url] = await receiver(answerWith(200));
    const workers = [start(), start(), start()];
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        harness.ask({ name: String(index), config: { url } }, (id, dueMs) => {
          for (const worker of workers) worker.offer(id, dueMs);
        }),
      ),
    );
    for (const id of ids) await harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(20);
  });

  it('serve other receivers while one hangs', async () => {
    const [slow, slowUrl] = await receiver(hang);
    const [, url] = await receiver(answerWith(200));
    const worker = start({ limits: { finishMs: 1 } });
    const config = { url: slowUrl, timeoutSeconds: 60 };
    const hanging = await Promise.all(
      Array.from({ length: 80 }, (_, index) => ask(worker, { name: `slow ${index}`, config })),
    );
    await slow.untilReceived(8);
    const id = await ask(worker, { name: 'good', config: { url } });
    await harness.untilState(id, 'delivered');
    expect(slow.received).toHaveLength(8);
    expect(hanging.filter((one) => harness.document(one)?.state === 'sending').length).toBeLessThanOrEqual(8);
  });

  it('stop sending to a receiver that does not answer, without using up attempts, and resume when it is back', async () => {
    const [gone, url] = await receiver(answerWith(200));
    const { port } = new URL(url);
    await gone.close();
    const worker = start({ limits: { receivers: { concurrency: 1, probeMs: 1_000 } } });
    const ids: string[] = [];
    for (let index = 0; index < 12; index += 1) ids.push(await ask(worker, { name: String(index), config: { url } }));
    for (const id of ids.slice(0, 5)) await harness.untilState(id, 'retrying');
    expect(ids.slice(5).map((id) => harness.document(id)?.attempts.length)).toEqual([0, 0, 0, 0, 0, 0, 0]);

    const back = new HttpReceiver(answerWith(200));
    receivers.push(back);
    await back.listen(Number(port));
    harness.clock.nowMs += 1_000;
    for (const id of ids.slice(5)) expect((await harness.untilState(id, 'delivered')).attempts).toHaveLength(1);
  });

  it('expire a delivery that waits for its receiver', async () => {
    const [gone, url] = await receiver(answerWith(200));
    await gone.close();
    const worker = start({ limits: { sweepMs: 50, receivers: { failures: 1, concurrency: 1, probeMs: 3_600_000 } } });
    const first = await ask(worker, { name: 'first', config: { url } });
    await harness.untilState(first, 'retrying');
    const id = await ask(worker, { name: 'second', config: { url }, expireAfterSeconds: 60 });
    harness.clock.nowMs += 61_000;
    expect(await harness.untilState(id, 'expired')).toMatchObject({ attempts: [] });
  });

  it('read the stream of a delivery once per attempt', async () => {
    const [, url] = await receiver(answerWith(503), answerWith(200));
    let reads = 0;
    const worker = harness.worker({
      eventStore: {
        ...eventStore,
        read(stream, from) {
          reads += 1;
          return eventStore.read(stream, from);
        },
      },
    });
    const id = await ask(worker, { config: { url } });
    const first = await harness.untilState(id, 'retrying');
    expect(reads).toBe(1);
    await whenDue(worker, first);
    await harness.untilState(id, 'delivered');
    expect(reads).toBe(2);
  });

  it('keep an answer until it can be recorded', async () => {
    const [hooks, url] = await receiver(answerWith(200));
    let failures = 2;
    const worker = start({
      eventStore: {
        ...eventStore,
        read: (stream, from) => eventStore.read(stream, from),
        async append(stream, events, expected) {
          if (events[0]?.type === 'attempt.ended' && failures > 0) {
            failures -= 1;
            throw unavailable('event_store_unavailable', 'The disk is full.');
          }
          return eventStore.append(stream, events, expected);
        },
      },
    });
    const id = await ask(worker, { config: { url } });
    await harness.untilState(id, 'delivered');
    expect(failures).toBe(0);
    expect(hooks.received).toHaveLength(1);
  });

  it('finish what is in flight before they stop, and take nothing new', async () => {
    let finish = (): void => {};
    const [hooks, url] = await receiver((response) => {
      finish = () => response.end();
    });
    const worker = start();
    const id = await ask(worker, { name: 'in flight', config: { url } });
    await hooks.untilReceived(1);
    const stopped = worker.stop();
    const late = await ask(worker, { name: 'late', config: { url } });
    finish();
    await stopped;
    await harness.untilState(id, 'delivered');
    expect(await typesOf(late)).toEqual(['delivery.requested']);
  });

  it('abort what takes too long when they stop, and record that', async () => {
    const [hooks, url] = await receiver(hang);
    const worker = start({ limits: { finishMs: 20 } });
    const id = await ask(worker, { config: { url, timeoutSeconds: 60 } });
    await hooks.untilReceived(1);
    await worker.stop();
    expect(await harness.untilState(id, 'retrying')).toMatchObject({ reason: 'aborted' });
  });

  it('find all due deliveries in the view, page by page', async () => {
    const [hooks, url] = await receiver(answerWith(200));
    const ids = await Promise.all(
      Array.from({ length: 1_100 }, (_, index) => harness.ask({ name: `d${index}`, config: { url } }, () => {})),
    );
    for (const id of ids) await harness.untilState(id, 'pending');
    start();
    for (const id of ids) await harness.untilState(id, 'delivered');
    expect(hooks.received).toHaveLength(1_100);
  });
});

describe('a delivery by custom code', () => {
  it('sends the requests that the code returns, and repeats only those that did not arrive', async () => {
    const [first, firstUrl] = await receiver(answerWith(200));
    const [second, secondUrl] = await receiver(answerWith(500), answerWith(200));
    const worker = start();
    const id = await ask(worker, {
      type: 'custom',
      config: {
        code: `return [
          { url: '${firstUrl}/a', headers: { Authorization: 'Bearer ' + secrets.token }, body: { text: event.data.message } },
          { url: '${secondUrl}/b', method: 'PUT', body: String(Math.random()) },
        ];`,
        secrets: { token: 'canary-token' },
      },
    });
    const document = await harness.untilState(id, 'retrying');
    expect(document.attempts[0]).toMatchObject({
      request: { method: 'PUT', url: `${secondUrl}/b` },
      error: { reason: 'http_status', message: expect.stringContaining('1 of 2 requests have it') },
    });
    await whenDue(worker, document);
    await harness.untilState(id, 'delivered');
    expect(first.received).toHaveLength(1);
    expect(first.received[0]?.headers).toMatchObject({ authorization: 'Bearer canary-token', 'idempotency-key': id });
    expect(second.received).toHaveLength(2);
    expect(second.received[1]?.body).toBe(second.received[0]?.body);
    expect(second.received[1]?.headers['idempotency-key']).toBe(`${id}-1`);
  });

  it.each([
    ['throws', 'throw new Error("no " + secrets.token)', 'threw'],
    ['never ends', 'for (;;) {}', 'cpu_limit'],
    ['does not parse', 'return (', 'syntax_error'],
    ['returns nothing', 'return null', 'custom_result_invalid'],
  ])('that %s fails permanently, with a reason and without secrets', async (_what, code, reason) => {
    const id = await ask(start(), { type: 'custom', config: { code, secrets: { token: 'canary-token' } } });
    const document = await harness.untilState(id, 'failed');
    expect(document).toMatchObject({ reason, attempts: [{ error: { reason } }] });
    expect(JSON.stringify(document)).not.toContain('canary');
  });
});

describe('the view of deliveries', () => {
  it('finds due deliveries by an index', () => {
    expect(deliveriesView.indexes).toContainEqual(['dueAt']);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { deliveriesView } from '#contracts/delivery';
import { answerWith } from './delivery.kit.js';
import { webhookSecret as secret, WorkerKit } from './worker.kit.js';

let kit: WorkerKit;

beforeEach(() => {
  kit = new WorkerKit();
});

afterEach(() => kit.close());

const hang = (): void => {};

describe('a delivery by webhook', () => {
  it('arrives once and signed, even if requested several times', async () => {
    const [hooks, url] = await kit.receiver(answerWith(204));
    const worker = kit.start();
    const id = await kit.ask(worker, { config: { url: `${url}/in?token=querysecret`, secret } });
    await kit.ask(worker, { config: { url: `${url}/in?token=querysecret`, secret } });
    const document = await kit.harness.untilState(id, 'delivered');
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
    expect(await kit.typesOf(id)).toEqual(['delivery.requested', 'attempt.started', 'attempt.ended']);
  });

  it('is repeated with the same id and bytes until it arrives', async () => {
    const [hooks, url] = await kit.receiver(answerWith(500, 'oops'), answerWith(503), answerWith(200, 'ok'));
    const worker = kit.start();
    const id = await kit.ask(worker, { config: { url, secret } });
    const first = await kit.harness.untilState(id, 'retrying');
    expect(first).toMatchObject({ reason: 'http_status', attempts: [{ response: { status: 500, body: 'oops' } }] });
    expect(Date.parse(first.nextAttemptAt ?? '') - kit.harness.clock.nowMs).toBe(5_000);
    kit.whenDue(worker, first);
    const second = await kit.harness.until(id, ({ state, attempts }) => state === 'retrying' && attempts.length === 2);
    expect(Date.parse(second.nextAttemptAt ?? '') - kit.harness.clock.nowMs).toBe(30_000);
    kit.whenDue(worker, second);
    const document = await kit.harness.untilState(id, 'delivered');
    expect(document.attempts.map(({ response }) => response?.status)).toEqual([500, 503, 200]);
    expect(new Set(hooks.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(hooks.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]));
  });

  it('waits as long as the receiver asks', async () => {
    const [, url] = await kit.receiver(answerWith(429, '', { 'retry-after': '120' }));
    const id = await kit.ask(kit.start(), { config: { url } });
    const document = await kit.harness.untilState(id, 'retrying');
    expect(Date.parse(document.nextAttemptAt ?? '') - kit.harness.clock.nowMs).toBe(120_000);
  });

  it.each([400, 404, 410])('that is answered %i fails permanently', async (status) => {
    const [hooks, url] = await kit.receiver(answerWith(status));
    const id = await kit.ask(kit.start(), { config: { url } });
    expect(await kit.harness.untilState(id, 'failed')).toMatchObject({
      reason: status === 410 ? 'gone' : 'http_status',
    });
    expect(hooks.received).toHaveLength(1);
  });

  it('does not follow a redirect', async () => {
    const [other, otherUrl] = await kit.receiver(answerWith(200));
    const [, url] = await kit.receiver(answerWith(307, '', { location: otherUrl }));
    const id = await kit.ask(kit.start(), { config: { url } });
    expect(await kit.harness.untilState(id, 'retrying')).toMatchObject({ reason: 'redirected' });
    expect(other.received).toHaveLength(0);
  });

  it('records little of a huge answer', async () => {
    const [, url] = await kit.receiver(answerWith(200, 'é'.repeat(3_000_000)));
    const id = await kit.ask(kit.start(), { config: { url } });
    const { attempts } = await kit.harness.untilState(id, 'delivered');
    expect(Buffer.byteLength(attempts[0]?.response?.body ?? '')).toBe(2_048);
  });

  it('that is never answered times out and is repeated', async () => {
    const [, url] = await kit.receiver(hang);
    const id = await kit.ask(kit.start(), { config: { url, timeoutSeconds: 1 } });
    expect(await kit.harness.untilState(id, 'retrying')).toMatchObject({ reason: 'timed_out' });
  });

  it('that is cut off in the middle of its answer is repeated', async () => {
    const [, url] = await kit.receiver((response) => response.socket?.destroy(), answerWith(200));
    const worker = kit.start();
    const id = await kit.ask(worker, { config: { url } });
    const document = await kit.harness.untilState(id, 'retrying');
    expect(document.attempts[0]).toMatchObject({ response: null, error: { reason: expect.any(String) } });
    kit.whenDue(worker, document);
    await kit.harness.untilState(id, 'delivered');
  });

  it('to an address that is not allowed fails permanently, and nothing is sent', async () => {
    await kit.reaching([]);
    const [hooks, url] = await kit.receiver(answerWith(200));
    const id = await kit.ask(kit.start(), { config: { url } });
    expect(await kit.harness.untilState(id, 'failed')).toMatchObject({ reason: 'address_denied' });
    expect(hooks.received).toHaveLength(0);
  });

  it('leaves no secret in events, views and logs, even if the receiver echoes them', async () => {
    const [, url] = await kit.receiver((response, { path, headers, body }) => {
      response.writeHead(400).end(JSON.stringify({ path, headers, body }));
    });
    const id = await kit.ask(kit.start(), {
      config: {
        url: `${url.replace('http://', 'http://someone:canary-password@')}/in?key=canary-query`,
        secret,
        headers: { Authorization: 'Bearer canary-token', 'X-Api': 'canary"quoted' },
      },
    });
    const document = await kit.harness.untilState(id, 'failed');
    const events = await Array.fromAsync(kit.eventStore.read(`dlv-${id}`));
    const everything = JSON.stringify([document, events, kit.harness.logged]);
    expect(everything).toContain('********');
    for (const word of ['canary', secret.slice(6), Buffer.from('someone:canary-password').toString('base64')]) {
      expect(everything).not.toContain(word);
    }
  });

  it('whose template cannot be rendered fails permanently, with one attempt started and ended', async () => {
    const id = await kit.ask(kit.start(), {
      config: { url: 'http://127.0.0.1:9/', body: '{% for i in (1..9999999) %}x{% endfor %}' },
    });
    expect(await kit.harness.untilState(id, 'failed')).toMatchObject({ reason: 'template_failed' });
    expect(await kit.typesOf(id)).toEqual(['delivery.requested', 'attempt.started', 'attempt.ended']);
  });

  it('whose stored settings break the current rules fails with a clear reason', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const id = await kit.ask(kit.start(), { config: { url: `${url}/in`, headers: { 'X-Mark': 'naïve ✓' } } });
    expect(await kit.harness.untilState(id, 'failed')).toMatchObject({
      reason: 'config_invalid',
      attempts: [{ request: { method: 'POST' } }],
    });
    expect(hooks.received).toHaveLength(0);
  });

  it('expires where its request comes too late, and nothing is sent', async () => {
    const [hooks, url] = await kit.receiver(answerWith(200));
    const worker = kit.harness.worker();
    const id = await kit.harness.ask({ config: { url }, expireAfterSeconds: 60 }, () => {});
    kit.harness.clock.nowMs += 60_000;
    worker.offer(id, kit.harness.clock.nowMs);
    expect(await kit.harness.untilState(id, 'expired')).toMatchObject({ reason: 'expired', attempts: [], dueAt: null });
    expect(hooks.received).toHaveLength(0);
  });
});

describe('a delivery by custom code', () => {
  it('sends the requests that the code returns, and repeats only those that did not arrive', async () => {
    const [first, firstUrl] = await kit.receiver(answerWith(200));
    const [second, secondUrl] = await kit.receiver(answerWith(500), answerWith(200));
    const worker = kit.start();
    const id = await kit.ask(worker, {
      type: 'custom',
      config: {
        code: `return [
          { url: '${firstUrl}/a', headers: { Authorization: 'Bearer ' + secrets.token }, body: { text: event.data.message } },
          { url: '${secondUrl}/b', method: 'PUT', body: String(Math.random()) },
        ];`,
        secrets: { token: 'canary-token' },
      },
    });
    const document = await kit.harness.untilState(id, 'retrying');
    expect(document.attempts[0]).toMatchObject({
      request: { method: 'PUT', url: `${secondUrl}/b` },
      error: { reason: 'http_status', message: expect.stringContaining('1 of 2 requests have it') },
    });
    kit.whenDue(worker, document);
    await kit.harness.untilState(id, 'delivered');
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
    const id = await kit.ask(kit.start(), { type: 'custom', config: { code, secrets: { token: 'canary-token' } } });
    const document = await kit.harness.untilState(id, 'failed');
    expect(document).toMatchObject({ reason, attempts: [{ error: { reason } }] });
    expect(JSON.stringify(document)).not.toContain('canary');
  });
});

describe('the view of deliveries', () => {
  it('finds due deliveries by an index', () => {
    expect(deliveriesView.indexes).toContainEqual(['dueAt']);
  });
});

import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { JsonObject } from '#runtime/json';
import type { BuildContext, HttpOutgoing } from '../channel.js';
import { aNotification, kitTimeMs } from '../notification.kit.js';
import { webhook } from './build.js';
import { classifyWebhook } from './classify.js';
import { signWebhook } from './sign.js';

const context: BuildContext = { nowMs: kitTimeMs + 90_000, linkBase: 'https://meerkat.example/', mailFrom: '' };
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

function build(config: JsonObject, nowMs = context.nowMs): HttpOutgoing {
  const outgoing = webhook.build({ request: aNotification(), config }, { ...context, nowMs });
  if (outgoing.kind !== 'http' || outgoing.requests[0] === undefined) throw new Error('nothing was built');
  return outgoing.requests[0];
}

describe('a webhook', () => {
  it('is the documented request', () => {
    const { deliveryId, taskId, executionId } = aNotification();
    const { body, ...request } = build({ url: 'https://hooks.example/in?x=1', secret });
    expect(request).toEqual({
      method: 'POST',
      url: 'https://hooks.example/in?x=1',
      headers: {
        'content-type': 'application/json',
        'webhook-id': deliveryId,
        'webhook-timestamp': '1767323135',
        'webhook-signature': signWebhook(secret, deliveryId, 1_767_323_135, body ?? ''),
      },
      timeoutMs: 10_000,
    });
    expect(JSON.parse(body ?? '')).toEqual({
      type: 'notification.triggered',
      timestamp: '2026-01-02T03:04:05.678Z',
      data: {
        task: { id: taskId, name: 'Price watch', url: 'https://shop.example/item', tags: ['shop'] },
        execution: {
          id: executionId,
          outcome: true,
          values: { value: 12.5, note: 'only "two" left' },
          finishedAt: '2026-01-02T03:04:05.678Z',
          finalUrl: 'https://shop.example/item?x=1',
        },
        transition: { kind: 'condition', from: 'false', to: 'true' },
        message: 'The condition of “Price watch” became true.',
        links: {
          task: `https://meerkat.example/tasks/${taskId}`,
          execution: `https://meerkat.example/executions/${executionId}`,
          api: `https://meerkat.example/api/executions/${executionId}`,
        },
      },
    });
  });

  it('of a check that failed says in its data what to do about it', () => {
    const hint = 'fetch.timeoutSeconds gives the page more time.';
    const request = aNotification({ kind: 'error', context: { hint } });
    const outgoing = webhook.build({ request, config: { url: 'https://hooks.example/' } }, context);
    const body = outgoing.kind === 'http' ? outgoing.requests[0]?.body : null;
    expect(JSON.parse(body ?? '')).toMatchObject({ type: 'notification.error', data: { hint } });
  });

  it('has templates behind the host and in the values of headers, escaped for their place', () => {
    const { url, headers } = build({
      url: 'https://user:pw@hooks.example/in/{{ task.name }}?note={{ values.note }}',
      headers: { 'X-Title': '{{ task.name }}: {{ value }}', 'X-Plain': 'a{b}c' },
    });
    expect(url).toBe('https://hooks.example/in/Price%20watch?note=only%20%22two%22%20left');
    expect(headers).toMatchObject({
      'x-title': 'Price watch: 12.5',
      'x-plain': 'a{b}c',
      authorization: `Basic ${Buffer.from('user:pw').toString('base64')}`,
    });
  });

  it('has headers of the connection and of the signature of its own, whatever the settings say', () => {
    const { headers } = build({
      url: 'https://hooks.example/',
      headers: { Host: 'evil.example', 'Content-Length': '7', 'Webhook-Id': 'mine', 'Transfer-Encoding': 'chunked' },
    });
    expect(Object.keys(headers).toSorted()).toEqual(['content-type', 'webhook-id', 'webhook-timestamp']);
    expect(headers['webhook-id']).toBe(aNotification().deliveryId);
  });

  it('never leads to another host, whatever its variables say', () => {
    const hostile = '//evil.example/ @evil.example:80/..';
    const request = aNotification({ context: { message: hostile } });
    for (const url of ['https://hooks.example{{ message }}', 'https://hooks.example/{{ message }}']) {
      const outgoing = webhook.build({ request, config: { url } }, context);
      const [sent] = outgoing.kind === 'http' ? outgoing.requests : [];
      expect(sent === undefined ? 'refused' : new URL(sent.url).host).toMatch(/^(refused|hooks\.example)$/);
    }
  });

  it('has a body without JSON escapes where it is not JSON', () => {
    const said = (body: string, headers?: JsonObject) => {
      const sent = build({ url: 'https://hooks.example/', body, ...(headers === undefined ? {} : { headers }) });
      return [sent.headers['content-type'], sent.body];
    };
    expect(said('Note: {{ values.note }}')).toEqual(['text/plain; charset=utf-8', 'Note: only "two" left']);
    expect(said('{"note": "{{ values.note }}"}')).toEqual(['application/json', '{"note": "only \\"two\\" left"}']);
    expect(said('Note: {{ values.note }}', { 'Content-Type': 'application/json' })[1]).toBe(
      'Note: only \\"two\\" left',
    );
  });

  it('has a sentence taken for one that begins with a variable, a bracket or a quotation mark, and JSON for JSON', () => {
    const typeOf = (body: string) => build({ url: 'https://hooks.example/', body }).headers['content-type'];
    const sentences = [
      '{{ values.note }}',
      '{{ task.name }} costs {{ value }}',
      '[Alert] {{ message }}',
      '"{{ task.name }}" is true',
      '{% if transition %}It is {{ transition.to }}{% endif %}',
    ];
    for (const body of sentences) expect([body, typeOf(body)]).toEqual([body, 'text/plain; charset=utf-8']);
    const documents = [
      '{"value": {{ value }} }',
      ' [{"note": "{{ values.note }}"}]',
      '{{ values | json }}',
      '{% if transition %}{"to": "{{ transition.to }}"}{% endif %}',
      '{',
    ];
    for (const body of documents) expect([body, typeOf(body)]).toEqual([body, 'application/json']);
    expect(build({ url: 'https://hooks.example/', body: '{{ values.note }}' }).body).toBe('only "two" left');
  });

  it('is verified by the reference library', () => {
    const nowMs = Date.now();
    const { headers, body } = build({ url: 'https://hooks.example/', secret }, nowMs);
    expect(new Webhook(secret).verify(body ?? '', headers)).toMatchObject({ type: 'notification.triggered' });
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature found');
    const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
    expect(() => new Webhook(other).verify(body ?? '', headers)).toThrow('No matching signature found');
  });

  it('is signed with both secrets, space separated, until the overlap of a rotation ends', () => {
    const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
    const nowMs = Date.now();
    const until = (ms: number) => ({
      url: 'https://hooks.example/',
      secret,
      previousSecret: other,
      previousSecretUntil: new Date(ms).toISOString(),
    });
    const { headers, body } = build(until(nowMs + 1), nowMs);
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/=]+ v1,[A-Za-z0-9+/=]+$/);
    for (const known of [secret, other]) expect(() => new Webhook(known).verify(body ?? '', headers)).not.toThrow();
    const after = build(until(nowMs), nowMs);
    expect(after.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/=]+$/);
    expect(() => new Webhook(other).verify(after.body ?? '', after.headers)).toThrow('No matching signature found');
  });

  it('has the same id and bytes on every attempt', () => {
    const first = build({ url: 'https://hooks.example/', secret });
    const second = build({ url: 'https://hooks.example/', secret }, context.nowMs + 3_600_000);
    expect(second.body).toBe(first.body);
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(second.headers['webhook-timestamp']).not.toBe(first.headers['webhook-timestamp']);
  });

  it('takes method, headers, timeout and body from the action, but not its signature and framing headers', () => {
    const request = build({
      url: 'https://hooks.example/',
      method: 'PUT',
      timeoutSeconds: 3,
      headers: { 'X-Token': 'abc', 'Webhook-Id': 'mine', 'Content-Length': '1', Host: 'other.example' },
      body: '{"text":"{{ message }} {{ values.note }}","value":{{ value }}}',
    });
    expect(request).toMatchObject({ method: 'PUT', timeoutMs: 3_000 });
    expect(request.headers).toMatchObject({ 'x-token': 'abc', 'webhook-id': aNotification().deliveryId });
    expect(Object.keys(request.headers)).not.toContain('content-length');
    expect(Object.keys(request.headers)).not.toContain('host');
    expect(Object.keys(request.headers)).not.toContain('webhook-signature');
    expect(JSON.parse(request.body ?? '')).toEqual({
      text: 'The condition of “Price watch” became true. only "two" left',
      value: 12.5,
    });
  });

  it('sends a user name and password inside the address as a header', () => {
    const request = build({ url: 'https://user:p%40ss@hooks.example/in' });
    expect(request.url).toBe('https://hooks.example/in');
    expect(request.headers['authorization']).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  });

  it('with unusable settings is rejected', () => {
    expect(webhook.build({ request: aNotification(), config: { url: 'ftp://x' } }, context)).toMatchObject({
      kind: 'none',
      verdict: { state: 'refused', reason: 'config_invalid' },
    });
  });
});

describe('an answer to a webhook', () => {
  const answer = (status: number, headers: Record<string, string> = {}) =>
    classifyWebhook(
      {
        ok: true,
        status,
        headers,
        body: Buffer.from('said'),
        bodyCut: false,
        finalUrl: 'https://hooks.example/',
        redirects: 0,
        durationMs: 1,
      },
      kitTimeMs,
    );

  it.each([200, 201, 202, 204, 299])('with %i means delivered', (status) => {
    expect(answer(status)).toEqual({ state: 'delivered', response: { status, body: 'said' }, unreachable: false });
  });

  it.each([408, 425, 429, 500, 502, 503, 599])('with %i is retried', (status) => {
    expect(answer(status)).toMatchObject({ state: 'retry', reason: 'http_status', unreachable: false });
  });

  it.each([301, 302, 303, 307, 308, 304])('with %i is retried, and its redirect is not followed', (status) => {
    expect(answer(status, { location: 'https://elsewhere.example/' })).toMatchObject({
      state: 'retry',
      reason: 'redirected',
    });
  });

  it.each([400, 401, 403, 404, 405, 409, 413, 415, 422, 451])('with %i is a permanent failure', (status) => {
    expect(answer(status)).toMatchObject({ state: 'refused', reason: 'http_status' });
  });

  it('with 410 means that the receiver is gone', () => {
    expect(answer(410)).toMatchObject({ state: 'refused', reason: 'gone' });
  });

  it.each([
    ['30', 30_000],
    [' 0 ', 0],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 59_322],
    ['Thu, 01 Jan 2026 00:00:00 GMT', 0],
    ['soon', null],
    ['-5', null],
    ['1e99', null],
    ['99999999999999999999', null],
  ])('sets the next attempt by Retry-After %j', (header, retryAfterMs) => {
    expect(answer(503, { 'retry-after': header })).toMatchObject({ state: 'retry', retryAfterMs });
  });

  it.each(['dns_failed', 'connect_failed', 'tls_failed', 'timed_out', 'protocol_error'] as const)(
    'that never came (%s) is retried and counts for the circuit breaker',
    (reason) => {
      const failure = { ok: false, reason, message: 'm', sent: false, durationMs: 1 } as const;
      expect(classifyWebhook(failure, 0)).toMatchObject({ state: 'retry', reason, unreachable: true });
    },
  );

  it.each(['address_denied', 'invalid_url'] as const)('that cannot come (%s) is a permanent failure', (reason) => {
    const failure = { ok: false, reason, message: 'm', sent: false, durationMs: 1 } as const;
    expect(classifyWebhook(failure, 0)).toMatchObject({ state: 'refused', reason, unreachable: false });
  });
});

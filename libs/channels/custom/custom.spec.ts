import { describe, expect, it } from '@jest/globals';
import type { Json } from '#runtime/json';
import type { SandboxFailureReason } from '#sandbox/sandbox';
import { eventOf } from '../message.js';
import { aNotification } from '../notification.kit.js';
import { custom } from './build.js';

const request = aNotification();
const context = { nowMs: 0, linkBase: 'https://meerkat.example', mailFrom: '' };
const { deliveryId } = request;

function script(nowMs = 0) {
  const built = custom.build({ request, config: { code: 'x', secrets: { token: 't' } } }, { ...context, nowMs });
  if (built.kind !== 'script') throw new Error('unusable');
  return built;
}

function build(value: Json) {
  return script().finish({ ok: true, value, logs: [] });
}

describe('code of a custom action', () => {
  it('runs with the event and the secrets, the same way on every attempt', () => {
    expect(script(1).script).toEqual({
      code: 'x',
      globals: { event: eventOf(request, context.linkBase), secrets: { token: 't' } },
      seed: deliveryId,
      nowMs: Date.parse(request.createdAt),
    });
    expect(script(2).script).toEqual(script(1).script);
  });

  it('makes one request', () => {
    expect(build({ url: 'https://a.example/x', body: { a: 1 } })).toEqual({
      kind: 'http',
      requests: [
        {
          method: 'POST',
          url: 'https://a.example/x',
          headers: { 'idempotency-key': deliveryId, 'content-type': 'application/json' },
          body: '{"a":1}',
          timeoutMs: 10_000,
        },
      ],
    });
  });

  it('makes several requests, each with an id of its own', () => {
    expect(
      build([
        { url: 'https://a.example/', method: 'PUT', headers: { 'Content-Type': 'text/csv' }, body: 'a,b' },
        { url: 'https://user:pass@b.example/', method: 'GET', body: 'dropped', headers: { 'Idempotency-Key': 'mine' } },
      ]),
    ).toMatchObject({
      requests: [
        { method: 'PUT', body: 'a,b', headers: { 'content-type': 'text/csv', 'idempotency-key': deliveryId } },
        {
          method: 'GET',
          url: 'https://b.example/',
          body: null,
          headers: { 'idempotency-key': 'mine', authorization: `Basic ${Buffer.from('user:pass').toString('base64')}` },
        },
      ],
    });
  });

  it.each<[string, Json]>([
    ['nothing', null],
    ['a text', 'https://a.example/'],
    ['an empty list', []],
    ['too many', Array.from({ length: 11 }, () => ({ url: 'https://a.example/' }))],
    ['no address', { body: 'x' }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['another method', { url: 'https://a.example/', method: 'CONNECT' }],
    ['a header with a line break', { url: 'https://a.example/', headers: { a: 'b\r\nc: d' } }],
    ['a header name with a colon', { url: 'https://a.example/', headers: { 'a:': 'b' } }],
    ['an unknown member', { url: 'https://a.example/', proxy: 'http://evil.example' }],
    ['a huge body', { url: 'https://a.example/', body: 'x'.repeat(300_000) }],
  ])('that returns %s fails for good and says why', (_what, value) => {
    const outgoing = build(value);
    expect(outgoing).toMatchObject({ kind: 'none', verdict: { state: 'refused', reason: 'custom_result_invalid' } });
  });

  it('reports the place of an error, not the value', () => {
    expect(build([{ url: 'https://a.example/' }, { url: 'secret-value' }])).toMatchObject({
      verdict: { message: expect.stringContaining('[1].url must be an absolute http(s) address') },
    });
  });

  it('names what to write where a password in its address ends it early', () => {
    const outgoing = build({ url: 'https://ada:secret/value@a.example/' });
    expect(outgoing).toMatchObject({ verdict: { message: expect.stringContaining('write / as %2F') } });
    expect(JSON.stringify(outgoing)).not.toContain('value@');
  });

  it.each<[SandboxFailureReason, string]>([
    ['threw', 'refused'],
    ['cpu_limit', 'refused'],
    ['memory_limit', 'refused'],
    ['never_settled', 'refused'],
    ['sandbox_unavailable', 'retry'],
  ])('that ends with %s is %s', (reason, state) => {
    const failure = { reason, message: 'Boom.', line: 3 };
    const outgoing = script().finish({ ok: false, failure, logs: [] });
    expect(outgoing).toMatchObject({ kind: 'none', verdict: { state, reason } });
    if (state === 'refused') expect(outgoing).toMatchObject({ verdict: { message: 'Line 3: Boom.' } });
  });

  it('leaves its action enabled where one receiver is gone', () => {
    const answer = { ok: true, status: 410, headers: {}, body: Buffer.from(''), bodyCut: false } as const;
    expect(custom.classify({ ...answer, finalUrl: '', redirects: 0, durationMs: 1 }, 0)).toMatchObject({
      state: 'refused',
      reason: 'http_status',
    });
  });
});

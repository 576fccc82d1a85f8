import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { followerFails, followerGoesOn } from '#eventing/failing-followers';
import { foldingState, foldingStateKey } from '#contracts/folding-state';
import { keysView } from '#contracts/account';
import { parseApiKey } from '#contracts/api-key';
import { createDocumentState } from '#shared-state/document-state';
import { errorOf, idOf, member, refused, taskBody as task, type GatewayKit, type Reply } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;
let organizationId: string;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway, organizationId } = opened);
});

afterAll(() => opened.close());

const create = (more?: object): Promise<Reply> => opened.create(more);

/** By a socket: `fetch` sends no such methods. The first line of the answer. */
async function sendRaw(method: string, path: string): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.end(`${method} ${path} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString().split('\r\n', 1)[0] ?? '';
}

describe('every answer', () => {
  it('carries request id, version and security headers, whatever it is', async () => {
    for (const path of ['/', '/healthz', '/api/notifications', '/api/nothing', '/%zz', '/docs']) {
      const { headers } = await gateway.send('GET', path);
      expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
      expect(headers.get('x-api-version')).toBe('2026-11-01');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('echoes a plain request id and replaces any other', async () => {
    const plain = await gateway.send('GET', '/api/nothing', { headers: { 'x-request-id': 'build-7.a_b' } });
    expect(plain.headers.get('x-request-id')).toBe('build-7.a_b');
    expect(member(plain.body, 'error', 'requestId')).toBe('build-7.a_b');
    for (const odd of ['a b', 'x'.repeat(129), '<script>', 'ä']) {
      const reply = await gateway.send('GET', '/api/nothing', { headers: { 'x-request-id': odd } });
      expect(reply.headers.get('x-request-id')).toMatch(/^req_/);
    }
  });

  it('says in the envelope what cannot be routed or read', async () => {
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      gateway.send('POST', '/api/notifications', { body, headers });
    expect(errorOf(await gateway.send('GET', '/api/nothing'))).toEqual(refused(404, 'NOT_FOUND', 'unknown_path'));
    expect(errorOf(await gateway.send('GET', '/api/nothing', { key: null }))).toEqual(
      refused(404, 'NOT_FOUND', 'unknown_path'),
    );
    const wrongMethod = await gateway.send('PUT', '/api/notifications', { body: {} });
    expect(errorOf(wrongMethod)).toEqual(refused(405, 'NOT_FOUND', 'method_not_allowed'));
    expect(wrongMethod.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(errorOf(await gateway.send('OPTIONS', '/api/notifications'))).toEqual(
      refused(405, 'NOT_FOUND', 'method_not_allowed'),
    );
    for (const method of ['QUERY', 'PROPFIND', 'TRACE', 'REPORT']) {
      const reply = await sendRaw(method, '/api/notifications');
      expect([method, reply]).toEqual([method, 'HTTP/1.1 405 Method Not Allowed']);
    }
    const word = await gateway.send('PUT', '/api/notifications/bulk', { body: {} });
    expect([word.status, word.headers.get('allow')]).toEqual([405, 'POST']);
    expect(errorOf(await gateway.send('GET', '/api/%zz'))).toEqual(refused(400, 'VALIDATION_ERROR', 'malformed_url'));
    expect(errorOf(await post('{"name":'))).toEqual(refused(400, 'VALIDATION_ERROR', 'malformed_json'));
    expect(errorOf(await post(''))).toEqual(refused(400, 'VALIDATION_ERROR', 'body_required'));
    expect(errorOf(await post('[]'))).toEqual(refused(400, 'VALIDATION_ERROR', 'body_wrong_type'));
    expect(errorOf(await post(`"${'x'.repeat(1_048_576)}"`))).toEqual(
      refused(413, 'VALIDATION_ERROR', 'body_too_large'),
    );
    const unsupported = refused(415, 'VALIDATION_ERROR', 'unsupported_media_type');
    expect(errorOf(await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }))).toEqual(unsupported);
    expect(errorOf(await post('{}', { 'content-type': 'text/plain' }))).toEqual(unsupported);
    expect(errorOf(await post('{}', { 'content-type': 'application/json; charset=latin1' }))).toEqual(unsupported);
    expect(errorOf(await post('{}', { 'content-type': 'application/merge-patch+json' }))).toEqual(unsupported);
    expect(errorOf(await post('{}', { 'content-encoding': 'gzip' }))).toEqual(unsupported);
  });

  it('tells nothing of what broke inside, and logs it under the request id', async () => {
    gateway.hooks.beforeCommand = async () => {
      throw new TypeError('canary at /home/secret');
    };
    const reply = await gateway.send('POST', '/api/notifications', {
      body: task,
      headers: { 'x-request-id': 'broken' },
    });
    gateway.hooks.beforeCommand = async () => {};
    expect(reply.status).toBeGreaterThanOrEqual(500);
    expect(member(reply.body, 'error', 'code')).toBe('SERVER_ERROR');
    expect(reply.text).not.toContain('canary');
    expect(gateway.logged.some(({ fields }) => Reflect.get(fields, 'requestId') === 'broken')).toBe(true);
  });
});

describe('keys', () => {
  const list = (key: string | null) => gateway.send('GET', '/api/notifications', { key });

  it('are needed, well-formed, known and unrevoked', async () => {
    const key = await gateway.addKey(organizationId, ['read']);
    expect((await list(key)).status).toBe(200);
    const none = await list(null);
    expect(errorOf(none)).toEqual(refused(401, 'UNAUTHORIZED', 'missing_api_key'));
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    const invalid = refused(401, 'UNAUTHORIZED', 'invalid_api_key');
    const unknown = 'mk_Ab3dEf9h_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd3qYUag';
    for (const wrong of ['x', unknown, `${key}x`, key.slice(0, -1), key.toLowerCase()]) {
      expect(errorOf(await list(wrong))).toEqual(invalid);
    }
    for (const authorization of [`Basic ${key}`, key, 'Bearer', `Bearer ${key} ${key}`]) {
      const reply = await gateway.send('GET', '/api/notifications', { key: null, headers: { authorization } });
      expect(errorOf(reply)).toEqual(invalid);
    }
  });

  it('are refused at once when they are revoked', async () => {
    const key = await gateway.addKey(organizationId, ['read']);
    expect((await list(key)).status).toBe(200);
    const publicId = parseApiKey(key)?.publicId ?? '';
    const known = await opened.stores.readStore.get(keysView, publicId);
    if (known === null) throw new Error('the key is there');
    const document = { ...known, revokedAt: '2026-11-01T00:00:00.000Z' };
    await opened.stores.readStore.save(keysView, [{ id: publicId, revision: 2, document }], null);
    expect(errorOf(await list(key))).toEqual(refused(401, 'UNAUTHORIZED', 'invalid_api_key'));
  });

  it('say that they have expired', async () => {
    const key = await gateway.addKey(organizationId, ['read'], { expiresAt: '2020-01-01T00:00:00.000Z' });
    expect(errorOf(await list(key))).toEqual(refused(401, 'UNAUTHORIZED', 'key_expired'));
  });

  it('are good only from where they may be used', async () => {
    const elsewhere = await gateway.addKey(organizationId, ['read'], { allowedCidrs: ['10.0.0.0/8', '2001:db8::/32'] });
    expect(errorOf(await list(elsewhere))).toEqual(refused(403, 'FORBIDDEN', 'address_not_allowed'));
    const here = await gateway.addKey(organizationId, ['read'], { allowedCidrs: ['10.0.0.0/8', '127.0.0.1'] });
    expect((await list(here)).status).toBe(200);
  });

  it('reach as far as their scopes: write and execute imply read, nothing implies write', async () => {
    const missing = refused(403, 'FORBIDDEN', 'missing_scope');
    const reader = await gateway.addKey(organizationId, ['read']);
    const writer = await gateway.addKey(organizationId, ['write']);
    const executor = await gateway.addKey(organizationId, ['execute']);
    expect(errorOf(await gateway.send('POST', '/api/notifications', { key: reader, body: task }))).toEqual(missing);
    expect(errorOf(await gateway.send('POST', '/api/notifications', { key: executor, body: task }))).toEqual(missing);
    expect((await list(executor)).status).toBe(200);
    const made = await gateway.send('POST', '/api/notifications', { key: writer, body: task });
    expect(made.status).toBe(201);
    const path = `/api/notifications/${idOf(made)}/execute`;
    expect(errorOf(await gateway.send('POST', path, { key: writer }))).toEqual(missing);
    expect((await gateway.send('POST', path, { key: executor })).status).toBe(202);
    expect(errorOf(await gateway.send('POST', '/api/notifications/test', { key: executor, body: task }))).toEqual(
      missing,
    );
  });

  it('see nothing of another organisation, in the words of what does not exist', async () => {
    const made = await create({ externalKey: 'mine' });
    const stranger = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
    const unknown = await gateway.send('GET', '/api/notifications/ntf_00000000000000000000000000', { key: stranger });
    const malformed = await gateway.send('GET', '/api/notifications/nonsense', { key: stranger });
    const foreign = await gateway.send('GET', `/api/notifications/${idOf(made)}`, { key: stranger });
    expect(errorOf(foreign)).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
    expect(member(foreign.body, 'error', 'message')).toBe(member(unknown.body, 'error', 'message'));
    expect(member(foreign.body, 'error', 'message')).toBe(member(malformed.body, 'error', 'message'));
    for (const [method, path, body] of [
      ['PUT', '', task],
      ['PATCH', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/execute', {}],
      ['GET', '/executions', undefined],
      ['GET', '/deliveries', undefined],
      ['GET', '/history', undefined],
    ] as const) {
      const reply = await gateway.send(method, `/api/notifications/${idOf(made)}${path}`, { key: stranger, body });
      expect(errorOf(reply)).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
    }
    expect(member((await list(stranger)).body, 'pagination', 'total')).toBe(0);
  });
});

describe('budgets', () => {
  it('are counted over all keys of an organisation, errors included, refusals not', async () => {
    const free = await gateway.addOrganization('free');
    const [one, other] = [await gateway.addKey(free, ['read']), await gateway.addKey(free, ['read'])];
    const first = await gateway.send('GET', '/api/notifications', { key: one });
    expect(first.headers.get('x-ratelimit-limit')).toBe('100');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('99');
    expect(first.headers.get('ratelimit-policy')).toBe('"organization";q=100;w=3600');
    expect(first.headers.get('ratelimit')).toMatch(/^"organization";r=99;t=3\d\d\d$/);
    const resetAtMs = Number(first.headers.get('x-ratelimit-reset')) * 1_000;
    expect(resetAtMs - Date.now()).toBeGreaterThan(3_000_000);
    const missing = await gateway.send('GET', '/api/nothing', { key: other });
    expect(missing.headers.get('x-ratelimit-remaining')).toBe('98');
    for (let used = 2; used < 100; used += 1) await gateway.send('GET', '/api/notifications?limit=0', { key: one });
    const over = await gateway.send('GET', '/api/notifications', { key: other });
    expect(errorOf(over)).toEqual(refused(429, 'RATE_LIMITED', 'rate_limited'));
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(3_000);
    expect(over.headers.get('x-ratelimit-remaining')).toBe('0');
    gateway.time.aheadMs += 3_601_000;
    expect((await gateway.send('GET', '/api/notifications', { key: one })).headers.get('x-ratelimit-remaining')).toBe(
      '99',
    );
  });
});

describe('pages and probes', () => {
  it('say what this is to a terminal', async () => {
    const plain = await gateway.send('GET', '/', { key: null });
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(plain.text).toContain('/docs');
  });

  it('serve the reader of the document from here, without inline script', async () => {
    const page = await gateway.send('GET', '/docs', { key: null });
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(page.text).not.toMatch(/https?:\/\//);
    for (const path of ['/docs/reader.js', '/docs/start.js', '/style.css']) {
      expect((await gateway.send('GET', path, { key: null })).status).toBe(200);
    }
  });

  it('answer alive, ready by part, and metrics', async () => {
    expect((await gateway.send('GET', '/healthz', { key: null })).body).toEqual({
      success: true,
      data: { status: 'alive' },
    });
    const ready = await gateway.send('GET', '/readyz', { key: null });
    expect(member(ready.body, 'data', 'parts')).toEqual({
      eventStore: 'ok',
      bus: 'ok',
      readStore: 'ok',
      views: 'ok',
      disk: 'ok',
      archive: 'ok',
    });
    const shared = createDocumentState(opened.stores.readStore);
    const fault = { at: '2026-11-24T10:00:00.000Z', archiveFault: 'no room', nextAt: '2026-11-25T00:00:00.000Z' };
    await shared.save(foldingState, [{ key: foldingStateKey, version: 1, value: fault }]);
    const unarchived = await gateway.send('GET', '/readyz', { key: null });
    expect([unarchived.status, member(unarchived.body, 'data', 'parts', 'archive')]).toEqual([200, 'failing']);
    await shared.save(foldingState, [{ key: foldingStateKey, version: 2, value: { ...fault, archiveFault: null } }]);
    followerFails('a-view', performance.now() - 60_000);
    const stuck = await gateway.send('GET', '/readyz', { key: null });
    expect([stuck.status, member(stuck.body, 'data', 'parts', 'views')]).toEqual([200, 'failing']);
    expect((await gateway.send('GET', '/metrics', { key: null })).text).toMatch(
      /^meerkat_follower_failing\{follower="a-view"\} 1$/m,
    );
    followerGoesOn('a-view');
    gateway.disk.state = 'nearly_full';
    const warned = await gateway.send('GET', '/readyz', { key: null });
    expect([warned.status, member(warned.body, 'data', 'parts', 'disk')]).toEqual([200, 'nearly_full']);
    gateway.disk.state = 'full';
    const full = await gateway.send('GET', '/readyz', { key: null });
    expect([full.status, member(full.body, 'error', 'details')]).toEqual([
      503,
      [{ field: 'disk', rule: 'writable', message: 'has no room left' }],
    ]);
    gateway.disk.state = 'ok';
    gateway.appends.isFailing = true;
    const readOnly = await gateway.send('GET', '/readyz', { key: null });
    expect([readOnly.status, member(readOnly.body, 'error', 'details')]).toEqual([
      503,
      [{ field: 'eventStore', rule: 'writable', message: 'answers, and takes no events' }],
    ]);
    gateway.appends.isFailing = false;
    const metrics = await gateway.send('GET', '/metrics', { key: null });
    expect(metrics.text).toContain('meerkat_http_request_duration_seconds_bucket');
    expect(metrics.text).toMatch(/^meerkat_tasks_by_health\{health="ok"\} \d+$/m);
    expect(metrics.text).toMatch(/^meerkat_due_lag_seconds 0$/m);
    expect(metrics.text).toMatch(/^meerkat_deliveries_waiting 0$/m);
    expect(metrics.text).toContain('route="/api/notifications/:id"');
    expect(metrics.text).not.toContain('ntf_');
  });

  it('are not ready while a view is built, and then nothing is answered that would be wrong', async () => {
    const key = await gateway.addKey(organizationId, ['read']);
    gateway.unbuilt.add('tasks');
    const ready = await gateway.send('GET', '/readyz', { key: null });
    expect([ready.status, member(ready.body, 'error', 'details')]).toEqual([
      503,
      [{ field: 'views', rule: 'built', message: 'are being built from the recorded events' }],
    ]);
    const list = await gateway.send('GET', '/api/notifications', { key });
    expect([errorOf(list), list.headers.get('retry-after')]).toEqual([
      refused(503, 'SERVER_ERROR', 'views_being_built'),
      '1',
    ]);
    expect((await gateway.send('GET', '/healthz', { key: null })).status).toBe(200);
    gateway.unbuilt.clear();
    expect((await gateway.send('GET', '/api/notifications', { key })).status).toBe(200);
  });

  it('are not ready while a view has not seen what had happened before the start; who asks is answered', async () => {
    const key = await gateway.addKey(organizationId, ['read']);
    gateway.late.add('tasks');
    const ready = await gateway.send('GET', '/readyz', { key: null });
    expect([ready.status, member(ready.body, 'error', 'details')]).toEqual([
      503,
      [{ field: 'views', rule: 'caught_up', message: 'have not seen all events from before the start yet' }],
    ]);
    expect((await gateway.send('GET', '/api/notifications', { key })).status).toBe(200);
    gateway.late.clear();
    expect((await gateway.send('GET', '/readyz', { key: null })).status).toBe(200);
  });

  it('hold an operation alone that reads a view which few others do, while it is built', async () => {
    const key = await gateway.addKey(organizationId, ['read']);
    const reasonOf = async (path: string) => errorOf(await gateway.send('GET', path, { key }));
    const building = refused(503, 'SERVER_ERROR', 'views_being_built');
    const waiting: [string, string, string][] = [
      ['recent_runs', '/api/notifications?include=recent', '/api/notifications'],
      ['skipped_slots', '/api/executions?includeSkipped=true', '/api/executions'],
      ['shadows', '/api/notifications/ntf_00000000000000000000000000/shadow', '/api/notifications'],
      ['figures', '/api/stats', '/api/notifications'],
      ['figures', '/api/notifications/ntf_00000000000000000000000000/explain', '/api/executions'],
    ];
    for (const [view, held, free] of waiting) {
      gateway.unbuilt.add(view);
      expect([view, await reasonOf(held)]).toEqual([view, building]);
      expect((await gateway.send('GET', free, { key })).status).toBe(200);
      expect((await gateway.send('GET', '/readyz', { key: null })).status).toBe(200);
      gateway.unbuilt.clear();
    }
  });

  it('answer HEAD like GET without a body', async () => {
    const head = await gateway.send('HEAD', '/api/notifications');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
  });
});

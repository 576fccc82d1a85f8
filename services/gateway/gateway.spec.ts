import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import { keysView } from '#contracts/account';
import { parseApiKey } from '#contracts/api-key';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createSqliteReadStore } from '#read-store/sqlite';
import { unavailable } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { startGateway, type GatewayKit, type Reply } from './gateway.kit.js';

const task = {
  name: 'Kettle',
  url: 'https://shop.example.com/kettle',
  evaluationFunction: 'return true',
};
const webhook = { type: 'webhook', config: { url: 'https://example.com/hook' } };
const email = { type: 'email', config: { to: 'me@example.com', subject: 'Hello' } };

function member(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
}

function errorOf(reply: Reply): unknown {
  return {
    status: reply.status,
    code: member(reply.body, 'error', 'code'),
    reason: member(reply.body, 'error', 'reason'),
  };
}

function refused(status: number, code: string, reason: string) {
  return { status, code, reason };
}

const idOf = (reply: Reply): string => String(member(reply.body, 'data', 'id'));

const stores = {
  eventStore: createSqliteEventStore(':memory:'),
  bus: createSqliteBus(':memory:', silentLogger),
  readStore: createSqliteReadStore(':memory:'),
};
let gateway: GatewayKit;
let organizationId: string;

beforeAll(async () => {
  gateway = await startGateway(stores, { SMTP_URL: 'smtp://mail.example.com', ANONYMOUS_PER_MINUTE: '100000' });
  organizationId = await gateway.addOrganization('enterprise');
  await gateway.addKey(organizationId, ['admin']);
});

afterAll(async () => {
  await gateway.stop();
  await stores.bus.close();
  await stores.readStore.close();
  await stores.eventStore.close();
});

async function create(more: object = {}): Promise<Reply> {
  const reply = await gateway.send('POST', '/api/notifications', { body: { ...task, ...more } });
  expect(reply.status).toBe(201);
  return reply;
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
    const known = await stores.readStore.get(keysView, publicId);
    if (known === null) throw new Error('the key is there');
    const document = { ...known, revokedAt: '2026-11-01T00:00:00.000Z' };
    await stores.readStore.save(keysView, [{ id: publicId, revision: 2, document }], null);
    expect(errorOf(await list(key))).toEqual(refused(401, 'UNAUTHORIZED', 'invalid_api_key'));
  });

  it('say that they have expired', async () => {
    const key = await gateway.addKey(organizationId, ['read'], { expiresAt: '2020-01-01T00:00:00.000Z' });
    expect(errorOf(await list(key))).toEqual(refused(401, 'UNAUTHORIZED', 'key_expired'));
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
    expect(first.headers.get('ratelimit')).toMatch(/^"organization";r=99;t=3[56]\d\d$/);
    const resetAtMs = Number(first.headers.get('x-ratelimit-reset')) * 1_000;
    expect(resetAtMs - Date.now()).toBeGreaterThan(3_590_000);
    const missing = await gateway.send('GET', '/api/nothing', { key: other });
    expect(missing.headers.get('x-ratelimit-remaining')).toBe('98');
    for (let used = 2; used < 100; used += 1) await gateway.send('GET', '/api/notifications?limit=0', { key: one });
    const over = await gateway.send('GET', '/api/notifications', { key: other });
    expect(errorOf(over)).toEqual(refused(429, 'RATE_LIMITED', 'rate_limited'));
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(3_500);
    expect(over.headers.get('x-ratelimit-remaining')).toBe('0');
    gateway.time.aheadMs += 3_601_000;
    expect((await gateway.send('GET', '/api/notifications', { key: one })).headers.get('x-ratelimit-remaining')).toBe(
      '99',
    );
  });
});

describe('a notification task', () => {
  it('is answered as it was stored, with defaults, Location and ETag', async () => {
    const reply = await create();
    expect(reply.headers.get('location')).toBe(`/api/notifications/${idOf(reply)}`);
    expect(reply.headers.get('etag')).toBe('"0"');
    expect(reply.body).toEqual({
      success: true,
      data: {
        ...task,
        id: expect.stringMatching(/^ntf_[0-9a-z]{26}$/),
        description: '',
        actions: [],
        schedule: { type: 'interval', intervalSeconds: 300, catchUp: 'latest' },
        policy: { notifyOn: 'became_true', errorThreshold: 3 },
        fetch: expect.objectContaining({ mode: 'http', method: 'GET', timeoutSeconds: 30 }),
        tags: [],
        externalKey: null,
        status: 'active',
        revision: 0,
        condition: 'unknown',
        health: 'ok',
        nextRunAt: null,
        lastExecution: null,
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: expect.stringMatching(/Z$/),
        createdBy: expect.stringMatching(/^key:key_/),
      },
    });
    const again = await gateway.send('GET', `/api/notifications/${idOf(reply)}`);
    expect(again.body).toEqual(reply.body);
  });

  it('is in the list at once, exactly as data and pagination', async () => {
    const { body } = await create({ name: 'seen at once', tags: ['fresh'] });
    const reply = await gateway.send('GET', '/api/notifications?tag=fresh');
    expect(reply.body).toEqual({
      data: [member(body, 'data')],
      pagination: { page: 1, limit: 20, total: 1, pages: 1 },
    });
    const past = await gateway.send('GET', '/api/notifications?tag=fresh&page=9007199254740991&limit=100');
    expect(past.body).toEqual({ data: [], pagination: { page: 9007199254740991, limit: 100, total: 1, pages: 1 } });
    const none = await gateway.send('GET', '/api/notifications?tag=absent');
    expect(member(none.body, 'pagination')).toEqual({ page: 1, limit: 20, total: 0, pages: 0 });
  });

  it('is found by its filters and sorted as asked', async () => {
    for (const name of ['b', 'c', 'a']) await create({ name: `sorted ${name}`, tags: ['sorted'] });
    const names = async (query: string) => {
      const { body } = await gateway.send('GET', `/api/notifications?tag=sorted&${query}`);
      const items = member(body, 'data');
      return Array.isArray(items) ? items.map((item) => String(member(item, 'name')).slice(-1)).join('') : '';
    };
    expect(await names('')).toBe('acb');
    expect(await names('sort=createdAt')).toBe('bca');
    expect(await names('sort=name')).toBe('abc');
    expect(await names('sort=-name&limit=2')).toBe('cb');
    expect(await names('q=SORTED%20B')).toBe('b');
    expect(await names('status=paused')).toBe('');
    expect(await names('condition=unknown&health=ok&limit=1&page=2')).toBe('c');
  });

  it.each([
    ['page=0', 'page_invalid'],
    ['page=-1', 'page_invalid'],
    ['page=1.5', 'page_invalid'],
    ['page=1e3', 'page_invalid'],
    ['page=', 'page_invalid'],
    ['page=%201', 'page_invalid'],
    ['page=01', 'page_invalid'],
    ['page=9007199254740992', 'page_invalid'],
    ['page=1&page=2', 'repeated_parameter'],
    ['limit=0', 'limit_invalid'],
    ['limit=101', 'limit_invalid'],
    ['limit=ten', 'limit_invalid'],
    ['lmit=5', 'unknown_parameter'],
    ['__proto__=1', 'unknown_parameter'],
    ['sort=size', 'sort_invalid'],
    ['status=gone', 'status_invalid'],
    ['q=', 'q_required'],
  ])('list refuses ?%s', async (query, reason) => {
    const reply = await gateway.send('GET', `/api/notifications?${query}`);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
  });

  it.each([
    [{ name: undefined }, 'name_required', 'name'],
    [{ name: '' }, 'name_required', 'name'],
    [{ name: 'x'.repeat(201) }, 'name_too_long', 'name'],
    [{ name: 5 }, 'name_wrong_type', 'name'],
    [{ colour: 'red' }, 'unknown_field', 'colour'],
    [{ id: 'ntf_1' }, 'unknown_field', 'id'],
    [{ url: 'nowhere' }, 'url_invalid', 'url'],
    [{ url: 'https://a:b@example.com/' }, 'url_invalid', 'url'],
    [{ url: 'file:///etc/passwd' }, 'url_invalid', 'url'],
    [{ url: 'http://169.254.169.254/' }, 'address_denied', 'url'],
    [{ evaluationFunction: 'syntax(' }, 'syntax_error', 'evaluationFunction'],
    [{ evaluationFunction: 'x'.repeat(65_537) }, 'evaluation_function_invalid', 'evaluationFunction'],
    [{ schedule: { type: 'interval', intervalSeconds: 5 } }, 'interval_seconds_too_small', 'schedule.intervalSeconds'],
    [{ schedule: { type: 'hourly' } }, 'type_invalid', 'schedule.type'],
    [{ actions: [{ type: 'fax' }] }, 'type_invalid', 'actions[0].type'],
    [
      { actions: [{ ...email, config: { to: 'a@b.c', subject: 'x', colour: 1 } }] },
      'unknown_field',
      'actions[0].config.colour',
    ],
    [
      { actions: [{ ...email, config: { to: 'a@b.c\r\nBcc: d@e.f', subject: 'x' } }] },
      'to_invalid',
      'actions[0].config.to',
    ],
    [
      { actions: [{ ...email, config: { to: 'a@b.co', subject: '{% if %}' } }] },
      'template_error',
      'actions[0].config.subject',
    ],
    [{ actions: [{ type: 'custom', config: { code: 'syntax(' } }] }, 'syntax_error', 'actions[0].config.code'],
    [{ actions: [{ ...webhook, id: 'act_00000000000000000000000000' }] }, 'unknown_field', 'actions[0].id'],
    [
      { actions: [{ type: 'webhook', config: { url: 'http://169.254.1.1/' } }] },
      'address_denied',
      'actions[0].config.url',
    ],
    [
      { actions: [{ type: 'webhook', config: { url: 'https://e.com/', secret: '********' } }] },
      'secret_required',
      'actions[0].config.secret',
    ],
    [{ actions: Array(21).fill(webhook) }, 'actions_too_many', 'actions'],
    [{ fetch: { mode: 'browser' } }, 'browser_unavailable', 'fetch.mode'],
    [{ tags: ['a b'] }, 'tags_invalid', 'tags[0]'],
  ])('refuses %j by name', async (more, reason, field) => {
    const reply = await gateway.send('POST', '/api/notifications', { body: { ...task, ...more } });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(member(reply.body, 'error', 'details', 0, 'field')).toBe(field);
  });

  it('tells line and column of a syntax error', async () => {
    const reply = await gateway.send('POST', '/api/notifications', {
      body: { ...task, evaluationFunction: 'syntax(' },
    });
    expect(member(reply.body, 'error', 'details', 0)).toMatchObject({ line: 2, column: 5 });
  });

  it('refuses a body that two readers could read differently', async () => {
    const post = async (body: string) => errorOf(await gateway.send('POST', '/api/notifications', { body }));
    const invalid = (reason: string) => refused(400, 'VALIDATION_ERROR', reason);
    expect(await post('{"name":"a","name":"b"}')).toEqual(invalid('duplicate_field'));
    expect(await post('{"name":"a","n\\u0061me":"b"}')).toEqual(invalid('duplicate_field'));
    expect(await post('{"__proto__":{"admin":true}}')).toEqual(invalid('unknown_field'));
    expect(await post('{"constructor":{"prototype":{}}}')).toEqual(invalid('name_required'));
    expect(await post('{"fetch":{"headers":{"__proto__":"x"}}}')).toEqual(invalid('unknown_field'));
    expect(await post('{"name":"\\ud800"}')).toEqual(invalid('malformed_text'));
    expect(await post(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)).toEqual(invalid('too_deep'));
  });

  it('is replaced by PUT, which passes over read-only fields', async () => {
    const made = await create({ description: 'before', tags: ['x'] });
    const path = `/api/notifications/${idOf(made)}`;
    const shown = member(made.body, 'data');
    const same = await gateway.send('PUT', path, { body: shown });
    expect(same.status).toBe(200);
    expect(member(same.body, 'data', 'revision')).toBe(0);
    const replaced = await gateway.send('PUT', path, { body: { ...task, name: 'after' } });
    expect(member(replaced.body, 'data')).toMatchObject({ name: 'after', description: '', tags: [], revision: 1 });
    expect(replaced.headers.get('etag')).toBe('"1"');
    expect((await gateway.send('GET', path)).body).toEqual(replaced.body);
  });

  it('is changed by a merge patch under both media types', async () => {
    const path = `/api/notifications/${idOf(await create({ description: 'kept', tags: ['a', 'b'] }))}`;
    const paused = await gateway.send('PATCH', path, { body: { status: 'paused', tags: ['c'], revision: 77 } });
    expect(member(paused.body, 'data')).toMatchObject({
      status: 'paused',
      description: 'kept',
      tags: ['c'],
      revision: 1,
    });
    const merged = await gateway.send('PATCH', path, {
      body: { description: null, policy: { errorThreshold: 5 } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(member(merged.body, 'data')).toMatchObject({
      description: '',
      policy: { errorThreshold: 5 },
      name: task.name,
    });
    const nulled = await gateway.send('PATCH', path, { body: { name: null } });
    expect(errorOf(nulled)).toEqual(refused(400, 'VALIDATION_ERROR', 'name_required'));
    const unknown = await gateway.send('PATCH', path, { body: { colour: 1 } });
    expect(errorOf(unknown)).toEqual(refused(400, 'VALIDATION_ERROR', 'unknown_field'));
    expect(errorOf(await gateway.send('PATCH', path, { body: [] }))).toEqual(
      refused(400, 'VALIDATION_ERROR', 'body_wrong_type'),
    );
  });

  it('keeps every one of many patches that arrive at once', async () => {
    const path = `/api/notifications/${idOf(await create())}`;
    const fields = ['name', 'description', 'externalKey', 'tags', 'status'] as const;
    const values = { name: 'n', description: 'd', externalKey: 'at-once', tags: ['t'], status: 'paused' };
    const replies = await Promise.all(
      fields.map((field) => gateway.send('PATCH', path, { body: { [field]: values[field] } })),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(member((await gateway.send('GET', path)).body, 'data')).toMatchObject(values);
  });

  it('is guarded by If-Match', async () => {
    const path = `/api/notifications/${idOf(await create())}`;
    const patch = (ifMatch: string) =>
      gateway.send('PATCH', path, { body: { name: `for ${ifMatch}` }, headers: { 'if-match': ifMatch } });
    expect((await patch('"0"')).status).toBe(200);
    expect(errorOf(await patch('"0"'))).toEqual(refused(412, 'VALIDATION_ERROR', 'stale_revision'));
    expect((await patch('*')).status).toBe(200);
    for (const odd of ['0', 'W/"0"', '"0", "1"', '"x"', '""']) {
      expect(errorOf(await patch(odd))).toEqual(refused(400, 'VALIDATION_ERROR', 'if_match_invalid'));
    }
    const stale = await gateway.send('DELETE', path, { headers: { 'if-match': '"0"' } });
    expect(errorOf(stale)).toEqual(refused(412, 'VALIDATION_ERROR', 'stale_revision'));
  });

  it('is gone everywhere once it is deleted', async () => {
    const id = idOf(await create());
    const reply = await gateway.send('DELETE', `/api/notifications/${id}`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ success: true, data: { id, deleted: true } });
    for (const path of ['', '/executions', '/deliveries', '/history']) {
      expect((await gateway.send('GET', `/api/notifications/${id}${path}`)).status).toBe(404);
    }
    expect((await gateway.send('DELETE', `/api/notifications/${id}`)).status).toBe(404);
  });

  it('shows its history newest first, sealed values masked, by page and by cursor', async () => {
    const path = `/api/notifications/${idOf(await create())}`;
    for (const name of ['one', 'two']) await gateway.send('PATCH', path, { body: { name } });
    const history = await gateway.send('GET', `${path}/history?limit=2`);
    expect(history.text).not.toContain('$sealed');
    expect(member(history.body, 'data', 0, 'revision')).toBe(2);
    expect(member(history.body, 'pagination')).toEqual({ page: 1, limit: 2, total: 3, pages: 2 });
    const begin = await gateway.send('GET', `${path}/history?limit=2&after=`);
    const next = String(member(begin.body, 'cursor', 'next'));
    const rest = await gateway.send('GET', `${path}/history?limit=2&after=${next}`);
    expect(member(rest.body, 'data', 0, 'revision')).toBe(0);
    expect(member(rest.body, 'cursor')).toEqual({ next: null });
  });
});

describe('secrets', () => {
  it('are in clear only in the answer that made them, and sealed in what is stored', async () => {
    const made = await create({ actions: [webhook, email] });
    const secret = String(member(made.body, 'data', 'actions', 0, 'config', 'secret'));
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    const command = JSON.stringify(gateway.commands.at(-1));
    for (const canary of [secret, 'https://example.com/hook', 'me@example.com']) expect(command).not.toContain(canary);
    const shown = await gateway.send('GET', `/api/notifications/${idOf(made)}`);
    expect(member(shown.body, 'data', 'actions', 0, 'config')).toEqual({
      url: 'https://example.com/hook',
      secret: '********',
    });
    expect(member(shown.body, 'data', 'actions', 1, 'config', 'to')).toBe('me@example.com');
  });

  it('are kept when their masks come back, and nothing counts as changed', async () => {
    const made = await create({
      actions: [
        {
          type: 'webhook',
          config: { url: 'https://user:hunter2@example.com/', headers: { 'X-Token': 't0k', Accept: 'x' } },
        },
        { type: 'custom', config: { code: 'return []', secrets: { apiKey: 's3cret' } } },
      ],
      fetch: {
        headers: { Authorization: 'Bearer abc', 'X-Plain': 'shown' },
        proxy: 'http://u:pr0xy@proxy.example:3128',
      },
    });
    const path = `/api/notifications/${idOf(made)}`;
    const shown = await gateway.send('GET', path);
    for (const secret of ['hunter2', 't0k', 's3cret', 'Bearer abc', 'pr0xy']) expect(shown.text).not.toContain(secret);
    expect(member(shown.body, 'data', 'fetch', 'headers')).toEqual({ Authorization: '********', 'X-Plain': 'shown' });
    const same = await gateway.send('PUT', path, { body: member(shown.body, 'data') });
    expect(member(same.body, 'data', 'revision')).toBe(0);
    const renamed = await gateway.send('PATCH', path, { body: { name: 'renamed' } });
    expect(member(renamed.body, 'data', 'revision')).toBe(1);
    const [first, , last] = gateway.commands.slice(-3);
    expect(member(last, 'spec', 'actions')).toEqual(member(first, 'spec', 'actions'));
    expect(member(last, 'spec', 'fetch')).toEqual(member(first, 'spec', 'fetch'));
  });

  it('do not follow an address to another host', async () => {
    const made = await create({ actions: [{ type: 'webhook', config: { url: 'https://user:hunter2@example.com/' } }] });
    const id = String(member(made.body, 'data', 'actions', 0, 'id'));
    const actions = [
      { id, type: 'webhook', config: { url: 'https://user:********@evil.example/', secret: '********' } },
    ];
    const reply = await gateway.send('PATCH', `/api/notifications/${idOf(made)}`, { body: { actions } });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'secret_required'));
  });

  it('of an action are not made anew when it is sent without', async () => {
    const made = await create({ actions: [webhook] });
    const id = String(member(made.body, 'data', 'actions', 0, 'id'));
    const path = `/api/notifications/${idOf(made)}`;
    const reply = await gateway.send('PUT', path, { body: { ...task, actions: [{ ...webhook, id }] } });
    expect(member(reply.body, 'data', 'revision')).toBe(0);
    const foreign = await gateway.send('PUT', path, {
      body: { ...task, actions: [{ ...webhook, id: 'act_00000000000000000000000000' }] },
    });
    expect(errorOf(foreign)).toEqual(refused(400, 'VALIDATION_ERROR', 'action_unknown'));
  });
});

describe('an idempotency key', () => {
  const send = (key: string, body: unknown, path = '/api/notifications') =>
    gateway.send('POST', path, { body, headers: { 'idempotency-key': key } });

  it('gets the same answer again, once made', async () => {
    const first = await send('key-1', { ...task, actions: [webhook] });
    const again = await send('key-1', { ...task, actions: [webhook] });
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('etag')).toBe('"0"');
  });

  it('does not take another request', async () => {
    await send('key-2', task);
    expect(errorOf(await send('key-2', { ...task, name: 'other' }))).toEqual(
      refused(409, 'VALIDATION_ERROR', 'idempotency_conflict'),
    );
  });

  it('makes one thing of requests that come at once', async () => {
    const before = gateway.commands.length;
    const replies = await Promise.all(Array.from({ length: 8 }, () => send('key-3', task)));
    expect(new Set(replies.map(idOf)).size).toBe(1);
    expect(gateway.commands.length).toBe(before + 1);
  });

  it('finds what was made when the process died before its answer', async () => {
    gateway.hooks.afterCommand = async () => {
      throw unavailable('gone', 'The process died.');
    };
    expect((await send('key-4', { ...task, actions: [webhook] })).status).toBe(503);
    gateway.hooks.afterCommand = async () => {};
    const before = gateway.commands.length;
    const reply = await send('key-4', { ...task, actions: [webhook] });
    expect(reply.status).toBe(201);
    expect(gateway.commands.length).toBe(before);
    expect(member(reply.body, 'data', 'actions', 0, 'config', 'secret')).toMatch(/^whsec_/);
  });

  it('is free for another organisation, and again after a day', async () => {
    const other = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
    const mine = await send('key-5', task);
    const theirs = await gateway.send('POST', '/api/notifications', {
      key: other,
      body: task,
      headers: { 'idempotency-key': 'key-5' },
    });
    expect(idOf(theirs)).not.toBe(idOf(mine));
    gateway.time.aheadMs += 24 * 3_600_000 + 1_000;
    const later = await send('key-5', { ...task, name: 'another' });
    expect(later.status).toBe(201);
    expect(idOf(later)).not.toBe(idOf(mine));
  });

  it('keeps its secrets sealed in the store', async () => {
    const made = await send('key-6', { ...task, actions: [webhook] });
    const secret = String(member(made.body, 'data', 'actions', 0, 'config', 'secret'));
    const { idempotencyView } = await import('#http/idempotency');
    const { documents } = await stores.readStore.page(idempotencyView, {
      ...{ where: [], sort: [], limit: 100, offset: 0, count: false },
    });
    expect(documents.length).toBeGreaterThan(0);
    expect(JSON.stringify(documents)).not.toContain(secret);
  });

  it.each(['x'.repeat(256), 'caf\u00e9'])('refuses %s', async (key) => {
    const headers = { 'idempotency-key': key };
    const reply = await gateway.send('POST', '/api/notifications', { body: task, headers });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'idempotency_key_invalid'));
  });

  it('starts one run, however often it is sent', async () => {
    const path = `/api/notifications/${idOf(await create())}/execute`;
    const [one, other] = [await send('run-1', undefined, path), await send('run-1', undefined, path)];
    expect(idOf(other)).toBe(idOf(one));
    expect(idOf(one)).toMatch(/^exe_/);
  });
});

describe('executions and deliveries', () => {
  it('answer 202 at once and 200 with the finished one where it was waited for', async () => {
    const path = `/api/notifications/${idOf(await create())}`;
    const queued = await gateway.send('POST', `${path}/execute`);
    expect(queued.status).toBe(202);
    const finished = await gateway.send('POST', `${path}/execute?wait=5`, { body: { dryRun: true } });
    expect(finished.status).toBe(200);
    expect(member(finished.body, 'data', 'status')).toBe('succeeded');
    expect(finished.text).not.toContain('organizationId');
    const listed = await gateway.send('GET', `${path}/executions?outcome=true&trigger=manual&status=succeeded`);
    expect(member(listed.body, 'pagination', 'total')).toBe(2);
    const one = await gateway.send('GET', `/api/executions/${idOf(finished)}`);
    expect(member(one.body, 'data')).toEqual(member(finished.body, 'data'));
    const first = await gateway.send('GET', `${path}/executions?limit=1&after=`);
    const second = await gateway.send(
      'GET',
      `${path}/executions?limit=1&after=${String(member(first.body, 'cursor', 'next'))}`,
    );
    expect(member(second.body, 'data', 0, 'id')).not.toBe(member(first.body, 'data', 0, 'id'));
    expect(member(second.body, 'cursor', 'next')).toBeNull();
  });

  it.each(['wait=0', 'wait=61', 'wait=x', 'force=true'])('refuse execute?%s', async (query) => {
    const path = `/api/notifications/${idOf(await create())}/execute`;
    expect((await gateway.send('POST', `${path}?${query}`)).status).toBe(400);
  });

  it('refuse cursors that no list gave, and a page beside a cursor', async () => {
    for (const query of ['after=xyz', 'after=WyJhIiwxXQ', 'page=2&after=']) {
      expect((await gateway.send('GET', `/api/executions?${query}`)).status).toBe(400);
      expect((await gateway.send('GET', `/api/deliveries?${query}`)).status).toBe(400);
    }
    expect((await gateway.send('GET', '/api/executions/exe_00000000000000000000000000')).status).toBe(404);
    expect((await gateway.send('GET', '/api/deliveries/dlv_00000000000000000000000000')).status).toBe(404);
    expect((await gateway.send('GET', '/api/deliveries?state=failed&from=2026-01-01T00:00:00Z')).status).toBe(200);
  });
});

describe('pages and probes', () => {
  it('say what this is, for people and for terminals', async () => {
    const plain = await gateway.send('GET', '/', { key: null });
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(plain.text).toContain('/docs');
    const page = await gateway.send('GET', '/', { key: null, headers: { accept: 'text/html' } });
    expect(page.text).toContain('<h1>Meerkat</h1>');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
  });

  it('serve the reader of the document from here, without inline script', async () => {
    const page = await gateway.send('GET', '/docs', { key: null });
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(page.text).not.toMatch(/https?:\/\//);
    for (const path of ['/docs/reader.js', '/docs/start.js', '/style.css', '/setup.js']) {
      expect((await gateway.send('GET', path, { key: null })).status).toBe(200);
    }
  });

  it('answer alive, ready by part, and metrics', async () => {
    expect((await gateway.send('GET', '/healthz', { key: null })).body).toEqual({
      success: true,
      data: { status: 'alive' },
    });
    const ready = await gateway.send('GET', '/readyz', { key: null });
    expect(member(ready.body, 'data', 'parts')).toEqual({ eventStore: 'ok', bus: 'ok', readStore: 'ok' });
    const metrics = await gateway.send('GET', '/metrics', { key: null });
    expect(metrics.text).toContain('meerkat_http_request_duration_seconds_bucket');
    expect(metrics.text).toContain('route="/api/notifications/:id"');
    expect(metrics.text).not.toContain('ntf_');
  });

  it('answer HEAD like GET without a body', async () => {
    const head = await gateway.send('HEAD', '/api/notifications');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
  });
});

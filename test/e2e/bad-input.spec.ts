/** What comes in over HTTP and cannot be used: refused by name, with the right code, and nothing is done. */
import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { ownerApiKey, type Installation } from './kit/installation.js';
import { byHand } from './kit/settings.js';

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation({ smtpUrl: 'smtp://127.0.0.1:9' });
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
});

const path = '/api/notifications';
const valid = byHand('https://example.com/shop');
const mail = (config: object) => ({
  actions: [{ type: 'email', config: { to: 'a@example.com', subject: 's', ...config } }],
});
const hook = (config: object) => ({
  actions: [{ type: 'webhook', config: { url: 'https://example.com/', ...config } }],
});
const action = (fields: object) => ({ actions: [{ ...hook({}).actions[0], ...fields }] });
const every = (intervalSeconds: number) => ({ type: 'interval', intervalSeconds });
const unknownId = 'ntf_00000000000000000000000000';

/** Every refusal has the whole envelope, its own words, and the headers of every answer. */
function expectRefusal(reply: Reply, status: number, code: string, reason: string): void {
  const error = errorOf(reply);
  expect([reply.status, error.code, error.reason]).toEqual([status, code, reason]);
  expect(error.message).not.toMatch(/\bat \S+:\d+|undefined|\[object|zod|sqlite/i);
  expect(error.requestId).toBe(reply.headers.get('x-request-id'));
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  expect(reply.headers.get('x-api-version')).toBe('2026-11-01');
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
}

async function total(): Promise<number> {
  const { body } = await installation.api.send(path);
  return z.object({ pagination: z.object({ total: z.number() }) }).parse(body).pagination.total;
}

describe('the fields of a notification', () => {
  it.each<[string, string, object]>([
    ['name', 'name_required', { name: undefined }],
    ['name', 'name_required', { name: '' }],
    ['name', 'name_too_long', { name: 'n'.repeat(201) }],
    ['name', 'name_wrong_type', { name: 7 }],
    ['description', 'description_too_long', { description: 'd'.repeat(2_001) }],
    ['url', 'url_required', { url: undefined }],
    ['url', 'url_invalid', { url: 'example.com' }],
    ['url', 'url_invalid', { url: 'ftp://example.com/' }],
    ['url', 'url_invalid', { url: 'https://user:password@example.com/' }],
    ['url', 'url_too_long', { url: `https://example.com/${'p'.repeat(2_048)}` }],
    ['url', 'address_denied', { url: 'http://169.254.169.254/latest/meta-data' }],
    ['url', 'address_denied', { url: 'http://[::1]/' }],
    ['evaluationFunction', 'evaluation_function_required', { evaluationFunction: undefined }],
    ['evaluationFunction', 'evaluation_function_required', { evaluationFunction: '' }],
    ['evaluationFunction', 'evaluation_function_invalid', { evaluationFunction: `'${'é'.repeat(32_768)}'` }],
    ['tags', 'tags_too_many', { tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }],
    ['tags[0]', 'tags_invalid', { tags: ['with space'] }],
    ['externalKey', 'external_key_too_long', { externalKey: 'k'.repeat(201) }],
    ['status', 'status_invalid', { status: 'archived' }],
    ['schedule', 'schedule_wrong_type', { schedule: 'hourly' }],
    ['schedule.type', 'type_invalid', { schedule: { type: 'sometimes' } }],
    ['schedule.intervalSeconds', 'interval_seconds_too_small', { schedule: every(0) }],
    ['schedule.intervalSeconds', 'interval_seconds_wrong_type', { schedule: every(1.5) }],
    ['schedule.intervalSeconds', 'unknown_field', { schedule: { type: 'manual', intervalSeconds: 5 } }],
    ['policy.errorThreshold', 'error_threshold_too_small', { policy: { errorThreshold: 0 } }],
    ['policy.notifyOn', 'notify_on_invalid', { policy: { notifyOn: 'always' } }],
    ['fetch.timeoutSeconds', 'timeout_seconds_too_large', { fetch: { timeoutSeconds: 121 } }],
    ['fetch.maxBytes', 'max_bytes_too_small', { fetch: { maxBytes: 1 } }],
    ['fetch.acceptStatus[0]', 'accept_status_invalid', { fetch: { acceptStatus: ['6xx'] } }],
    ['fetch.headers.X-A', 'headers_invalid', { fetch: { headers: { 'X-A': 'a\r\nX-B: b' } } }],
    ['fetch.mode', 'browser_unavailable', { fetch: { mode: 'browser' } }],
    ['actions', 'actions_too_many', { actions: Array.from({ length: 21 }, () => hook({}).actions[0]) }],
    ['actions[0].type', 'type_invalid', { actions: [{ type: 'pigeon', config: {} }] }],
    ['actions[0].config.to', 'to_invalid', mail({ to: 'nobody' })],
    ['actions[0].config.to', 'to_invalid', mail({ to: 'a@example.com, b@example.com' })],
    ['actions[0].config.to', 'to_invalid', mail({ to: 'a@example.com\r\nBcc: b@example.com' })],
    ['actions[0].config.to', 'to_invalid', mail({ to: Array.from({ length: 51 }, (_, at) => `a${at}@example.com`) })],
    ['actions[0].config.subject', 'subject_invalid', mail({ subject: 'one\ntwo' })],
    ['actions[0].config.subject', 'subject_required', mail({ subject: undefined })],
    ['actions[0].config.body', 'template_error', mail({ body: '{% if %}' })],
    ['actions[0].config.url', 'url_invalid', hook({ url: 'nowhere' })],
    ['actions[0].config.url', 'address_denied', hook({ url: 'http://10.0.0.1/' })],
    ['actions[0].config.secret', 'secret_invalid', hook({ secret: 'whsec_short' })],
    ['actions[0].config.timeoutSeconds', 'timeout_seconds_too_large', hook({ timeoutSeconds: 61 })],
    ['actions[0].expireAfterSeconds', 'expire_after_seconds_too_small', action({ expireAfterSeconds: 59 })],
    ['actions[0].retries', 'unknown_field', action({ retries: 3 })],
    ['actions[0].config.code', 'syntax_error', { actions: [{ type: 'custom', config: { code: 'return (' } }] }],
    ['colour', 'unknown_field', { colour: 'red' }],
  ])('are rejected with a reason: %s gives %s', async (field, reason, change) => {
    const reply = await installation.api.send(path, { json: { ...valid, ...change } });
    expectRefusal(reply, 400, 'VALIDATION_ERROR', reason);
    expect(errorOf(reply).details?.map((detail) => detail.field)).toContain(field);
  });

  it.each<[string, string, object]>([
    ['actions[0].config.url', 'write @ as %40', hook({ url: 'http://u:p@ss@example.com/{{ task.name }}' })],
    ['actions[0].config.url', 'write / as %2F', hook({ url: 'http://u:p/ss@example.com/' })],
    ['fetch.proxy', 'write @ as %40', { fetch: { proxy: 'http://u:p@ss@proxy.example.com:3128' } }],
    ['fetch.proxy', 'write # as %23', { fetch: { proxy: 'http://u:12#ss@proxy.example.com:3128' } }],
    ['url', 'fetch.auth takes them', { url: 'https://u:p/ss@example.com/' }],
  ])('with a password that is not percent-encoded name what to write: %s, %s', async (field, written, change) => {
    const reply = await installation.api.send(path, { json: { ...valid, ...change } });
    expectRefusal(reply, 400, 'VALIDATION_ERROR', `${field.split('.').at(-1)}_invalid`);
    expect(errorOf(reply).details).toEqual([expect.objectContaining({ field })]);
    expect(errorOf(reply).message).toContain(written);
    expect(reply.text).not.toContain('ss@');
  });

  it('are accepted at their limits', async () => {
    const created = await installation.api.create({
      ...valid,
      name: 'n'.repeat(200),
      description: 'd'.repeat(2_000),
      url: `https://example.com/${'p'.repeat(2_048 - 20)}`,
      evaluationFunction: `'${'é'.repeat(32_763)}' === '';`,
      tags: Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(50, '-')),
      externalKey: 'k'.repeat(200),
      actions: Array.from({ length: 20 }, () => hook({}).actions[0]),
    });
    expect((await installation.api.task(created.id)).actions).toHaveLength(20);
  });

  it('are all reported in one answer', async () => {
    const reply = await installation.api.send(path, { json: { name: '', url: 'x', schedule: { type: 'manual' } } });
    expect(
      errorOf(reply)
        .details?.map(({ field }) => field)
        .toSorted(),
    ).toEqual(['evaluationFunction', 'name', 'url']);
  });

  it.each<[string, number, number]>([
    ['return document.title ===;', 1, 26],
    ['const a = 1;\nconst b = ;\nreturn a === b;', 2, 11],
    ['() => {\n  return true;\n', 3, 1],
  ])('reject code with a syntax error by line and column: %j', async (code, line, column) => {
    const reply = await installation.api.send(path, { json: { ...valid, evaluationFunction: code } });
    expectRefusal(reply, 400, 'VALIDATION_ERROR', 'syntax_error');
    expect(errorOf(reply).details).toEqual([
      expect.objectContaining({ field: 'evaluationFunction', rule: 'syntax_error', line, column }),
    ]);
  });

  it('answer 409 to a name that exists in the organisation', async () => {
    await installation.api.create({ ...valid, externalKey: 'shop' });
    const reply = await installation.api.send(path, { json: { ...valid, externalKey: 'shop' } });
    expectRefusal(reply, 409, 'VALIDATION_ERROR', 'already_exists');
  });
});

describe('an unreadable body', () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
    ['half an object', '{"name": "x"', 'malformed_json'],
    ['a comma too many', '{"name": "x",}', 'malformed_json'],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'malformed_json'],
    ['the same name twice', '{"name": "a", "name": "b"}', 'duplicate_field'],
    ['nesting without end', '['.repeat(100_000), 'malformed_json'],
    ['nesting deeper than any document', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, 'too_deep'],
    ['a prototype', '{"__proto__": {"name": "x"}}', 'unknown_field'],
  ])('gets 400: %s', async (_, text, reason) => {
    expectRefusal(await installation.api.send(path, { text }), 400, 'VALIDATION_ERROR', reason);
  });

  it.each([
    ['nothing', ''],
    ['a list', '[]'],
    ['a word', '"name"'],
    ['null', 'null'],
  ])('gets 400 as %s instead of an object', async (_, text) => {
    const reply = await installation.api.send(path, { method: 'POST', text });
    expect([reply.status, errorOf(reply).code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('gets 413 above 1 MiB', async () => {
    const big = JSON.stringify({ ...valid, description: 'd'.repeat(1_048_576) });
    expectRefusal(await installation.api.send(path, { text: big }), 413, 'VALIDATION_ERROR', 'body_too_large');
  });

  it('gets 415 with another media type or a compression', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'application/json; charset=latin1' },
      { 'content-type': 'application/merge-patch+json' },
      { 'content-encoding': 'gzip' },
    ]) {
      const reply = await installation.api.send(path, { json: valid, headers });
      expectRefusal(reply, 415, 'VALIDATION_ERROR', 'unsupported_media_type');
    }
  });

  it.each([
    ['is not HTTP', 'HELLO THERE\r\n\r\n', 400, 'malformed_request'],
    ['names two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'malformed_request'],
    ['expects what is not known', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n', 417, 'unknown_expectation'],
  ])('gets the error envelope even where it %s', async (_what, text, status, reason) => {
    const { hostname, port } = new URL(installation.url);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write(text);
    await once(socket, 'end');
    socket.destroy();
    const [head = '', body = ''] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n');
    expect(head).toMatch(new RegExp(String.raw`^HTTP/1\.1 ${status} [^]*^x-request-id: req_`, 'm'));
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR', reason } });
  });
});

describe('the routing of requests', () => {
  it.each([
    ['GET', '/api/nothing'],
    ['GET', '/api/notifications/'],
    ['GET', '/api//notifications'],
    ['POST', '/api/notifications/x/y/z'],
    ['GET', '/%00'],
    ['GET', '/api/notifications/..%2f..%2fetc%2fpasswd'],
  ])('answers %s %s with 404', async (method, unknown) => {
    const reply = await installation.api.send(unknown, { method });
    expect([reply.status, errorOf(reply).code]).toEqual([404, 'NOT_FOUND']);
  });

  it.each([
    ['DELETE', path, 'GET, HEAD, POST'],
    ['POST', `${path}/${unknownId}`, 'DELETE, GET, HEAD, PATCH, PUT'],
    ['GET', `${path}/${unknownId}/execute`, 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
  ])('answers %s %s with 405 and the allowed methods', async (method, known, allowed) => {
    const reply = await installation.api.send(known, { method });
    expectRefusal(reply, 405, 'NOT_FOUND', 'method_not_allowed');
    const said = (reply.headers.get('allow') ?? '').split(', ').toSorted();
    expect(allowed.split(', ')).toEqual(expect.arrayContaining(said));
    expect(said).toEqual(expect.arrayContaining(allowed.split(', ').filter((one) => one !== 'HEAD')));
  });

  it('answers an unknown, malformed or foreign id with the same 404', async () => {
    const messages = new Set<string>();
    for (const id of [unknownId, 'ntf_x', 'exe_00000000000000000000000000', 'x', 'n'.repeat(5_000), '%F0%9F%A6%A1']) {
      const reply = await installation.api.send(`${path}/${id}`);
      expectRefusal(reply, 404, 'NOT_FOUND', 'not_found');
      messages.add(errorOf(reply).message);
    }
    expect(messages.size).toBe(1);
  });
});

describe('a list of the API', () => {
  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=1e3',
    'page=',
    'page=one',
    'page=9007199254740992',
    'page=1&page=2',
    'limit=0',
    'limit=101',
    'limit= 5',
    'colour=red',
    'status=archived',
    'sort=colour',
  ])('answers ?%s with 400', async (query) => {
    const reply = await installation.api.send(`${path}?${query}`);
    expect([reply.status, errorOf(reply).code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(errorOf(reply).details?.[0]?.field).toBe(query.split('=')[0]);
  });

  it('has an empty page past its end, with the totals', async () => {
    const { status, body } = await installation.api.send(`${path}?page=9007199254740991&limit=100`);
    const all = await total();
    expect([status, body]).toEqual([
      200,
      { data: [], pagination: { page: 9_007_199_254_740_991, limit: 100, total: all, pages: Math.ceil(all / 100) } },
    ]);
  });

  it('of executions takes a cursor or a page, not both, and no forged cursor', async () => {
    for (const query of ['after=&page=2', 'after=guess', 'from=yesterday', 'outcome=maybe']) {
      const reply = await installation.api.send(`/api/executions?${query}`);
      expect([reply.status, errorOf(reply).code]).toEqual([400, 'VALIDATION_ERROR']);
    }
    expect((await installation.api.send('/api/executions?after=')).body).toEqual({ data: [], cursor: { next: null } });
  });
});

describe('an API key', () => {
  const flipped = `${ownerApiKey.slice(0, -1)}A`;
  const unknown = 'mk_00000000_0000000000000000000000000000000000000000' + '0uwVG9'.slice(0, 6);

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['none', {}, 'missing_api_key'],
    ['an empty one', { authorization: 'Bearer ' }, 'missing_api_key|invalid_api_key'],
    ['another scheme', { authorization: `Basic ${ownerApiKey}` }, 'invalid_api_key'],
    ['one that is malformed', { authorization: 'Bearer mk_x' }, 'invalid_api_key'],
    ['one with a wrong checksum', { authorization: `Bearer ${flipped}` }, 'invalid_api_key'],
    ['one that nobody made', { authorization: `Bearer ${unknown}` }, 'invalid_api_key'],
    ['two', { authorization: `Bearer ${ownerApiKey}, Bearer ${ownerApiKey}` }, 'invalid_api_key'],
    ['a megabyte less a little', { authorization: `Bearer ${'k'.repeat(8_000)}` }, 'invalid_api_key'],
  ])('gets 401 everywhere under /api: %s', async (_, headers, reasons) => {
    for (const [method, protectedPath] of [
      ['GET', path],
      ['POST', path],
      ['DELETE', `${path}/${unknownId}`],
      ['GET', '/api/executions'],
    ] as const) {
      const reply = await installation.api.send(protectedPath, { method, headers, key: null });
      expect(reasons.split('|')).toContain(errorOf(reply).reason);
      expectRefusal(reply, 401, 'UNAUTHORIZED', errorOf(reply).reason);
      expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  it('in the address is ignored', async () => {
    const reply = await installation.api.send(`${path}?api_key=${ownerApiKey}`, { key: null });
    expect(reply.status).toBe(401);
    expect(reply.text).not.toContain(ownerApiKey);
  });

  it('with the read scope cannot write or execute, and a revoked one cannot do anything', async () => {
    const made = await installation.api.send('/api/keys', { json: { name: 'Reader', scopes: ['read'] } });
    expect(made.status).toBe(201);
    const { data } = z.object({ data: z.object({ id: z.string(), key: z.string() }) }).parse(made.body);
    const { id } = await installation.api.create(valid);
    expect((await installation.api.send(`${path}/${id}`, { key: data.key })).status).toBe(200);
    for (const request of [
      { method: 'POST', json: valid, at: path },
      { method: 'PATCH', json: { name: 'Mine' }, at: `${path}/${id}` },
      { method: 'DELETE', at: `${path}/${id}` },
      { method: 'POST', json: {}, at: `${path}/${id}/execute` },
      { method: 'POST', json: { name: 'More', scopes: ['admin'] }, at: '/api/keys' },
    ]) {
      const reply = await installation.api.send(request.at, { ...request, key: data.key });
      expectRefusal(reply, 403, 'FORBIDDEN', 'missing_scope');
    }
    expect((await installation.api.send(`/api/keys/${data.id}`, { method: 'DELETE' })).status).toBe(200);
    expectRefusal(await installation.api.send(path, { key: data.key }), 401, 'UNAUTHORIZED', 'invalid_api_key');
  });
});

describe('a repeated or stale write', () => {
  it('makes one task with the same Idempotency-Key and body, and gets the same answer', async () => {
    const before = await total();
    const send = () => installation.api.send(path, { json: valid, headers: { 'idempotency-key': 'once' } });
    const [first, ...others] = [...(await Promise.all([send(), send(), send()])), await send()];
    expect(first?.status).toBe(201);
    for (const other of others) expect([other.status, other.text]).toEqual([201, first?.text]);
    expect(others.at(-1)?.headers.get('idempotent-replayed')).toBe('true');
    expect(await total()).toBe(before + 1);
  });

  it('gets 409 with the same Idempotency-Key and another body or path', async () => {
    const headers = { 'idempotency-key': 'twice' };
    const { id } = await installation.api.create(valid, headers);
    const other = await installation.api.send(path, { json: { ...valid, name: 'Other' }, headers });
    expectRefusal(other, 409, 'VALIDATION_ERROR', 'idempotency_conflict');
    const elsewhere = await installation.api.send(`${path}/${id}/execute`, { json: valid, headers });
    expect([400, 409]).toContain(elsewhere.status);
  });

  it.each([
    ['nothing', ''],
    ['256 characters', 'k'.repeat(256)],
    ['letters beyond ASCII', 'ключ'],
  ])('gets 400 with an Idempotency-Key of %s', async (_, key) => {
    const headers = { 'idempotency-key': Buffer.from(key, 'utf8').toString('latin1') };
    const reply = await installation.api.send(path, { json: valid, headers });
    expectRefusal(reply, 400, 'VALIDATION_ERROR', 'idempotency_key_invalid');
  });

  it('gets 412 with a stale If-Match and changes nothing', async () => {
    const created = await installation.api.create(valid);
    const at = `${path}/${created.id}`;
    const changed = await installation.api.send(at, {
      method: 'PATCH',
      json: { name: 'Second' },
      headers: { 'if-match': `"${created.revision}"` },
    });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, `"${created.revision + 1}"`]);
    for (const [method, json] of [
      ['PATCH', { name: 'Third' }],
      ['PUT', valid],
      ['DELETE', undefined],
    ] as const) {
      const headers = { 'if-match': `"${created.revision}"` };
      const reply = await installation.api.send(at, { method, json, headers });
      expectRefusal(reply, 412, 'VALIDATION_ERROR', 'stale_revision');
    }
    expect((await installation.api.task(created.id)).name).toBe('Second');
  });

  it('gets 400 with an If-Match that is not an ETag of the API', async () => {
    const { id } = await installation.api.create(valid);
    for (const tag of ['1', 'W/"1"', '"one"', '"1", "2"']) {
      const reply = await installation.api.send(`${path}/${id}`, {
        method: 'PATCH',
        json: { name: 'x' },
        headers: { 'if-match': tag },
      });
      expectRefusal(reply, 400, 'VALIDATION_ERROR', 'if_match_invalid');
    }
  });

  it('finds archived tasks nowhere', async () => {
    const { id } = await installation.api.create(valid);
    const gone = await installation.api.send(`${path}/${id}`, { method: 'DELETE' });
    expect([gone.status, gone.body]).toEqual([200, { success: true, data: { id, deleted: true } }]);
    for (const [method, suffix] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/execute'],
      ['GET', '/executions'],
      ['GET', '/deliveries'],
      ['GET', '/history'],
    ] as const) {
      expectRefusal(await installation.api.send(`${path}/${id}${suffix}`, { method }), 404, 'NOT_FOUND', 'not_found');
    }
    const patched = await installation.api.send(`${path}/${id}`, { method: 'PATCH', json: { name: 'x' } });
    expectRefusal(patched, 404, 'NOT_FOUND', 'not_found');
  });
});

describe('the installation after all bad input', () => {
  it('has stored nothing that it rejected, and has logged no error', async () => {
    const stored = await total();
    await installation.kill('SIGTERM');
    const created = (await installation.recordedEvents()).filter(({ type }) => type === 'task.created');
    const archived = (await installation.recordedEvents()).filter(({ type }) => type === 'task.archived');
    expect(created.length - archived.length).toBe(stored);
    const faults = installation.lines.filter((line) => /"level":(50|60)/.test(line));
    expect(faults).toEqual([]);
  });
});

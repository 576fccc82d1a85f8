import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  errorOf,
  idOf,
  member,
  objectIn,
  refused,
  taskBody as task,
  webhookBody as webhook,
  type GatewayKit,
  type Reply,
} from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

const email = { type: 'email', config: { to: 'me@example.com', subject: 'Hello' } };

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});

afterAll(() => opened.close());

const create = (more?: object): Promise<Reply> => opened.create(more);

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
        warnings: [expect.objectContaining({ field: 'actions', rule: 'nobody_listens' })],
        schedule: {
          type: 'interval',
          intervalSeconds: 300,
          timezone: 'UTC',
          startAt: null,
          endAt: null,
          windows: [],
          jitterSeconds: 0,
          overlap: 'skip',
          catchUp: 'latest',
        },
        policy: {
          notifyOn: 'became_true',
          confirmations: 1,
          recoveryConfirmations: 1,
          cooldownSeconds: 0,
          reminderSeconds: 0,
          errorThreshold: 3,
          flapWindow: 0,
          quietHours: [],
          maxPerHour: 0,
          dependsOn: [],
          muted: false,
        },
        fetch: expect.objectContaining({ mode: 'http', method: 'GET', timeoutSeconds: 30 }),
        tags: [],
        externalKey: null,
        status: 'active',
        revision: 0,
        condition: 'unknown',
        health: 'ok',
        nextRunAt: null,
        lastExecution: null,
        acknowledged: null,
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: expect.stringMatching(/Z$/),
        createdBy: expect.stringMatching(/^key:key_/),
      },
    });
    const again = await gateway.send('GET', `/api/notifications/${idOf(reply)}`);
    expect(again.body).toEqual(reply.body);
  });

  it('is made again from what GET gave, read-only fields passed over', async () => {
    const first = await create({ actions: [email], tags: ['again'] });
    const shown = member((await gateway.send('GET', `/api/notifications/${idOf(first)}`)).body, 'data');
    const copy = await create(objectIn(shown));
    expect(idOf(copy)).not.toBe(idOf(first));
    expect(member(copy.body, 'data')).toMatchObject({ tags: ['again'], actions: [email], revision: 0 });
    expect(member(copy.body, 'data', 'actions', 0, 'id')).not.toBe(member(shown, 'actions', 0, 'id'));
    const tried = await gateway.send('POST', '/api/notifications', { body: { ...objectIn(shown), colour: 1 } });
    expect(errorOf(tried)).toEqual(refused(400, 'VALIDATION_ERROR', 'unknown_field'));
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
    ['q=%00', 'q_invalid'],
    ['tag=%20', 'tag_invalid'],
    ['tag=a%00b', 'tag_invalid'],
  ])('list refuses ?%s', async (query, reason) => {
    const reply = await gateway.send('GET', `/api/notifications?${query}`);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
  });

  it.each([
    [{ name: undefined }, 'name_required', 'name'],
    [{ name: '' }, 'name_required', 'name'],
    [{ name: ' \u00a0\t' }, 'name_invalid', 'name'],
    [{ name: '\u200b\u00ad' }, 'name_invalid', 'name'],
    [{ description: 'a\0b' }, 'description_invalid', 'description'],
    [{ externalKey: 'a\0b' }, 'external_key_invalid', 'externalKey'],
    [{ externalKey: 'a\u202eb' }, 'external_key_invalid', 'externalKey'],
    [{ externalKey: 'ntf_00000000000000000000000009' }, 'external_key_invalid', 'externalKey'],
    [{ name: 'x'.repeat(201) }, 'name_too_long', 'name'],
    [{ name: 5 }, 'name_wrong_type', 'name'],
    [{ name: 'An\u001b[2J offer' }, 'name_invalid', 'name'],
    [{ name: 'two\nlines' }, 'name_invalid', 'name'],
    [{ colour: 'red' }, 'unknown_field', 'colour'],
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
    [{ fetch: { headers: { Host: 'other.example' } } }, 'headers_invalid', 'fetch.headers.Host'],
    [
      { actions: [{ type: 'webhook', config: { url: 'https://example.com/', headers: { 'Webhook-Id': 'mine' } } }] },
      'headers_invalid',
      'actions[0].config.headers.Webhook-Id',
    ],
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

  it.each([
    ['body', '{"text": "{{ task.nmae }}"}', 'actions[0].config.body', 'names task.nmae'],
    ['url', 'https://hooks.example/{{ tsk.id }}', 'actions[0].config.url', 'names tsk'],
    ['headers', { 'X-Title': '{{ vlaue }}' }, 'actions[0].config.headers.X-Title', 'names vlaue'],
  ])('is refused where a template in %s names what there is not', async (name, template, field, message) => {
    const config = { url: 'https://hooks.example/', [name]: template };
    const reply = await gateway.send('POST', '/api/notifications', {
      body: { ...task, actions: [{ type: 'webhook', config }] },
    });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'unknown_variable'));
    expect(member(reply.body, 'error', 'details', 0)).toMatchObject({
      field: expect.stringContaining(field.split('.').slice(0, 3).join('.')),
      message: expect.stringContaining(message),
      line: 1,
    });
  });

  it.each(['\u202e', '\u200f', '\u2066'])('is refused with a mark in its name that turns text around', async (mark) => {
    const reply = await gateway.send('POST', '/api/notifications', { body: { ...task, name: `photo_${mark}gnp.exe` } });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'name_invalid'));
    expect(member(reply.body, 'error', 'details', 0, 'field')).toBe('name');
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
    const late = await patch('"0"');
    expect(errorOf(late)).toEqual(refused(412, 'VALIDATION_ERROR', 'stale_revision'));
    expect(member(late.body, 'error', 'details')).toEqual([
      { field: 'If-Match', rule: 'stale', message: expect.any(String) },
    ]);
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

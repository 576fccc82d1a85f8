import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  errorOf,
  idOf,
  member,
  objectIn,
  refused,
  webhookBody as webhook,
  type GatewayKit,
  type Reply,
} from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

const email = { type: 'email', config: { to: 'me@example.com', subject: 'Hello' } };
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const noAction = 'act_00000000000000000000000000';
const noTask = 'ntf_00000000000000000000000000';

let opened: OpenedGateway;
let gateway: GatewayKit;
let task: string;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});
beforeEach(async () => {
  task = `/api/notifications/${idOf(await opened.create())}`;
});
afterAll(() => opened.close());

const add = (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  gateway.send('POST', `${task}/actions`, { body, headers });
const pathOf = (reply: Reply): string => `${task}/actions/${idOf(reply)}`;
const taskNow = async (): Promise<unknown> => member((await gateway.send('GET', task)).body, 'data');
const detailOf = ({ body }: Reply): unknown => member(body, 'error', 'details', 0, 'field');

describe('an action', () => {
  it('is added as a new revision of its task, with defaults, Location and ETag', async () => {
    const reply = await add(email);
    expect(reply.status).toBe(201);
    expect(reply.headers.get('etag')).toBe('"1"');
    expect(reply.headers.get('location')).toBe(pathOf(reply));
    expect(reply.body).toEqual({
      success: true,
      data: {
        ...email,
        id: expect.stringMatching(/^act_[0-9a-z]{26}$/),
        enabled: true,
        expireAfterSeconds: 86_400,
        on: ['triggered', 'error'],
        digestSeconds: 0,
        afterSeconds: 0,
        retryUnknown: true,
      },
    });
    const again = await gateway.send('GET', pathOf(reply));
    expect([again.body, again.headers.get('etag')]).toEqual([reply.body, '"1"']);
    expect(await taskNow()).toMatchObject({ revision: 1, actions: [member(reply.body, 'data')] });
  });

  it('is listed in the order of its task, exactly as data and pagination', async () => {
    const [first, second] = [await add(email), await add(webhook)];
    const { body } = await gateway.send('GET', `${task}/actions?limit=1&page=2`);
    expect(body).toEqual({
      data: [{ ...objectIn(member(second.body, 'data')), config: { ...webhook.config, secret: '********' } }],
      pagination: { page: 2, limit: 1, total: 2, pages: 2 },
    });
    expect(member((await gateway.send('GET', `${task}/actions`)).body, 'data', 0)).toEqual(member(first.body, 'data'));
    const none = idOf(await opened.create());
    expect((await gateway.send('GET', `/api/notifications/${none}/actions`)).body).toEqual({
      data: [],
      pagination: { page: 1, limit: 20, total: 0, pages: 0 },
    });
  });

  it('is made again from what GET gave, read-only fields passed over', async () => {
    const { body } = await add(email);
    const copy = await add(member(body, 'data'));
    expect(copy.status).toBe(201);
    expect(member(copy.body, 'data', 'id')).not.toBe(member(body, 'data', 'id'));
  });

  it('shows a secret that the service made in the answer that made it alone', async () => {
    const reply = await add(webhook);
    expect(member(reply.body, 'data', 'config', 'secret')).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    const made = String(member(reply.body, 'data', 'config', 'secret'));
    const put = await gateway.send('PUT', pathOf(reply), { body: { ...webhook, on: ['recovered'] } });
    const shown = [put, await gateway.send('GET', pathOf(reply)), await gateway.send('GET', task)];
    for (const { text } of shown) expect([text.includes(made), text.includes('********')]).toEqual([false, true]);
    expect(JSON.stringify(gateway.commands)).not.toContain(made);
  });

  it('keeps its secret where the mask comes back, and nothing counts as changed', async () => {
    const reply = await add({ ...webhook, config: { ...webhook.config, secret, headers: { 'X-Token': 'canary' } } });
    const shown = member((await gateway.send('GET', pathOf(reply))).body, 'data');
    expect(member(shown, 'config')).toEqual({
      ...webhook.config,
      secret: '********',
      headers: { 'X-Token': '********' },
    });
    const put = await gateway.send('PUT', pathOf(reply), { body: shown });
    expect([put.status, put.headers.get('etag'), member(put.body, 'data')]).toEqual([200, '"1"', shown]);
    const moved = await gateway.send('PATCH', pathOf(reply), { body: { config: { timeoutSeconds: 5 } } });
    expect([moved.headers.get('etag'), member(moved.body, 'data', 'config', 'secret')]).toEqual(['"2"', '********']);
    expect(gateway.commands.at(-1)).toMatchObject({
      action: { config: { secret: member(gateway.commands.at(-2), 'action', 'config', 'secret') } },
    });
  });

  it('is replaced by PUT with defaults and patched by PATCH, also as a merge patch', async () => {
    const reply = await add({ ...email, enabled: false, expireAfterSeconds: 60 });
    const patched = await gateway.send('PATCH', pathOf(reply), {
      body: JSON.stringify({ config: { subject: 'New', cc: 'you@example.com' }, expireAfterSeconds: null }),
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(member(patched.body, 'data')).toMatchObject({
      config: { to: 'me@example.com', subject: 'New', cc: 'you@example.com' },
      enabled: false,
      expireAfterSeconds: 86_400,
    });
    const put = await gateway.send('PUT', pathOf(reply), { body: email });
    expect(member(put.body, 'data')).toMatchObject({ id: idOf(reply), config: email.config, enabled: true });
    expect(put.headers.get('etag')).toBe('"3"');
  });

  it('becomes another type by PUT, and nothing of its old secrets is carried over', async () => {
    const reply = await add(webhook);
    const masked = { type: 'webhook', config: { ...webhook.config, secret: '********' } };
    expect((await gateway.send('PUT', pathOf(reply), { body: email })).status).toBe(200);
    const back = await gateway.send('PUT', pathOf(reply), { body: masked });
    expect(errorOf(back)).toEqual(refused(400, 'VALIDATION_ERROR', 'secret_required'));
    expect(detailOf(back)).toBe('config.secret');
  });

  it('is removed as a new revision of its task, and is 404 from then on', async () => {
    const reply = await add(email);
    const gone = await gateway.send('DELETE', pathOf(reply));
    expect([gone.status, gone.body]).toEqual([200, { success: true, data: { id: idOf(reply), deleted: true } }]);
    expect(await taskNow()).toMatchObject({ revision: 2, actions: [] });
    for (const method of ['GET', 'DELETE']) {
      expect(errorOf(await gateway.send(method, pathOf(reply)))).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
    }
    expect(errorOf(await gateway.send('PUT', pathOf(reply), { body: email }))).toMatchObject({ status: 404 });
    expect(errorOf(await gateway.send('PATCH', pathOf(reply), { body: {} }))).toMatchObject({ status: 404 });
  });

  it('is written only where If-Match is the revision of its task', async () => {
    const reply = await add(email);
    const path = pathOf(reply);
    const before = await taskNow();
    const stale = { 'if-match': '"0"' };
    for (const sent of [
      gateway.send('PUT', path, { body: webhook, headers: stale }),
      gateway.send('PATCH', path, { body: { enabled: false }, headers: stale }),
      gateway.send('DELETE', path, { headers: stale }),
    ]) {
      expect(errorOf(await sent)).toEqual(refused(412, 'VALIDATION_ERROR', 'stale_revision'));
    }
    const odd = await gateway.send('DELETE', path, { headers: { 'if-match': 'W/"1"' } });
    expect(errorOf(odd)).toEqual(refused(400, 'VALIDATION_ERROR', 'if_match_invalid'));
    expect(await taskNow()).toEqual(before);
    const fresh = { 'if-match': '"1"' };
    expect((await gateway.send('PATCH', path, { body: { enabled: false }, headers: fresh })).status).toBe(200);
    expect((await gateway.send('DELETE', path, { headers: { 'if-match': '*' } })).status).toBe(200);
  });

  it('patched concurrently without If-Match keeps every change', async () => {
    const path = pathOf(await add(email));
    const patches = [{ enabled: false }, { expireAfterSeconds: 60 }, { on: ['error'] }, { config: { cc: 'a@b.c' } }];
    const replies = await Promise.all(patches.map((body) => gateway.send('PATCH', path, { body })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(member((await gateway.send('GET', path)).body, 'data')).toMatchObject({
      enabled: false,
      expireAfterSeconds: 60,
      on: ['error'],
      config: { cc: 'a@b.c' },
    });
  });

  it('added again under the same Idempotency-Key is the same action', async () => {
    const headers = { 'idempotency-key': `add-${task}` };
    const replies = await Promise.all([add(webhook, headers), add(webhook, headers), add(webhook, headers)]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies.filter(({ headers: answered }) => answered.get('idempotent-replayed') === 'true')).toHaveLength(2);
    expect(await taskNow()).toMatchObject({ revision: 1, actions: [{ id: member(replies[0]?.body, 'data', 'id') }] });
  });

  it.each([
    [undefined, 'body_required', undefined],
    ['[]', 'body_wrong_type', ''],
    [{}, 'contact_required', 'contact'],
    [{ type: 'fax', config: {} }, 'type_invalid', 'type'],
    [{ type: 'email' }, 'config_required', 'config'],
    [{ ...email, colour: 'red' }, 'unknown_field', 'colour'],
    [{ ...email, config: { ...email.config, colour: 1 } }, 'unknown_field', 'config.colour'],
    [{ ...email, config: { ...email.config, to: 'a@b.c\r\nBcc: d@e.f' } }, 'to_invalid', 'config.to'],
    [{ ...email, config: { ...email.config, subject: 'a\nb' } }, 'subject_invalid', 'config.subject'],
    [{ ...email, config: { ...email.config, subject: '{% if %}' } }, 'template_error', 'config.subject'],
    [{ ...email, expireAfterSeconds: 59 }, 'expire_after_seconds_too_small', 'expireAfterSeconds'],
    [{ ...email, expireAfterSeconds: 604_801 }, 'expire_after_seconds_too_large', 'expireAfterSeconds'],
    [{ ...email, enabled: 'yes' }, 'enabled_wrong_type', 'enabled'],
    [{ ...email, on: ['sometimes'] }, 'on_invalid', 'on[0]'],
    [{ ...webhook, config: { url: 'http://169.254.169.254/' } }, 'address_denied', 'config.url'],
    [{ ...webhook, config: { url: 'file:///etc/passwd' } }, 'url_invalid', 'config.url'],
    [{ ...webhook, config: { ...webhook.config, secret: 'short' } }, 'secret_invalid', 'config.secret'],
    [{ ...webhook, config: { ...webhook.config, secret: '********' } }, 'secret_required', 'config.secret'],
    [{ type: 'custom', config: { code: 'syntax(' } }, 'syntax_error', 'config.code'],
    ['{"type":"email","config":{"to":"a@b.c","subject":"x","__proto__":{"bcc":"d@e.f"}}}', 'unknown_field', ''],
  ])('is refused, and nothing changes, where it is %j', async (body, reason, field) => {
    const known = await add(email);
    const before = await taskNow();
    const merge = { 'content-type': 'application/json' };
    for (const sent of [
      gateway.send('POST', `${task}/actions`, { body, headers: merge }),
      gateway.send('PUT', pathOf(known), { body, headers: merge }),
    ]) {
      const reply = await sent;
      expect([reply.status, member(reply.body, 'error', 'reason')]).toEqual([400, reason]);
      if (field !== undefined && field !== '') expect(detailOf(reply)).toBe(field);
    }
    expect(await taskNow()).toEqual(before);
  });

  it.each([
    [{ type: 'webhook' }, 'url_required', 'config.url'],
    [{ config: null }, 'config_required', 'config'],
    [{ config: { subject: null } }, 'subject_required', 'config.subject'],
    [{ on: ['triggered', 'triggered', 'triggered', 'triggered'] }, 'on_too_many', 'on'],
  ])('refuses the patch %j, and nothing changes', async (body, reason, field) => {
    const known = await add(email);
    const before = await taskNow();
    const reply = await gateway.send('PATCH', pathOf(known), { body });
    expect([reply.status, member(reply.body, 'error', 'reason'), detailOf(reply)]).toEqual([400, reason, field]);
    expect(await taskNow()).toEqual(before);
  });

  it.each(['/actions/none', `/actions/${noAction}`, `/actions/${noTask}`, '/actions/act_%00', '/actions/..%2f..'])(
    'at %s is not found',
    async (path) => {
      for (const [method, body] of [['GET'], ['DELETE'], ['PUT', email], ['PATCH', {}]] as const) {
        const reply = await gateway.send(method, task + path, { body });
        expect(errorOf(reply)).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
      }
    },
  );

  it('of another organisation, another task or an archived task is not found', async () => {
    const known = await add(email);
    const stranger = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
    const other = `/api/notifications/${idOf(await opened.create())}/actions/${idOf(known)}`;
    for (const [method, body] of [['GET'], ['DELETE'], ['PUT', email], ['PATCH', {}]] as const) {
      expect((await gateway.send(method, pathOf(known), { body, key: stranger })).status).toBe(404);
      expect((await gateway.send(method, other, { body })).status).toBe(404);
    }
    expect((await gateway.send('POST', `${task}/actions`, { body: email, key: stranger })).status).toBe(404);
    expect((await gateway.send('GET', `${task}/actions`, { key: stranger })).status).toBe(404);
    expect(await taskNow()).toMatchObject({ revision: 1 });
    await gateway.send('DELETE', task);
    expect((await gateway.send('GET', pathOf(known))).status).toBe(404);
    expect((await gateway.send('POST', `${task}/actions`, { body: email })).status).toBe(404);
  });

  it('needs the scope write to be changed', async () => {
    const known = await add(email);
    const reader = await gateway.addKey(opened.organizationId, ['read']);
    expect((await gateway.send('GET', pathOf(known), { key: reader })).status).toBe(200);
    const denied = refused(403, 'FORBIDDEN', 'missing_scope');
    expect(errorOf(await gateway.send('DELETE', pathOf(known), { key: reader }))).toEqual(denied);
    expect(errorOf(await gateway.send('POST', `${task}/actions`, { body: email, key: reader }))).toEqual(denied);
  });
});

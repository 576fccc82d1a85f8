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

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

let opened: OpenedGateway;
let gateway: GatewayKit;
let task: string;
let first: unknown;
let stranger: string;
let reader: string;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
  stranger = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
  reader = await gateway.addKey(opened.organizationId, ['read']);
});
beforeEach(async () => {
  const made = await opened.create({
    name: 'First',
    tags: ['a'],
    actions: [{ ...webhook, config: { ...webhook.config, secret } }],
  });
  task = `/api/notifications/${idOf(made)}`;
  first = member((await gateway.send('GET', task)).body, 'data');
});
afterAll(() => opened.close());

const dataOf = ({ body }: Reply): unknown => member(body, 'data');
const patch = (body: object): Promise<Reply> => gateway.send('PATCH', task, { body });
const rollback = (body: unknown, key?: string): Promise<Reply> =>
  gateway.send('POST', `${task}/rollback`, key === undefined ? { body } : { body, key });

describe('a task as it was', () => {
  it('is answered for a revision and for a time, with the ETag of then and its secrets masked', async () => {
    const createdAt = String(member(first, 'createdAt'));
    gateway.time.aheadMs += 5_000;
    await patch({ name: 'Second', status: 'paused' });
    const past = await gateway.send('GET', `${task}?revision=0`);
    expect([past.status, past.headers.get('etag'), dataOf(past)]).toEqual([200, '"0"', first]);
    expect(dataOf(await gateway.send('GET', `${task}?at=${createdAt}`))).toEqual(first);
    const zoned = new Date(Date.parse(createdAt) + 3_600_000).toISOString().replace('Z', '%2B01:00');
    expect(dataOf(await gateway.send('GET', `${task}?at=${zoned}`))).toEqual(first);
    expect(dataOf(await gateway.send('GET', `${task}?revision=1`))).toMatchObject({ name: 'Second', status: 'paused' });
    expect(past.text).not.toContain(secret);
  });

  it.each([
    ['revision=7', 404, 'no_such_revision'],
    ['revision=9007199254740991', 404, 'no_such_revision'],
    ['at=2020-01-01T00:00:00Z', 404, 'not_there_then'],
    ['revision=-1', 400, 'revision_invalid'],
    ['revision=1e3', 400, 'revision_invalid'],
    ['revision=9007199254740992', 400, 'revision_invalid'],
    ['revision=', 400, 'revision_invalid'],
    ['at=yesterday', 400, 'at_invalid'],
    ['at=2026-13-01T00:00:00Z', 400, 'at_invalid'],
    ['at=2026-01-01', 400, 'at_invalid'],
    ['at=2026-01-01T00:00:00Z&revision=0', 400, 'at_and_revision'],
    ['at=2026-01-01T00:00:00Z&at=2026-01-01T00:00:00Z', 400, 'repeated_parameter'],
    ['when=now', 400, 'unknown_parameter'],
  ])('is refused at ?%s with %i', async (query, status, reason) => {
    const reply = await gateway.send('GET', `${task}?${query}`);
    expect(errorOf(reply)).toEqual(refused(status, status === 404 ? 'NOT_FOUND' : 'VALIDATION_ERROR', reason));
  });

  it('is not found for another organisation, or where it is archived now', async () => {
    expect((await gateway.send('GET', `${task}?revision=0`, { key: stranger })).status).toBe(404);
    await gateway.send('DELETE', task);
    expect(errorOf(await gateway.send('GET', `${task}?revision=0`))).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
  });
});

describe('rollback', () => {
  it('makes the settings and the status of a revision a new one, its secrets and removed actions with them', async () => {
    await patch({ name: 'Second', tags: [], actions: [], status: 'paused', policy: { errorThreshold: 9 } });
    const reply = await rollback({ revision: 0 });
    expect([reply.status, reply.headers.get('etag')]).toEqual([200, '"2"']);
    const same = { revision: 2, updatedAt: expect.any(String) };
    expect(dataOf(reply)).toEqual({ ...objectIn(first), ...same });
    expect(dataOf(await gateway.send('GET', task))).toEqual({ ...objectIn(first), ...same });
    const [created, , last] = gateway.commands.slice(-3);
    expect(member(last, 'spec', 'actions')).toEqual(member(created, 'spec', 'actions'));
    expect(reply.text).not.toContain(secret);
  });

  it('leaves the signing secret of an action as it is now', async () => {
    const [action] = member(first, 'actions') as { readonly id: string }[];
    const rotate = `${task}/actions/${action?.id ?? ''}/rotate-secret`;
    expect((await gateway.send('POST', rotate, { body: { overlapSeconds: 3_600 } })).status).toBe(200);
    await patch({ name: 'Second' });
    const rotated = member(gateway.commands.at(-1), 'spec', 'actions');
    expect(member(dataOf(await rollback({ revision: 0 })), 'name')).toBe('First');
    expect(member(gateway.commands.at(-1), 'spec', 'actions')).toEqual(rotated);
  });

  it('meets the revision in If-Match, or changes nothing', async () => {
    await patch({ name: 'Second' });
    const back = (tag: string) =>
      gateway.send('POST', `${task}/rollback`, { body: { revision: 0 }, headers: { 'if-match': tag } });
    expect(errorOf(await back('"0"'))).toEqual(refused(412, 'VALIDATION_ERROR', 'stale_revision'));
    expect((await back('"1"')).headers.get('etag')).toBe('"2"');
  });

  it('to the present revision changes nothing', async () => {
    expect((await rollback({ revision: 0 })).headers.get('etag')).toBe('"0"');
  });

  it.each([
    [undefined, 'body_required', ''],
    [{}, 'revision_required', 'revision'],
    [{ revision: 5 }, 'no_such_revision', 'revision'],
    [{ revision: -1 }, 'revision_too_small', 'revision'],
    [{ revision: 0.5 }, 'revision_wrong_type', 'revision'],
    [{ revision: '0' }, 'revision_wrong_type', 'revision'],
    [{ revision: 0, force: true }, 'unknown_field', 'force'],
  ])('refuses %j, and nothing changes', async (body, reason, field) => {
    const reply = await rollback(body);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(member(reply.body, 'error', 'details', 0, 'field')).toBe(field);
    expect(dataOf(await gateway.send('GET', task))).toEqual(first);
  });

  it('needs the scope write, and is not found for another organisation', async () => {
    expect((await rollback({ revision: 0 }, reader)).status).toBe(403);
    expect((await rollback({ revision: 0 }, stranger)).status).toBe(404);
  });
});

describe('restore', () => {
  it('says that it does not look at If-Match', async () => {
    await gateway.send('DELETE', task);
    const reply = await gateway.send('POST', `${task}/restore`, { headers: { 'if-match': '"77"' } });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'if_match_unused'));
    expect((await gateway.send('GET', task)).status).toBe(404);
    expect((await gateway.send('POST', `${task}/restore`, { headers: { 'if-match': '*' } })).status).toBe(200);
  });

  it('brings an archived task back as it was, as a new revision', async () => {
    await gateway.send('DELETE', task);
    const reply = await gateway.send('POST', `${task}/restore`);
    expect([reply.status, reply.headers.get('etag')]).toEqual([200, `"${String(member(dataOf(reply), 'revision'))}"`]);
    const { revision, updatedAt } = objectIn(dataOf(reply));
    expect(dataOf(reply)).toEqual({ ...objectIn(first), revision, updatedAt });
    expect(dataOf(await gateway.send('GET', task))).toEqual(dataOf(reply));
    expect(reply.text).not.toContain(secret);
  });

  it('is not found for an unknown id, a malformed one, or another organisation', async () => {
    await gateway.send('DELETE', task);
    const missing = refused(404, 'NOT_FOUND', 'not_found');
    for (const id of ['ntf_00000000000000000000000000', 'none', 'ntf_%00']) {
      expect(errorOf(await gateway.send('POST', `/api/notifications/${id}/restore`))).toEqual(missing);
    }
    expect(errorOf(await gateway.send('POST', `${task}/restore`, { key: stranger }))).toEqual(missing);
    expect((await gateway.send('POST', `${task}/restore`, { key: reader })).status).toBe(403);
    const body = await gateway.send('POST', `${task}/restore`, { body: { name: 'x' } });
    expect(errorOf(body)).toEqual(refused(400, 'VALIDATION_ERROR', 'body_not_allowed'));
    expect((await gateway.send('GET', task)).status).toBe(404);
  });
});

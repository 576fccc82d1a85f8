import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sessionsView } from '#contracts/account';
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

const own = (): string => new URL(gateway.url).origin;

function send(cookie: string, method: string, path: string, body?: unknown, origin?: string): Promise<Reply> {
  const headers = { cookie, ...(origin === undefined ? {} : { origin }) };
  return gateway.send(method, path, { key: null, headers, ...(body === undefined ? {} : { body }) });
}

const create = (cookie: string, origin?: string): Promise<Reply> =>
  send(cookie, 'POST', '/api/notifications', task, origin);

describe('a session on any path of the API', () => {
  it.each([
    ['viewer', 403, 403],
    ['editor', 201, 403],
    ['admin', 201, 200],
    ['owner', 201, 200],
  ] as const)('reads and writes what the role %s may', async (role, writes, administers) => {
    const { cookie } = await gateway.addSession(organizationId, role);
    expect((await send(cookie, 'GET', '/api/notifications')).status).toBe(200);
    expect((await create(cookie, own())).status).toBe(writes);
    expect((await send(cookie, 'GET', '/api/keys')).status).toBe(administers);
  });

  it('is the author of what it writes', async () => {
    const { cookie } = await gateway.addSession(organizationId, 'editor');
    const reply = await create(cookie, own());
    const got = await gateway.send('GET', `/api/notifications/${idOf(reply)}`);
    expect(member(got.body, 'data', 'createdBy')).toMatch(/^user:usr_/);
  });

  it('writes nothing for a page of another site, and reads nothing of another organisation', async () => {
    const { cookie } = await gateway.addSession(organizationId, 'owner');
    for (const foreign of ['https://evil.example', 'null']) {
      expect(errorOf(await create(cookie, foreign))).toEqual(refused(403, 'FORBIDDEN', 'foreign_origin'));
    }
    const other = await gateway.addSession(await gateway.addOrganization('free'), 'owner');
    const id = idOf(await create(cookie, own()));
    expect((await send(other.cookie, 'GET', `/api/notifications/${id}`)).status).toBe(404);
  });

  it('ends at its time, and at once where it is closed', async () => {
    const short = await gateway.addSession(organizationId, 'viewer', { expiresAt: '2026-01-01T00:00:00.000Z' });
    const ended = refused(401, 'UNAUTHORIZED', 'session_ended');
    expect(errorOf(await send(short.cookie, 'GET', '/api/notifications'))).toEqual(ended);
    const { cookie, id } = await gateway.addSession(organizationId, 'viewer');
    expect((await send(cookie, 'GET', '/api/notifications')).status).toBe(200);
    await opened.stores.readStore.save(sessionsView, [{ id, revision: 2, document: null }], null);
    expect(errorOf(await send(cookie, 'GET', '/api/notifications'))).toEqual(ended);
    expect(errorOf(await send('meerkat_session=x', 'GET', '/api/notifications'))).toEqual(ended);
  });

  it('counts less than a key that is sent beside it, also where the key is wrong', async () => {
    const { cookie } = await gateway.addSession(organizationId, 'owner');
    const both = await gateway.send('GET', '/api/notifications', {
      key: null,
      headers: { cookie, authorization: 'Bearer mk_wrong' },
    });
    expect(errorOf(both)).toEqual(refused(401, 'UNAUTHORIZED', 'invalid_api_key'));
  });

  it('pays from a budget of its own, ten times that of the plan', async () => {
    const small = await gateway.addOrganization('free');
    const key = await gateway.addKey(small, ['read']);
    const { cookie } = await gateway.addSession(small, 'viewer');
    const limits = async (reply: Promise<Reply>): Promise<unknown> => {
      const { headers } = await reply;
      return [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')];
    };
    expect(await limits(gateway.send('GET', '/api/notifications', { key }))).toEqual(['100', '99']);
    expect(await limits(send(cookie, 'GET', '/api/notifications'))).toEqual(['1000', '999']);
    expect(await limits(gateway.send('GET', '/api/notifications', { key }))).toEqual(['100', '98']);
  });
});

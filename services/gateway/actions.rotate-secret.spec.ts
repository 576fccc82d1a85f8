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
const mask = '********';

let opened: OpenedGateway;
let gateway: GatewayKit;
let task: string;
let action: string;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});
beforeEach(async () => {
  const created = await opened.create({ actions: [{ ...webhook, config: { ...webhook.config, secret } }] });
  task = `/api/notifications/${idOf(created)}`;
  action = `${task}/actions/${String(member(created.body, 'data', 'actions', 0, 'id'))}`;
});
afterAll(() => opened.close());

const rotate = (body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  gateway.send('POST', `${action}/rotate-secret`, { body, headers });
const configOf = ({ body }: Reply): unknown => member(body, 'data', 'config');
const configNow = async (): Promise<unknown> => configOf(await gateway.send('GET', action));

describe('rotate-secret', () => {
  it('answers with the new secret in clear this once, and keeps the old one until the overlap ends', async () => {
    const before = Date.now();
    const reply = await rotate({ overlapSeconds: 3_600 });
    expect([reply.status, reply.headers.get('etag')]).toEqual([200, '"1"']);
    expect(configOf(reply)).toEqual({
      ...webhook.config,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
      previousSecret: mask,
      previousSecretUntil: expect.stringMatching(/Z$/),
    });
    const made = String(member(configOf(reply), 'secret'));
    const until = Date.parse(String(member(configOf(reply), 'previousSecretUntil')));
    expect(until - before).toBeGreaterThanOrEqual(3_600_000);
    expect(await configNow()).toEqual({ ...objectIn(configOf(reply)), secret: mask });
    const stored = JSON.stringify(gateway.commands);
    expect([made === secret, stored.includes(made), stored.includes(secret)]).toEqual([false, false, false]);
  });

  it('takes a day where no overlap is said, and none where it is 0', async () => {
    const before = Date.now();
    const reply = await rotate();
    const until = Date.parse(String(member(configOf(reply), 'previousSecretUntil')));
    expect(until - before).toBeGreaterThanOrEqual(86_400_000);
    const atOnce = await rotate({ overlapSeconds: 0 });
    expect(configOf(atOnce)).toEqual({ ...webhook.config, secret: expect.stringMatching(/^whsec_/) });
  });

  it('keeps both secrets where their masks come back', async () => {
    await rotate({});
    const shown = member((await gateway.send('GET', action)).body, 'data');
    const put = await gateway.send('PUT', action, { body: shown });
    expect([put.headers.get('etag'), member(put.body, 'data')]).toEqual(['"1"', shown]);
  });

  it('makes one secret per Idempotency-Key, and answers with it again', async () => {
    const key = { 'idempotency-key': `rotate-${task}` };
    const [first, again] = [await rotate({}, key), await rotate({}, key)];
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(member((await gateway.send('GET', task)).body, 'data', 'revision')).toBe(1);
    const other = await rotate({ overlapSeconds: 5 }, key);
    expect(errorOf(other)).toEqual(refused(409, 'VALIDATION_ERROR', 'idempotency_conflict'));
  });

  it('rotated concurrently ends with one new secret per answer', async () => {
    const replies = await Promise.all([rotate(), rotate(), rotate()]);
    expect(new Set(replies.map((reply) => member(configOf(reply), 'secret'))).size).toBe(3);
    const tags = replies.map(({ headers }) => headers.get('etag'));
    expect(new Set(tags)).toEqual(new Set(['"1"', '"2"', '"3"']));
  });

  it.each([
    [{ overlapSeconds: -1 }, 'overlap_seconds_too_small', 'overlapSeconds'],
    [{ overlapSeconds: 604_801 }, 'overlap_seconds_too_large', 'overlapSeconds'],
    [{ overlapSeconds: 1.5 }, 'overlap_seconds_wrong_type', 'overlapSeconds'],
    [{ overlapSeconds: '60' }, 'overlap_seconds_wrong_type', 'overlapSeconds'],
    [{ overlapSeconds: null }, 'overlap_seconds_wrong_type', 'overlapSeconds'],
    [{ secret }, 'unknown_field', 'secret'],
  ])('refuses %j, and nothing changes', async (body, reason, field) => {
    const before = await configNow();
    const reply = await rotate(body);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(member(reply.body, 'error', 'details', 0, 'field')).toBe(field);
    expect(await configNow()).toEqual(before);
  });

  it('is refused for a type without a secret of the service', async () => {
    const email = { type: 'email', config: { to: 'me@example.com', subject: 'Hello' } };
    await gateway.send('PUT', action, { body: email });
    const reply = await rotate();
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'secret_not_rotatable'));
    expect(member(reply.body, 'error', 'details', 0, 'field')).toBe('type');
  });

  it('is not found for an unknown action, and needs the scope write', async () => {
    const unknown = `${task}/actions/act_00000000000000000000000000/rotate-secret`;
    expect(errorOf(await gateway.send('POST', unknown))).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
    const reader = await gateway.addKey(opened.organizationId, ['read']);
    expect((await gateway.send('POST', `${action}/rotate-secret`, { key: reader })).status).toBe(403);
    const stranger = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
    expect((await gateway.send('POST', `${action}/rotate-secret`, { key: stranger })).status).toBe(404);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, type GatewayKit, idOf, member, refused, type Reply } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});

afterAll(() => opened.close());

const made = async (): Promise<string> => `/api/notifications/${idOf(await opened.create())}`;
const put = (path: string, body: unknown): Promise<Reply> => gateway.send('PUT', `${path}/shadow`, { body });

describe('a candidate over HTTP', () => {
  it('is put, read, replaced and taken away', async () => {
    const path = await made();
    expect((await gateway.send('GET', `${path}/shadow`)).status).toBe(404);
    const reply = await put(path, { evaluationFunction: 'return false' });
    expect(reply.status).toBe(200);
    const data = member(reply.body, 'data');
    expect(data).toEqual({
      evaluationFunction: 'return false',
      since: expect.any(String),
      runs: 0,
      same: 0,
      onlyLive: 0,
      onlyShadow: 0,
      failed: 0,
      differences: [],
    });
    expect(member((await gateway.send('GET', `${path}/shadow`)).body, 'data')).toEqual(data);
    expect(member((await put(path, { evaluationFunction: 'return false' })).body, 'data')).toEqual(data);
    const other = await put(path, { policy: { confirmations: 3 } });
    expect(member(other.body, 'data', 'policy', 'confirmations')).toBe(3);
    expect(member(other.body, 'data', 'evaluationFunction')).toBeUndefined();
    const gone = await gateway.send('DELETE', `${path}/shadow`);
    expect(member(gone.body, 'data', 'deleted')).toBe(true);
    for (const [method, at] of [
      ['GET', '/shadow'],
      ['DELETE', '/shadow'],
      ['POST', '/shadow/promote'],
    ] as const) {
      expect((await gateway.send(method, `${path}${at}`)).status).toBe(404);
    }
  });

  it('is named by its task while it is there, and cannot be set by that', async () => {
    const path = await made();
    const shadowNow = async (): Promise<unknown> => member((await gateway.send('GET', path)).body, 'data', 'shadow');
    expect(await shadowNow()).toBeUndefined();
    const reply = await put(path, { evaluationFunction: 'return false' });
    const shadow = { since: member(reply.body, 'data', 'since') };
    expect(await shadowNow()).toEqual(shadow);
    const changed = await gateway.send('PATCH', path, { body: { name: 'Renamed', shadow: { since: null } } });
    expect([changed.status, member(changed.body, 'data', 'shadow')]).toEqual([200, shadow]);
    await gateway.send('DELETE', `${path}/shadow`);
    expect(await shadowNow()).toBeUndefined();
  });

  it('becomes the task at once when it is promoted, as one revision with its end', async () => {
    const path = await made();
    const before = member((await gateway.send('GET', path)).body, 'data');
    await put(path, { evaluationFunction: 'return false', policy: { confirmations: 2 } });
    const promoted = await gateway.send('POST', `${path}/shadow/promote`);
    expect(promoted.status).toBe(200);
    expect(member(promoted.body, 'data', 'evaluationFunction')).toBe('return false');
    expect(member(promoted.body, 'data', 'policy', 'confirmations')).toBe(2);
    expect(member(promoted.body, 'data', 'name')).toBe(member({ before }, 'before', 'name'));
    const after = await gateway.send('GET', path);
    expect(after.headers.get('etag')).toBe(promoted.headers.get('etag'));
    expect(member(after.body, 'data')).toEqual(member(promoted.body, 'data'));
    expect((await gateway.send('GET', `${path}/shadow`)).status).toBe(404);
  });

  it.each([
    [{}, 'evaluation_function_required'],
    [{ evaluationFunction: 'syntax(' }, 'syntax_error'],
    [{ policy: { dependsOn: ['ntf_00000000000000000000000009'] } }, 'dependency_not_found'],
    [{ policy: { confirmations: 0 } }, 'confirmations_too_small'],
    [{ actions: [] }, 'unknown_field'],
  ])('refuses %j with %s, and keeps the one before', async (body, reason) => {
    const path = await made();
    await put(path, { evaluationFunction: 'return false' });
    expect(errorOf(await put(path, body))).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    const kept = await gateway.send('GET', `${path}/shadow`);
    expect(member(kept.body, 'data', 'evaluationFunction')).toBe('return false');
  });
});

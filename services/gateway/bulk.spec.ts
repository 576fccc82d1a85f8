import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, idOf, member, refused, type GatewayKit, type Reply } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

const unknown = 'ntf_00000000000000000000000000';

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});
afterAll(() => opened.close());

const bulk = (body: unknown, more: { key?: string; headers?: Record<string, string> } = {}): Promise<Reply> =>
  gateway.send('POST', '/api/notifications/bulk', { body, ...more });
const resultOf = ({ body }: Reply): unknown => member(body, 'data');
const failure = (id: string, reason: string) => ({ id, reason, message: expect.any(String) });

async function tasks(count: number, more: object = {}): Promise<string[]> {
  const replies = await Promise.all(Array.from({ length: count }, () => opened.create(more)));
  return replies.map(idOf);
}

async function fieldOf(id: string, field: string): Promise<unknown> {
  return member((await gateway.send('GET', `/api/notifications/${id}`)).body, 'data', field);
}

describe('POST /api/notifications/bulk', () => {
  it('does each task on its own, and names what fails', async () => {
    const ids = await tasks(3);
    const other = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
    const theirs = idOf(await gateway.send('POST', '/api/notifications', { key: other, body: taskOf('theirs') }));
    const reply = await bulk({ ids: [...ids, unknown, 'none', theirs, '__proto__', ids[0]], do: 'pause' });
    expect([reply.status, resultOf(reply)]).toEqual([
      200,
      {
        done: ids,
        failed: [unknown, 'none', theirs, '__proto__'].map((id) => failure(id, 'not_found')),
      },
    ]);
    for (const id of ids) expect(await fieldOf(id, 'status')).toBe('paused');
    const untouched = await gateway.send('GET', `/api/notifications/${theirs}`, { key: other });
    expect(member(untouched.body, 'data', 'status')).toBe('active');
    expect(resultOf(await bulk({ ids, do: 'resume' }))).toEqual({ done: ids, failed: [] });
    for (const id of ids) expect(await fieldOf(id, 'status')).toBe('active');
  });

  it('finds its tasks by the filter of the list, over more than one page', async () => {
    const ids = await tasks(505, { tags: ['bulk-filter'] });
    const paused = await bulk({ filter: { tag: 'bulk-filter', status: 'active' }, do: 'pause' });
    expect(new Set(member(resultOf(paused), 'done') as string[])).toEqual(new Set(ids));
    expect(resultOf(await bulk({ filter: { tag: 'bulk-filter', status: 'active' }, do: 'pause' }))).toEqual({
      done: [],
      failed: [],
    });
    expect(
      member(resultOf(await bulk({ filter: { tag: 'bulk-filter', q: 'kettle' }, do: 'archive' })), 'failed'),
    ).toEqual([]);
    const left = await gateway.send('GET', '/api/notifications?tag=bulk-filter');
    expect(member(left.body, 'pagination', 'total')).toBe(0);
  });

  it('tags and untags, archives and restores', async () => {
    const ids = await tasks(2, { tags: ['a'] });
    await bulk({ ids, do: 'tag', tags: ['b', 'a'] });
    expect(await fieldOf(ids[0] ?? '', 'tags')).toEqual(['a', 'b']);
    await bulk({ ids, do: 'untag', tags: ['a', 'z'] });
    expect(await fieldOf(ids[1] ?? '', 'tags')).toEqual(['b']);
    expect(resultOf(await bulk({ ids, do: 'archive' }))).toEqual({ done: ids, failed: [] });
    expect(resultOf(await bulk({ ids, do: 'archive' }))).toEqual({
      done: [],
      failed: ids.map((id) => failure(id, 'not_found')),
    });
    expect(resultOf(await bulk({ ids, do: 'restore' }))).toEqual({ done: ids, failed: [] });
    expect(await fieldOf(ids[0] ?? '', 'tags')).toEqual(['b']);
  });

  it('executes with the scope execute, changes with the scope write', async () => {
    const ids = await tasks(2);
    const executor = await gateway.addKey(opened.organizationId, ['execute']);
    const writer = await gateway.addKey(opened.organizationId, ['write']);
    const reader = await gateway.addKey(opened.organizationId, ['read']);
    const missing = refused(403, 'FORBIDDEN', 'missing_scope');
    expect(resultOf(await bulk({ ids, do: 'execute' }, { key: executor }))).toEqual({ done: ids, failed: [] });
    const runs = await gateway.send('GET', `/api/notifications/${ids[0] ?? ''}/executions`);
    expect(member(runs.body, 'pagination', 'total')).toBe(1);
    for (const key of [writer, reader]) expect(errorOf(await bulk({ ids, do: 'execute' }, { key }))).toEqual(missing);
    for (const key of [executor, reader]) expect(errorOf(await bulk({ ids, do: 'pause' }, { key }))).toEqual(missing);
    expect((await bulk({ ids, do: 'pause' }, { key: writer })).status).toBe(200);
    expect((await bulk({ ids, do: 'pause' }, { key: '' })).status).toBe(401);
  });

  it('counts as one request per 20 tasks, and does nothing where the budget does not reach', async () => {
    const key = await gateway.addKey(await gateway.addOrganization('free'), ['admin']);
    const made = await gateway.send('POST', '/api/notifications', { key, body: taskOf('one') });
    const left = async (): Promise<number> =>
      Number((await gateway.send('GET', '/api/notifications', { key })).headers.get('x-ratelimit-remaining'));
    const ids = [idOf(made), ...Array.from({ length: 40 }, (_, n) => `ntf_${String(n).padStart(26, '0')}`)];
    const before = await left();
    const reply = await bulk({ ids, do: 'pause' }, { key });
    expect([reply.status, Number(reply.headers.get('x-ratelimit-remaining'))]).toEqual([200, before - 3]);
    expect(await left()).toBe(before - 3 - 1);
    while ((await left()) > 2);
    for (let time = 0; time < 4; time += 1) {
      const refusal = await bulk({ ids, do: 'resume' }, { key });
      expect(errorOf(refusal)).toEqual(refused(429, 'RATE_LIMITED', 'rate_limited'));
      expect(Number(refusal.headers.get('x-ratelimit-remaining'))).toBe(2);
    }
    expect(await left()).toBe(1);
    const refusal = await bulk({ ids, do: 'resume' }, { key });
    expect(errorOf(refusal)).toEqual(refused(429, 'RATE_LIMITED', 'rate_limited'));
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
    const document = await opened.stores.readStore.get({ name: 'tasks', fields: [], indexes: [] }, idOf(made));
    expect(member(document, 'status')).toBe('paused');
  });

  it('is done once per Idempotency-Key', async () => {
    const ids = await tasks(2);
    const headers = { 'idempotency-key': 'bulk-once' };
    const first = await bulk({ ids, do: 'archive' }, { headers });
    const again = await bulk({ ids, do: 'archive' }, { headers });
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  });

  it.each([
    [undefined, 'body_required', ''],
    [{}, 'do_required', 'do'],
    [{ do: 'pause' }, 'ids_required', 'ids'],
    [{ do: 'pause', ids: [unknown], filter: {} }, 'ids_and_filter', 'filter'],
    [{ do: 'pause', ids: [] }, 'ids_too_few', 'ids'],
    [{ do: 'pause', ids: Array.from({ length: 501 }, () => unknown) }, 'ids_too_many', 'ids'],
    [{ do: 'pause', ids: unknown }, 'ids_wrong_type', 'ids'],
    [{ do: 'pause', ids: [1] }, 'ids_wrong_type', 'ids[0]'],
    [{ do: 'pause', ids: ['x'.repeat(101)] }, 'ids_too_long', 'ids[0]'],
    [{ do: 'pause', filter: { colour: 'red' } }, 'unknown_field', 'filter.colour'],
    [{ do: 'pause', filter: { status: 'gone' } }, 'status_invalid', 'filter.status'],
    [{ do: 'pause', filter: [] }, 'filter_wrong_type', 'filter'],
    [{ do: 'pause', filter: { tag: { $ne: '' } } }, 'tag_wrong_type', 'filter.tag'],
    [{ do: 'explode', ids: [unknown] }, 'do_invalid', 'do'],
    [{ do: 'tag', ids: [unknown] }, 'tags_required', 'tags'],
    [{ do: 'tag', ids: [unknown], tags: [] }, 'tags_too_few', 'tags'],
    [{ do: 'tag', ids: [unknown], tags: ['no spaces here'] }, 'tags_invalid', 'tags[0]'],
    [{ do: 'pause', ids: [unknown], tags: ['a'] }, 'tags_invalid', 'tags'],
    [{ do: 'pause', ids: [unknown], force: true }, 'unknown_field', 'force'],
  ])('refuses %j by name', async (body, reason, field) => {
    const before = gateway.commands.length;
    const reply = await bulk(body);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(member(reply.body, 'error', 'details', 0, 'field')).toBe(field);
    expect(gateway.commands.length).toBe(before);
  });
});

function taskOf(name: string): object {
  return { name, url: 'https://shop.example.com/', evaluationFunction: 'return true' };
}

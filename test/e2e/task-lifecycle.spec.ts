/** What a task goes through over its life: keys that are unique, restore, the way back, the past, and many at once. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand, whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';

let installation: Installation;
let site: PageSite;

beforeAll(async () => {
  site = await startPageSite();
  site.serve('/shop', html('in stock'));
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await site.close();
});

const dataOf = ({ body }: Reply): Record<string, unknown> =>
  z.object({ data: z.record(z.string(), z.unknown()) }).parse(body).data;
const send = (path: string, json?: unknown, method = 'POST'): Promise<Reply> =>
  installation.api.send(path, json === undefined ? { method } : { method, json });
const pathOf = (id: string): string => `/api/notifications/${id}`;
const idsAt = async (query: string): Promise<unknown[]> => {
  const { body } = await installation.api.send(`/api/notifications?${query}`);
  return z
    .object({ data: z.array(z.looseObject({ id: z.string() })) })
    .parse(body)
    .data.map(({ id }) => id);
};

describe('an externalKey', () => {
  it('is given to one of the tasks that are created with it at the same time, and finds it', async () => {
    const settings = { ...byHand(site.address('/shop')), externalKey: 'shop/one' };
    const replies = await Promise.all(Array.from({ length: 6 }, () => send('/api/notifications', settings)));
    const made = replies.filter(({ status }) => status === 201).map((reply) => String(dataOf(reply)['id']));
    const refused = replies.filter(({ status }) => status === 409).map(errorOf);
    expect([made.length, refused.length]).toEqual([1, 5]);
    expect(refused[0]).toMatchObject({ code: 'VALIDATION_ERROR', reason: 'already_exists' });
    expect(refused[0]?.details).toEqual([expect.objectContaining({ field: 'externalKey', rule: 'unique' })]);
    expect(await idsAt('externalKey=shop/one')).toEqual(made);
  });

  it('taken while its task was archived keeps that task from being restored', async () => {
    const settings = { ...byHand(site.address('/shop')), externalKey: 'shop/two' };
    const { id } = await installation.api.create(settings);
    await send(pathOf(id), undefined, 'DELETE');
    const other = await installation.api.create(settings);
    const reply = await send(`${pathOf(id)}/restore`);
    expect([reply.status, errorOf(reply).reason]).toEqual([409, 'already_exists']);
    await send(pathOf(other.id), undefined, 'DELETE');
    expect((await send(`${pathOf(id)}/restore`)).status).toBe(200);
    expect(await idsAt('externalKey=shop/two')).toEqual([id]);
  });
});

describe('a task that was archived', () => {
  it('runs by its schedule again once it is restored', async () => {
    const { id } = await installation.api.create(whenInStock(site.address('/shop')));
    await until('it has run', async () => (await installation.api.executions(id)).length > 0);
    await send(pathOf(id), undefined, 'DELETE');
    expect((await installation.api.send(pathOf(id))).status).toBe(404);
    const restored = await send(`${pathOf(id)}/restore`);
    expect(dataOf(restored)).toMatchObject({ id, status: 'active', name: 'Stock', condition: 'unknown' });
    await until('it has run again', async () => (await installation.api.task(id)).condition === 'true');
    await send(pathOf(id), { status: 'paused' }, 'PATCH');
  });
});

describe('the past of a task', () => {
  it('is answered with what was known then, and is gone back to as a new revision', async () => {
    const { id } = await installation.api.create({ ...byHand(site.address('/shop')), tags: ['first'] });
    const run = await installation.api.execute(id);
    const first = dataOf(await installation.api.send(pathOf(id)));
    expect(first).toMatchObject({
      revision: 0,
      condition: 'true',
      lastExecution: { id: run.id, value: null, reason: null },
    });
    const changes = { evaluationFunction: 'return false', tags: [], name: 'Other' };
    expect((await send(pathOf(id), changes, 'PATCH')).status).toBe(200);
    await installation.api.execute(id);
    expect(await installation.api.task(id)).toMatchObject({ revision: 1, condition: 'false' });
    expect(dataOf(await installation.api.send(`${pathOf(id)}?revision=0`))).toEqual(first);
    const at = encodeURIComponent(String(run.finishedAt));
    expect(dataOf(await installation.api.send(`${pathOf(id)}?at=${at}`))).toMatchObject({
      revision: 0,
      tags: ['first'],
    });
    const back = await send(`${pathOf(id)}/rollback`, { revision: 0 });
    expect(dataOf(back)).toMatchObject({ revision: 2, name: 'Stock', tags: ['first'], condition: 'unknown' });
    expect((await installation.api.execute(id)).outcome).toBe(true);
  });
});

describe('many tasks', () => {
  it('are changed by one request, read back at once, and after a crash', async () => {
    const made = await Promise.all(
      Array.from({ length: 30 }, () => installation.api.create({ ...byHand(site.address('/shop')), tags: ['many'] })),
    );
    const ids = made.map(({ id }) => id);
    const done = dataOf(await send('/api/notifications/bulk', { filter: { tag: 'many' }, do: 'tag', tags: ['more'] }));
    expect([new Set(z.array(z.string()).parse(done['done'])), done['failed']]).toEqual([new Set(ids), []]);
    expect((await idsAt('tag=more&limit=100')).length).toBe(30);
    await send('/api/notifications/bulk', { ids: ids.slice(0, 10), do: 'pause' });
    expect((await idsAt('tag=more&status=paused&limit=100')).length).toBe(10);
    const executed = dataOf(await send('/api/notifications/bulk', { ids: ids.slice(0, 3), do: 'execute' }));
    expect(executed['done']).toEqual(ids.slice(0, 3));
    await until('the last of them has run', async () => (await installation.api.executions(ids[2] ?? '')).length === 1);
    const headers = { 'idempotency-key': 'archive-many' };
    const archive = { method: 'POST', json: { filter: { tag: 'more' }, do: 'archive' }, headers };
    const first = await installation.api.send('/api/notifications/bulk', archive);
    await installation.kill('SIGKILL');
    await installation.start();
    const again = await installation.api.send('/api/notifications/bulk', archive);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(await idsAt('tag=more')).toEqual([]);
    expect(dataOf(await send('/api/notifications/bulk', { ids, do: 'restore' }))).toEqual({ done: ids, failed: [] });
    expect((await idsAt('tag=more&status=paused&limit=100')).length).toBe(10);
  });
});

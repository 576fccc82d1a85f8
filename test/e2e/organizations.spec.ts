/** Two organisations on one instance: nothing of one is reachable by the other, through any operation of the OpenAPI document. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createIds } from '#runtime/ids';
import type { Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { openStream } from './kit/event-stream.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { addOrganization, addPerson, type Person } from './kit/people.js';
import { whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';

const operation = z.looseObject({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.unknown())).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.looseObject({ example: z.json().optional() })) }).optional(),
});
const openApi = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) });
const withId = z.object({ data: z.looseObject({ id: z.string() }) });
const bulkAnswer = z.object({
  data: z.object({ done: z.array(z.string()), failed: z.array(z.looseObject({ id: z.string() })) }),
});

const canary = 'canary-of-the-first';
const prefixes = {
  notifications: 'ntf',
  executions: 'exe',
  deliveries: 'dlv',
  keys: 'key',
  members: 'usr',
  organizations: 'org',
} as const;

let installation: Installation;
let site: PageSite;
let hooks: HookSink;
let second: { readonly owner: Person; readonly key: string; readonly id: string };
/** What the first organisation has, by the part of the path that names it. */
let first: Readonly<Record<string, string>> & { readonly actions: string; readonly notifications: string };

beforeAll(async () => {
  [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  site.serve('/shop', html('in stock'));
  installation = await createInstallation();
  await installation.start();
  const { api } = installation;
  const action = { type: 'webhook', config: { url: hooks.address(`/${canary}`) }, on: ['triggered'] };
  const settings = { ...whenInStock(site.address('/shop')), schedule: { type: 'manual' }, actions: [action] };
  const task = await api.create({ ...settings, name: canary, externalKey: canary, tags: [canary] });
  const { id: executions } = await api.execute(task.id, 30);
  await api.send(`/api/notifications/${task.id}/shadow`, { method: 'PUT', json: { policy: { confirmations: 2 } } });
  const delivery = await until('its delivery is there', async () => (await api.deliveries(task.id))[0] ?? null);
  const key = await api.send('/api/keys', { json: { name: canary, scopes: ['read'] } });
  const member = await addPerson(installation, 'viewer');
  second = await addOrganization(installation, 'Second');
  first = {
    notifications: task.id,
    actions: task.actions[0]?.id ?? '',
    executions,
    deliveries: delivery.id,
    keys: withId.parse(key.body).data.id,
    members: member.id,
    organizations: withId.parse((await api.send('/api/organization')).body).data.id,
  };
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close()]);
});

/** What a path names by an id that an organisation has; links and names are none. */
const named = (path: string): string | null => /^\/api\/(\w+)\/\{id\}/.exec(path)?.[1] ?? null;

function filled(path: string, ids: Readonly<Record<string, string>>): string {
  const what = named(path) ?? '';
  return path.replace('{id}', ids[what] ?? '').replace('{actionId}', ids['actions'] ?? '');
}

/** As the second organisation: with its key, or signed in where an operation is for people. */
function ask(path: string, method: string, body: unknown, isForPeople: boolean): Promise<Reply> {
  const request = { method: method.toUpperCase(), ...(body === undefined ? {} : { json: body }) };
  return isForPeople ? second.owner.send(path, request) : installation.api.send(path, { ...request, key: second.key });
}

async function operations() {
  const { paths } = openApi.parse((await installation.api.send('/api/openapi.json')).body);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security, requestBody }]) => {
      const isForPeople = security.length > 0 && security.every((one) => !('apiKey' in one));
      const body = Object.values(requestBody?.content ?? {})[0]?.example;
      return { path, method, operationId, isPublic: security.length === 0, isForPeople, body };
    }),
  );
}

/** Everything by which the first organisation could be known. */
const traces = (): readonly string[] => [canary, ...Object.values(first)];
const withoutRequestId = (text: string): string => text.replace(/"requestId":"[^"]*"/, '');

describe('another organisation', () => {
  it('answers each operation on an id of the first as on an id that there is not', async () => {
    const ids = createIds();
    const unknown = Object.fromEntries(Object.entries(prefixes).map(([what, prefix]) => [what, ids.next(prefix)]));
    const asked = (await operations()).filter(({ path, isPublic }) => named(path) !== null && !isPublic);
    expect(asked.length).toBeGreaterThan(35);
    const open: unknown[] = [];
    for (const { path, method, operationId, isForPeople, body } of asked) {
      const what = named(path) ?? '';
      if (!(what in prefixes)) {
        open.push({ operationId, path, fault: 'the spec knows no id of this kind' });
        continue;
      }
      const theirs = await ask(filled(path, first), method, body, isForPeople);
      const nobodys = await ask(filled(path, { ...unknown, actions: ids.next('act') }), method, body, isForPeople);
      const isSame = withoutRequestId(theirs.text) === withoutRequestId(nobodys.text);
      // What is for operators alone is said before anything is looked up.
      const expected = what === 'organizations' ? 403 : 404;
      const told = traces().filter((trace) => theirs.text.includes(trace));
      if (theirs.status !== expected || nobodys.status !== expected || !isSame || told.length > 0) {
        open.push({
          operationId,
          status: theirs.status,
          unknown: nobodys.status,
          isSame,
          told,
          text: theirs.text.slice(0, 200),
        });
      }
    }
    expect(open).toEqual([]);
  });

  it('reads nothing of the first in any list, whatever it asks for', async () => {
    const queries = [
      '',
      `?externalKey=${canary}`,
      `?tag=${canary}`,
      `?q=${canary}`,
      `?notificationId=${first.notifications}`,
      '?after=',
    ];
    const lists = (await operations()).filter(
      ({ path, method, isPublic, operationId }) =>
        method === 'get' && !path.includes('{') && !isPublic && operationId !== 'streamChanges',
    );
    expect(lists.length).toBeGreaterThan(8);
    for (const { path, method, isForPeople } of lists) {
      for (const query of queries) {
        const { text } = await ask(`${path}${query}`, method, undefined, isForPeople);
        // A refusal may repeat the name of a parameter, never a value.
        expect({ path, query, told: traces().filter((trace) => text.includes(trace)) }).toEqual({
          path,
          query,
          told: [],
        });
      }
    }
  });

  it('goes on from no cursor of the first', async () => {
    const cursor = z.object({ cursor: z.object({ next: z.string().nullable() }) });
    for (let run = 0; run < 2; run += 1) await installation.api.execute(first.notifications, 30);
    for (const list of ['/api/executions', '/api/audit']) {
      const page = await installation.api.send(`${list}?after=&limit=1`);
      const { next } = cursor.parse(page.body).cursor;
      expect(next).not.toBeNull();
      const { text } = await installation.api.send(`${list}?after=${encodeURIComponent(next ?? '')}`, {
        key: second.key,
      });
      expect(traces().filter((trace) => text.includes(trace))).toEqual([]);
    }
  });

  it('has idempotency keys and external keys of its own', async () => {
    const json = { ...whenInStock(site.address('/shop')), schedule: { type: 'manual' }, externalKey: canary };
    const headers = { 'idempotency-key': canary };
    const mine = await installation.api.send('/api/notifications', {
      json: { ...json, externalKey: 'other' },
      headers,
    });
    const theirs = await installation.api.send('/api/notifications', { json, headers, key: second.key });
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.headers.get('idempotent-replayed')).toBeNull();
    expect(withId.parse(theirs.body).data.id).not.toBe(withId.parse(mine.body).data.id);
    await installation.api.send(`/api/notifications/${withId.parse(theirs.body).data.id}`, {
      method: 'DELETE',
      key: second.key,
    });
  });

  it('changes nothing of the first in bulk, and makes no task depend on one of it', async () => {
    const json = { ids: [first.notifications], do: 'archive' };
    const { data } = bulkAnswer.parse(
      (await installation.api.send('/api/notifications/bulk', { json, key: second.key })).body,
    );
    expect(data).toEqual({ done: [], failed: [expect.objectContaining({ reason: 'not_found' })] });
    const dependent = { ...whenInStock(site.address('/shop')), policy: { dependsOn: [first.notifications] } };
    expect((await installation.api.send('/api/notifications', { json: dependent, key: second.key })).status).toBe(400);
    expect((await installation.api.task(first.notifications)).name).toBe(canary);
  });

  it('hears nothing of the first in its stream', async () => {
    const stream = await openStream(`${installation.url}/api/stream`, { authorization: `Bearer ${second.key}` });
    const wanted = `${installation.url}/api/stream?notificationId=${first.notifications}`;
    expect((await openStream(wanted, { authorization: `Bearer ${second.key}` })).status).toBe(404);
    await installation.api.execute(first.notifications, 30);
    const json = { ...whenInStock(site.address('/shop')), name: 'own', schedule: { type: 'manual' } };
    await installation.api.send('/api/notifications', { json, key: second.key });
    await until('its own task was told', () => stream.events.some(({ event }) => event === 'task'));
    const text = JSON.stringify(stream.events);
    expect(traces().filter((trace) => text.includes(trace))).toEqual([]);
    await stream.close();
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requests } from '#contracts/catalogue';
import { packPreview } from '#contracts/page-preview';
import { executionsView, skippedSlotsView, testRun, type ExecutionDocument } from '#contracts/run';
import { idempotencyCollection } from '#http/idempotency';
import { unavailable } from '#runtime/errors';
import { schedulesView, type DueRun } from '#contracts/schedule';
import { tasksView } from '#contracts/task';
import { asJson, type JsonObject } from '#runtime/json';
import { createDocumentState } from '#shared-state/document-state';
import {
  errorOf,
  type GatewayKit,
  idOf,
  member,
  playedExecution,
  refused,
  type Reply,
  taskBody as task,
  webhookBody as webhook,
} from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;
let organizationId: string;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway, organizationId } = opened);
});

afterAll(() => opened.close());

const create = (more?: object): Promise<Reply> => opened.create(more);

describe('an idempotency key', () => {
  const send = (key: string, body: unknown, path = '/api/notifications') =>
    gateway.send('POST', path, { body, headers: { 'idempotency-key': key } });

  it('gets the same answer again, once made', async () => {
    const first = await send('key-1', { ...task, actions: [webhook] });
    const again = await send('key-1', { ...task, actions: [webhook] });
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('etag')).toBe('"0"');
  });

  it('does not take another request', async () => {
    await send('key-2', task);
    expect(errorOf(await send('key-2', { ...task, name: 'other' }))).toEqual(
      refused(409, 'VALIDATION_ERROR', 'idempotency_conflict'),
    );
  });

  it('makes one thing of requests that come at once', async () => {
    const before = gateway.commands.length;
    const replies = await Promise.all(Array.from({ length: 8 }, () => send('key-3', task)));
    expect(new Set(replies.map(idOf)).size).toBe(1);
    expect(gateway.commands.length).toBe(before + 1);
  });

  it('finds what was made when the process died before its answer', async () => {
    gateway.hooks.afterCommand = async () => {
      throw unavailable('gone', 'The process died.');
    };
    expect((await send('key-4', { ...task, actions: [webhook] })).status).toBe(503);
    gateway.hooks.afterCommand = async () => {};
    const before = gateway.commands.length;
    const reply = await send('key-4', { ...task, actions: [webhook] });
    expect(reply.status).toBe(201);
    expect(gateway.commands.length).toBe(before);
    expect(member(reply.body, 'data', 'actions', 0, 'config', 'secret')).toMatch(/^whsec_/);
  });

  it('is free for another organisation, and again after a day', async () => {
    const other = await gateway.addKey(await gateway.addOrganization('enterprise'), ['admin']);
    const mine = await send('key-5', task);
    const theirs = await gateway.send('POST', '/api/notifications', {
      key: other,
      body: task,
      headers: { 'idempotency-key': 'key-5' },
    });
    expect(idOf(theirs)).not.toBe(idOf(mine));
    gateway.time.aheadMs += 24 * 3_600_000 + 1_000;
    const later = await send('key-5', { ...task, name: 'another' });
    expect(later.status).toBe(201);
    expect(idOf(later)).not.toBe(idOf(mine));
  });

  it('keeps its secrets sealed in the store', async () => {
    const made = await send('key-6', { ...task, actions: [webhook] });
    const secret = String(member(made.body, 'data', 'actions', 0, 'config', 'secret'));
    const records = await createDocumentState(opened.stores.readStore).list(idempotencyCollection, 100);
    expect(records.length).toBeGreaterThan(0);
    expect(JSON.stringify(records)).not.toContain(secret);
  });

  it.each(['x'.repeat(256), 'caf\u00e9'])('refuses %s', async (key) => {
    const headers = { 'idempotency-key': key };
    const reply = await gateway.send('POST', '/api/notifications', { body: task, headers });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'idempotency_key_invalid'));
  });

  it('starts one run, however often it is sent', async () => {
    const path = `/api/notifications/${idOf(await create())}/execute`;
    const [one, other] = [await send('run-1', undefined, path), await send('run-1', undefined, path)];
    expect(idOf(other)).toBe(idOf(one));
    expect(idOf(one)).toMatch(/^exe_/);
  });
});

describe('a task that is not saved', () => {
  it('is tried by the execution service, its secrets sealed on the way', async () => {
    const asked: JsonObject[] = [];
    const answering = await opened.stores.bus.respond(requests.runTest, async (payload) => {
      asked.push(payload);
      const { runId, queuedAt } = testRun.parse(payload);
      const { organizationId: _, ...execution } = playedExecution(runId, organizationId, queuedAt);
      return asJson({ execution: { ...execution, notificationId: null, revision: null, trigger: 'test' } });
    });
    const fetch = { headers: { Authorization: 'Bearer hidden' } };
    const reply = await gateway.send('POST', '/api/notifications/test', { body: { ...task, fetch } });
    expect(reply.status).toBe(200);
    expect(member(reply.body, 'data', 'trigger')).toBe('test');
    expect(JSON.stringify(asked)).not.toContain('hidden');
    const path = '/api/notifications/test';
    const masked = { ...task, fetch: { headers: { Authorization: '********' } } };
    expect(errorOf(await gateway.send('POST', path, { body: masked }))).toEqual(
      refused(400, 'VALIDATION_ERROR', 'secret_required'),
    );
    expect(errorOf(await gateway.send('POST', path, { body: { ...task, evaluationFunction: 'syntax(' } }))).toEqual(
      refused(400, 'VALIDATION_ERROR', 'syntax_error'),
    );
    expect((await gateway.send('POST', path, { body: { ...task, colour: 'x' } })).status).toBe(400);
    expect(asked).toHaveLength(1);
    await answering.stop();
    expect((await gateway.send('POST', path, { body: task })).status).toBe(503);
  });
});

describe('a page that is looked at', () => {
  const path = '/api/pages/preview';
  const url = 'https://shop.example.com/kettle';
  const preview = {
    page: { finalUrl: url, status: 200, title: 'Kettle' },
    document: '<h1>Kettle</h1>',
    screenshot: null,
    elements: [{ selector: 'h1', text: 'Kettle', role: 'heading', name: 'Kettle', box: null }],
    error: null,
  };

  it('is loaded by the execution service, its secrets sealed on the way', async () => {
    const asked: JsonObject[] = [];
    const answering = await opened.stores.bus.respond(requests.runPreview, async (payload) => {
      asked.push(payload);
      return asJson(await packPreview(preview));
    });
    const fetch = { headers: { Authorization: 'Bearer hidden' } };
    const reply = await gateway.send('POST', path, { body: { url, fetch } });
    expect([reply.status, member(reply.body, 'data')]).toEqual([200, preview]);
    expect(JSON.stringify(asked)).not.toContain('hidden');
    await answering.stop();
    expect((await gateway.send('POST', path, { body: { url } })).status).toBe(503);
  });

  it('is refused as a task with it would be, naming the field', async () => {
    const refusal = async (body: object) => errorOf(await gateway.send('POST', path, { body }));
    const masked = { headers: { Authorization: '********' } };
    expect(await refusal({ url, fetch: masked })).toEqual(refused(400, 'VALIDATION_ERROR', 'secret_required'));
    expect(await refusal({ url: 'http://169.254.169.254/' })).toEqual(
      refused(400, 'VALIDATION_ERROR', 'address_denied'),
    );
    expect((await gateway.send('POST', path, { body: { url: 'file:///etc/passwd' } })).status).toBe(400);
    expect((await gateway.send('POST', path, { body: { url, colour: 'x' } })).status).toBe(400);
    const reader = await gateway.addKey(await gateway.addOrganization('pro'), ['execute']);
    expect((await gateway.send('POST', path, { key: reader, body: { url } })).status).toBe(403);
  });

  it('says so where it is too large to be shown', async () => {
    const document = Array.from({ length: 400_000 }, (_, at) => (at * 2_654_435_761).toString(36)).join('');
    const { packed, preview: sent } = await packPreview({ ...preview, document });
    expect([packed, sent.document, sent.error?.reason]).toEqual([null, null, 'too_large']);
  });
});

describe('executions and deliveries', () => {
  it('answer 202 at once and 200 with the finished one where it was waited for', async () => {
    const path = `/api/notifications/${idOf(await create())}`;
    const queued = await gateway.send('POST', `${path}/execute`);
    expect(queued.status).toBe(202);
    const finished = await gateway.send('POST', `${path}/execute?wait=5`, { body: { dryRun: true } });
    expect(finished.status).toBe(200);
    expect(member(finished.body, 'data', 'status')).toBe('succeeded');
    expect(finished.text).not.toContain('organizationId');
    const listed = await gateway.send('GET', `${path}/executions?outcome=true&trigger=manual&status=succeeded`);
    expect(member(listed.body, 'pagination', 'total')).toBe(2);
    const one = await gateway.send('GET', `/api/executions/${idOf(finished)}`);
    expect(member(one.body, 'data')).toEqual(member(finished.body, 'data'));
    const first = await gateway.send('GET', `${path}/executions?limit=1&after=`);
    const second = await gateway.send(
      'GET',
      `${path}/executions?limit=1&after=${String(member(first.body, 'cursor', 'next'))}`,
    );
    expect(member(second.body, 'data', 0, 'id')).not.toBe(member(first.body, 'data', 0, 'id'));
    expect(member(second.body, 'cursor', 'next')).toBeNull();
  });

  it('answer with the finished one once its task tells of it too', async () => {
    const { readStore } = opened.stores;
    const path = `/api/notifications/${idOf(await create())}`;
    gateway.runs.position = 1_000;
    let isAnswered = false;
    const executing = gateway.send('POST', `${path}/execute?wait=5`).then((reply) => {
      isAnswered = true;
      return reply;
    });
    // Read as often as it takes to be sure that the execution has been seen: each is a round trip.
    for (let rounds = 0; rounds < 20 || gateway.runs.position === 1_000; rounds += 1) {
      await gateway.send('GET', `${path}/executions`);
    }
    expect(isAnswered).toBe(false);
    await readStore.save(tasksView, [], 1_000_000);
    expect((await executing).status).toBe(200);
  });

  it('answer 503 to a run by hand while many runs of the task are waiting', async () => {
    const id = idOf(await create());
    const at = '2026-11-21T10:00:00.000Z';
    const run: DueRun = {
      runId: 'exe_00000000000000000000000000',
      taskId: id,
      trigger: 'manual',
      scheduledFor: at,
      queuedAt: at,
      force: false,
      dryRun: false,
    };
    const about = { taskId: id, organizationId, nextDueAt: null, shard: 0 };
    const plan = {
      taskId: id,
      taskRevision: 0,
      schedule: { type: 'manual' },
      active: true,
      nextDueAt: null,
      highWaterMark: null,
    } as const;
    const metadata = { organizationId, actor: 'key:x', requestId: 'req_1', causationId: null, at };
    const waiting = async (count: number, revision: number): Promise<void> => {
      const document = {
        ...about,
        plan,
        pending: Array.from({ length: count }, () => run),
        pendingSince: at,
        metadata,
      };
      await opened.stores.readStore.save(schedulesView, [{ id, revision, document }], null);
    };
    await waiting(20, 1);
    const reply = await gateway.send('POST', `/api/notifications/${id}/execute`);
    expect(errorOf(reply)).toEqual(refused(503, 'SERVER_ERROR', 'too_many_runs_waiting'));
    expect(reply.headers.get('retry-after')).toBe('5');
    await waiting(19, 2);
    expect((await gateway.send('POST', `/api/notifications/${id}/execute`)).status).toBe(202);
  });

  it.each(['wait=0', 'wait=61', 'wait=x', 'force=true'])('refuse execute?%s', async (query) => {
    const path = `/api/notifications/${idOf(await create())}/execute`;
    expect((await gateway.send('POST', `${path}?${query}`)).status).toBe(400);
  });

  it('of all tasks are found by each filter, alone and beside the others, in a time and out of it', async () => {
    const { readStore } = opened.stores;
    const at = (minute: number): string => `2026-10-01T10:${String(minute).padStart(2, '0')}:00.000Z`;
    const idAt = (minute: number): string => `exe_f${String(minute).padStart(25, '0')}`;
    const kinds: readonly Partial<ExecutionDocument>[] = [
      { trigger: 'schedule', status: 'succeeded', outcome: true },
      { trigger: 'schedule', status: 'succeeded', outcome: false },
      { trigger: 'manual', status: 'succeeded', outcome: true },
      { trigger: 'schedule', status: 'failed', outcome: null },
      { trigger: 'manual', status: 'timed_out', outcome: null },
    ];
    const writes = kinds.map((kind, minute) => ({
      id: idAt(minute),
      revision: 1,
      document: { ...playedExecution(idAt(minute), organizationId, at(minute)), queuedAt: at(minute), ...kind },
    }));
    await readStore.save(executionsView, writes, null);
    const list = async (query: string): Promise<readonly unknown[]> => {
      const path = `/api/executions?from=${at(0)}&to=${at(20)}&${query}`;
      const [paged, followed] = [await gateway.send('GET', path), await gateway.send('GET', `${path}&after=`)];
      const [ids, ...others] = [paged, followed].map(({ body }) =>
        (member(body, 'data') as { id: string }[]).map((one) => Number(one.id.slice(-2))),
      );
      expect(others).toEqual([ids]);
      expect(member(paged.body, 'pagination', 'total')).toBe(ids?.length);
      return ids ?? [];
    };
    expect(await list('')).toEqual([4, 3, 2, 1, 0]);
    expect(await list('outcome=true')).toEqual([2, 0]);
    expect(await list('outcome=null')).toEqual([4, 3]);
    expect(await list('status=failed')).toEqual([3]);
    expect(await list('status=cancelled')).toEqual([]);
    expect(await list('trigger=manual')).toEqual([4, 2]);
    expect(await list('trigger=manual&outcome=true')).toEqual([2]);
    expect(await list('trigger=schedule&status=succeeded&outcome=false')).toEqual([1]);
    expect(await list('status=failed&outcome=true')).toEqual([]);
  });

  it('list slots without a run only where that is asked for, in their places, by page and by cursor', async () => {
    const { readStore } = opened.stores;
    const id = idOf(await create());
    const at = (minute: number): string => `2026-11-24T10:${String(minute).padStart(2, '0')}:00.000Z`;
    const idAt = (minute: number): string => `exe_${String(minute).padStart(26, '0')}`;
    const execution = (minute: number, more: Partial<ExecutionDocument> = {}) => ({
      id: idAt(minute),
      revision: 1,
      document: {
        ...playedExecution(idAt(minute), organizationId, at(minute)),
        notificationId: id,
        queuedAt: at(minute),
        trigger: 'schedule' as const,
        ...more,
      },
    });
    const skipped = { status: 'skipped', outcome: null, count: 3 } as const;
    await readStore.save(executionsView, [execution(10), execution(14), execution(15)], null);
    await readStore.save(skippedSlotsView, [execution(12, skipped), execution(13, skipped)], null);
    const list = async (query: string): Promise<readonly unknown[]> => {
      const reply = await gateway.send('GET', `/api/notifications/${id}/executions?${query}`);
      return (member(reply.body, 'data') as { id: string }[]).map((one) => one.id);
    };
    const all = [15, 14, 13, 12, 10].map(idAt);
    expect(await list('')).toEqual([15, 14, 10].map(idAt));
    expect(await list('includeSkipped=false')).toEqual([15, 14, 10].map(idAt));
    expect(await list('includeSkipped=true')).toEqual(all);
    expect(await list('includeSkipped=true&page=2&limit=2')).toEqual(all.slice(2, 4));
    expect(await list('includeSkipped=true&page=4&limit=2')).toEqual([]);
    expect(await list('includeSkipped=true&status=skipped')).toEqual(all.slice(2, 4));
    const page = await gateway.send('GET', `/api/notifications/${id}/executions?includeSkipped=true&limit=2`);
    expect(member(page.body, 'pagination')).toEqual({ page: 1, limit: 2, total: 5, pages: 3 });
    const followed: unknown[] = [];
    let next: string | null = '';
    while (next !== null) {
      const path = `/api/notifications/${id}/executions?includeSkipped=true&limit=2&after=${next}`;
      const reply = await gateway.send('GET', path);
      followed.push(...(member(reply.body, 'data') as { id: string }[]).map((one) => one.id));
      next = member(reply.body, 'cursor', 'next') as string | null;
    }
    expect(followed).toEqual(all);
    const one = await gateway.send('GET', `/api/executions/${idAt(12)}`);
    expect(member(one.body, 'data')).toMatchObject({ status: 'skipped', count: 3 });
    const tooDeep = await gateway.send('GET', '/api/executions?includeSkipped=true&page=100&limit=100');
    expect(errorOf(tooDeep)).toEqual(refused(400, 'VALIDATION_ERROR', 'page_too_large'));
  });

  it('refuse cursors that no list gave, and a page beside a cursor', async () => {
    for (const query of ['after=xyz', 'after=WyJhIiwxXQ', 'page=2&after=']) {
      expect((await gateway.send('GET', `/api/executions?${query}`)).status).toBe(400);
      expect((await gateway.send('GET', `/api/deliveries?${query}`)).status).toBe(400);
    }
    expect((await gateway.send('GET', '/api/executions/exe_00000000000000000000000000')).status).toBe(404);
    expect((await gateway.send('GET', '/api/deliveries/dlv_00000000000000000000000000')).status).toBe(404);
    expect((await gateway.send('GET', '/api/deliveries?state=failed&from=2026-01-01T00:00:00Z')).status).toBe(200);
  });

  it.each(['executions', 'deliveries', 'audit'])('of %s end where they begin, or later', async (name) => {
    const at = '2026-11-01T00:00:00Z';
    expect((await gateway.send('GET', `/api/${name}?from=${at}&to=${at}`)).status).toBe(200);
    const reply = await gateway.send('GET', `/api/${name}?from=${at}&to=2026-10-31T23:59:59.999Z`);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'to_invalid'));
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { tasksView, type TaskDocument } from '#contracts/task';
import type { ReadStore, ViewDefinition } from '#read-store/read-store';
import { errorOf, member, refused, taskBody, type GatewayKit, type Reply } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;
let get: ReadStore['get'];

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
  ({ get } = opened.stores.readStore);
});
afterEach(() => {
  opened.stores.readStore.get = get;
  gateway.hooks.afterCommand = async () => {};
});
afterAll(() => opened.close());

const lastExecution: NonNullable<TaskDocument['lastExecution']> = {
  id: 'exe_00000000000000000000000001',
  finishedAt: '2026-11-24T10:00:00.000Z',
  status: 'succeeded',
  outcome: true,
  durationMs: 12,
  value: 39.9,
  reason: null,
};

async function newestTask(): Promise<TaskDocument> {
  const { organizationId } = opened;
  const where = [{ field: 'organizationId', equals: organizationId }];
  const sort = [{ field: 'createdAt', descending: true }];
  const { documents } = await opened.stores.readStore.page(tasksView, {
    where,
    sort,
    limit: 1,
    offset: 0,
    count: false,
  });
  const [task] = documents;
  if (task === undefined) throw new Error('no task is in the view');
  return task;
}

/** The view shows the task with a first run from here on. */
async function recordFirstRun(): Promise<void> {
  const task = await newestTask();
  const document = { ...task, condition: 'true' as const, lastExecution };
  await opened.stores.readStore.save(tasksView, [{ id: task.id, revision: 1e6, document }], null);
}

/** Counts how often the gateway looks at a task in the view; `after` is called with the number of the look, before its answer is used. */
function watchLooks(after: (count: number) => Promise<void> = async () => {}): { readonly count: number } {
  const looks = { count: 0 };
  const { readStore } = opened.stores;
  readStore.get = async <D extends object>(view: ViewDefinition<D>, id: string): Promise<D | null> => {
    const found: D | null = await get.call<ReadStore, [ViewDefinition<D>, string], Promise<D | null>>(
      readStore,
      view,
      id,
    );
    if (view.name !== tasksView.name) return found;
    looks.count += 1;
    await after(looks.count);
    return found;
  };
  return looks;
}

const create = (query: string, more: object = {}): Promise<Reply> =>
  gateway.send('POST', `/api/notifications${query}`, { body: { ...taskBody, ...more } });

describe('POST /api/notifications?wait=', () => {
  it('answers with the first run, once it is recorded', async () => {
    const looks = watchLooks(async (count) => {
      if (count === 2) await recordFirstRun();
    });
    const reply = await create('?wait=30');
    expect(reply.status).toBe(201);
    expect(reply.headers.get('etag')).toBe('"0"');
    expect(member(reply.body, 'data')).toMatchObject({
      condition: 'true',
      lastExecution: { id: lastExecution.id, value: 39.9 },
    });
    expect(looks.count).toBeGreaterThan(2);
  });

  it('waits for nothing where it is not said', async () => {
    const reply = await create('');
    expect([reply.status, member(reply.body, 'data', 'lastExecution')]).toEqual([201, null]);
  });

  it.each([
    ['the task is paused', { status: 'paused' }],
    ['the task runs by hand alone', { schedule: { type: 'manual' } }],
    [
      'its first run is due after the wait',
      { schedule: { type: 'interval', intervalSeconds: 300, startAt: '2099-01-01T00:00:00Z' } },
    ],
  ])('answers at once where %s, since no run comes by then', async (_, more) => {
    const looks = watchLooks();
    const reply = await create('?wait=60', more);
    expect([reply.status, member(reply.body, 'data', 'lastExecution'), looks.count]).toEqual([201, null, 1]);
  });

  it('answers with the task as it is where the wait is over before', async () => {
    const reply = await create('?wait=1');
    expect([reply.status, member(reply.body, 'data', 'lastExecution')]).toEqual([201, null]);
    expect(member(reply.body, 'data', 'condition')).toBe('unknown');
  });

  it('answers with what was made where the task is archived while it waits', async () => {
    gateway.hooks.afterCommand = async () => {
      const { id } = await newestTask();
      await opened.stores.readStore.save(tasksView, [{ id, revision: 1e6, document: null }], null);
    };
    const reply = await create('?wait=60');
    expect([reply.status, member(reply.body, 'data', 'lastExecution')]).toEqual([201, null]);
  });

  it('gives the same answer again to the same Idempotency-Key, and makes nothing', async () => {
    gateway.hooks.afterCommand = recordFirstRun;
    const send = (): Promise<Reply> =>
      gateway.send('POST', '/api/notifications?wait=30', {
        body: taskBody,
        headers: { 'idempotency-key': 'first-run' },
      });
    const first = await send();
    const made = gateway.commands.length;
    const again = await send();
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(gateway.commands).toHaveLength(made);
    expect(member(again.body, 'data', 'lastExecution', 'id')).toBe(lastExecution.id);
  });

  it.each(['0', '61', '1.5', '-1', 'true', ''])('refuses wait=%s, and makes nothing', async (wait) => {
    const made = gateway.commands.length;
    const reply = await create(`?wait=${wait}`);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'wait_invalid'));
    expect(gateway.commands).toHaveLength(made);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RequestContext } from '#bus/bus';
import { tasksView, type TaskDocument, type TaskSpec } from '#contracts/task';
import type { TaskCommand } from '#contracts/task-command';
import type { HistoryQuery, TaskHistory } from '#contracts/task-history';
import { aTask } from '#contracts/task.kit';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { projectBatch } from '#eventing/projected';
import { createSqliteReadStore } from '#read-store/sqlite';
import { ChangeTask, ChangeTaskHandler, type ChangedTask } from './change-task.js';
import { toMessages } from './publish.js';
import { TaskQuery, TaskQueryHandler } from './task-query.js';
import { tasksProjection } from './task-view.js';

const start = Date.parse('2026-11-21T10:00:00.000Z');
const context: RequestContext = {
  organizationId: 'org_00000000000000000000000001',
  actor: 'key:key_1',
  requestId: 'req_1',
};
const stranger: RequestContext = { ...context, organizationId: 'org_00000000000000000000000002' };
const taskId = (n: number): string => `ntf_${String(n).padStart(26, '0')}`;
const spec = aTask();

describe('the tasks service', () => {
  let eventStore: EventStore;
  let nowMs: number;
  let handler: ChangeTaskHandler;
  let history: TaskQueryHandler;

  beforeEach(() => {
    eventStore = createSqliteEventStore(':memory:');
    nowMs = start;
    handler = new ChangeTaskHandler(eventStore, { now: () => nowMs });
    history = new TaskQueryHandler(eventStore, { now: () => nowMs });
  });
  afterEach(() => eventStore.close());

  const change = (command: TaskCommand, by: RequestContext = context): Promise<ChangedTask> =>
    handler.execute(new ChangeTask(command, by)) as Promise<ChangedTask>;
  const create = (n: number, more: Partial<TaskSpec> = {}): Promise<ChangedTask> =>
    change({ type: 'createTask', taskId: taskId(n), spec: { ...spec, ...more }, status: 'active' });
  const replace = (n: number, more: Partial<TaskSpec>, expectedRevision: number | null = null, by = context) =>
    change(
      { type: 'replaceTask', taskId: taskId(n), spec: { ...spec, ...more }, status: 'active', expectedRevision },
      by,
    );
  const archive = (n: number, by = context) =>
    change({ type: 'archiveTask', taskId: taskId(n), expectedRevision: null }, by);

  const askHistory = async (part: Partial<HistoryQuery> = {}, by = context): Promise<TaskHistory> => {
    const wanted = { taskId: taskId(1), before: null, offset: 0, limit: 20, ...part };
    return history.execute(new TaskQuery({ type: 'history', ...wanted }, by)) as Promise<TaskHistory>;
  };
  const restore = (n: number, by = context) => change({ type: 'restoreTask', taskId: taskId(n), contacts: [] }, by);

  const view = async (): Promise<readonly TaskDocument[]> => {
    const readStore = createSqliteReadStore(':memory:');
    const ending = new AbortController();
    for await (const { events } of eventStore.subscribe({
      prefixes: tasksProjection.prefixes,
      after: null,
      signal: ending.signal,
    })) {
      await readStore.save(tasksView, await projectBatch({ ...tasksProjection, readStore }, events), null);
      break;
    }
    const query = { where: [], sort: [{ field: 'createdAt', descending: true }], limit: 100, offset: 0, count: false };
    const { documents } = await readStore.page(tasksView, query);
    await readStore.close();
    return documents;
  };

  it('answers with the state that a command produced', async () => {
    expect((await create(1)).state).toMatchObject({
      id: taskId(1),
      revision: 0,
      status: 'active',
      createdBy: 'key:key_1',
    });
    nowMs += 1_000;
    expect((await replace(1, { name: 'Cost' })).state).toMatchObject({
      revision: 1,
      spec: { name: 'Cost' },
      createdAt: '2026-11-21T10:00:00.000Z',
      updatedAt: '2026-11-21T10:00:01.000Z',
    });
  });

  it('answers a repeated create with the task of the first', async () => {
    await create(1);
    nowMs += 5_000;
    const again = await create(1);
    expect(again).toMatchObject({ position: null, state: { revision: 0, updatedAt: '2026-11-21T10:00:00.000Z' } });
  });

  it('answers the later of two concurrent creates with the task of the first and no position', async () => {
    const made = await Promise.all([create(1, { name: 'Left' }), create(1, { name: 'Right' })]);
    expect(made.filter(({ position }) => position === null)).toHaveLength(1);
    expect(made[0]?.state).toEqual(made[1]?.state);
  });

  it('does not disable an action again that was enabled after its receiver was found gone', async () => {
    const action: TaskSpec['actions'][number] = {
      id: 'act_00000000000000000000000001',
      type: 'webhook',
      config: {},
      enabled: true,
      expireAfterSeconds: 60,
      on: ['triggered'],
    };
    const goneFor = (n: number): Promise<ChangedTask> =>
      change({
        type: 'disableAction',
        taskId: taskId(1),
        actionId: action.id,
        reason: 'gone',
        deliveryId: `dlv_${String(n).padStart(26, '0')}`,
        at: '2026-11-21T12:00:00.000Z',
      });
    const enabled = ({ state }: ChangedTask) => state.spec.actions.map((one) => one.enabled);
    await create(1, { actions: [action] });
    expect(enabled(await goneFor(1))).toEqual([false]);
    await replace(1, { actions: [action] });
    const again = await goneFor(1);
    expect([again.position, ...enabled(again)]).toEqual([null, true]);
    expect(enabled(await goneFor(2))).toEqual([false]);
  });

  it('does not take two different changes under one request id for one', async () => {
    await create(1);
    await replace(1, { name: 'One' });
    expect((await replace(1, { name: 'Two' })).state).toMatchObject({ revision: 2, spec: { name: 'Two' } });
    const [left, right] = await Promise.all([replace(1, { name: 'Left' }), replace(1, { name: 'Right' })]);
    expect(new Set([left.state.revision, right.state.revision])).toEqual(new Set([3, 4]));
  });

  it('refuses a change of a revision that is not the last', async () => {
    await create(1);
    await replace(1, { name: 'Cost' }, 0);
    await expect(replace(1, { name: 'Late' }, 0)).rejects.toMatchObject({ reason: 'stale_revision' });
  });

  it('answers not_found for another organisation’s task', async () => {
    await create(1);
    await expect(replace(1, { name: 'Mine' }, null, stranger)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(archive(1, stranger)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(askHistory({}, stranger)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('gives an external key to one task, also where two are created concurrently', async () => {
    const made = await Promise.allSettled([create(1, { externalKey: 'k' }), create(2, { externalKey: 'k' })]);
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await expect(create(3, { externalKey: 'k' })).rejects.toMatchObject({
      reason: 'already_exists',
      details: [{ field: 'externalKey', rule: 'unique' }],
    });
  });

  it('frees an external key when its task is archived or takes another key, and when its writer died', async () => {
    await create(1, { externalKey: 'k' });
    await archive(1);
    await create(2, { externalKey: 'k' });
    await replace(2, { externalKey: 'other' });
    await expect(create(3, { externalKey: 'k' })).rejects.toMatchObject({ reason: 'already_exists' });
    nowMs += 31_000;
    await create(3, { externalKey: 'k' });
  });

  it('restores an archived task as it was, in the view too, with its first creation', async () => {
    await create(1, { externalKey: 'k' });
    await archive(1);
    expect(await view()).toEqual([]);
    nowMs += 5_000;
    expect((await restore(1)).state).toMatchObject({
      revision: 2,
      status: 'active',
      spec: { externalKey: 'k' },
      createdAt: '2026-11-21T10:00:00.000Z',
      updatedAt: '2026-11-21T10:00:05.000Z',
    });
    expect(await view()).toMatchObject([
      { id: taskId(1), revision: 2, createdAt: '2026-11-21T10:00:00.000Z', externalKey: 'k', condition: 'unknown' },
    ]);
    expect((await restore(1)).position).toBeNull();
    await expect(restore(2)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(restore(1, stranger)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('does not restore a task whose external key another one has taken meanwhile', async () => {
    await create(1, { externalKey: 'k' });
    await archive(1);
    await create(2, { externalKey: 'k' });
    await expect(restore(1)).rejects.toMatchObject({
      reason: 'already_exists',
      details: [{ field: 'externalKey', rule: 'unique' }],
    });
    await archive(2);
    await restore(1);
    await expect(restore(2)).rejects.toMatchObject({ reason: 'already_exists' });
  });

  it('gives the key of an archived task to its restore or to another create, never to both', async () => {
    for (let n = 1; n < 20; n += 2) {
      await create(n, { externalKey: `k${n}` });
      await archive(n);
      const both = n % 4 === 1 ? [restore(n), create(n + 1, { externalKey: `k${n}` })] : [];
      const turned = n % 4 === 1 ? [] : [create(n + 1, { externalKey: `k${n}` }), restore(n)];
      const done = await Promise.allSettled([...both, ...turned]);
      expect(done.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('answers the history with what each event changed', async () => {
    await create(1);
    await replace(1, { name: 'Cost', policy: { notifyOn: 'became_true', errorThreshold: 5 } });
    const { entries } = await askHistory();
    expect(entries.map(({ revision, type }) => ({ revision, type }))).toEqual([
      { revision: 1, type: 'task.changed' },
      { revision: 0, type: 'task.created' },
    ]);
    expect(entries[0]?.changes).toEqual([
      { path: 'name', from: 'Price', to: 'Cost' },
      { path: 'policy.errorThreshold', from: 3, to: 5 },
    ]);
  });

  it('answers null in the history for what was not there before and for what is not there any more', async () => {
    await create(1);
    await replace(1, { tags: ['shop'] });
    await replace(1, {});
    const { entries } = await askHistory();
    expect(entries.slice(0, 2).map(({ changes }) => changes)).toEqual([
      [{ path: 'tags[0]', from: 'shop', to: null }],
      [{ path: 'tags[0]', from: null, to: 'shop' }],
    ]);
  });

  it('answers a part of the history, newest first, with the number of all changes', async () => {
    await create(1);
    for (const name of ['a', 'b', 'c', 'd']) await replace(1, { name });
    const revisionsOf = async (part: Partial<HistoryQuery>): Promise<readonly number[]> => {
      const { entries, total } = await askHistory(part);
      expect(total).toBe(5);
      return entries.map(({ revision }) => revision);
    };
    expect(await revisionsOf({ limit: 2 })).toEqual([4, 3]);
    expect(await revisionsOf({ limit: 2, offset: 2 })).toEqual([2, 1]);
    expect(await revisionsOf({ limit: 2, offset: 4 })).toEqual([0]);
    expect(await revisionsOf({ limit: 2, offset: 9 })).toEqual([]);
    expect(await revisionsOf({ limit: 2, before: 2 })).toEqual([1, 0]);
    expect(await revisionsOf({ limit: 2, before: 0 })).toEqual([]);
    const { entries } = await askHistory({ limit: 1, before: 3 });
    expect(entries[0]?.changes).toEqual([{ path: 'name', from: 'a', to: 'b' }]);
  });

  it('keeps the newest entries of a history whole and shortens long texts of older ones, however large the changes are', async () => {
    await create(1);
    for (const letter of 'abcdefghijkl') await replace(1, { evaluationFunction: letter.repeat(200_000) });
    const { entries } = await askHistory({ limit: 100 });
    expect(entries).toHaveLength(13);
    expect(JSON.stringify(entries).length).toBeLessThan(2_700_000);
    expect(entries[0]?.changes[0]?.to).toBe('l'.repeat(200_000));
    expect(entries[0]?.shortened).toBeUndefined();
    expect(entries[11]).toMatchObject({
      shortened: true,
      changes: [{ path: 'evaluationFunction', from: 'true', to: `${'a'.repeat(500)}… (200000 characters)` }],
    });
  });

  it('shows tasks that are not archived in the view, and resets the condition when the code is edited', async () => {
    await create(1);
    await create(2);
    await archive(2);
    await replace(1, { name: 'Cost' });
    expect(await view()).toMatchObject([{ id: taskId(1), name: 'Cost', revision: 1, codeRevision: 0 }]);
    await replace(1, { evaluationFunction: 'false' });
    expect(await view()).toMatchObject([{ revision: 2, codeRevision: 2, condition: 'unknown' }]);
  });

  it('publishes a message for each event, without settings that others do not need', async () => {
    await create(1, { evaluationFunction: 'secretWord' });
    const [stored] = await Array.fromAsync(eventStore.read(`task-${taskId(1)}`));
    if (stored === undefined) throw new Error('no event');
    const [message] = toMessages(stored);
    expect(message).toMatchObject({ id: stored.id, key: taskId(1), data: { active: true, revision: 0 } });
    expect(JSON.stringify(message)).not.toContain('secretWord');
  });
});

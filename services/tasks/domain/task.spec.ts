import { describe, it } from '@jest/globals';
import type { StoredAction } from '#contracts/action';
import type { TaskEvent } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import { given } from '#eventing/given';
import { taskDecider } from './task.js';

const taskId = 'ntf_00000000000000000000000001';
const actionId = 'act_00000000000000000000000001';
const deliveryId = 'dlv_00000000000000000000000001';
const at = '2026-11-21T12:00:00.000Z';
const actor = 'key:key_1';
const spec = aTask({
  actions: [{ id: actionId, type: 'webhook', config: {}, enabled: true, expireAfterSeconds: 60, on: ['triggered'] }],
});
const created: TaskEvent = { type: 'task.created', data: { spec, status: 'active', createdBy: actor } };
const archived: TaskEvent = { type: 'task.archived', data: { externalKey: null } };
const replace = { type: 'replaceTask', taskId, spec, status: 'active', expectedRevision: null, actor } as const;

describe('a task', () => {
  it('is created once, however often the command is repeated', () => {
    given(taskDecider)
      .when({ type: 'createTask', taskId, spec, status: 'active', actor })
      .then(created)
      .andAgainNothing();
  });

  it('records only the fields that differ', () => {
    given(taskDecider, created)
      .when({ ...replace, spec: { ...spec, name: 'Cost', tags: ['a'] } })
      .then({ type: 'task.changed', data: { changes: { name: 'Cost', tags: ['a'] } } })
      .andAgainNothing();
    given(taskDecider, created).when(replace).thenNothing();
  });

  it('can take a field back to nothing', () => {
    const keyed: TaskEvent = { ...created, data: { ...created.data, spec: { ...spec, externalKey: 'k' } } };
    given(taskDecider, keyed)
      .when(replace)
      .then({ type: 'task.changed', data: { changes: { externalKey: null } } })
      .andAgainNothing();
  });

  it('is paused and resumed in an event apart from its changes', () => {
    given(taskDecider, created)
      .when({ ...replace, status: 'paused' })
      .then({ type: 'task.paused', data: {} })
      .andAgainNothing();
    given(taskDecider, created, { type: 'task.paused', data: {} })
      .when({ ...replace, spec: { ...spec, name: 'Cost' } })
      .then({ type: 'task.changed', data: { changes: { name: 'Cost' } } }, { type: 'task.resumed', data: {} });
  });

  it('disables an action once, with the reason', () => {
    given(taskDecider, created)
      .when({ type: 'disableAction', taskId, actionId, reason: 'gone', deliveryId, at, actor })
      .then({ type: 'task.action_disabled', data: { actionId, reason: 'gone', deliveryId, at } })
      .andAgainNothing();
    given(taskDecider, created)
      .when({
        type: 'disableAction',
        taskId,
        actionId: `${actionId.slice(0, -1)}9`,
        reason: 'gone',
        deliveryId,
        at,
        actor,
      })
      .thenNothing();
  });

  it('is gone once archived, and unknown before it is created', () => {
    given(taskDecider, created).when({ type: 'archiveTask', taskId, expectedRevision: null, actor }).then(archived);
    given(taskDecider, created, archived).when(replace).thenRejected('not_found');
    given(taskDecider).when(replace).thenRejected('not_found');
    given(taskDecider, created, archived)
      .when({ type: 'createTask', taskId, spec, status: 'active', actor })
      .thenNothing();
  });

  const nth = (n: number): StoredAction => ({
    id: `act_${String(n).padStart(26, '0')}`,
    type: 'webhook',
    config: {},
    enabled: true,
    expireAfterSeconds: 60,
    on: [],
  });
  const stored = (...ids: readonly number[]): TaskEvent => ({
    type: 'task.created',
    data: { spec: { ...spec, actions: ids.map(nth) }, status: 'active', createdBy: actor },
  });
  const actionsAre = (...actions: StoredAction[]): TaskEvent => ({
    type: 'task.changed',
    data: { changes: { actions } },
  });

  it('takes an action at the end of its list once', () => {
    given(taskDecider, stored(1))
      .when({ type: 'addAction', taskId, action: nth(2), repeatId: null, actor })
      .then(actionsAre(nth(1), nth(2)))
      .andAgainNothing();
  });

  it('has at most 20 actions', () => {
    const full = Array.from({ length: 20 }, (_, index) => index);
    given(taskDecider, stored(...full))
      .when({ type: 'addAction', taskId, action: nth(20), repeatId: null, actor })
      .thenRejected('actions_too_many');
    given(taskDecider, stored(...full.slice(1)))
      .when({ type: 'addAction', taskId, action: nth(20), repeatId: null, actor })
      .then(actionsAre(...full.slice(1).map(nth), nth(20)));
  });

  it('takes no action that makes it larger than may be stored', () => {
    const large = { ...nth(2), config: { code: 'x'.repeat(600_000) } };
    given(taskDecider, stored(1))
      .when({ type: 'addAction', taskId, action: large, repeatId: null, actor })
      .thenRejected('notification_too_large');
  });

  it('replaces and removes an action in its place', () => {
    const changed = { ...nth(2), enabled: false };
    const command = { taskId, expectedRevision: null, actor } as const;
    given(taskDecider, stored(1, 2, 3))
      .when({ ...command, type: 'replaceAction', action: changed, repeatId: null })
      .then(actionsAre(nth(1), changed, nth(3)))
      .andAgainNothing();
    given(taskDecider, stored(1, 2, 3))
      .when({ ...command, type: 'removeAction', actionId: nth(2).id })
      .then(actionsAre(nth(1), nth(3)));
  });

  it('refuses a change of an action that it does not have', () => {
    const command = { taskId, expectedRevision: null, actor } as const;
    given(taskDecider, stored(1))
      .when({ ...command, type: 'replaceAction', action: nth(2), repeatId: null })
      .thenRejected('not_found');
    given(taskDecider, stored(1))
      .when({ ...command, type: 'removeAction', actionId: nth(2).id })
      .thenRejected('not_found');
    given(taskDecider, created, archived)
      .when({ ...command, type: 'addAction', action: nth(2), repeatId: null })
      .thenRejected('not_found');
  });

  it('archived while it was paused is restored paused, whole, and once', () => {
    const createdAt = '2026-11-21T10:00:00.000Z';
    given(taskDecider, created, { type: 'task.paused', data: {} }, archived)
      .when({ type: 'restoreTask', taskId, contacts: [], actor, createdAt })
      .then({ type: 'task.restored', data: { spec, status: 'paused', createdBy: actor, createdAt } })
      .andAgainNothing();
    given(taskDecider, created).when({ type: 'restoreTask', taskId, contacts: [], actor, createdAt }).thenNothing();
    given(taskDecider).when({ type: 'restoreTask', taskId, contacts: [], actor, createdAt }).thenRejected('not_found');
  });

  it('is paused and resumed by commands of their own, once', () => {
    given(taskDecider, created).when({ type: 'pauseTask', taskId, actor }).then({ type: 'task.paused', data: {} });
    given(taskDecider, created, { type: 'task.paused', data: {} })
      .when({ type: 'resumeTask', taskId, actor })
      .then({ type: 'task.resumed', data: {} })
      .andAgainNothing();
    given(taskDecider, created).when({ type: 'resumeTask', taskId, actor }).thenNothing();
    given(taskDecider, created, archived).when({ type: 'pauseTask', taskId, actor }).thenRejected('not_found');
  });

  it('takes tags beside those that it has, up to 20, and loses those that it has', () => {
    const tags = (...list: string[]): TaskEvent => ({ type: 'task.changed', data: { changes: { tags: list } } });
    given(taskDecider, created, tags('a', 'b'))
      .when({ type: 'tagTask', taskId, tags: ['b', 'c', 'c'], actor })
      .then(tags('a', 'b', 'c'))
      .andAgainNothing();
    given(taskDecider, created, tags('a', 'b'))
      .when({ type: 'untagTask', taskId, tags: ['a', 'x'], actor })
      .then(tags('b'))
      .andAgainNothing();
    const full = Array.from({ length: 20 }, (_, index) => `t${index}`);
    given(taskDecider, created, tags(...full))
      .when({ type: 'tagTask', taskId, tags: ['one'], actor })
      .thenRejected('tags_too_many');
  });

  describe('with a candidate beside its settings', () => {
    const startedAt = '2026-11-24T09:00:00.000Z';
    const settings = { evaluationFunction: 'return false', codeForm: 'body', policy: null } as const;
    const start = { type: 'startShadow', taskId, settings, startedAt, actor } as const;
    const started: TaskEvent = {
      type: 'task.shadow_started',
      data: { shadow: { ...settings, startedAt, startedBy: actor } },
    };
    const promote = { type: 'promoteShadow', taskId, actor } as const;

    it('goes on with the same candidate, and begins anew with another', () => {
      given(taskDecider, created).when(start).then(started).andAgainNothing();
      given(taskDecider, created, started)
        .when({ ...start, startedAt: '2026-11-24T10:00:00.000Z' })
        .thenNothing();
      const other = { ...settings, evaluationFunction: 'return 1 > 2' };
      given(taskDecider, created, started)
        .when({ ...start, settings: other })
        .then({ type: 'task.shadow_started', data: { shadow: { ...other, startedAt, startedBy: actor } } });
    });

    it('takes over its settings in the step that ends it', () => {
      given(taskDecider, created, started)
        .when(promote)
        .then(
          { type: 'task.changed', data: { changes: { evaluationFunction: 'return false', codeForm: 'body' } } },
          { type: 'task.shadow_ended', data: { reason: 'promoted' } },
        );
    });

    it('knows none once it was removed, promoted or archived with the task', () => {
      const removed: TaskEvent = { type: 'task.shadow_ended', data: { reason: 'removed' } };
      given(taskDecider, created, started).when({ type: 'endShadow', taskId, actor }).then(removed);
      given(taskDecider, created).when({ type: 'endShadow', taskId, actor }).thenRejected('not_found');
      given(taskDecider, created, started, removed).when(promote).thenRejected('not_found');
      const restored: TaskEvent = {
        type: 'task.restored',
        data: { spec, status: 'active', createdBy: actor, createdAt: startedAt },
      };
      given(taskDecider, created, started, archived, restored).when(promote).thenRejected('not_found');
    });
  });
});

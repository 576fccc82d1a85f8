import { describe, expect, it } from '@jest/globals';
import { wholePolicy } from '#contracts/policy';
import type { StoredAction } from '#contracts/action';
import { disabledWarnings, warningsOf } from './task-warnings.js';

const policy = wholePolicy({ notifyOn: 'became_true', errorThreshold: 3 });
const action = (on: StoredAction['on'], enabled = true): StoredAction => ({
  id: 'act_00000000000000000000000001',
  type: 'webhook',
  config: {},
  enabled,
  expireAfterSeconds: 60,
  on,
});
const rules = (...actions: readonly StoredAction[]) =>
  warningsOf({ actions: [...actions], policy }).map(({ rule }) => rule);

describe('the warnings of a task', () => {
  it('say that nobody listens at all', () => {
    expect(rules()).toEqual(['nobody_listens']);
    expect(rules(action(['triggered', 'error'], false))).toEqual(['nobody_listens']);
  });

  it('say that nobody listens to errors', () => {
    expect(rules(action(['triggered', 'recovered']))).toEqual(['errors_unheard']);
    expect(rules(action(['triggered']), action(['error'], false))).toEqual(['errors_unheard']);
  });

  it('are none where one action does, or where the task is muted on purpose', () => {
    expect(rules(action(['triggered']), action(['error']))).toEqual([]);
    expect(warningsOf({ actions: [], policy: { ...policy, muted: true } })).toEqual([]);
  });
});

describe('the warning of a disabled action', () => {
  const { id } = action(['error']);
  const disabled = [
    { actionId: id, reason: 'gone', deliveryId: 'dlv_00000000000000000000000001', at: '2026-11-21T12:00:00.000Z' },
  ];
  const messages = (one: StoredAction) => disabledWarnings({ actions: [one] }, disabled).map(({ message }) => message);

  it('says where its settings are corrected: in the action, or in the contact that it goes by', () => {
    const gone = action(['error'], false);
    expect(messages(gone)).toEqual([expect.stringContaining('Correct its settings and enable it again.')]);
    expect(messages({ ...gone, contact: 'ops' })).toEqual([
      expect.stringContaining('Correct the contact "ops" and enable the action again.'),
    ]);
  });
});

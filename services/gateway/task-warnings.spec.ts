import { describe, expect, it } from '@jest/globals';
import { wholePolicy } from '#contracts/policy';
import type { StoredAction } from '#contracts/action';
import { warningsOf } from './task-warnings.js';

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

import { describe, expect, it } from '@jest/globals';
import type { Execution, HistoryEntry } from '../api/types.js';
import { happeningsOf } from './happenings.js';

const runAt = (minute: number, changes: Partial<Execution> = {}): Execution => ({
  id: `exe_${minute}`,
  notificationId: 'ntf_1',
  revision: 0,
  trigger: 'schedule',
  status: 'succeeded',
  outcome: false,
  values: {},
  logs: [],
  error: null,
  decision: { notify: false, reason: 'not_true', transition: null },
  snapshotId: null,
  page: null,
  scheduledFor: `2026-11-24T10:${minute}:00.000Z`,
  queuedAt: `2026-11-24T10:${minute}:00.000Z`,
  startedAt: `2026-11-24T10:${minute}:00.000Z`,
  finishedAt: `2026-11-24T10:${minute}:00.100Z`,
  timings: null,
  seed: null,
  ...changes,
});

const edit: HistoryEntry = {
  revision: 1,
  type: 'task.changed',
  at: '2026-11-24T10:12:30.000Z',
  actor: 'user:ann',
  requestId: 'req_1',
  data: {},
  changes: [],
};

describe('what happened to a task', () => {
  it('folds runs that changed nothing into one entry', () => {
    const found = happeningsOf([runAt(13), runAt(12), runAt(11), runAt(10)], []);
    expect(found.map(({ kind }) => kind)).toEqual(['folded', 'run']);
  });

  it('shows a run that notified, and one that changed the outcome', () => {
    const notified = runAt(12, { outcome: true, decision: { notify: true, reason: 'became_true', transition: null } });
    const found = happeningsOf([runAt(13, { outcome: true }), notified, runAt(11), runAt(10)], []);
    expect(found.map(({ kind }) => kind)).toEqual(['folded', 'run', 'folded', 'run']);
  });

  it('puts an edit between the runs around it', () => {
    const found = happeningsOf([runAt(13), runAt(12), runAt(11)], [edit]);
    expect(found.map(({ kind }) => kind)).toEqual(['folded', 'edit', 'folded', 'run']);
  });

  it('names slots without a run', () => {
    const found = happeningsOf([runAt(13), runAt(12, { status: 'skipped', finishedAt: null }), runAt(11)], []);
    expect(found.map(({ kind }) => kind)).toEqual(['folded', 'skipped', 'run']);
  });
});

import { describe, expect, it } from '@jest/globals';
import { frozenEvents } from '#contracts/frozen-events.kit';
import { attentionOf, taskStream, type TaskDocument } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import type { EventMetadata, RecordedEvent } from '#event-store/event-store';
import type { JsonObject } from '#runtime/json';
import { tasksProjection } from './task-view.js';

const taskId = 'ntf_01kam000000000000000000001';
const at = (second: number): string => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
const metadata: EventMetadata = {
  organizationId: 'org_01kam000000000000000000001',
  actor: 'key:key_1',
  requestId: 'req_1',
  causationId: null,
  at: at(0),
};
const recordedRun = frozenEvents().find(({ name }) => name === 'run.recorded.v1.json')?.read ?? {};

/** The document after these events, each a type and its data. */
function after(...events: readonly (readonly [type: string, data: JsonObject])[]): TaskDocument | null {
  return events.reduce<TaskDocument | null>((document, [type, data], index) => {
    const stream = type.startsWith('run.') ? `run-${taskId}` : taskStream(taskId);
    const event: RecordedEvent = {
      id: `e${index}`,
      stream,
      type,
      version: 1,
      data,
      metadata,
      revision: index,
      position: index,
    };
    return tasksProjection.reduce(document, event);
  }, null);
}

const created = ['task.created', { spec: aTask(), status: 'active', createdBy: 'key:key_1' } as JsonObject] as const;

/** A run that ended then, with what it found. */
function run(second: number, condition: string, health = 'ok', more: JsonObject = {}) {
  const { result, alert } = recordedRun as { result: JsonObject; alert: JsonObject };
  const data = {
    ...recordedRun,
    result: { ...result, finishedAt: at(second), error: null, ...more },
    alert: { ...alert, condition, health, codeRevision: 0, flapping: false },
  };
  return ['run.recorded', data] as const;
}

const trueSince = (second: number, health = 'ok'): number =>
  attentionOf({ health, condition: 'true' }, Date.parse(at(second)));

describe('the attention of a task', () => {
  it('is that of the time since when its condition is true', () => {
    expect(after(created)?.attention).toBe(0);
    expect(after(created, run(1, 'false'))?.attention).toBe(0);
    expect(after(created, run(1, 'true'), run(2, 'true'))?.attention).toBe(trueSince(1));
    expect(after(created, run(1, 'true'), run(2, 'false'))?.attention).toBe(0);
    expect(after(created, run(1, 'true'), run(2, 'false'), run(3, 'true'))?.attention).toBe(trueSince(3));
  });

  it('is kept by a change of the settings, and lost by a change of the code', () => {
    const renamed = ['task.changed', { changes: { name: 'Cost' } }] as const;
    const recoded = ['task.changed', { changes: { evaluationFunction: 'false' } }] as const;
    expect(after(created, run(1, 'true'), renamed)?.attention).toBe(trueSince(1));
    expect(after(created, run(1, 'true'), recoded)?.attention).toBe(0);
  });

  it('ranks a task that cannot be checked before one that flaps, and that before one that is true', () => {
    const failing = after(created, run(1, 'true'), run(2, 'true', 'error'))?.attention ?? 0;
    expect(failing).toBe(trueSince(1, 'error'));
    const order = [
      attentionOf({ health: 'blocked', condition: 'flapping' }, 0),
      failing,
      attentionOf({ health: 'error', condition: 'false' }, 0),
      attentionOf({ health: 'ok', condition: 'flapping' }, 0),
      trueSince(9),
      trueSince(1),
      0,
    ];
    expect(order.toSorted((one, other) => other - one)).toEqual(order);
    expect(order.every(Number.isSafeInteger)).toBe(true);
  });
});

describe('the last execution of a task', () => {
  it('has the value and the reason of the error', () => {
    expect(after(created, run(1, 'true', 'ok', { values: { value: 12.5, other: 1 } }))?.lastExecution).toMatchObject({
      value: 12.5,
      reason: null,
    });
    const error = { reason: 'threw', message: 'no' };
    expect(after(created, run(1, 'true', 'error', { values: {}, error }))?.lastExecution).toMatchObject({
      value: null,
      reason: 'threw',
    });
  });
});

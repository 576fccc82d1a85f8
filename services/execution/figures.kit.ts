/** For specs: the events of a task's runs and of the messages that they made, made up from a few choices. */
import fc from 'fast-check';
import { deliveryStream, type DeliveryEvent, type NotificationRequest } from '#contracts/delivery';
import type { DecisionReason, Transition } from '#contracts/policy';
import type { AlertState, RunEvent, RunResult, RunStatus, SentMessages } from '#contracts/run';
import type { ScheduleEvent, SkipReason } from '#contracts/schedule';
import type { TaskEvent } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import { encodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { derivedEventId, derivedId } from '#runtime/ids';
import { initialAlert } from './domain/alert/alert.js';

export const playedTaskId = derivedId('ntf', 0, 'played');
export const playedOrganizationId = derivedId('org', 0, 'played');

/** One step of a history: a run, or slots without one. */
export type PlayedStep =
  | {
      readonly kind: 'run';
      readonly afterMs: number;
      readonly status: RunStatus;
      readonly outcome: boolean | null;
      readonly condition: 'true' | 'false' | 'unknown';
      readonly isFlapping: boolean;
      readonly notify: boolean;
      readonly reason: DecisionReason;
      readonly isManual: boolean;
      readonly value: number | string | null;
      readonly fetchMs: number;
      readonly evaluateMs: number;
    }
  | { readonly kind: 'slots'; readonly afterMs: number; readonly reason: SkipReason; readonly count: number };

const statusOf = fc.constantFrom<RunStatus>('succeeded', 'failed', 'timed_out', 'cancelled');
const conditionOf = fc.constantFrom('true' as const, 'false' as const, 'unknown' as const);

export const playedStep = (longestMs: number): fc.Arbitrary<PlayedStep> =>
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('run' as const),
        afterMs: fc.integer({ min: 1, max: longestMs }),
        status: statusOf,
        outcome: fc.constantFrom(true, false, null),
        condition: conditionOf,
        isFlapping: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
        notify: fc.boolean(),
        reason: fc.constantFrom<DecisionReason>('became_true', 'still_true', 'not_true', 'error_threshold'),
        isManual: fc.integer({ min: 0, max: 4 }).map((one) => one === 0),
        value: fc.oneof(
          fc.constant(null),
          fc.integer({ min: -50, max: 50 }),
          fc.constantFrom('in stock', 'sold out', 'x'.repeat(400)),
        ),
        fetchMs: fc.integer({ min: 1, max: 30_000 }),
        evaluateMs: fc.integer({ min: 1, max: 900 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('slots' as const),
        afterMs: fc.integer({ min: 1, max: longestMs }),
        reason: fc.constantFrom<SkipReason>('missed', 'overlap', 'backs_off', 'catch_up_none'),
        count: fc.integer({ min: 1, max: 500 }),
      }),
    },
  );

const timestamp = (ms: number): string => new Date(ms).toISOString();

const shown = ({ condition, flapping }: AlertState): string => (flapping === true ? 'flapping' : condition);

const planOf = (taskId: string) => ({
  taskId,
  taskRevision: 0,
  schedule: { type: 'interval' as const, intervalSeconds: 60, catchUp: 'latest' as const },
  active: true,
  nextDueAt: null,
  highWaterMark: null,
});

export type PlayedEvent = RunEvent | ScheduleEvent | TaskEvent | DeliveryEvent;

export const playedActionId = derivedId('act', 0, 'played');

/** What a run that notifies asks for. */
function messageOf({ runId, taskId, outcome, values, finishedAt }: RunResult, organizationId: string) {
  const action = { id: playedActionId, type: 'webhook' as const, config: { url: { $sealed: 'x' } }, enabled: true };
  const request: NotificationRequest = {
    deliveryId: derivedId('dlv', Date.parse(finishedAt), taskId, runId),
    organizationId,
    taskId,
    executionId: runId,
    action: { ...action, expireAfterSeconds: 86_400, on: ['triggered'] },
    kind: 'triggered',
    context: {
      task: { id: taskId, name: 'Played', url: 'https://example.com/', tags: [] },
      execution: { id: runId, outcome, values, finishedAt, finalUrl: null },
      transition: null,
      message: 'It happened.',
    },
    createdAt: finishedAt,
    expiresAt: timestamp(Date.parse(finishedAt) + 86_400_000),
  };
  return request;
}

/** It is tried once, and arrives. */
function arrival(request: NotificationRequest): readonly DeliveryEvent[] {
  const at = request.createdAt;
  const summary = { method: 'POST', url: 'https://hooks.example/' };
  const result = { durationMs: 1, request: summary, response: { status: 200, body: 'ok' }, error: null };
  return [
    { type: 'delivery.requested', data: { request, linkBase: null } },
    { type: 'attempt.started', data: { attempt: 1, at, timeoutMs: 1_000, worker: 'w1', request: summary } },
    { type: 'attempt.ended', data: { attempt: 1, at, result, settled: [], next: { state: 'delivered' } } },
  ];
}

/** The messages of the open episode with this one among them. */
function sentWith(before: AlertState, { deliveryId }: NotificationRequest): Pick<AlertState, 'sent'> {
  const first = before.sent?.condition?.actions[playedActionId]?.first;
  const actions: SentMessages['actions'] = {
    [playedActionId]: first === undefined ? { first: deliveryId } : { first, last: deliveryId },
  };
  return { sent: { condition: { episode: 'condition:1', actions } } };
}

export interface PlayedEvents {
  readonly recorded: readonly RecordedEvent[];
  readonly endMs: number;
}

/** The events of the steps, each slot with its run, in the order in which they were recorded. */
export interface PlayedFor {
  readonly taskId: string;
  readonly organizationId: string;
}

const usual: PlayedFor = { taskId: playedTaskId, organizationId: playedOrganizationId };

export function playEvents(
  steps: readonly PlayedStep[],
  startMs: number,
  { taskId, organizationId }: PlayedFor = usual,
): PlayedEvents {
  const recorded: RecordedEvent[] = [];
  const plan = planOf(taskId);
  const revisions = new Map<string, number>();
  let nowMs = startMs;
  let alert: AlertState = initialAlert;

  const record = (stream: string, event: PlayedEvent, atMs: number): void => {
    const revision = (revisions.get(stream) ?? -1) + 1;
    revisions.set(stream, revision);
    const position = recorded.length + 1;
    const metadata = {
      organizationId,
      actor: 'system:spec',
      requestId: 'req_1',
      causationId: null,
      at: timestamp(atMs),
    };
    const id = derivedEventId(taskId, String(position));
    recorded.push({ ...encodeEvent(event, id, metadata), stream, revision, position });
  };

  const startedAt = timestamp(startMs);
  const shadow = { evaluationFunction: 'return true', codeForm: 'body' as const, policy: null };
  const started = { ...shadow, startedAt, startedBy: 'key:key_1' };
  const created = { spec: aTask(), status: 'active' as const, createdBy: 'key:key_1' };
  record(`task-${taskId}`, { type: 'task.created', data: created }, startMs);
  record(`task-${taskId}`, { type: 'task.shadow_started', data: { shadow: started } }, startMs);
  record(`schedule-${taskId}`, { type: 'schedule.planned', data: { plan } }, startMs);

  for (const step of steps) {
    const fromMs = nowMs;
    nowMs += step.afterMs;
    if (step.kind === 'slots') {
      const slots = { from: timestamp(fromMs), to: timestamp(nowMs), count: step.count };
      record(`schedule-${taskId}`, { type: 'slots.skipped', data: { plan, slots, reason: step.reason } }, nowMs);
      continue;
    }
    const dueMs = fromMs + Math.floor(step.afterMs / 2);
    const runId = derivedId('exe', dueMs, taskId, step.isManual ? 'manual' : 'slot', String(dueMs));
    const run = {
      runId,
      taskId: taskId,
      trigger: step.isManual ? ('manual' as const) : ('schedule' as const),
      scheduledFor: timestamp(dueMs),
      queuedAt: timestamp(dueMs),
      force: false,
      dryRun: false,
    };
    record(
      `schedule-${taskId}`,
      step.isManual
        ? { type: 'run.requested', data: { plan, run } }
        : { type: 'slot.fired', data: { plan, run, skipped: null } },
      dueMs,
    );
    record(`claim-${taskId}`, { type: 'run.started', data: { run, startedAt: timestamp(dueMs), worker: 'w1' } }, dueMs);
    const { flapping: _flapping, sent: _sent, ...rest } = alert;
    const quiet: AlertState = {
      ...rest,
      condition: step.condition,
      lastSlot: step.isManual ? rest.lastSlot : timestamp(dueMs),
      ...(step.isFlapping ? { flapping: true } : {}),
    };
    const [from, to] = [shown(alert), shown(quiet)];
    const transition: Transition | null = from === to ? null : { kind: 'condition', from, to };
    const result: RunResult = {
      ...run,
      taskRevision: 0,
      status: step.status,
      outcome: step.outcome,
      values: step.value === null ? {} : { value: step.value },
      logs: [],
      error: null,
      page: null,
      snapshotId: null,
      startedAt: timestamp(dueMs),
      finishedAt: timestamp(nowMs),
      timings: { queueMs: 0, fetchMs: step.fetchMs, parseMs: 1, evaluateMs: step.evaluateMs },
      seed: runId,
    };
    const request = step.notify ? messageOf(result, organizationId) : null;
    const told = request === null ? { sent: alert.sent } : sentWith(alert, request);
    const isTold = step.condition === 'true' && told.sent !== undefined;
    alert = isTold ? { ...quiet, sent: told.sent } : quiet;
    const notifications = request === null ? [] : [request];
    const decision = { notify: step.notify, reason: step.reason, transition };
    const shadow = { startedAt, outcome: step.outcome, error: null, decision, alert };
    const judged = step.isManual
      ? {}
      : { shadow: step.notify ? shadow : { ...shadow, decision: { ...decision, notify: true } } };
    record(
      `run-${taskId}`,
      { type: 'run.recorded', data: { result, decision, late: false, notifications, alert, ...judged } },
      nowMs,
    );
    if (request === null) continue;
    for (const event of arrival(request)) record(deliveryStream(request.deliveryId), event, nowMs);
  }
  return { recorded, endMs: nowMs };
}

/** The view `tasks`: settings from the task's own events, condition and times from the runs and the schedule. */
import type { FoldEvent } from '#contracts/retention';
import { openEpisodesOf, type RunEvent } from '#contracts/run';
import { storedSchedule, type Plan, type ScheduleEvent } from '#contracts/schedule';
import {
  attentionOf,
  forgetsCondition,
  taskFold,
  tasksView,
  turnedTrueMsOf,
  type Task,
  type TaskDocument,
  type TaskEvent,
  type TaskSpec,
} from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import type { Projected } from '#eventing/projected';
import { unreachable } from '#runtime/errors';
import { jsonEquals } from '#runtime/json';
import { expectedRunAt } from './expected-run.js';

/** Fields that lists filter and sort by, next to the settings. */
function searchable({ name, url, tags, externalKey }: TaskSpec) {
  return { name, url, tags, externalKey };
}

function afterTaskEvent(document: TaskDocument | null, recorded: RecordedEvent): TaskDocument | null {
  const event = decodeEvent<TaskEvent>(recorded);
  const before: Task = document ?? taskFold.initial;
  const task = taskFold.evolve(before, event);
  if (task.status === 'none' || task.status === 'archived') return null;
  const { at, organizationId } = recorded.metadata;
  const forgets = forgetsCondition(event);
  const base = document ?? {
    id: recorded.stream.slice('task-'.length),
    organizationId,
    createdAt: event.type === 'task.restored' ? event.data.createdAt : at,
    health: 'ok' as const,
    attention: 0,
    nextRunAt: null,
    lastExecution: null,
  };
  const {
    shadow: _shadow,
    acknowledged: known,
    left: _left,
    disabled: _disabled,
    ...rest
  } = base as typeof base & Pick<TaskDocument, 'shadow' | 'acknowledged' | 'left' | 'disabled'>;
  const acknowledged = event.type === 'task.acknowledged' ? { ...event.data, at, by: recorded.metadata.actor } : known;
  const condition = document === null || forgets ? 'unknown' : document.condition;
  return {
    ...rest,
    nextRunAt: expectedRunAt(base.id, document, event, at),
    attention: attentionOf({ health: base.health, condition }, forgets ? 0 : turnedTrueMsOf(base)),
    ...searchable(task.spec),
    spec: task.spec,
    status: task.status,
    createdBy: task.createdBy,
    revision: recorded.revision,
    updatedAt: at,
    condition,
    codeRevision: document === null || forgets ? recorded.revision : document.codeRevision,
    ...(task.shadow === undefined ? {} : { shadow: task.shadow }),
    ...(acknowledged === undefined ? {} : { acknowledged }),
    ...(task.left === undefined ? {} : { left: [...task.left] }),
    ...(task.disabled === undefined ? {} : { disabled: [...task.disabled] }),
  };
}

function afterRunEvent(document: TaskDocument, recorded: RecordedEvent): TaskDocument {
  const event = decodeEvent<RunEvent>(recorded);
  if (event.type !== 'run.recorded') return document;
  const { result, alert } = event.data;
  const { runId, startedAt, finishedAt, status, outcome } = result;
  // A result of older code says nothing about the condition of the present one.
  const found = alert.flapping === true ? 'flapping' : alert.condition;
  const condition = alert.codeRevision < document.codeRevision ? document.condition : found;
  const { openEpisodes: _open, acknowledged, ...rest } = document;
  const openEpisodes = openEpisodesOf(alert);
  const isTaken = acknowledged?.episodes.some((episode) => openEpisodes.includes(episode)) ?? false;
  const wasTrueSinceMs = document.condition === 'true' ? turnedTrueMsOf(document) : Date.parse(finishedAt);
  return {
    ...rest,
    ...(openEpisodes.length === 0 ? {} : { openEpisodes }),
    ...(acknowledged !== undefined && isTaken ? { acknowledged } : {}),
    condition,
    health: alert.health,
    attention: attentionOf({ health: alert.health, condition }, condition === 'true' ? wasTrueSinceMs : 0),
    lastExecution: {
      id: runId,
      finishedAt,
      status,
      outcome,
      durationMs: Date.parse(finishedAt) - Date.parse(startedAt),
      value: result.values['value'] ?? null,
      reason: result.error?.reason ?? null,
    },
  };
}

/** One that has not seen the latest change says when the task would have run before it. */
function isPlanOf({ spec, status }: TaskDocument, { schedule, active }: Plan): boolean {
  if (active !== (status === 'active')) return false;
  return (
    jsonEquals(schedule, spec.schedule) ||
    jsonEquals(storedSchedule.parse(schedule), storedSchedule.parse(spec.schedule))
  );
}

function afterScheduleEvent(document: TaskDocument, recorded: RecordedEvent): TaskDocument {
  const event = decodeEvent<ScheduleEvent>(recorded);
  switch (event.type) {
    case 'schedule.planned':
    case 'schedule.stopped':
    case 'schedule.forgotten':
    case 'slot.fired':
    case 'slots.skipped':
    case 'slot.queued':
    case 'run.requested':
      return document.nextRunAt === event.data.plan.nextDueAt || !isPlanOf(document, event.data.plan)
        ? document
        : { ...document, nextRunAt: event.data.plan.nextDueAt };
    default:
      return unreachable(event);
  }
}

/** When the condition turned true may be told by events that went: then the fold says it. */
function afterFold(document: TaskDocument, recorded: RecordedEvent): TaskDocument {
  const event = decodeEvent<FoldEvent>(recorded);
  const { trueSince } = event.data.state;
  if (event.type !== 'runs.folded' || trueSince === null || document.condition !== 'true') return document;
  if (document.codeRevision > trueSince.codeRevision) return document;
  if (turnedTrueMsOf(document) > Date.parse(trueSince.leftFrom)) return document;
  return { ...document, attention: attentionOf(document, Date.parse(trueSince.at)) };
}

function after(document: TaskDocument | null, recorded: RecordedEvent): TaskDocument | null {
  if (recorded.stream.startsWith('task-')) return afterTaskEvent(document, recorded);
  // Runs and slots of a task that is archived: their own views show them.
  if (document === null) return null;
  if (recorded.stream.startsWith('stats-')) return afterFold(document, recorded);
  return recorded.stream.startsWith('run-')
    ? afterRunEvent(document, recorded)
    : afterScheduleEvent(document, recorded);
}

export const tasksProjection: Projected<TaskDocument> = {
  view: tasksView,
  prefixes: ['task-', 'run-', 'schedule-', 'stats-'],
  idOf: ({ stream }) => stream.slice(stream.indexOf('-') + 1),
  reduce: after,
};

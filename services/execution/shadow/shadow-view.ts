/** The view `shadows`: how often a candidate and the task's own settings would have done the same, run by run. */
import { dayOf, type FoldEvent, type RunsFolded } from '#contracts/retention';
import type { RunEvent } from '#contracts/run';
import {
  mostDifferences,
  noShadowCounts,
  noShadowFigures,
  shadowCounts,
  shadowsView,
  type ShadowDay,
  type ShadowDocument,
} from '#contracts/shadow';
import type { TaskEvent } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import type { Projected } from '#eventing/projected';
import type { RecordedRun } from '../execution-view.js';

const alwaysAbout: readonly string[] = ['task.shadow_started', 'task.shadow_ended', 'task.archived', 'runs.folded'];

function idOf({ stream, type, data }: RecordedEvent): string | null {
  const isAbout = type === 'run.recorded' ? data['shadow'] !== undefined : alwaysAbout.includes(type);
  return isAbout ? stream.slice(stream.indexOf('-') + 1) : null;
}

type Counts = Omit<ShadowDay, 'day'>;

const none: Counts = noShadowCounts;

function added(one: Counts, other: Counts, sign: 1 | -1 = 1): Counts {
  return {
    runs: one.runs + sign * other.runs,
    same: one.same + sign * other.same,
    onlyLive: one.onlyLive + sign * other.onlyLive,
    onlyShadow: one.onlyShadow + sign * other.onlyShadow,
    failed: one.failed + sign * other.failed,
  };
}

function withDay(days: readonly ShadowDay[], day: string, counts: Counts): ShadowDay[] {
  const known = days.find((one) => one.day === day);
  const others = days.filter((one) => one.day !== day);
  return [...others, { day, ...added(known ?? none, counts) }].toSorted((one, other) => (one.day < other.day ? -1 : 1));
}

function withRun(document: ShadowDocument, run: RecordedRun): ShadowDocument {
  const { result, decision, shadow } = run;
  if (shadow?.startedAt !== document.startedAt) return document;
  const { outcome, error } = shadow;
  const counts = shadowCounts(run);
  const counted = {
    ...document,
    ...added(document, counts),
    days: withDay(document.days, dayOf(result.finishedAt), counts),
  };
  if (counts.same > 0) return counted;
  const difference = {
    executionId: result.runId,
    at: result.finishedAt,
    live: { outcome: result.outcome, decision },
    shadow: { outcome, decision: shadow.decision, error },
  };
  return { ...counted, differences: [difference, ...document.differences].slice(0, mostDifferences) };
}

/** What the fold says takes the place of what was counted, so that it is the same where the events are gone. */
function withFold(document: ShadowDocument, { day, shadows }: RunsFolded): ShadowDocument {
  const folded = shadows.find(({ startedAt }) => startedAt === document.startedAt) ?? none;
  const before = document.days.filter((one) => one.day <= day).reduce<Counts>((sum, one) => added(sum, one), none);
  return {
    ...document,
    ...added(added(document, before, -1), folded),
    differences: document.differences.filter(({ at }) => dayOf(at) > day),
    days: document.days.filter((one) => one.day > day),
  };
}

function reduce(document: ShadowDocument | null, recorded: RecordedEvent): ShadowDocument | null {
  const event = decodeEvent<TaskEvent | RunEvent | FoldEvent>(recorded);
  switch (event.type) {
    case 'task.shadow_started': {
      const id = recorded.stream.slice('task-'.length);
      const { organizationId } = recorded.metadata;
      return { ...noShadowFigures, id, organizationId, startedAt: event.data.shadow.startedAt, days: [] };
    }
    case 'task.shadow_ended':
    case 'task.archived':
      return null;
    case 'run.recorded':
      return document === null ? null : withRun(document, event.data);
    case 'runs.folded':
      return document === null ? null : withFold(document, event.data);
    default:
      return document;
  }
}

export const shadowsProjection: Projected<ShadowDocument> = {
  view: shadowsView,
  prefixes: ['task-', 'run-', 'stats-'],
  idOf,
  reduce,
};

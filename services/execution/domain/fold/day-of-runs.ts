/** What one day of a task's runs adds up to, event by event: what is left of the day once its events are gone. Pure. */
import { noFigures, phases, timeCounted, withRun, withSlots, type Phase, type Stretch } from '#contracts/figures';
import {
  dayEnd,
  dayStart,
  mostKeptOfADay,
  type FoldedShadow,
  type FoldedTransition,
  type FoldState,
  type RunsFolded,
} from '#contracts/retention';
import type { RunEvent } from '#contracts/run';
import type { ScheduleEvent } from '#contracts/schedule';
import { shadowCounts } from '#contracts/shadow';

type RecordedRun = Extract<RunEvent, { readonly type: 'run.recorded' }>['data'];
type TrueSince = FoldState['trueSince'];

const longestValue = 256;

/** What a day says, but for its events and how far folding has come. */
export type DayFigures = Pick<
  RunsFolded,
  'figures' | 'percentiles' | 'counted' | 'transitions' | 'transitionsLeftOut' | 'manualRunIds' | 'shadows'
>;

export interface DayOfRuns {
  add(event: RunEvent | ScheduleEvent): void;
  /** Closes the day. */
  figures(): DayFigures;
  /**
   * Since when the condition has been true that the first run behind the day found; `next` null: there is none, and the last
   * run of the day is the first that is left. With it the pages that are still pointed to.
   */
  left(next: RecordedRun | null): Pick<FoldState, 'trueSince' | 'pages'>;
}

/** By nearest rank, of values in their order. */
function rank(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

function transitionOf({ result, decision, notifications }: RecordedRun): FoldedTransition | null {
  const { transition, reason } = decision;
  if (transition === null) return null;
  const { value } = result.values;
  const isShort = typeof value === 'number' || (typeof value === 'string' && value.length <= longestValue);
  return {
    at: result.finishedAt,
    ...transition,
    reason,
    executionId: result.runId,
    value: isShort ? value : null,
    deliveryIds: notifications.map(({ deliveryId }) => deliveryId),
  };
}

interface Standing {
  readonly since: TrueSince;
  /** Of the run that the time began with. */
  readonly snapshotId: string | null;
  readonly screenshotId?: string | undefined;
}

/** As stored: what there is none of is left out. */
function pagesOf(episode: Standing, first: RecordedRun['result']): FoldState['pages'] {
  const ofEpisode = episode.screenshotId === undefined ? {} : { episode: episode.screenshotId };
  const ofFirst = first.screenshotId === undefined ? {} : { first: first.screenshotId };
  const screenshots = { ...ofEpisode, ...ofFirst };
  return {
    episode: episode.snapshotId,
    first: first.snapshotId,
    ...(Object.keys(screenshots).length === 0 ? {} : { screenshots }),
  };
}

function standingAfter(before: Standing, { result, alert }: RecordedRun): Standing {
  const { since } = before;
  if (alert.flapping === true || alert.condition !== 'true') return { since: null, snapshotId: null };
  if (since !== null && since.codeRevision === alert.codeRevision) return before;
  const { finishedAt: at, snapshotId, screenshotId } = result;
  return { since: { at, leftFrom: at, codeRevision: alert.codeRevision }, snapshotId, screenshotId };
}

/** `before`: how folding stood; its last day is an earlier one. */
export function createDayOfRuns(day: string, before: FoldState): DayOfRuns {
  const from = dayStart(day);
  const measured: Record<Phase, number[]> = { queueMs: [], fetchMs: [], parseMs: [], evaluateMs: [] };
  const transitions: FoldedTransition[] = [];
  const manualRunIds: string[] = [];
  const shadows = new Map<string, FoldedShadow>();
  let transitionsLeftOut = 0;
  let stretch: Stretch = { figures: noFigures, counted: null };
  let standing: Standing = {
    since: before.trueSince,
    snapshotId: before.pages.episode,
    screenshotId: before.pages.screenshots?.episode,
  };
  let last: RecordedRun | null = null;

  const addRun = (run: RecordedRun): void => {
    const { result, shadow } = run;
    stretch = withRun(stretch, run, from);
    if (result.status !== 'cancelled') for (const phase of phases) measured[phase].push(result.timings[phase]);
    const transition = transitionOf(run);
    if (transition !== null && transitions.length < mostKeptOfADay) transitions.push(transition);
    else if (transition !== null) transitionsLeftOut += 1;
    if (result.trigger === 'manual' && manualRunIds.length < mostKeptOfADay) manualRunIds.push(result.runId);
    if (shadow !== undefined) {
      const { startedAt } = shadow;
      const counts = shadowCounts(run);
      const known = shadows.get(startedAt);
      const sum = (name: keyof typeof counts): number => (known?.[name] ?? 0) + counts[name];
      shadows.set(startedAt, {
        startedAt,
        runs: sum('runs'),
        same: sum('same'),
        onlyLive: sum('onlyLive'),
        onlyShadow: sum('onlyShadow'),
        failed: sum('failed'),
      });
    }
    standing = standingAfter(standing, run);
    last = run;
  };

  return {
    add(event) {
      if (event.type === 'run.recorded') addRun(event.data);
      if (event.type !== 'slots.skipped') return;
      const { reason, slots } = event.data;
      stretch = { ...stretch, figures: withSlots(stretch.figures, reason, slots.count) };
    },

    figures() {
      const { figures, counted } = timeCounted(stretch, dayEnd(day));
      const of = (phase: Phase) => {
        const sorted = measured[phase].toSorted((one, other) => one - other);
        return { p50: rank(sorted, 0.5), p95: rank(sorted, 0.95) };
      };
      const percentiles =
        measured.queueMs.length === 0
          ? null
          : { queueMs: of('queueMs'), fetchMs: of('fetchMs'), parseMs: of('parseMs'), evaluateMs: of('evaluateMs') };
      return {
        figures,
        percentiles,
        counted,
        transitions,
        transitionsLeftOut,
        manualRunIds,
        shadows: [...shadows.values()],
      };
    },

    left(next) {
      const first = next ?? last;
      if (first === null) return { trueSince: before.trueSince, pages: before.pages };
      const left = next === null ? standing : standingAfter(standing, next);
      const { since } = left;
      return {
        trueSince: since === null ? null : { ...since, leftFrom: first.result.finishedAt },
        pages: pagesOf(left, first.result),
      };
    },
  };
}

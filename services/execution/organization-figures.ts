/** The figures of an organisation by hour and day: what those of its tasks add up to, whatever is folded of them. Pure. */
import { endedRuns, noFigures, type PhaseFigures } from '#contracts/figures';
import {
  dayMs,
  dayStart,
  dayOf,
  hourMs,
  sumId,
  type FiguresDocument,
  type OrganizationFigures,
} from '#contracts/retention';
import type { Change, Changed, Step, Sums } from '#eventing/sums';

export type Figures = FiguresDocument | OrganizationFigures;

const isSum = (document: Figures): document is OrganizationFigures => 'sum' in document;

export const taskFigures = (document: Figures | null): FiguresDocument | null =>
  document === null || isSum(document) ? null : document;

const summedPhases = ['fetchMs', 'evaluateMs'] as const;

const counts = [
  'folded',
  'succeeded',
  'failed',
  'skipped',
  'missed',
  'transitions',
  'notified',
  'trueMs',
  'falseMs',
  'endedTrue',
  'endedFalse',
] as const;
type Counts = Readonly<Record<(typeof counts)[number], number>>;

const nothing: Counts = {
  folded: 0,
  succeeded: 0,
  failed: 0,
  skipped: 0,
  missed: 0,
  transitions: 0,
  notified: 0,
  trueMs: 0,
  falseMs: 0,
  endedTrue: 0,
  endedFalse: 0,
};

/** From the last run that was counted to the end of the hour, or of the folded day. */
function restMs({ from, hour, counted }: FiguresDocument): number {
  const endMs = Date.parse(from) + (hour === null ? dayMs : hourMs);
  return counted === null ? 0 : Math.max(0, endMs - Date.parse(counted.at));
}

function countsOf(document: FiguresDocument | null): Counts {
  if (document === null) return nothing;
  const { figures, counted, hour } = document;
  const { succeeded, failed } = endedRuns(figures);
  const [isTrue, isFalse] = [counted?.condition === 'true', counted?.condition === 'false'];
  const rest = isTrue || isFalse ? restMs(document) : 0;
  return {
    folded: hour === null ? 1 : 0,
    succeeded,
    failed,
    skipped: figures.skipped,
    missed: figures.missed,
    transitions: figures.transitions,
    notified: figures.notified,
    trueMs: figures.trueMs + (isTrue ? rest : 0),
    falseMs: figures.falseMs + (isFalse ? rest : 0),
    endedTrue: isTrue ? 1 : 0,
    endedFalse: isFalse ? 1 : 0,
  };
}

/** A sum that is being changed: many changes cost one copy of it. */
type OpenPhase = { max: number; readonly classes: Record<string, number> };

interface OpenSum {
  readonly counts: Record<(typeof counts)[number], number>;
  readonly timings: Readonly<Record<(typeof summedPhases)[number], OpenPhase>>;
}

function openedPhase({ max, classes }: PhaseFigures): OpenPhase {
  return { max, classes: { ...classes } };
}

function openedSum(sum: OrganizationFigures | null): OpenSum {
  const { fetchMs, evaluateMs } = sum?.timings ?? noPhases;
  const numbers = sum ?? nothing;
  return {
    counts: Object.fromEntries(counts.map((name) => [name, numbers[name]])) as OpenSum['counts'],
    timings: { fetchMs: openedPhase(fetchMs), evaluateMs: openedPhase(evaluateMs) },
  };
}

function changePhase(sum: OpenPhase, before: PhaseFigures | null, after: PhaseFigures | null): void {
  const { classes } = sum;
  const add = (index: string, by: number): void => {
    const count = (classes[index] ?? 0) + by;
    if (count === 0) delete classes[index];
    else classes[index] = count;
  };
  const was = before?.classes ?? {};
  const is = after?.classes ?? {};
  for (const index in is) if (is[index] !== was[index]) add(index, (is[index] ?? 0) - (was[index] ?? 0));
  for (const index in was) if (is[index] === undefined) add(index, -(was[index] ?? 0));
  sum.max = Math.max(sum.max, after?.max ?? 0);
}

const noPhases = { fetchMs: noFigures.timings.fetchMs, evaluateMs: noFigures.timings.evaluateMs };

function idsOf({ before, after }: Change<Figures>): readonly string[] {
  const document = taskFigures(after ?? before);
  if (document === null) return [];
  const { organizationId, from, hour } = document;
  const day = sumId(organizationId, 'day', dayStart(dayOf(from)));
  // Of a day that is folded for one task the sums of its hours go, for all of them.
  return hour === null || after === null ? [day] : [sumId(organizationId, 'hour', from), day];
}

function change(open: OpenSum, before: FiguresDocument | null, after: FiguresDocument | null): void {
  const [was, is] = [countsOf(before), countsOf(after)];
  for (const name of counts) open.counts[name] += is[name] - was[name];
  for (const name of summedPhases) {
    changePhase(open.timings[name], before?.figures.timings[name] ?? null, after?.figures.timings[name] ?? null);
  }
}

/** `part`: one of those that it adds up. */
function closedSum({ counts: summed, timings }: OpenSum, id: string, part: FiguresDocument): OrganizationFigures {
  const { organizationId, from } = part;
  const isDay = id === sumId(organizationId, 'day', from);
  return {
    id,
    organizationId,
    from: isDay ? dayStart(dayOf(from)) : from,
    sum: isDay ? 'day' : 'hour',
    ...summed,
    timings,
  };
}

function changed(
  sum: Figures | null,
  id: string,
  steps: readonly Step<Figures>[],
): Changed<OrganizationFigures> | null {
  let open = sum === null || !isSum(sum) ? null : openedSum(sum);
  let last: { readonly revision: number; readonly part: FiguresDocument } | null = null;
  for (const step of steps) {
    const [before, after] = [taskFigures(step.before), taskFigures(step.after)];
    const part = after ?? before;
    if (part === null || (open === null && after === null)) continue;
    open ??= openedSum(null);
    change(open, before, after);
    last = { revision: step.revision, part };
    const { counts: summed } = open;
    if (counts.every((name) => summed[name] === 0)) open = null;
  }
  if (last === null) return null;
  return { revision: last.revision, document: open === null ? null : closedSum(open, id, last.part) };
}

export const organizationSums: Sums<Figures> = {
  idsOf,
  changed,

  // Slots that have no run are told by events that are in clear, until they are folded.
  purged(document) {
    const figures = taskFigures(document);
    if (figures === null || figures.hour === null) return null;
    const { skipped, missed } = figures.figures;
    return { ...figures, figures: { ...noFigures, skipped, missed }, counted: null };
  },

  recountedBy(sum, gone) {
    const figures = taskFigures(gone);
    if (!isSum(sum) || figures === null) return null;
    const isLargest = summedPhases.some((name) => figures.figures.timings[name].max >= sum.timings[name].max);
    if (!isLargest) return null;
    const lastMs = Date.parse(sum.from) + (sum.sum === 'hour' ? hourMs : dayMs) - 1;
    return [
      { field: 'organizationId', equals: sum.organizationId },
      { field: 'sum', equals: null },
      { field: 'from', from: sum.from, to: new Date(lastMs).toISOString() },
    ];
  },

  recounted(sum, parts, gone) {
    if (!isSum(sum)) return sum;
    const purgedTask = taskFigures(gone)?.notificationId;
    const left = parts.flatMap((part) => taskFigures(part) ?? []).filter((one) => one.notificationId !== purgedTask);
    const largest = (name: (typeof summedPhases)[number]): PhaseFigures => ({
      max: left.reduce((most, { figures }) => Math.max(most, figures.timings[name].max), 0),
      classes: sum.timings[name].classes,
    });
    return { ...sum, timings: { fetchMs: largest('fetchMs'), evaluateMs: largest('evaluateMs') } };
  },
};

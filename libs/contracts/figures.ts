/**
 * Figures of a task's runs over a stretch of time: counts, how long each part took, how long the condition was true, and what
 * was reported. Those of two stretches add up to those of both, so that hours make days and days make months.
 */
import { z } from 'zod';
import { ownMember } from '#runtime/json';
import { storedTimestamp } from './common.js';
import type { Decision, Transition } from './policy.js';
import type { AlertState, RunResult } from './run.js';

export const phases = ['queueMs', 'fetchMs', 'parseMs', 'evaluateMs'] as const;
export type Phase = (typeof phases)[number];

const counts = z.record(z.string(), z.int());
export type Counts = z.infer<typeof counts>;

/** `classes`: how many were in each, by its number; see `classOf`. */
const phaseFigures = z.object({ max: z.number(), classes: counts });
export type PhaseFigures = z.infer<typeof phaseFigures>;

const numberAt = z.object({ at: storedTimestamp, value: z.number() });
export type NumberAt = z.infer<typeof numberAt>;

const numberFigures = z.object({
  count: z.int(),
  sum: z.number(),
  min: numberAt,
  max: numberAt,
  first: numberAt,
  last: numberAt,
});
export type NumberFigures = z.infer<typeof numberFigures>;

/** `more`: changes that were left out; `last` is the text behind them all. */
const textFigures = z.object({
  changes: z.array(z.object({ at: storedTimestamp, value: z.string() })),
  last: z.string(),
  more: z.int(),
});
export type TextFigures = z.infer<typeof textFigures>;

export const runFigures = z.object({
  /** Runs that were recorded, by how they ended, by what the code answered, and by why they notified or not. */
  status: counts,
  outcome: counts,
  reasons: counts,
  /** Slots that have no run. */
  skipped: z.int(),
  missed: z.int(),
  /** Runs that changed condition or health, and those that made messages. */
  transitions: z.int(),
  notified: z.int(),
  timings: z.object({
    queueMs: phaseFigures,
    fetchMs: phaseFigures,
    parseMs: phaseFigures,
    evaluateMs: phaseFigures,
  }),
  /** How long the condition was known to be so. */
  trueMs: z.int(),
  falseMs: z.int(),
  /** What the code reported, by name. */
  numbers: z.record(z.string(), numberFigures),
  texts: z.record(z.string(), textFigures),
});
export type RunFigures = z.infer<typeof runFigures>;

/** Up to when the time of the condition is counted, and how it has been since. */
export const countedTime = z.object({ at: storedTimestamp, condition: z.enum(['true', 'false', 'unknown']) });
export type CountedTime = z.infer<typeof countedTime>;

export interface Stretch {
  readonly figures: RunFigures;
  /** null: nothing is known of the condition yet. */
  readonly counted: CountedTime | null;
}

/** What of a recorded run is counted. */
export interface CountedRun {
  readonly result: Pick<RunResult, 'status' | 'outcome' | 'timings' | 'values' | 'finishedAt'>;
  readonly decision: Pick<Decision, 'notify' | 'reason' | 'transition'>;
  readonly alert: Pick<AlertState, 'condition' | 'flapping'>;
}

/** So many names of values are counted, `value` always among them; texts are cut, and so many changes of each are kept. */
const mostNames = 20;
const longestText = 256;
export const mostTextChanges = 100;

/** Each class is so many times as wide as the one below, so that its middle is within 4 % of all it holds. */
const classRatio = 1.08;
const smallestMs = 0.1;

export function classOf(ms: number): number {
  return ms < smallestMs ? 0 : 1 + Math.floor(Math.log(ms / smallestMs) / Math.log(classRatio));
}

function middleOf(index: number): number {
  return index === 0 ? 0 : smallestMs * classRatio ** (index - 0.5);
}

const noPhase: PhaseFigures = { max: 0, classes: {} };

export const noFigures: RunFigures = {
  status: {},
  outcome: {},
  reasons: {},
  skipped: 0,
  missed: 0,
  transitions: 0,
  notified: 0,
  timings: { queueMs: noPhase, fetchMs: noPhase, parseMs: noPhase, evaluateMs: noPhase },
  trueMs: 0,
  falseMs: 0,
  numbers: {},
  texts: {},
};

/** Members in the order of their names: the bytes of a document must not tell in which order things came. */
function sorted<Value>(entries: Iterable<readonly [string, Value]>): Record<string, Value> {
  return Object.fromEntries([...entries].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function counted(before: Counts, name: string, by = 1): Counts {
  const known = ownMember(before, name);
  return known === undefined
    ? sorted([...Object.entries(before), [name, by] as const])
    : { ...before, [name]: known + by };
}

function addedCounts(one: Counts, other: Counts): Counts {
  return Object.entries(other).reduce((sum, [name, count]) => counted(sum, name, count), one);
}

function withTiming({ max, classes }: PhaseFigures, ms: number): PhaseFigures {
  const index = String(classOf(ms));
  return { max: Math.max(max, ms), classes: { ...classes, [index]: (classes[index] ?? 0) + 1 } };
}

export function addedPhases(one: PhaseFigures, other: PhaseFigures): PhaseFigures {
  const classes = { ...one.classes };
  for (const [index, count] of Object.entries(other.classes)) classes[index] = (classes[index] ?? 0) + count;
  return { max: Math.max(one.max, other.max), classes };
}

/** By nearest rank, within 4 % (times below a tenth of a millisecond count as none); null where nothing was measured. */
export function percentileOf({ classes, max }: PhaseFigures, share: number): number | null {
  // Members whose names are numbers stand in their order.
  const ascending = Object.entries(classes);
  const total = ascending.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(share * total));
  for (const [index, count] of ascending) {
    left -= count;
    if (left <= 0) return Math.min(middleOf(Number(index)), max);
  }
  return null;
}

function withNumber(before: NumberFigures | undefined, last: NumberAt): NumberFigures {
  if (before === undefined) return { count: 1, sum: last.value, min: last, max: last, first: last, last };
  const { count, sum, min, max, first } = before;
  return {
    count: count + 1,
    sum: sum + last.value,
    min: last.value < min.value ? last : min,
    max: last.value > max.value ? last : max,
    first,
    last,
  };
}

function addedNumbers(one: NumberFigures | undefined, other: NumberFigures): NumberFigures {
  if (one === undefined) return other;
  return {
    count: one.count + other.count,
    sum: one.sum + other.sum,
    min: other.min.value < one.min.value ? other.min : one.min,
    max: other.max.value > one.max.value ? other.max : one.max,
    first: one.first,
    last: other.last,
  };
}

function withText(before: TextFigures | undefined, at: string, text: string): TextFigures {
  const value = text.slice(0, longestText);
  if (before === undefined) return { changes: [{ at, value }], last: value, more: 0 };
  if (before.last === value) return before;
  const { changes, more } = before;
  return changes.length < mostTextChanges
    ? { changes: [...changes, { at, value }], last: value, more }
    : { changes, last: value, more: more + 1 };
}

function addedTexts(one: TextFigures | undefined, other: TextFigures): TextFigures {
  if (one === undefined) return other;
  const [first, ...rest] = other.changes;
  const changes = first?.value === one.last ? rest : other.changes;
  const kept = [...one.changes, ...changes].slice(0, mostTextChanges);
  const more = one.more + other.more + one.changes.length + changes.length - kept.length;
  return { changes: kept, last: other.last, more };
}

function hasRoom(figures: RunFigures, name: string): boolean {
  if (name === 'value' || Object.hasOwn(figures.numbers, name) || Object.hasOwn(figures.texts, name)) return true;
  return Object.keys(figures.numbers).length + Object.keys(figures.texts).length < mostNames;
}

function withValues(before: RunFigures, values: RunResult['values'], at: string): RunFigures {
  let figures = before;
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'number' && typeof value !== 'string') continue;
    if (!hasRoom(figures, name)) continue;
    const { numbers, texts } = figures;
    figures =
      typeof value === 'number'
        ? {
            ...figures,
            numbers: sorted([...Object.entries(numbers), [name, withNumber(ownMember(numbers, name), { at, value })]]),
          }
        : {
            ...figures,
            texts: sorted([...Object.entries(texts), [name, withText(ownMember(texts, name), at, value)]]),
          };
  }
  return figures;
}

type Known = CountedTime['condition'];

/** What flaps says nothing: neither side of it means anything. */
function knownCondition(shown: string): Known {
  return shown === 'true' || shown === 'false' ? shown : 'unknown';
}

/** The condition that a run found, and the one that it left behind. */
export function conditionsOf({ decision, alert }: Pick<CountedRun, 'decision' | 'alert'>): {
  readonly before: Known;
  readonly after: Known;
} {
  const after = knownCondition(alert.flapping === true ? 'flapping' : alert.condition);
  const transition: Transition | null = decision.transition;
  return { before: transition?.kind === 'condition' ? knownCondition(transition.from) : after, after };
}

/** The time from where it was counted last up to `until` belongs to the condition of then. */
export function timeCounted(stretch: Stretch, until: string): Stretch {
  const { figures, counted: last } = stretch;
  if (last === null || last.at >= until) return stretch;
  const ms = Date.parse(until) - Date.parse(last.at);
  const { trueMs, falseMs } = figures;
  const time = {
    trueMs: trueMs + (last.condition === 'true' ? ms : 0),
    falseMs: falseMs + (last.condition === 'false' ? ms : 0),
  };
  return { figures: { ...figures, ...time }, counted: { at: until, condition: last.condition } };
}

function measured(before: RunFigures['timings'], timings: RunResult['timings']): RunFigures['timings'] {
  return {
    queueMs: withTiming(before.queueMs, timings.queueMs),
    fetchMs: withTiming(before.fetchMs, timings.fetchMs),
    parseMs: withTiming(before.parseMs, timings.parseMs),
    evaluateMs: withTiming(before.evaluateMs, timings.evaluateMs),
  };
}

/** `from`: where the stretch begins; what a first run found holds since then. */
export function withRun(stretch: Stretch, run: CountedRun, from: string): Stretch {
  const { status, outcome, timings, values, finishedAt } = run.result;
  const { notify, reason, transition } = run.decision;
  const { before, after } = conditionsOf(run);
  const begun = stretch.counted === null ? { ...stretch, counted: { at: from, condition: before } } : stretch;
  const { figures, counted: until } = timeCounted(begun, finishedAt);
  const found = {
    ...figures,
    status: counted(figures.status, status),
    outcome: counted(figures.outcome, String(outcome)),
    reasons: counted(figures.reasons, reason),
    transitions: figures.transitions + (transition === null ? 0 : 1),
    notified: figures.notified + (notify ? 1 : 0),
    // One that never began took no time.
    timings: status === 'cancelled' ? figures.timings : measured(figures.timings, timings),
  };
  return {
    figures: withValues(found, values, finishedAt),
    counted: { at: until?.at ?? finishedAt, condition: after },
  };
}

/** Slots that have no run: nobody fired them in time (`missed`), or they were passed over. */
export function withSlots(figures: RunFigures, reason: string, count: number): RunFigures {
  return reason === 'missed'
    ? { ...figures, missed: figures.missed + count }
    : { ...figures, skipped: figures.skipped + count };
}

/** Of two stretches, the later one second. */
export function addedFigures(one: RunFigures, other: RunFigures): RunFigures {
  const names = <Value>(first: Record<string, Value>, second: Record<string, Value>): string[] =>
    Object.keys({ ...first, ...second });
  return {
    status: addedCounts(one.status, other.status),
    outcome: addedCounts(one.outcome, other.outcome),
    reasons: addedCounts(one.reasons, other.reasons),
    skipped: one.skipped + other.skipped,
    missed: one.missed + other.missed,
    transitions: one.transitions + other.transitions,
    notified: one.notified + other.notified,
    timings: {
      queueMs: addedPhases(one.timings.queueMs, other.timings.queueMs),
      fetchMs: addedPhases(one.timings.fetchMs, other.timings.fetchMs),
      parseMs: addedPhases(one.timings.parseMs, other.timings.parseMs),
      evaluateMs: addedPhases(one.timings.evaluateMs, other.timings.evaluateMs),
    },
    trueMs: one.trueMs + other.trueMs,
    falseMs: one.falseMs + other.falseMs,
    numbers: sorted(
      names(one.numbers, other.numbers).map((name) => {
        const [before, after] = [ownMember(one.numbers, name), ownMember(other.numbers, name)];
        return [name, after === undefined ? (before as NumberFigures) : addedNumbers(before, after)] as const;
      }),
    ),
    texts: sorted(
      names(one.texts, other.texts).map((name) => {
        const [before, after] = [ownMember(one.texts, name), ownMember(other.texts, name)];
        return [name, after === undefined ? (before as TextFigures) : addedTexts(before, after)] as const;
      }),
    ),
  };
}

/** Runs that ended: by themselves, failed, or out of time. */
export function endedRuns({ status }: Pick<RunFigures, 'status'>): {
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
} {
  const succeeded = status['succeeded'] ?? 0;
  const failed = (status['failed'] ?? 0) + (status['timed_out'] ?? 0);
  return { runs: succeeded + failed, succeeded, failed };
}

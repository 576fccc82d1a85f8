/** Statistics of an organisation, put together from the sums of its hours and days. Pure. */
import { addedPhases, noFigures, percentileOf, type PhaseFigures } from '#contracts/figures';
import { dayEnd, dayMs, dayOf, dayStart, hourMs, type OrganizationFigures } from '#contracts/retention';
import { bucketSizes, type Bucket, type Percentiles, type Range } from './buckets.js';

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly sums: readonly OrganizationFigures[];
  readonly isFolded: boolean;
}

const timestamp = (ms: number): string => new Date(ms).toISOString();
const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;
const endMsOf = ({ from, sum }: OrganizationFigures): number => Date.parse(from) + (sum === 'hour' ? hourMs : dayMs);

/** Hours of a day that is folded for any task are one bucket, as long as the day. */
function stretches({ fromMs, toMs, size }: Range, sums: readonly OrganizationFigures[]): Stretch[] {
  const byId = new Map(sums.map((one) => [`${one.sum} ${one.from}`, one]));
  const found: Stretch[] = [];
  for (let at = fromMs; at < toMs;) {
    const day = byId.get(`day ${dayStart(dayOf(timestamp(at)))}`);
    const isFolded = day !== undefined && day.folded > 0;
    const isWholeDay = isFolded || size === 'day';
    const beginMs = isWholeDay ? Date.parse(dayStart(dayOf(timestamp(at)))) : at;
    const endMs = isWholeDay ? Date.parse(dayEnd(dayOf(timestamp(at)))) : at + bucketSizes[size];
    const sum = isWholeDay ? day : byId.get(`hour ${timestamp(at)}`);
    found.push({ fromMs: beginMs, toMs: endMs, sums: sum === undefined ? [] : [sum], isFolded });
    at = endMs;
  }
  return found;
}

function percentiles(measured: PhaseFigures): Percentiles {
  const [p50, p95] = [percentileOf(measured, 0.5), percentileOf(measured, 0.95)];
  if (p50 === null || p95 === null) return { p50: null, p95: null, max: null };
  return { p50: rounded(p50), p95: rounded(p95), max: measured.max };
}

type Counted = 'succeeded' | 'failed' | 'skipped' | 'missed' | 'transitions' | 'notified' | 'trueMs' | 'falseMs';

/** `now`: the sum of the hour that is under way, where there is one: what is left of it has not been yet. */
function shown({ fromMs, toMs, sums, isFolded }: Stretch, now: OrganizationFigures | null, nowMs: number): Bucket {
  const count = (name: Counted): number => sums.reduce((total, one) => total + one[name], 0);
  const phase = (name: 'fetchMs' | 'evaluateMs'): Percentiles =>
    percentiles(sums.reduce((all, { timings }) => addedPhases(all, timings[name]), noFigures.timings[name]));
  const isNow = now !== null && nowMs >= fromMs && nowMs < toMs;
  const aheadMs = isNow ? endMsOf(now) - nowMs : 0;
  const trueMs = count('trueMs') - (isNow ? now.endedTrue * aheadMs : 0);
  const knownMs = trueMs + count('falseMs') - (isNow ? now.endedFalse * aheadMs : 0);
  const [succeeded, failed] = [count('succeeded'), count('failed')];
  return {
    from: timestamp(fromMs),
    to: timestamp(toMs),
    runs: succeeded + failed,
    succeeded,
    failed,
    skipped: count('skipped'),
    missed: count('missed'),
    trueShare: knownMs <= 0 ? null : Math.round((trueMs / knownMs) * 1e6) / 1e6,
    transitions: count('transitions'),
    notified: count('notified'),
    fetchMs: phase('fetchMs'),
    evaluateMs: phase('evaluateMs'),
    folded: isFolded,
  };
}

/** `sums`: those of the days of the range and, where hours are asked for, of its hours. */
export function organizationStatistics(
  range: Range,
  sums: readonly OrganizationFigures[],
  { now, nowMs }: { readonly now: OrganizationFigures | null; readonly nowMs: number },
): { readonly buckets: Bucket[]; readonly summary: Bucket } {
  const filled = stretches(range, sums);
  const summary: Stretch = {
    fromMs: filled[0]?.fromMs ?? range.fromMs,
    toMs: filled.at(-1)?.toMs ?? range.toMs,
    sums: filled.flatMap((one) => one.sums),
    isFolded: filled.some(({ isFolded }) => isFolded),
  };
  return { buckets: filled.map((one) => shown(one, now, nowMs)), summary: shown(summary, now, nowMs) };
}

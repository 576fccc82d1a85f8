/** Statistics as they are answered: the figures of hours and folded days, put together into buckets of time. Pure. */
import { addedFigures, endedRuns, noFigures, percentileOf, type Phase, type RunFigures } from '#contracts/figures';
import { dayEnd, dayMs, dayOf, dayStart, hourMs, type FiguresDocument } from '#contracts/retention';

export const bucketSizes = { hour: hourMs, day: dayMs } as const;
export type BucketSize = keyof typeof bucketSizes;
export const mostBuckets = 1_000;

export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly max: number | null;
}

export interface Bucket {
  readonly from: string;
  readonly to: string;
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly missed: number;
  readonly trueShare: number | null;
  readonly transitions: number;
  readonly notified: number;
  readonly fetchMs: Percentiles;
  readonly evaluateMs: Percentiles;
  readonly folded: boolean;
}

const timestamp = (ms: number): string => new Date(ms).toISOString();

/** One stretch of the answer while it is filled. */
interface Filling {
  readonly fromMs: number;
  readonly toMs: number;
  figures: RunFigures;
  trueMs: number;
  falseMs: number;
  isFolded: boolean;
  /** The one document that it is made of; null: none or several. */
  only: FiguresDocument | null;
  documents: number;
}

const empty = (fromMs: number, toMs: number): Filling => ({
  fromMs,
  toMs,
  figures: noFigures,
  trueMs: 0,
  falseMs: 0,
  isFolded: false,
  only: null,
  documents: 0,
});

const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;

function percentilesOf({ figures, only, documents }: Filling, phase: Phase): Percentiles {
  const measured = figures.timings[phase];
  const exact = documents === 1 ? only?.folded?.percentiles?.[phase] : undefined;
  const p50 = exact?.p50 ?? percentileOf(measured, 0.5);
  const p95 = exact?.p95 ?? percentileOf(measured, 0.95);
  if (p50 === null || p95 === null) return { p50: null, p95: null, max: null };
  return { p50: rounded(p50), p95: rounded(p95), max: measured.max };
}

function shown(filling: Filling): Bucket {
  const { fromMs, toMs, figures, trueMs, falseMs, isFolded } = filling;
  const { skipped, missed, transitions, notified } = figures;
  const knownMs = trueMs + falseMs;
  return {
    from: timestamp(fromMs),
    to: timestamp(toMs),
    ...endedRuns(figures),
    skipped,
    missed,
    trueShare: knownMs === 0 ? null : Math.round((trueMs / knownMs) * 1e6) / 1e6,
    transitions,
    notified,
    fetchMs: percentilesOf(filling, 'fetchMs'),
    evaluateMs: percentilesOf(filling, 'evaluateMs'),
    folded: isFolded,
  };
}

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  readonly size: BucketSize;
}

/** Out to whole buckets. */
export function wholeRange({ fromMs, toMs, size }: Range): Range {
  const step = bucketSizes[size];
  return { fromMs: Math.floor(fromMs / step) * step, toMs: Math.ceil(toMs / step) * step, size };
}

export const bucketsIn = ({ fromMs, toMs, size }: Range): number => (toMs - fromMs) / bucketSizes[size];

/** Where documents of the range may begin: a folded day stands at its first moment. */
export const documentsFrom = ({ fromMs }: Range): string => dayStart(dayOf(timestamp(fromMs)));

function stretches({ fromMs, toMs, size }: Range, foldedDays: ReadonlySet<string>): Filling[] {
  const found: Filling[] = [];
  for (let at = fromMs; at < toMs;) {
    const day = dayOf(timestamp(at));
    const isWholeDay = size === 'hour' && foldedDays.has(day);
    const begin = isWholeDay ? Date.parse(dayStart(day)) : at;
    const end = isWholeDay ? Date.parse(dayEnd(day)) : at + bucketSizes[size];
    found.push(empty(begin, end));
    at = end;
  }
  return found;
}

const endOf = ({ from, hour }: FiguresDocument): number => Date.parse(from) + (hour === null ? dayMs : hourMs);

type Condition = NonNullable<FiguresDocument['counted']>['condition'];

export interface StatisticsOptions {
  /** Whole, see `wholeRange`. */
  readonly range: Range;
  readonly nowMs: number;
  /** The condition of a task behind the last document before the range; absent: it is not known. */
  readonly conditionBefore?: Condition;
}

/** Takes documents of one task, in the order of their beginning. */
export class StatisticsBuilder {
  readonly #options: StatisticsOptions;
  readonly #documents: FiguresDocument[] = [];
  readonly #foldedDays = new Set<string>();
  #conditionBefore: Condition;

  constructor(options: StatisticsOptions) {
    this.#options = options;
    this.#conditionBefore = options.conditionBefore ?? 'unknown';
  }

  add(document: FiguresDocument): void {
    const { range } = this.#options;
    if (document.hour === null) this.#foldedDays.add(dayOf(document.from));
    else if (Date.parse(document.from) < range.fromMs) {
      this.#conditionBefore = document.counted?.condition ?? this.#conditionBefore;
      return;
    }
    this.#documents.push(document);
  }

  answer(): { readonly buckets: Bucket[]; readonly summary: Bucket } {
    const { range, nowMs } = this.#options;
    const filled = stretches(range, this.#foldedDays);
    const first = filled[0]?.fromMs ?? range.fromMs;
    const last = filled.at(-1)?.toMs ?? range.toMs;
    const total = empty(first, last);
    const placeOf = (ms: number): Filling | undefined => filled.find(({ fromMs, toMs }) => ms >= fromMs && ms < toMs);
    let place = 0;

    const count = (fromMs: number, toMs: number, condition: Condition): void => {
      const end = Math.min(toMs, nowMs, last);
      if (condition === 'unknown') return;
      for (let at = Math.max(fromMs, first); at < end;) {
        while ((filled[place]?.toMs ?? Infinity) <= at) place += 1;
        while (place > 0 && (filled[place]?.fromMs ?? 0) > at) place -= 1;
        const bucket = filled[place];
        if (bucket === undefined) return;
        const until = Math.min(end, bucket.toMs);
        for (const one of [bucket, total]) {
          if (condition === 'true') one.trueMs += until - at;
          else one.falseMs += until - at;
        }
        at = until;
      }
    };

    let counted = { atMs: first, condition: this.#conditionBefore };
    for (const document of this.#documents) {
      const beginMs = Date.parse(document.from);
      const bucket = placeOf(Math.max(beginMs, first));
      if (bucket === undefined) continue;
      const figures = { ...document.figures, numbers: {}, texts: {} };
      for (const one of [bucket, total]) {
        one.figures = addedFigures(one.figures, figures);
        one.documents += 1;
        one.only = document;
        one.isFolded ||= document.hour === null;
      }
      if (document.counted === null) continue;
      count(counted.atMs, beginMs, counted.condition);
      for (const one of [bucket, total]) {
        one.trueMs += document.figures.trueMs;
        one.falseMs += document.figures.falseMs;
      }
      count(Date.parse(document.counted.at), endOf(document), document.counted.condition);
      counted = { atMs: endOf(document), condition: document.counted.condition };
    }
    count(counted.atMs, last, counted.condition);
    return { buckets: filled.map(shown), summary: shown(total) };
  }
}

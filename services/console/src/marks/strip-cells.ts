/** Runs as the cells of a strip: one each, or where there are more runs than cells, the worst of a span. */

export interface StripRun {
  readonly id: string;
  readonly at: string;
  readonly status: string;
  readonly outcome: boolean | null;
  readonly notified: boolean;
}

export type CellKind = 'failed' | 'met' | 'not-met' | 'skipped';

export interface Cell {
  readonly kind: CellKind;
  /** A message went out for one of its runs. */
  readonly notified: boolean;
  /** The worst run of the span, the last of several. */
  readonly run: StripRun;
  readonly count: number;
}

export function kindOf({ status, outcome }: Pick<StripRun, 'status' | 'outcome'>): CellKind {
  if (status === 'skipped' || status === 'cancelled' || status === 'queued' || status === 'running') return 'skipped';
  if (status === 'failed' || status === 'timed_out') return 'failed';
  return outcome === true ? 'met' : 'not-met';
}

const worstFirst: readonly CellKind[] = ['failed', 'met', 'not-met', 'skipped'];

/** `runs` oldest first. */
export function cellsOf(runs: readonly StripRun[], count: number): readonly Cell[] {
  const perCell = Math.max(1, Math.ceil(runs.length / count));
  const cells: Cell[] = [];
  for (let start = 0; start < runs.length; start += perCell) {
    const span = runs.slice(start, start + perCell);
    const kind = worstFirst.find((candidate) => span.some((run) => kindOf(run) === candidate)) ?? 'skipped';
    const run = span.findLast((candidate) => kindOf(candidate) === kind);
    if (run === undefined) continue;
    cells.push({ kind, run, notified: span.some(({ notified }) => notified), count: span.length });
  }
  return cells;
}

/** How many cells are of each kind, for the sentence that screen readers say. */
export function countsOf(runs: readonly StripRun[]): Readonly<Record<CellKind, number>> {
  const counts = { failed: 0, met: 0, 'not-met': 0, skipped: 0 };
  for (const run of runs) counts[kindOf(run)] += 1;
  return counts;
}

/** A cell where it stands: from the cell `index` on, over so many. */
export interface PlacedCell {
  readonly cell: Cell;
  readonly index: number;
  readonly span: number;
}

/** As many cells as there are runs, the newest at the right edge. */
export function cellsAtEnd(runs: readonly StripRun[], count: number): readonly PlacedCell[] {
  const cells = cellsOf(runs, count);
  return cells.map((cell, index) => ({ cell, index: count - cells.length + index, span: 1 }));
}

/** What is known of a time without its single runs. */
export interface StripBucket {
  readonly from: string;
  readonly to: string;
  readonly runs: number;
  readonly failed: number;
  readonly skipped: number;
  readonly missed: number;
  readonly notified: number;
  readonly trueShare: number | null;
}

export interface StripTime {
  readonly from: number;
  readonly to: number;
  /** From here on every run is given; before it, the buckets tell. */
  readonly knownFrom: number;
}

function ofBucket({ from, runs, failed, skipped, missed, notified, trueShare }: StripBucket): Cell | null {
  if (runs + skipped + missed === 0) return null;
  const status = failed > 0 ? 'failed' : runs === 0 ? 'skipped' : 'succeeded';
  const run: StripRun = { id: from, at: from, status, outcome: (trueShare ?? 0) > 0, notified: notified > 0 };
  return { kind: kindOf(run), run, notified: notified > 0, count: runs + skipped + missed };
}

/** Cells on a time axis: each shows the worst of its span, and where nothing ran it stays empty. `runs` oldest first. */
export function cellsOverTime(
  runs: readonly StripRun[],
  buckets: readonly StripBucket[],
  { from, to, knownFrom }: StripTime,
  count: number,
): readonly PlacedCell[] {
  const width = (to - from) / count;
  const indexOf = (time: number): number => Math.max(0, Math.min(count - 1, Math.floor((time - from) / width)));
  const firstKnown = indexOf(knownFrom);
  const before = buckets.flatMap((bucket): readonly PlacedCell[] => {
    const [start, end] = [Math.max(from, Date.parse(bucket.from)), Math.min(knownFrom, Date.parse(bucket.to))];
    const cell = ofBucket(bucket);
    if (cell === null || end <= start) return [];
    const index = indexOf(start);
    const last = Math.min(indexOf(end - 1), firstKnown - 1);
    return last < index ? [] : [{ cell, index, span: last - index + 1 }];
  });
  const grouped = new Map<number, StripRun[]>();
  for (const run of runs) {
    const time = Date.parse(run.at);
    if (time < from || time > to) continue;
    const index = indexOf(time);
    grouped.set(index, [...(grouped.get(index) ?? []), run]);
  }
  const known = [...grouped].flatMap(([index, group]) =>
    cellsOf(group, 1).map((cell): PlacedCell => ({ cell, index, span: 1 })),
  );
  return [...before, ...known.sort((one, other) => one.index - other.index)];
}

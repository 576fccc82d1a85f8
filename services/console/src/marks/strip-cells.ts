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

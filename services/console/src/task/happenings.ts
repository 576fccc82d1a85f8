/** What happened to a task, from its runs and its edits: what changed nothing is folded into a number. */
import type { Execution, HistoryEntry } from '../api/types.js';

export type Happening =
  | { readonly kind: 'run'; readonly at: string; readonly run: Execution }
  | { readonly kind: 'edit'; readonly at: string; readonly entry: HistoryEntry }
  | { readonly kind: 'skipped'; readonly at: string; readonly run: Execution }
  | { readonly kind: 'folded'; readonly at: string; readonly runs: readonly Execution[] };

/** A run that a person would want to see in a list of what happened. */
export function isNotable(run: Execution, before: Execution | undefined): boolean {
  if (run.decision?.notify === true || run.decision?.transition != null) return true;
  if (before === undefined) return true;
  return before.outcome !== run.outcome || before.error?.reason !== run.error?.reason;
}

export const timeOfRun = (run: Execution): string => run.finishedAt ?? run.scheduledFor;

/** `runs` and `edits` newest first; so is what comes out. */
export function happeningsOf(runs: readonly Execution[], edits: readonly HistoryEntry[]): readonly Happening[] {
  const all: Happening[] = [];
  let folded: Execution[] = [];
  const fold = (): void => {
    const [first] = folded;
    if (first !== undefined) all.push({ kind: 'folded', at: timeOfRun(first), runs: folded });
    folded = [];
  };
  const pending = [...edits];
  for (const [index, run] of runs.entries()) {
    const at = timeOfRun(run);
    for (let entry = pending[0]; entry !== undefined && entry.at > at; entry = pending[0]) {
      fold();
      all.push({ kind: 'edit', at: entry.at, entry });
      pending.shift();
    }
    if (run.status === 'queued' || run.status === 'running') continue;
    if (run.status === 'skipped') {
      fold();
      all.push({ kind: 'skipped', at, run });
    } else if (
      isNotable(
        run,
        runs.slice(index + 1).find(({ status }) => status !== 'skipped'),
      )
    ) {
      fold();
      all.push({ kind: 'run', at, run });
    } else folded.push(run);
  }
  fold();
  return all;
}

/** The edits within the range of the runs that are known. */
export function editsSince(edits: readonly HistoryEntry[], from: string): readonly HistoryEntry[] {
  return edits.filter(({ at }) => at >= from);
}

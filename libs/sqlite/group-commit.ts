/** Group commit: writes that arrive together share one transaction, and so one fsync. */
import { inTransaction, type Database } from './database.js';

interface Pending<Work, Result> {
  readonly work: Work;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommit<Work, Result> {
  /** Resolves once the transaction that holds the work is committed; rejects where it could not be, and then nothing of it is kept. */
  submit(work: Work): Promise<Result>;
  /** Commits what waits. */
  flush(): void;
}

/** At most this many writes in one transaction, so that the first does not wait for a long tail. */
const groupLimit = 200;
/**
 * Under load a group gathers after the last one for as long as two commits take: an fsync costs as much for one write as
 * for a hundred, and on a slow disk this thread would otherwise do little else.
 */
const commitsPerGathering = 2;
const longestGatheringMs = 10;

export interface GroupCommitOptions {
  /** A group gathers for at least this long after the last one, where nobody waits for its writes meanwhile. */
  readonly gatherAtLeastMs?: number;
  /** The same where the last group had several: a page of the file that several writes change is then written once. */
  readonly gatherSeveralMs?: number;
}

/**
 * `write` is called inside the transaction for each work in turn; `committed` after it, before the promises resolve.
 * What arrives within one turn of the event loop is written together, and what arrives soon after a commit waits for
 * more to come; so a lone write waits for nothing, and a stream of them costs few commits.
 */
export function createGroupCommit<Work, Result>(
  database: Database,
  write: (work: Work) => Result,
  committed: (results: readonly Result[]) => void,
  { gatherAtLeastMs = 0, gatherSeveralMs = gatherAtLeastMs }: GroupCommitOptions = {},
): GroupCommit<Work, Result> {
  let pending: Pending<Work, Result>[] = [];
  let scheduled = false;
  let lastFlushMs = -Infinity;
  let gatherMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    scheduled = false;
    clearTimeout(timer);
    if (pending.length === 0) return;
    const startedMs = performance.now();
    const atLeastMs = pending.length > 1 ? gatherSeveralMs : gatherAtLeastMs;
    while (pending.length > 0) {
      const group = pending.slice(0, groupLimit);
      pending = pending.slice(groupLimit);
      let results: Result[];
      try {
        results = inTransaction(database, () => group.map(({ work }) => write(work)));
      } catch (error) {
        for (const { reject } of group) reject(error);
        continue;
      }
      committed(results);
      for (const [index, result] of results.entries()) group[index]?.resolve(result);
    }
    lastFlushMs = performance.now();
    gatherMs = Math.max(atLeastMs, Math.min(longestGatheringMs, (lastFlushMs - startedMs) * commitsPerGathering));
  };

  return {
    submit(work) {
      return new Promise((resolve, reject) => {
        pending.push({ work, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        if (performance.now() - lastFlushMs < gatherMs) timer = setTimeout(flush, gatherMs);
        else setImmediate(flush);
      });
    },
    flush,
  };
}

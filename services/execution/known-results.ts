/** What this process found of pages that have not changed since: kept in memory, bounded, and never needed for a right answer. */
import type { RunResult } from '#contracts/run';
import type { Snapshot } from '#snapshots/snapshots';

export interface KnownResult {
  /** The page it was found on. */
  readonly snapshotId: string;
  /** The code looked at the answer's headers: it holds for the same ones alone. */
  readonly readsHeaders: boolean;
  readonly outcome: boolean;
  readonly values: RunResult['values'];
  readonly logs: RunResult['logs'];
  readonly hint?: string;
}

/** What this process knows of a task: its last page and, where the code allows it, the result on it. */
export interface KnownTask {
  /** Of the last page that this process saw: the newest one that is kept, where the last recorded run names it. */
  readonly snapshot: Snapshot;
  /** The newest of that page: servers may change them while the page stays. */
  readonly validators: {
    readonly etag: string | null;
    readonly lastModified: string | null;
  };
  readonly result: KnownResult | null;
  /** The code looks at `page.previous.text`. */
  readonly readsPreviousText: boolean;
}

/** A result above this is found anew each time. */
const largestBytes = 16_384;
const maxBytes = 33_554_432;
/** What an entry takes over and above its values, logs and headers. */
const entryBytes = 1_500;

interface Entry {
  readonly task: KnownTask;
  readonly bytes: number;
}

export class KnownResults {
  /** Those used last stand last. */
  readonly #tasks = new Map<string, Entry>();
  #bytes = 0;

  get(taskId: string): KnownTask | null {
    const entry = this.#tasks.get(taskId);
    if (entry === undefined) return null;
    this.#tasks.delete(taskId);
    this.#tasks.set(taskId, entry);
    return entry.task;
  }

  set(taskId: string, task: KnownTask): void {
    this.forget(taskId);
    const { result, snapshot } = task;
    const headersBytes = 2 * JSON.stringify(snapshot.headers).length;
    const resultBytes = result === null ? 0 : 2 * JSON.stringify([result.values, result.logs]).length;
    const isLarge = resultBytes > largestBytes;
    const bytes = entryBytes + headersBytes + (isLarge ? 0 : resultBytes);
    this.#tasks.set(taskId, { task: isLarge ? { ...task, result: null } : task, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#tasks.keys()) {
      if (this.#bytes <= maxBytes) break;
      this.forget(oldest);
    }
  }

  forget(taskId: string): void {
    this.#bytes -= this.#tasks.get(taskId)?.bytes ?? 0;
    this.#tasks.delete(taskId);
  }
}

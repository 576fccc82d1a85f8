/**
 * How many runs of a task wait for their turn: those that the view of the schedules shows, and those that this process has
 * asked for since, which the view does not show yet. Of many requests in the same instant each counts those before it.
 */
import { createLru } from '#concurrency/lru';
import { schedulesView } from '#contracts/schedule';
import type { ReadStore } from '#read-store/read-store';
import type { Clock } from '#runtime/clock';
import { unavailable } from '#runtime/errors';

export interface WaitingRuns {
  /**
   * A place for one more run of the task. Rejects with `too_many_runs_waiting` where there is none; a person who asks for more
   * is told to come back.
   */
  take(taskId: string): Promise<PlaceInLine>;
}

export interface PlaceInLine {
  /** The run is on record at this position. */
  recorded(position: number): void;
  /** No run came of it. */
  free(): void;
  /** The run is over, whatever the view still shows. */
  over(runId: string): void;
}

interface Asked {
  readonly taskId: string;
  readonly atMs: number;
  /** null: not on record yet, as far as anybody here knows. */
  position: number | null;
}

const mostWaiting = 20;
const comeBackSeconds = 5;
/** A view that does not show a run by then lies so far behind that it says little of what waits. */
const unseenMs = 10_000;
/** Runs that are known to be over, until the view shows that as well. */
const mostOver = 10_000;

export function createWaitingRuns(readStore: Pick<ReadStore, 'load' | 'checkpoint'>, clock: Clock): WaitingRuns {
  /** Both in the order in which they were asked for. */
  const recent = new Set<Asked>();
  const byTask = new Map<string, Set<Asked>>();
  const over = createLru<string, true>(mostOver);

  const forget = (asked: Asked): void => {
    recent.delete(asked);
    const ofTask = byTask.get(asked.taskId);
    ofTask?.delete(asked);
    if (ofTask?.size === 0) byTask.delete(asked.taskId);
  };

  const forgetOld = (nowMs: number): void => {
    for (const asked of recent) {
      if (nowMs - asked.atMs < unseenMs) return;
      forget(asked);
    }
  };

  const remember = (asked: Asked): readonly Asked[] => {
    const ofTask = byTask.get(asked.taskId) ?? new Set();
    const before = [...ofTask];
    byTask.set(asked.taskId, ofTask.add(asked));
    recent.add(asked);
    return before;
  };

  const countWaiting = async (taskId: string, before: readonly Asked[]): Promise<number> => {
    // Read first: what the view takes up after it may be missing in the document below.
    const checkpoint = before.length === 0 ? null : await readStore.checkpoint(schedulesView);
    const stored = (await readStore.load(schedulesView, [taskId])).get(taskId);
    // A task of which nothing waits is in no document.
    const seen = stored?.revision ?? checkpoint ?? -1;
    const unseen = before.filter((asked) => recent.has(asked) && (asked.position === null || asked.position > seen));
    const pending = stored?.document?.pending ?? [];
    return pending.filter(({ runId }) => !over.has(runId)).length + unseen.length;
  };

  return {
    async take(taskId) {
      const asked: Asked = { taskId, atMs: clock.now(), position: null };
      forgetOld(asked.atMs);
      const before = remember(asked);
      const free = (): void => forget(asked);
      try {
        if ((await countWaiting(taskId, before)) >= mostWaiting) {
          throw unavailable(
            'too_many_runs_waiting',
            `${mostWaiting} runs of this notification are waiting already; try again once they are done.`,
            comeBackSeconds,
          );
        }
      } catch (error) {
        free();
        throw error;
      }
      return {
        recorded: (position) => void (asked.position = position),
        free,
        over(runId) {
          over.set(runId, true);
          free();
        },
      };
    },
  };
}

/**
 * How many runs of a task wait for their turn: those that the view of the schedules shows, and those that this process has
 * asked for since, which the view does not show yet. Of many requests in the same instant each counts those before it.
 */
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

export function createWaitingRuns(readStore: Pick<ReadStore, 'load'>, clock: Clock): WaitingRuns {
  /** Both in the order in which they were asked for. */
  const recent = new Set<Asked>();
  const byTask = new Map<string, Set<Asked>>();

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
    const stored = (await readStore.load(schedulesView, [taskId])).get(taskId);
    const seen = stored?.revision ?? -1;
    const unseen = before.filter((asked) => recent.has(asked) && (asked.position === null || asked.position > seen));
    return (stored?.document?.pending.length ?? 0) + unseen.length;
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
      return { recorded: (position) => void (asked.position = position), free };
    },
  };
}

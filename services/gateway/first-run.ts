/** Waits for the first run of a task that was made a moment ago, so that its answer shows what the code found. */
import { firstSlot } from '#calendar/slots';
import { sleep } from '#concurrency/sleep';
import { wholeSchedule } from '#contracts/schedule';
import { tasksView, type TaskDocument, type TaskState } from '#contracts/task';
import type { ReadStore } from '#read-store/read-store';
import type { Clock } from '#runtime/clock';

const lookAgainMs = 20;
const slowestLookMs = 200;

/** Whether a run is due before the wait is over: nothing else is waited for. */
function isDueWithin({ status, spec }: TaskState, fromMs: number, waitMs: number): boolean {
  const first = status === 'active' ? firstSlot(wholeSchedule(spec.schedule), fromMs) : null;
  return first !== null && first <= fromMs + waitMs;
}

/** The task once it has run, or as it is where the wait is over before; null where it is no longer there. */
export async function awaitFirstRun(
  { readStore, clock }: { readonly readStore: Pick<ReadStore, 'get'>; readonly clock: Clock },
  task: TaskState,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<TaskDocument | null> {
  const giveUpAtMs = clock.now() + waitSeconds * 1_000;
  const isDue = isDueWithin(task, Date.parse(task.createdAt), waitSeconds * 1_000);
  for (let lookMs = lookAgainMs; ; lookMs = Math.min(slowestLookMs, lookMs * 1.5)) {
    const document = await readStore.get(tasksView, task.id);
    const leftMs = giveUpAtMs - clock.now();
    const isOver = document === null || document.lastExecution !== null || !isDue;
    if (isOver || leftMs <= 0 || signal.aborted) return document;
    await sleep(Math.min(lookMs, leftMs), signal);
  }
}

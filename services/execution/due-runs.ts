/** Handles `run.due`: each run once at a time in this process, and none that no event made due. */
import type { BusMessage } from '#bus/bus';
import { dueRun } from '#contracts/schedule';
import { toTimestamp } from '#runtime/clock';
import { isLost } from './lost-run.js';
import { executeRun, type RunDeps } from './run.js';

/** The longest a run can take: two minutes per try at most five times, and the waits between. */
export const runTimeoutMs = 15 * 60_000;

/** `handOver`: where runs go whose pages need a browser; null: they are carried out here. */
export function createDueRuns(deps: RunDeps, handOver: ((message: BusMessage) => Promise<void>) | null) {
  const { eventStore, clock, logger } = deps;
  const inProgress = new Set<string>();
  return async (message: BusMessage, stopping: AbortSignal): Promise<void> => {
    const { type, data, metadata } = message;
    if (type !== 'run.due') return;
    const run = dueRun.parse(data['run']);
    // The sweep may emit again what is in progress here; its result answers both.
    if (inProgress.has(run.runId)) return;
    inProgress.add(run.runId);
    try {
      if (await isLost(eventStore, run, message)) {
        const { taskId, runId } = run;
        logger.warn({ taskId, runId }, 'ignoring due run: source event not in the event store');
        return;
      }
      const source = { ...metadata, actor: 'system:execution', at: toTimestamp(clock.now()) };
      const passOn = handOver === null ? null : () => handOver(message);
      await executeRun(deps, run, source, stopping, passOn);
    } finally {
      inProgress.delete(run.runId);
    }
  };
}

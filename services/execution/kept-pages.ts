/** How long pages are kept: those of archived tasks go at once, the others by age. */
import type { BusMessage } from '#bus/bus';
import { taskStream } from '#contracts/task';
import { sourceEventExists } from '#eventing/source-event';
import type { Sweep } from '#eventing/service';
import type { RunDeps } from './run.js';
import { forgetSession } from './sessions.js';

const sweepEveryMs = 900_000;

/** A run that is under way at the archiving may keep one page more; that one goes by its age. */
export async function forgetArchived(
  { snapshots, eventStore, sharedState }: Pick<RunDeps, 'snapshots' | 'eventStore' | 'sharedState'>,
  { key, id, data }: BusMessage,
): Promise<void> {
  const source = { stream: taskStream(key), revision: Number(data['revision']), id };
  if (!(await sourceEventExists(eventStore, source))) return;
  await snapshots.forget(key);
  await forgetSession({ sharedState }, key);
}

export const expiredPages = ({ snapshots, clock, logger }: Pick<RunDeps, 'snapshots' | 'clock' | 'logger'>): Sweep => ({
  name: 'snapshots',
  everyMs: sweepEveryMs,
  async sweep() {
    const gone = await snapshots.sweep(clock.now());
    if (gone > 0) logger.info({ snapshots: gone }, 'expired pages deleted');
  },
});

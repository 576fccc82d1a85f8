/** The events and views of an installation that stopped in order, for checks of the whole. */
import { expect } from '@jest/globals';
import { z } from 'zod';
import type { RecordedEvent } from '#event-store/event-store';
import type { Installation } from './installation.js';
import { runsWithoutResult } from './invariants.js';
import { until } from './until.js';

const explained = z.object({ data: z.object({ noRun: z.object({ reason: z.string() }).nullable() }).optional() });

/** Pauses the task, and waits until its schedule has heard of it: until then it may fire once more. */
export async function pause({ api }: Installation, taskId: string): Promise<void> {
  const path = `/api/notifications/${taskId}`;
  await api.send(path, { method: 'PATCH', json: { status: 'paused' } });
  await until(`the schedule of ${taskId} has stopped`, async () => {
    const { data } = explained.parse((await api.send(`${path}/explain`)).body);
    return data?.noRun?.reason === 'paused';
  });
}

async function endInOrder(installation: Installation): Promise<readonly RecordedEvent[]> {
  expect(await installation.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  return installation.recordedEvents();
}

/**
 * Every event, once the tasks are paused and no view shows anything of them under way. A run that fired just before may be in
 * no view yet when the end cuts it off: it is done after the next start, and the installation is ended again.
 */
export async function recordAtEnd(
  installation: Installation,
  taskIds: readonly string[],
): Promise<readonly RecordedEvent[]> {
  const { api } = installation;
  const events = await endInOrder(installation);
  const cutOff = runsWithoutResult(events);
  if (cutOff.length === 0) return events;
  await installation.start();
  await until(`${cutOff.join(', ')}, cut off by the end, done after the next start`, async () => {
    const runs = (await Promise.all(taskIds.map((id) => api.executions(id)))).flat();
    const deliveries = (await Promise.all(taskIds.map((id) => api.deliveries(id)))).flat();
    const areDone = cutOff.every((id) => runs.some((run) => run.id === id && run.finishedAt !== null));
    return areDone && deliveries.every(({ finishedAt }) => finishedAt !== null);
  });
  return endInOrder(installation);
}

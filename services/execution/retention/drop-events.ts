/**
 * Drops what was folded: follows the folds, so that a crash in between loses nothing and leaves nothing. What is dropped stands
 * in the archive, where there is one, and in the fold.
 */
import { deliveryStream } from '#contracts/delivery';
import { statsStream, type DeliveriesFolded, type FoldEvent, type RunsFolded } from '#contracts/retention';
import { claimStream, runStream } from '#contracts/run';
import { scheduleStream } from '#contracts/schedule';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent, StoredStreams } from '#event-store/event-store';
import { startFollower } from '#eventing/follower';
import type { ServicePorts } from '#eventing/service-ports';
import { resetAfterRewind } from '#eventing/store-rewind';
import type { LeasedWork } from '#leases/leases';
import type { ViewDefinition } from '#read-store/read-store';
import { dayEnd } from '#contracts/retention';
import type { Snapshots } from '#snapshots/snapshots';
import { tasksView } from '#contracts/task';
import { executionsView } from '#contracts/run';

/** Only its checkpoint is used: what was folded up to there is dropped. */
export const droppedCheckpoint: ViewDefinition = { name: 'dropped_days', fields: [], indexes: [] };

export interface DropDeps extends Pick<ServicePorts, 'eventStore' | 'readStore' | 'leases' | 'logger'> {
  readonly stored: Pick<StoredStreams, 'truncate'>;
  readonly snapshots: Pick<Snapshots, 'forget'>;
}

/** The page of the last run and its screenshot, where that has not been told by the fold. */
async function lastPage({ readStore }: Pick<DropDeps, 'readStore'>, taskId: string): Promise<readonly string[]> {
  const task = await readStore.get(tasksView, taskId);
  if (task?.lastExecution === undefined || task.lastExecution === null) return [];
  const execution = await readStore.get(executionsView, task.lastExecution.id);
  return [execution?.snapshotId, execution?.screenshotId].flatMap((id) => id ?? []);
}

async function dropRuns(deps: DropDeps, { taskId, day, state }: RunsFolded): Promise<void> {
  const { stored, snapshots } = deps;
  const { run, schedule, claim } = state.stays;
  await stored.truncate(runStream(taskId), run);
  await stored.truncate(scheduleStream(taskId), schedule);
  await stored.truncate(claimStream(taskId), claim);
  const { episode, first, screenshots = {} } = state.pages;
  const pointedTo = [episode, first, screenshots.episode, screenshots.first].flatMap((id) => id ?? []);
  await snapshots.forget(taskId, {
    takenBefore: dayEnd(day),
    except: [...pointedTo, ...(await lastPage(deps, taskId))],
  });
}

/** Of each no more than its last event is left, which says that it was. */
async function dropDeliveries({ stored }: DropDeps, { deliveryIds, freedIds = [], state }: DeliveriesFolded) {
  const left = new Set(state.deliveriesLeft);
  for (const id of [...freedIds, ...deliveryIds]) {
    if (!left.has(id)) await stored.truncate(deliveryStream(id), Number.MAX_SAFE_INTEGER);
  }
}

/** The newest fold of a task's runs says where each of its streams may begin. */
export async function dropFolded(deps: DropDeps, events: readonly RecordedEvent[]): Promise<void> {
  const newest = new Map<string, RunsFolded>();
  for (const recorded of events) {
    const event = decodeEvent<FoldEvent>(recorded);
    if (event.type === 'runs.folded') newest.set(event.data.taskId, event.data);
    else await dropDeliveries(deps, event.data);
  }
  for (const folded of newest.values()) await dropRuns(deps, folded);
}

export const foldPrefix = statsStream('');

export function startDropping(deps: DropDeps): LeasedWork {
  const { readStore } = deps;
  return startFollower({
    ...deps,
    name: 'dropped-days',
    prefixes: [foldPrefix],
    async after() {
      await resetAfterRewind(deps, droppedCheckpoint);
      return readStore.checkpoint(droppedCheckpoint);
    },
    async handle({ events, position }) {
      await dropFolded(deps, events);
      await readStore.save(droppedCheckpoint, [], position, undefined, events.at(-1));
    },
  });
}

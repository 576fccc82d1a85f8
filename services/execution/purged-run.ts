/** A run whose task is purged meanwhile: nothing of it is put on record any more, and what it left behind goes too. */
import { taskStream } from '#contracts/task';
import type { EventStore } from '#event-store/event-store';
import { AppError } from '#runtime/errors';
import type { SharedState } from '#shared-state/shared-state';
import type { Snapshots } from '#snapshots/snapshots';
import { forgetSession } from './sessions.js';

export async function isPurged(eventStore: Pick<EventStore, 'readLast'>, taskId: string): Promise<boolean> {
  return (await eventStore.readLast(taskStream(taskId)))?.type === 'task.purged';
}

/** The result was refused because there is no key any more that it could be sealed with. */
const isOfPurge = (error: unknown): boolean => error instanceof AppError && error.reason === 'purged';

export interface LeftBehind {
  readonly snapshots: Pick<Snapshots, 'forget'>;
  readonly sharedState: SharedState;
}

/** Rejects with the error, unless it is that the task was purged: then the page and the session that were kept since are gone. */
export async function leaveNothing(deps: LeftBehind, taskId: string, error: unknown): Promise<void> {
  if (!isOfPurge(error)) throw error;
  await deps.snapshots.forget(taskId);
  await forgetSession(deps, taskId);
}

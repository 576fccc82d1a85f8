/**
 * Waits until the views of this service have reached an event: what is answered before that may not count yet. A key or session
 * counts at once: where who keeps the view is late, or was killed, its document is written from here. Documents carry the position
 * of their event, so that both write the same.
 */
import { keysView, organizationsView, sessionsView } from '#contracts/account';
import { membersView } from '#contracts/member';
import { projectBatch, type Projected } from '#eventing/projected';
import { rebuildOf } from '#eventing/rebuild/requests';
import type { EventStore } from '#event-store/event-store';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import type { AnyView, ReadStore } from '#read-store/read-store';
import type { SharedState } from '#shared-state/shared-state';
import { keysProjection, sessionsProjection } from './accounts-views.js';
import { keyStream } from './domain/api-key.js';
import { sessionStream } from './domain/session.js';

const timeoutMs = 5_000;

/** Positions of what a setup wrote last; null where nothing was written. */
export interface SetupPositions {
  readonly organization: number | null;
  readonly key: number | null;
}

/** Each resolves with true once the views have reached the position (null: at once), with false where that takes too long. */
export interface AccountViews {
  reachSetup(positions: SetupPositions): Promise<boolean>;
  reachKey(position: number | null, ...keyIds: readonly string[]): Promise<boolean>;
  reachSession(position: number | null, ...sessionIds: readonly string[]): Promise<boolean>;
  /** Of organisations and their members. */
  reachOrganization(position: number | null): Promise<boolean>;
}

/** Long enough for a view that is kept. */
const lateAfterMs = 1_000;

export function createAccountViews(
  readStore: ReadStore,
  eventStore: Pick<EventStore, 'read'>,
  sharedState: SharedState,
  lateMs = lateAfterMs,
): AccountViews {
  const waiterOf = (view: AnyView): PositionWaiter => createPositionWaiter(readStore, view);
  const keys = waiterOf(keysView);
  const sessions = waiterOf(sessionsView);
  const organizations = [waiterOf(organizationsView), waiterOf(membersView)];
  const reach = async (
    waiters: readonly PositionWaiter[],
    position: number | null,
    withinMs = timeoutMs,
  ): Promise<boolean> => {
    if (position === null) return true;
    const reached = await Promise.all(waiters.map((waiter) => waiter.reached(position, withinMs)));
    return reached.every(Boolean);
  };

  const writeFrom = async (projected: Projected, streams: readonly string[]): Promise<void> => {
    for (const stream of streams) {
      const events = await Array.fromAsync(eventStore.read(stream));
      await readStore.save(projected.view, await projectBatch({ ...projected, readStore }, events), null);
    }
  };

  const reachOrWrite = async (
    waiter: PositionWaiter,
    position: number | null,
    projected: Projected,
    streams: readonly string[],
  ): Promise<boolean> => {
    if (streams.length === 0) return reach([waiter], position);
    if (await reach([waiter], position, lateMs)) return true;
    try {
      await writeFrom(projected, streams);
      // A build that has not come to the event yet would take the place of what was written here.
      const rebuild = await rebuildOf(sharedState, projected.view.name);
      if (rebuild?.state === 'building') await reach([waiter], position);
      return true;
    } catch {
      return reach([waiter], position);
    }
  };
  return {
    async reachSetup({ organization, key }) {
      const reached = await Promise.all([reach(organizations, organization), reach([keys], key)]);
      return reached.every(Boolean);
    },
    reachKey: (position, ...keyIds) => reachOrWrite(keys, position, keysProjection, keyIds.map(keyStream)),
    reachSession: (position, ...sessionIds) =>
      reachOrWrite(sessions, position, sessionsProjection, sessionIds.map(sessionStream)),
    reachOrganization: (position) => reach(organizations, position),
  };
}

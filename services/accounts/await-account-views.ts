/** Waits until the views of this service have reached an event: what is answered before that may not count yet. */
import { keysView, organizationsView, sessionsView } from '#contracts/account';
import { membersView } from '#contracts/member';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import type { AnyView, ReadStore } from '#read-store/read-store';

const timeoutMs = 5_000;

/** Positions of what a setup wrote last; null where nothing was written. */
export interface SetupPositions {
  readonly organization: number | null;
  readonly key: number | null;
}

/** Each resolves with true once the views have reached the position (null: at once), with false where that takes too long. */
export interface AccountViews {
  reachSetup(positions: SetupPositions): Promise<boolean>;
  reachKey(position: number | null): Promise<boolean>;
  reachSession(position: number | null): Promise<boolean>;
  /** Of organisations and their members. */
  reachOrganization(position: number | null): Promise<boolean>;
}

export function createAccountViews(readStore: ReadStore): AccountViews {
  const waiterOf = (view: AnyView): PositionWaiter => createPositionWaiter(readStore, view);
  const keys = waiterOf(keysView);
  const sessions = waiterOf(sessionsView);
  const organizations = [waiterOf(organizationsView), waiterOf(membersView)];
  const reach = async (waiters: readonly PositionWaiter[], position: number | null): Promise<boolean> => {
    if (position === null) return true;
    const reached = await Promise.all(waiters.map((waiter) => waiter.reached(position, timeoutMs)));
    return reached.every(Boolean);
  };
  return {
    async reachSetup({ organization, key }) {
      const reached = await Promise.all([reach(organizations, organization), reach([keys], key)]);
      return reached.every(Boolean);
    },
    reachKey: (position) => reach([keys], position),
    reachSession: (position) => reach([sessions], position),
    reachOrganization: (position) => reach(organizations, position),
  };
}

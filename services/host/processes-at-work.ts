/** Whether processes of an installation on servers are at work, told by their beats. */
import { sleep } from '#concurrency/sleep';
import { leaseMembersCollection } from '#leases/members';
import { reject } from '#runtime/errors';
import type { SharedState } from '#shared-state/shared-state';

/** A process that runs beats once a second. */
const beatsWithinMs = 3_000;

/** A process that works with these views beats. Those that were killed have left a beat that stands still. */
export async function refuseSomebodyThere(sharedState: SharedState, reason: string, message: string): Promise<void> {
  const beats = async (): Promise<ReadonlyMap<string, number>> => {
    const members = await sharedState.list(leaseMembersCollection, 1_000);
    return new Map(members.map(({ id, beat }) => [id, beat]));
  };
  const before = await beats();
  if (before.size === 0) return;
  await sleep(beatsWithinMs);
  if (![...(await beats())].some(([id, beat]) => before.get(id) !== beat)) return;
  throw reject(reason, message);
}

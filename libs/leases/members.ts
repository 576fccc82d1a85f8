/** The processes that share leases: each writes a beat, and each judges by its own clock which of the others are alive. */
import type { SharedState, StateCollection } from '#shared-state/shared-state';

export interface Member {
  readonly id: string;
  readonly beat: number;
  /** How often this member has changed an owner; missing where an older version does not report it. */
  readonly changes?: number;
  /** Names this member takes part in; `slots/*` stands for all shards of `slots`. */
  readonly wants: readonly string[];
}

export const leaseMembersCollection: StateCollection<Member> = { name: 'lease_members', indexedBy: 'id' };

/** A dead member is removed after so many times `deadAfterMs`. */
const removeAfterDeaths = 100;
const maxMembers = 1_000;

export interface MembersOptions {
  readonly sharedState: SharedState;
  readonly memberId: string;
  readonly monotonicMs: () => number;
  readonly deadAfterMs: number;
}

export interface Members {
  /** Writes this member's next beat. */
  beat(self: Pick<Member, 'changes' | 'wants'>): Promise<void>;
  list(): Promise<readonly Member[]>;
  /** Those whose beat has changed within `deadAfterMs`, and this one. Called once per round. */
  living(members: readonly Member[]): readonly Member[];
  /** Removes members that died long ago. */
  removeDead(members: readonly Member[]): Promise<void>;
  /** Removes this member. */
  leave(): Promise<void>;
}

export function createMembers({ sharedState, memberId, monotonicMs, deadAfterMs }: MembersOptions): Members {
  const seenBeats = new Map<string, { readonly beat: number; readonly sinceMs: number }>();
  let beat = 0;

  return {
    async beat(self) {
      beat += 1;
      const value = { id: memberId, beat, ...self };
      await sharedState.save(leaseMembersCollection, [{ key: memberId, version: beat, value }]);
    },

    list: () => sharedState.list(leaseMembersCollection, maxMembers),

    living(members) {
      const nowMs = monotonicMs();
      const known = new Set(members.map(({ id }) => id));
      for (const id of seenBeats.keys()) if (!known.has(id)) seenBeats.delete(id);
      return members.filter((member) => {
        const seen = seenBeats.get(member.id);
        if (seen?.beat !== member.beat) seenBeats.set(member.id, { beat: member.beat, sinceMs: nowMs });
        else if (member.id !== memberId) return nowMs - seen.sinceMs < deadAfterMs;
        return true;
      });
    },

    async removeDead(members) {
      const nowMs = monotonicMs();
      const dead = members.filter(({ id }) => {
        const seen = seenBeats.get(id);
        return seen !== undefined && nowMs - seen.sinceMs > removeAfterDeaths * deadAfterMs;
      });
      if (dead.length === 0) return;
      await sharedState.save(
        leaseMembersCollection,
        dead.map((member) => ({ key: member.id, version: member.beat + 1, value: null })),
      );
    },

    leave: () => sharedState.save(leaseMembersCollection, [{ key: memberId, version: beat + 1, value: null }]),
  };
}

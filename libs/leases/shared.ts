/**
 * Leases of processes that share state. Each process is a member that beats once a second; each name has an owner.
 *
 * - A member is dead once its beat has not changed for `deadAfterMs` by the observer's own monotonic clock, so clocks of
 *   different machines are never compared.
 * - A member that could not beat for `lapseMs` holds nothing any more, before another may take over: lapse is shorter than death.
 * - A name belongs to the living member that rendezvous hashing chooses among those that want it. A dead owner's name is
 *   taken by that member; a living owner ends its work first and then hands over.
 * - A member that changes an owner counts that in its own member value; leases are read when a count has changed, and every
 *   few rounds.
 * - Each change of owner counts up the fence, which is the lease's version: of two that take at once, the first write stays.
 */
import { hash } from 'node:crypto';
import type { Logger } from '#runtime/logger';
import type { SharedState, StateCollection, Versioned } from '#shared-state/shared-state';
import { createHeldWork } from './held-work.js';
import { shardCount, shardOf, type Leases } from './leases.js';
import { createMembers, type Member } from './members.js';

interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Counts changes of owner. */
  readonly fence: number;
}

export const leasesCollection: StateCollection<Lease> = { name: 'leases', indexedBy: 'name' };

export interface LeaseTimes {
  readonly beatMs: number;
  readonly lapseMs: number;
  readonly deadAfterMs: number;
}

export const defaultLeaseTimes: LeaseTimes = { beatMs: 1_000, lapseMs: 4_000, deadAfterMs: 6_000 };

export interface SharedLeasesOptions {
  readonly sharedState: SharedState;
  /** Identifies this start of this process; never used again. */
  readonly memberId: string;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly times?: LeaseTimes;
}

export interface LeaseRounds extends Leases {
  /** One beat and one read of the others. Rejects where the store is out of reach. */
  round(): Promise<void>;
  /** Ends work that has lapsed, begins work that is held: needs no store, so it works while a round hangs. */
  settle(): Promise<void>;
}

/** A member that died between changing an owner and counting the change is found out after so many rounds. */
const maxRoundsUnread = 5;
const maxLeases = 10_000;

function score(member: string, name: string): string {
  return hash('sha256', `${member}|${name}`, 'hex');
}

/** The member with the highest score: each process computes the same, and a change of members moves only what it must. */
export function ownerOf(name: string, members: readonly string[]): string | null {
  let best: { readonly member: string; readonly score: string } | null = null;
  for (const member of members) {
    const own = score(member, name);
    if (best === null || own > best.score) best = { member, score: own };
  }
  return best?.member ?? null;
}

const wants = ({ wants: names }: Member, name: string): boolean =>
  names.includes(name) || names.includes(`${name.slice(0, name.lastIndexOf('/'))}/*`);

const shardNamesOf = (name: string): readonly string[] =>
  Array.from({ length: shardCount }, (_, shard) => `${name}/${shard}`);

/** The change counts of all other members; null where one does not report its own. */
function changesOf(members: readonly Member[], memberId: string): string | null {
  const others = members.filter(({ id }) => id !== memberId);
  if (others.some((member) => member.changes === undefined)) return null;
  return others
    .map((member) => `${member.id} ${member.changes}`)
    .toSorted()
    .join();
}

/** Leases as this member last read them. */
function createLeaseTable({ sharedState, memberId }: Pick<SharedLeasesOptions, 'sharedState' | 'memberId'>) {
  let leases = new Map<string, Lease>();
  /** The change counts at the last read; null: read again in any case. */
  let readChanges: string | null = null;
  let roundsUnread = 0;

  const read = async (): Promise<void> => {
    const found = await sharedState.list(leasesCollection, maxLeases);
    leases = new Map(found.map((lease) => [lease.name, lease]));
    roundsUnread = 0;
  };

  return {
    read,
    get: (name: string): Lease | undefined => leases.get(name),

    /** Reads unless no other member has changed an owner since. True where it was read now. */
    async readIfChanged(members: readonly Member[], hadLapsed: boolean): Promise<boolean> {
      const reported = changesOf(members, memberId);
      roundsUnread += 1;
      if (reported !== null && reported === readChanges && !hadLapsed && roundsUnread < maxRoundsUnread) return false;
      readChanges = null;
      await read();
      readChanges = reported;
      return true;
    },

    /** The member this one must give the name to now, itself or another; null where it has nothing to change. */
    nextOwner(name: string, alive: readonly Member[]): string | null {
      const lease = leases.get(name);
      const candidates = alive.filter((member) => wants(member, name)).map(({ id }) => id);
      const chosen = ownerOf(name, candidates);
      if (chosen === null || lease?.owner === chosen) return null;
      if (lease?.owner === memberId) return chosen;
      return chosen === memberId && (lease === undefined || !candidates.includes(lease.owner)) ? memberId : null;
    },

    changeOf(name: string, owner: string): Versioned<Lease> {
      const fence = (leases.get(name)?.fence ?? 0) + 1;
      return { key: name, version: fence, value: { name, owner, fence } };
    },

    async change(writes: readonly Versioned<Lease>[]): Promise<void> {
      readChanges = null;
      await sharedState.save(leasesCollection, writes);
    },
  };
}

/** Without a timer of its own: `startSharedLeases` calls the rounds. */
export function createLeaseRounds(options: SharedLeasesOptions): LeaseRounds {
  const { memberId, logger, monotonicMs, times = defaultLeaseTimes } = options;
  const members = createMembers({ ...options, deadAfterMs: times.deadAfterMs });
  const table = createLeaseTable(options);
  const work = createHeldWork(logger);
  const shardNames = new Set<string>();
  /** null before the first round: then no member is known to be dead. */
  let livingIds: ReadonlySet<string> | null = null;
  let changes = 0;
  let beatenAtMs = -Infinity;
  let closed = false;

  const owns = (name: string): boolean =>
    !closed && monotonicMs() - beatenAtMs < times.lapseMs && table.get(name)?.owner === memberId;
  const settle = (): Promise<void> => work.settle(owns);
  const wantedNames = (): string[] => [...work.names(), ...[...shardNames].flatMap(shardNamesOf)];
  const beat = (): Promise<void> =>
    members.beat({ changes, wants: [...work.names(), ...[...shardNames].map((name) => `${name}/*`)] });

  /** Takes and gives the names that are due. */
  const share = async (alive: readonly Member[], isFresh: boolean): Promise<void> => {
    if (!wantedNames().some((name) => table.nextOwner(name, alive) !== null)) return;
    if (!isFresh) await table.read();
    const writes: Versioned<Lease>[] = [];
    for (const name of wantedNames()) {
      const chosen = table.nextOwner(name, alive);
      if (chosen === null) continue;
      if (table.get(name)?.owner === memberId) await work.end(name);
      writes.push(table.changeOf(name, chosen));
    }
    if (writes.length === 0) return;
    // Before the write: the next beat reports it even where its outcome is unknown.
    changes += 1;
    await table.change(writes);
    await beat();
    await table.read();
  };

  return {
    memberId,
    isAlone: false,
    isLiving: (id) => livingIds === null || livingIds.has(id),
    settle,

    async round() {
      try {
        const sentAtMs = monotonicMs();
        await beat();
        const all = await members.list();
        // After a lapse others may have taken over.
        const isFresh = await table.readIfChanged(all, monotonicMs() - beatenAtMs >= times.lapseMs);
        beatenAtMs = sentAtMs;
        const alive = members.living(all);
        livingIds = new Set(alive.map(({ id }) => id));
        await share(alive, isFresh);
        await members.removeDead(all);
      } finally {
        await settle();
      }
    },

    whileHeld: (name, run) => work.add(name, run),

    shards(name) {
      shardNames.add(name);
      return {
        held: () => Array.from({ length: shardCount }, (_, shard) => shard).filter((shard) => owns(`${name}/${shard}`)),
        holds: (key) => owns(`${name}/${shardOf(key)}`),
      };
    },

    async close() {
      closed = true;
      await settle();
      // Without its member value, what this process owned is free at the next round of any other.
      await members.leave();
    },
  };
}

/** Beats until it is closed; a new name is asked for at once. */
export function startSharedLeases(options: SharedLeasesOptions): Leases {
  const { logger, times = defaultLeaseTimes } = options;
  const rounds = createLeaseRounds(options);
  let isAway = false;
  let stopped = false;
  let isAsked = false;
  let wake = (): void => undefined;

  const ask = (): void => {
    isAsked = true;
    wake();
  };

  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, isAsked ? 0 : times.beatMs);
      wake = () => (clearTimeout(timer), resolve());
    });

  const run = async (): Promise<void> => {
    while (!stopped) {
      isAsked = false;
      try {
        await rounds.round();
        isAway = false;
      } catch (error) {
        if (!isAway) logger.warn({ error: String(error) }, 'leases cannot be renewed; trying again');
        isAway = true;
      }
      if (!stopped) await pause();
    }
  };

  const watch = setInterval(() => void rounds.settle(), times.beatMs / 2).unref();
  const running = run();
  return {
    memberId: rounds.memberId,
    isAlone: rounds.isAlone,
    isLiving: (id) => rounds.isLiving(id),
    whileHeld(name, work) {
      const leased = rounds.whileHeld(name, work);
      ask();
      return leased;
    },
    shards(name) {
      const shards = rounds.shards(name);
      ask();
      return shards;
    },
    async close() {
      stopped = true;
      clearInterval(watch);
      wake();
      await running;
      await rounds.close().catch((error: unknown) => {
        logger.warn({ error: String(error) }, 'leases could not be given back; others take them over soon');
      });
    },
  };
}

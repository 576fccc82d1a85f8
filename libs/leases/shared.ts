/**
 * Leases of processes that share a read store. Each process is a member that beats once a second; each name has an owner.
 *
 * - A member is dead once its beat has not changed for `deadAfterMs` by the observer's own monotonic clock, so clocks of
 *   different machines never meet.
 * - A member that could not beat for `lapseMs` holds nothing any more, before anybody may take over: lapse is shorter than death.
 * - A name belongs to the living member that rendezvous hashing chooses among those that want it. A dead owner's name is
 *   taken by that member; a living owner ends its work first and then hands over.
 * - Who changes an owner says so in its own member document; leases are read where somebody did, and every few rounds.
 * - Each change of owner counts up the fence, which is the document's revision: of two that take at once, the first write stays.
 */
import { hash } from 'node:crypto';
import type { DocumentWrite, ReadStore, ViewDefinition } from '#read-store/read-store';
import type { Logger } from '#runtime/logger';
import { shardCount, shardOf, type Leases } from './leases.js';

interface Member {
  readonly id: string;
  readonly beat: number;
  /** How often this member has changed an owner; missing where it is of a version that does not tell. */
  readonly changes?: number;
  /** Names this member takes part in; `slots/*` stands for all shards of `slots`. */
  readonly wants: readonly string[];
}

interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Counts changes of owner. */
  readonly fence: number;
}

/** Neither view is derived from events: a rebuild leaves them alone. */
export const leaseMembersView: ViewDefinition<Member> = { name: 'lease_members', fields: ['id'], indexes: [['id']] };
export const leasesView: ViewDefinition<Lease> = { name: 'leases', fields: ['name'], indexes: [['name']] };

export interface LeaseTimes {
  readonly beatMs: number;
  readonly lapseMs: number;
  readonly deadAfterMs: number;
}

export const defaultLeaseTimes: LeaseTimes = { beatMs: 1_000, lapseMs: 4_000, deadAfterMs: 6_000 };

export interface SharedLeasesOptions {
  readonly readStore: ReadStore;
  /** Names this start of this process; never used again. */
  readonly memberId: string;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly times?: LeaseTimes;
}

export interface LeaseRounds extends Leases {
  /** One beat and one look around. Rejects where the read store is out of reach. */
  round(): Promise<void>;
  /** Ends what has lapsed, begins what is held: needs no store, so it works while a round hangs. */
  settle(): Promise<void>;
}

interface Work {
  readonly run: (signal: AbortSignal) => Promise<void>;
  active: AbortController | null;
  /** Resolves once the last run of it has ended: a next one begins no earlier. */
  ended: Promise<void>;
}

/** A member that died is forgotten after so many times `deadAfterMs`. */
const forgetAfterDeaths = 100;
/** A member that died between a change of an owner and telling of it is found out after so many rounds. */
const roundsUnread = 5;
const all = { where: [], sort: [], limit: 1_000, offset: 0, count: false } as const;

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

/** Without a timer of its own: `startSharedLeases` calls the rounds. */
export function createLeaseRounds(options: SharedLeasesOptions): LeaseRounds {
  const { readStore, memberId, logger, monotonicMs, times = defaultLeaseTimes } = options;
  const works = new Map<string, Work>();
  const shardNames = new Set<string>();
  const seenBeats = new Map<string, { readonly beat: number; readonly sinceMs: number }>();
  let leases = new Map<string, Lease>();
  /** null before the first look: then nobody is known to be gone. */
  let livingIds: ReadonlySet<string> | null = null;
  let beat = 0;
  let changes = 0;
  /** Which changes the leases in hand hold; null: they are to be read, whatever anybody tells. */
  let readChanges: string | null = null;
  let unreadRounds = 0;
  let beatenAtMs = -Infinity;
  let closed = false;

  const isCurrent = (): boolean => !closed && monotonicMs() - beatenAtMs < times.lapseMs;
  const owns = (name: string): boolean => isCurrent() && leases.get(name)?.owner === memberId;

  const wantedNames = (): string[] => [
    ...works.keys(),
    ...[...shardNames].flatMap((name) => Array.from({ length: shardCount }, (_, shard) => `${name}/${shard}`)),
  ];

  const wants = ({ wants: names }: Member, name: string): boolean =>
    names.includes(name) || names.includes(`${name.slice(0, name.lastIndexOf('/'))}/*`);

  const end = async (work: Work): Promise<void> => {
    work.active?.abort();
    work.active = null;
    await work.ended;
  };

  const begin = (name: string, work: Work): void => {
    const active = new AbortController();
    work.active = active;
    work.ended = work.ended
      .then(() => (active.signal.aborted ? undefined : work.run(active.signal)))
      .catch((error: unknown) => {
        logger.error({ name, error: String(error) }, 'leased work ended with an error');
      });
  };

  /** What is held and does not run is begun, what runs and is not held is ended. */
  const settle = async (): Promise<void> => {
    for (const [name, work] of works) {
      if (!owns(name)) await end(work);
      else if (work.active === null) begin(name, work);
    }
  };

  const living = (members: readonly Member[]): readonly Member[] => {
    const nowMs = monotonicMs();
    const known = new Set(members.map(({ id }) => id));
    for (const id of seenBeats.keys()) if (!known.has(id)) seenBeats.delete(id);
    return members.filter((member) => {
      const seen = seenBeats.get(member.id);
      if (seen?.beat !== member.beat) seenBeats.set(member.id, { beat: member.beat, sinceMs: nowMs });
      else if (member.id !== memberId) return nowMs - seen.sinceMs < times.deadAfterMs;
      return true;
    });
  };

  const forgetDead = async (members: readonly Member[]): Promise<void> => {
    const nowMs = monotonicMs();
    const gone = members.filter(({ id }) => {
      const seen = seenBeats.get(id);
      return seen !== undefined && nowMs - seen.sinceMs > forgetAfterDeaths * times.deadAfterMs;
    });
    if (gone.length === 0) return;
    await readStore.save(
      leaseMembersView,
      gone.map((member) => ({ id: member.id, revision: member.beat + 1, document: null })),
      null,
    );
  };

  const readLeases = async (): Promise<void> => {
    const { documents } = await readStore.page(leasesView, { ...all, limit: 10_000 });
    leases = new Map(documents.map((lease) => [lease.name, lease]));
    unreadRounds = 0;
  };

  const self = (): Member => ({
    id: memberId,
    beat,
    changes,
    wants: [...works.keys(), ...[...shardNames].map((name) => `${name}/*`)],
  });

  const beatOnce = async (): Promise<void> => {
    beat += 1;
    await readStore.save(leaseMembersView, [{ id: memberId, revision: beat, document: self() }], null);
  };

  /** All changes that members tell of; null where one does not tell. Our own are known. */
  const changesOf = (members: readonly Member[]): string | null => {
    const others = members.filter(({ id }) => id !== memberId);
    if (others.some((member) => member.changes === undefined)) return null;
    return others
      .map((member) => `${member.id} ${member.changes}`)
      .toSorted()
      .join();
  };

  /** What was read after the beat counts, or was read before it and nobody has changed since. True where it was read now. */
  const readIfChanged = async (members: readonly Member[], hadLapsed: boolean): Promise<boolean> => {
    const told = changesOf(members);
    unreadRounds += 1;
    if (told !== null && told === readChanges && !hadLapsed && unreadRounds < roundsUnread) return false;
    readChanges = null;
    await readLeases();
    readChanges = told;
    return true;
  };

  const giveTo = (lease: Lease | undefined, name: string, owner: string): DocumentWrite<Lease> => {
    const fence = (lease?.fence ?? 0) + 1;
    return { id: name, revision: fence, document: { name, owner, fence } };
  };

  /** To whom this member shall give the name now, itself or another; null: it is not up to this one, or as it should be. */
  const nextOwner = (name: string, alive: readonly Member[]): string | null => {
    const lease = leases.get(name);
    const candidates = alive.filter((member) => wants(member, name)).map(({ id }) => id);
    const chosen = ownerOf(name, candidates);
    if (chosen === null || lease?.owner === chosen) return null;
    if (lease?.owner === memberId) return chosen;
    return chosen === memberId && (lease === undefined || !candidates.includes(lease.owner)) ? memberId : null;
  };

  const share = async (alive: readonly Member[], isFresh: boolean): Promise<void> => {
    const isDue = wantedNames().some((name) => nextOwner(name, alive) !== null);
    if (!isDue) return;
    if (!isFresh) await readLeases();
    const writes: DocumentWrite<Lease>[] = [];
    for (const name of wantedNames()) {
      const lease = leases.get(name);
      const chosen = nextOwner(name, alive);
      if (chosen === null) continue;
      const work = lease?.owner === memberId ? works.get(name) : undefined;
      if (work !== undefined) await end(work);
      writes.push(giveTo(lease, name, chosen));
    }
    if (writes.length === 0) return;
    readChanges = null;
    // Told by the next beat too, where it is not known whether it was written.
    changes += 1;
    await readStore.save(leasesView, writes, null);
    await beatOnce();
    await readLeases();
  };

  return {
    memberId,
    isAlone: false,
    isLiving: (id) => livingIds === null || livingIds.has(id),
    settle,

    async round() {
      try {
        const sentAtMs = monotonicMs();
        await beatOnce();
        const { documents: members } = await readStore.page(leaseMembersView, all);
        // Whoever lapsed meanwhile may have been taken over.
        const isFresh = await readIfChanged(members, monotonicMs() - beatenAtMs >= times.lapseMs);
        beatenAtMs = sentAtMs;
        const alive = living(members);
        livingIds = new Set(alive.map(({ id }) => id));
        await share(alive, isFresh);
        await forgetDead(members);
      } finally {
        await settle();
      }
    },

    whileHeld(name, run) {
      if (works.has(name)) throw new Error(`${name} is worked on here already`);
      const work: Work = { run, active: null, ended: Promise.resolve() };
      works.set(name, work);
      return {
        async stop() {
          // No longer wanted: free for any other at its next look.
          works.delete(name);
          await end(work);
        },
      };
    },

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
      // Without its member, what this process owned is free at the next look of any other.
      await readStore.save(leaseMembersView, [{ id: memberId, revision: beat + 1, document: null }], null);
    },
  };
}

/** Beats until it is closed; what is asked for anew is looked for at once. */
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

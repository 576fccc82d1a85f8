/**
 * Who leads a cluster now. All members that are known are asked at once, and the one is taken that says so itself: a member
 * that hangs or was just killed answers nobody, whatever the others still say of it.
 */
import { sleep } from '#concurrency/sleep';
import type { Endpoint } from '#runtime/event-store-address';

export interface Member extends Endpoint {
  readonly isLeader: boolean;
  readonly isAlive: boolean;
}

export interface Discovery {
  readonly seeds: readonly Endpoint[];
  readonly gossipTimeoutMs: number;
  readonly intervalMs: number;
  /** Its view of the members; rejects where it does not answer in time. */
  ask(member: Endpoint, milliseconds: number): Promise<readonly Member[]>;
  /** Whether a member has answered that it refuses who asks: the others will, too. */
  isRefusal(error: unknown): boolean;
  /** Whether a member gave no answer in the time it had, which says nothing of why. */
  isTimeout(error: unknown): boolean;
}

/** Nobody leads, or nobody who does answers. `why`: what kept those who were asked from answering. */
export class NoLeader extends Error {
  constructor(asked: readonly Endpoint[], why?: Error) {
    const words = why === undefined ? '' : ` (${String(why)})`;
    super(`no leader among ${asked.map(nameOf).join(', ')}${words}`, { cause: why });
    this.name = 'NoLeader';
  }
}

export const nameOf = ({ host, port }: Endpoint): string => `${host}:${port}`;

export function createDiscovery({ seeds, gossipTimeoutMs, intervalMs, ask, isRefusal, isTimeout }: Discovery) {
  /** Of the newest answer: seeds may be long gone. */
  let known: readonly Endpoint[] = [];
  /** Of the present search: of its last round that ended by more than its time. */
  let failure: Error | null = null;

  const saysItself = async (member: Endpoint, milliseconds: number): Promise<Endpoint> => {
    const members = await ask(member, milliseconds);
    const leader = members.find(({ isLeader, isAlive }) => isLeader && isAlive);
    if (leader === undefined || nameOf(leader) !== nameOf(member)) throw new NoLeader([member]);
    return member;
  };

  /** One round. A seed may be a name for several members: whom it names as leader is asked too. */
  const round = async (milliseconds: number): Promise<Endpoint> => {
    const asked = new Map([...known, ...seeds].map((member) => [nameOf(member), member]));
    const tried = new Map<string, Promise<Endpoint>>();
    const confirm = (member: Endpoint): Promise<Endpoint> => {
      const name = nameOf(member);
      const trying = tried.get(name) ?? saysItself(member, milliseconds);
      tried.set(name, trying);
      return trying;
    };
    const follow = async (member: Endpoint): Promise<Endpoint> => {
      const members = await ask(member, milliseconds);
      if (members.length > 0) known = members.map(({ host, port }) => ({ host, port }));
      const leader = members.find(({ isLeader, isAlive }) => isLeader && isAlive);
      if (leader === undefined) throw new NoLeader([member]);
      return nameOf(leader) === nameOf(member) ? member : confirm({ host: leader.host, port: leader.port });
    };
    try {
      return await Promise.any([...asked.values()].map(follow));
    } catch (error) {
      const faults: readonly Error[] = error instanceof AggregateError ? error.errors : [new Error(String(error))];
      const refusal = faults.find(isRefusal);
      if (refusal !== undefined) throw refusal;
      throw new NoLeader(
        [...asked.values()],
        faults.find((fault) => !(fault instanceof NoLeader)),
      );
    }
  };

  return {
    /** Why the search has found nobody so far; null: it is not known, or it did. For those who cannot wait for its end. */
    lastFailure: (): Error | null => failure,

    /** Rejects with `NoLeader` when the time is up, or when the signal aborts; at once with the refusal where it is refused. */
    async leader(milliseconds: number, signal: AbortSignal): Promise<Endpoint> {
      const endsAtMs = Date.now() + milliseconds;
      // What kept an earlier search from its end may be over.
      failure = null;
      for (;;) {
        try {
          const leader = await round(Math.min(gossipTimeoutMs, Math.max(endsAtMs - Date.now(), 1)));
          failure = null;
          return leader;
        } catch (error) {
          const isOutOfTime = error instanceof NoLeader && isTimeout(error.cause);
          if (failure === null || !isOutOfTime) failure = error instanceof Error ? error : new Error(String(error));
          if (signal.aborted || isRefusal(error)) throw error;
          if (Date.now() + intervalMs >= endsAtMs) throw failure;
          await sleep(intervalMs, signal);
        }
      }
    },
  };
}

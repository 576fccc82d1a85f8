/** Who leads a cluster, who follows how far behind, and what becomes of that when a member resigns, is killed or hangs. */
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import { newestBefore, type Log } from './log.ts';
import { noLeaderInfo, notLeader, type Refusal } from './messages.ts';

export type MemberState = 'leader' | 'follower' | 'killed' | 'hung';

/** What a member knows of its place among the others. */
export interface Role {
  /** For a call that asks for the leader; null where this member leads. */
  refusal(): Refusal | null;
  /** Whether appends that do not ask for the leader get through to one. */
  canForward(): boolean;
  gossip(): ClusterInfo;
  /** What its readers are shown of the log. */
  readonly view: Log;
}

interface Member {
  port: number;
  state: MemberState;
  lagEvents: number;
}

/** As long as real members take to agree on another leader, roughly. */
const electionMs = 700;

function memberInfo({ port, state }: Member) {
  const { LEADER, FOLLOWER } = gossip.MemberInfo.VNodeState;
  return new gossip.MemberInfo()
    .setState(state === 'leader' ? LEADER : FOLLOWER)
    .setIsAlive(state === 'leader' || state === 'follower')
    .setTimeStamp('0')
    .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port));
}

/** One server by itself always leads. */
export function soleRole(log: Log, port: () => number): Role {
  return {
    view: log,
    refusal: () => null,
    canForward: () => true,
    gossip: () =>
      new gossip.ClusterInfo().setMembersList([memberInfo({ port: port(), state: 'leader', lagEvents: 0 })]),
  };
}

export function createCluster(log: Log, size: number) {
  const members: Member[] = Array.from({ length: size }, (_, index) => ({
    port: 0,
    state: index === 0 ? 'leader' : 'follower',
    lagEvents: 0,
  }));
  /** What others still take a member for that was just lost, until they agree on another one. */
  let believed: Member | null = null;
  let electing: NodeJS.Timeout | null = null;

  const leader = (): Member | undefined => members.find(({ state }) => state === 'leader');
  const elect = (lost: Member): void => {
    if (electing !== null) clearTimeout(electing);
    believed = lost.state === 'follower' ? null : lost;
    electing = setTimeout(() => {
      electing = null;
      believed = null;
      const next =
        members.find((member) => member.state === 'follower' && member !== lost) ??
        members.find(({ state }) => state === 'follower');
      if (next === undefined || leader() !== undefined) return;
      next.state = 'leader';
      // A new leader begins an epoch, which is a record of the log.
      log.writeSystemRecord();
    }, electionMs);
  };
  const lose = (state: MemberState): number | null => {
    const lost = leader();
    if (lost === undefined) return null;
    lost.state = state;
    elect(lost);
    return members.indexOf(lost);
  };

  return {
    members: members as readonly Readonly<Member>[],
    listens(index: number, port: number): void {
      const member = members[index];
      if (member !== undefined) member.port = port;
    },
    role(index: number): Role {
      const self = members[index];
      if (self === undefined) throw new Error(`there is no member ${index}`);
      return {
        view: newestBefore(log, () => (self.state === 'leader' ? 0 : self.lagEvents)),
        refusal() {
          if (self.state === 'leader') return null;
          const known = leader();
          return known === undefined ? noLeaderInfo() : notLeader('127.0.0.1', known.port);
        },
        canForward: () => leader() !== undefined,
        gossip: () =>
          new gossip.ClusterInfo().setMembersList(
            members.map((member) => memberInfo(member === believed ? { ...member, state: 'leader' } : member)),
          ),
      };
    },
    resign: () => lose('follower'),
    /** The member that was lost; null where none led. */
    kill: () => lose('killed'),
    hang: () => lose('hung'),
    /** Back as a follower; leads again where nobody else does. */
    revive(index: number): void {
      const member = members[index];
      if (member === undefined || (member.state !== 'killed' && member.state !== 'hung')) return;
      member.state = 'follower';
      if (leader() === undefined && electing === null) elect(member);
    },
    setLag(index: number, events: number): void {
      const member = members[index];
      if (member !== undefined) member.lagEvents = events;
    },
    stop(): void {
      if (electing !== null) clearTimeout(electing);
    },
  };
}

export type Cluster = ReturnType<typeof createCluster>;

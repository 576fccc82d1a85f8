/** One connection to one member: the client's for reads, a channel of our own for what the client cannot do, and pings to both ends. */
import { readFileSync } from 'node:fs';
import { CallCredentials, ChannelCredentials, Metadata, type CallOptions } from '@grpc/grpc-js';
import { EventStoreDBClient } from '@eventstore/db-client';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { sleep } from '#concurrency/sleep';
import type { Endpoint, EventStoreAddress } from '#runtime/event-store-address';
import { nameOf, type Member } from './eventstoredb-discovery.js';
import { Lost } from './eventstoredb-errors.js';

/** How often a member is asked whether it is there, and how long it may take; two that are missed end the session. */
const pingMs = 1_500;
const missesAllowed = 1;
/** As the client's own: the server may hold events that are larger than what it takes over gRPC. */
const receiveLimitBytes = 17 * 1024 * 1024;

/** What all sessions of a process have in common. Files of certificates are read once. */
export interface Access {
  readonly credentials: ChannelCredentials;
  readonly callCredentials: CallCredentials | undefined;
  readonly metadata: Metadata;
  client(endpoint: Endpoint): EventStoreDBClient;
  /** Of a channel of our own. */
  readonly channelOptions: Readonly<Record<string, number>>;
}

/** Throws where a file cannot be read. */
export function createAccess(address: EventStoreAddress, connectionName: string): Access {
  const { tls, credentials: user, callTimeoutMs, keepAliveIntervalMs, keepAliveTimeoutMs } = address;
  const authorities = tls?.authoritiesFile == null ? null : readFileSync(tls.authoritiesFile);
  const own =
    tls?.user == null
      ? null
      : { key: readFileSync(tls.user.keyFile), certificate: readFileSync(tls.user.certificateFile) };
  const metadata = new Metadata();
  metadata.set('connection-name', address.connectionName ?? connectionName);
  metadata.set('requires-leader', 'true');
  const basic = user === null ? null : `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`;
  const authorization = (_: unknown, done: (error: null, headers: Metadata) => void): void => {
    const headers = new Metadata();
    headers.set('authorization', basic ?? '');
    done(null, headers);
  };
  return {
    metadata,
    credentials:
      tls === null
        ? ChannelCredentials.createInsecure()
        : ChannelCredentials.createSsl(authorities, own?.key ?? null, own?.certificate ?? null),
    // gRPC sends none without TLS, and fails the call.
    callCredentials:
      basic === null || tls === null ? undefined : CallCredentials.createFromMetadataGenerator(authorization),
    client: ({ host, port }) =>
      new EventStoreDBClient(
        {
          endpoint: { address: host, port },
          defaultDeadline: callTimeoutMs,
          keepAliveInterval: keepAliveIntervalMs ?? -1,
          keepAliveTimeout: keepAliveTimeoutMs,
          connectionName: address.connectionName ?? connectionName,
        },
        {
          insecure: tls === null,
          ...(authorities === null ? {} : { rootCertificate: authorities }),
          ...(own === null ? {} : { userKeyFile: own.key, userCertFile: own.certificate }),
        },
        user ?? undefined,
      ),
    channelOptions: {
      'grpc.max_receive_message_length': receiveLimitBytes,
      // A channel begun anew tries at once, whatever the one before it met.
      'grpc.use_local_subchannel_pool': 1,
      ...(keepAliveIntervalMs === null
        ? {}
        : { 'grpc.keepalive_time_ms': keepAliveIntervalMs, 'grpc.keepalive_timeout_ms': keepAliveTimeoutMs }),
    },
  };
}

const membersOf = (info: ClusterInfo): readonly Member[] =>
  info.getMembersList().flatMap((member) => {
    const endpoint = member.getHttpEndPoint();
    if (endpoint === undefined) return [];
    return {
      host: endpoint.getAddress(),
      port: endpoint.getPort(),
      isLeader: member.getState() === gossip.MemberInfo.VNodeState.LEADER,
      isAlive: member.getIsAlive(),
    };
  });

type Gossip = InstanceType<typeof gossipServices.GossipClient>;

function readGossip(client: Gossip, access: Access, milliseconds: number): Promise<readonly Member[]> {
  return new Promise((resolve, reject) => {
    const options: CallOptions = {
      deadline: Date.now() + milliseconds,
      ...(access.callCredentials === undefined ? {} : { credentials: access.callCredentials }),
    };
    client.read(new shared.Empty(), access.metadata, options, (error, info) => {
      if (error === null) resolve(membersOf(info));
      else reject(error);
    });
  });
}

/** The members as one of them sees them, over a connection of its own. */
export async function askMember(access: Access, member: Endpoint, milliseconds: number): Promise<readonly Member[]> {
  const client = new gossipServices.GossipClient(nameOf(member), access.credentials, access.channelOptions);
  try {
    return await readGossip(client, access, milliseconds);
  } finally {
    client.close();
  }
}

export interface Session {
  readonly endpoint: Endpoint;
  /** For reads and metadata. */
  readonly client: EventStoreDBClient;
  /** For calls of our own, on a channel of theirs. */
  readonly streams: StreamsClient;
  /** Aborts where the member is left; what is under way has to end then, since a closed channel ends no call. */
  readonly signal: AbortSignal;
  /** Of a call of our own without an end in time; it asks for the leader. */
  callArguments(): [Metadata, CallOptions];
  leave(why: Error): void;
}

/** What the client hides of itself: it has no public way to close its channel. */
interface ClientChannel {
  getChannel(): Promise<{ close(): void }>;
}

/** `mustLead`: it is left once it says itself that another one leads. `left` is called once. */
export function openSession(
  access: Access,
  endpoint: Endpoint,
  { mustLead, left }: { readonly mustLead: boolean; left(why: Error): void },
): Session {
  const leaving = new AbortController();
  const client = access.client(endpoint);
  const streams = new streamServices.StreamsClient(nameOf(endpoint), access.credentials, access.channelOptions);
  const pings = new gossipServices.GossipClient(nameOf(endpoint), access.credentials, {
    channelOverride: streams.getChannel(),
  });

  const leave = (why: Error): void => {
    if (leaving.signal.aborted) return;
    leaving.abort(why);
    left(why);
    streams.close();
    const closing = async (): Promise<void> => {
      (await (client as unknown as ClientChannel).getChannel()).close();
      await client.dispose();
    };
    closing().catch(() => undefined);
  };

  /** Whether it answered in time; false also where this process was too busy to look. */
  const ping = async (): Promise<boolean> => {
    let isAnswered = false;
    const answered = readGossip(pings, access, pingMs * 4).then(
      (members) => {
        isAnswered = true;
        const leader = members.find(({ isLeader, isAlive }) => isLeader && isAlive);
        if (mustLead && leader !== undefined && nameOf(leader) !== nameOf(endpoint)) {
          leave(new Lost(`${nameOf(endpoint)} says that ${nameOf(leader)} leads`));
        }
      },
      // A refusal is an answer too: who may not ask for members is told so by the calls that count.
      () => {
        isAnswered = true;
      },
    );
    await Promise.race([answered, sleep(pingMs, leaving.signal, { ref: false })]);
    // What came while this process was held up is looked at before it counts as missing.
    if (!isAnswered) await new Promise((resolve) => setImmediate(resolve));
    return isAnswered;
  };

  const watch = async (): Promise<void> => {
    let missed = 0;
    while (!leaving.signal.aborted) {
      const startedAtMs = Date.now();
      missed = (await ping()) ? 0 : missed + 1;
      if (missed > missesAllowed) leave(new Lost(`${nameOf(endpoint)} does not answer`));
      await sleep(startedAtMs + pingMs - Date.now(), leaving.signal, { ref: false });
    }
  };
  void watch();

  return {
    endpoint,
    client,
    streams,
    signal: leaving.signal,
    callArguments: () => [
      access.metadata,
      {
        deadline: Number.POSITIVE_INFINITY,
        ...(access.callCredentials === undefined ? {} : { credentials: access.callCredentials }),
      },
    ],
    leave,
  };
}

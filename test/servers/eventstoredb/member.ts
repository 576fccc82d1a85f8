/** One member: a gRPC server on a port of its own, over the log that all members share. */
import { connect, createServer, type AddressInfo, type Server as SocketServer, type Socket } from 'node:net';
import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import type {
  sendUnaryData,
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
} from '@grpc/grpc-js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import featureServices from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  ReadReq,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { Access, Roles } from './access.ts';
import { createAppends } from './appends.ts';
import type { Role } from './cluster.ts';
import type { Faults } from './faults.ts';
import { newestBefore, type Log } from './log.ts';
import { accessDenied, notLeader, Refusal, streamName, unavailable } from './messages.ts';
import { read } from './reads.ts';

/** The newest version whose sources the double was written from. */
const version = '24.10.0';
/** As the real server's default; gRPC's own limit is smaller. */
const receiveLimitBytes = 17 * 1024 * 1024;
/** Calls beyond so many wait inside the client, as at the real server's web host. */
const concurrentCalls = 100;
/** How old a stale read is. */
const staleEvents = 3;

/** What was asked of all members since the start. */
export interface Counts {
  /** Those that end by themselves: subscriptions are none. */
  reads: number;
}

export interface Tls {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

export interface MemberOptions {
  readonly log: Log;
  readonly faults: Faults;
  readonly role: Role;
  readonly access: Access;
  readonly counts: Counts;
  /** null: in clear. */
  readonly tls: Tls | null;
}

/** Between a client and the server, so that nothing passes either way while the member hangs. */
interface Wire {
  hang(): void;
  goOn(): void;
  destroy(): void;
}

/** To the server's own port: what passes through can be held back. */
function hangingWire(socket: Socket, innerPort: number): Wire {
  const inner = connect(innerPort, '127.0.0.1');
  const goOn = (): void => {
    socket.pipe(inner);
    inner.pipe(socket);
  };
  inner.on('error', () => socket.destroy());
  inner.on('close', () => socket.destroy());
  socket.on('close', () => inner.destroy());
  goOn();
  return {
    goOn,
    hang() {
      socket.unpipe(inner);
      inner.unpipe(socket);
      socket.pause();
      inner.pause();
    },
    destroy: () => socket.destroy(),
  };
}

export function createMember({ log, faults, role, access, counts, tls }: MemberOptions) {
  const wires = new Set<Wire>();
  const cut = (): void => {
    for (const wire of wires) wire.destroy();
  };
  let ownPort = 0;
  let isHung = false;
  const leaderRefusal = (): Refusal => {
    const { host, port: named } = faults.leader ?? { host: '127.0.0.1', port: ownPort };
    return notLeader(host, named);
  };
  const appends = createAppends({ log, faults, role, access, cut, leaderRefusal });

  /** Of a call by who gives a wrong password, or may not do it; null: it may be made. */
  const refusalOf = (metadata: Metadata, may: (roles: Roles) => boolean): Refusal | null => {
    try {
      return may(access.rolesOf(metadata)) ? null : accessDenied();
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  };
  const mayRead = (roles: Roles, options: ReadReq.Options): boolean => {
    const stream = options.hasStream() ? streamName(options.getStream()?.getStreamIdentifier()) : '$all';
    return access.may(roles, 'read', stream);
  };

  const readCall = (call: ServerWritableStream<ReadReq, Uint8Array>): void => {
    const ending = new AbortController();
    call.on('cancelled', () => ending.abort());
    call.on('close', () => ending.abort());
    // Without a listener a broken connection would end the process.
    call.on('error', () => ending.abort());
    let silent = false;
    const finish = (error: Refusal | null): void => {
      if (ending.signal.aborted) return;
      ending.abort();
      if (error === null) call.end();
      else call.emit('error', error);
    };
    // One listener for all waits: they are as many as a long read has packets.
    let goOn: (() => void) | null = null;
    call.on('drain', () => goOn?.());
    ending.signal.addEventListener('abort', () => goOn?.(), { once: true });
    const send = (message: Uint8Array): Promise<void> | undefined => {
      if (silent || ending.signal.aborted || call.write(message)) return undefined;
      return new Promise((resolve) => {
        goOn = resolve;
      });
    };
    const options = call.request.getOptions();
    const fault = faults.nextRead();
    if (faults.refusing || fault === 'unavailable') return finish(unavailable());
    if (fault === 'not-leader') return finish(leaderRefusal());
    if (fault === 'access-denied') return finish(accessDenied());
    if (fault === 'unauthenticated') return finish(new Refusal(status.UNAUTHENTICATED, 'Bad HTTP status code: 401'));
    const mustLead = call.metadata.get('requires-leader').includes('true');
    const stranger = refusalOf(call.metadata, (roles) => options === undefined || mayRead(roles, options));
    if (stranger !== null) return finish(stranger);
    const refusal = mustLead ? role.refusal() : null;
    if (refusal !== null) return finish(refusal);
    if (options === undefined) return finish(new Refusal(status.INVALID_ARGUMENT, 'no options'));
    if (fault === 'silent') silent = true;
    if (!options.hasSubscription()) counts.reads += 1;
    const subscription = {
      end: (error: 'unavailable' | 'cancelled' | 'unknown' | null) =>
        finish(error === null ? null : new Refusal(statusOf[error], `ended by a fault: ${error}`)),
      silence: () => {
        silent = true;
      },
    };
    if (options.hasSubscription()) {
      faults.subscriptions.add(subscription);
      ending.signal.addEventListener('abort', () => faults.subscriptions.delete(subscription), { once: true });
    }
    // As of some events ago, to who does not ask for the leader.
    const view = fault === 'stale-reads' && !mustLead ? newestBefore(role.view, () => staleEvents) : role.view;
    read(view, options, send, ending.signal, fault === 'max-checkpoint').then(
      () => {
        if (!silent) finish(null);
      },
      (error: unknown) =>
        finish(error instanceof Refusal ? error : new Refusal(status.UNKNOWN, `Unexpected error: ${String(error)}`)),
    );
  };

  const server = new Server({
    'grpc.max_receive_message_length': receiveLimitBytes,
    // Clients ping every 10 s, also while nothing is under way.
    'grpc.http2.min_ping_interval_without_data_ms': 1_000,
    'grpc.max_concurrent_streams': concurrentCalls,
  });
  // Events are stored as they go on the wire: nothing is left to serialize.
  const streamsService = {
    read: {
      ...streamServices.StreamsService.read,
      responseSerialize: (message: Uint8Array) => Buffer.from(message.buffer, message.byteOffset, message.byteLength),
    },
    append: streamServices.StreamsService.append,
    batchAppend: streamServices.StreamsService.batchAppend,
  };
  server.addService(streamsService, {
    read: readCall,
    append: (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>) =>
      appends.single(call, answer),
    batchAppend: (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => appends.batch(call),
  });
  server.addService(featureServices.ServerFeaturesService, {
    getSupportedMethods: (_: ServerUnaryCall<Empty, SupportedMethods>, answer: sendUnaryData<SupportedMethods>) => {
      if (faults.refusing) return answer(asServiceError(unavailable()));
      answer(null, supportedMethods());
    },
  });
  server.addService(gossipServices.GossipService, {
    read: ({ metadata }: ServerUnaryCall<Empty, ClusterInfo>, answer: sendUnaryData<ClusterInfo>) => {
      if (faults.refusing) return answer(asServiceError(unavailable()));
      // Anybody may see who leads, but a wrong password is refused everywhere.
      const stranger = refusalOf(metadata, () => true);
      if (stranger !== null) return answer(asServiceError(stranger));
      answer(null, role.gossip());
    },
  });

  const injector = server.createConnectionInjector(
    tls === null
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: tls.certificate, private_key: tls.key }]),
  );
  const takeIn = (socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.setNoDelay(true);
    injector.injectConnection(socket);
  };
  const remember = (socket: Socket, wire: Wire): void => {
    wires.add(wire);
    socket.on('close', () => wires.delete(wire));
    if (isHung) wire.hang();
  };
  let inner: SocketServer | null = null;
  const newListener = (innerPort: number | null): SocketServer =>
    createServer((socket) => {
      if (innerPort === null) {
        remember(socket, { hang: () => undefined, goOn: () => undefined, destroy: () => socket.destroy() });
        return takeIn(socket);
      }
      socket.on('error', () => undefined);
      socket.setNoDelay(true);
      remember(socket, hangingWire(socket, innerPort));
    });
  let listener: SocketServer | null = null;

  return {
    get port() {
      return ownPort;
    },
    cut,
    /** `canHang`: through a connection more. */
    async listen(port: number, canHang: boolean): Promise<number> {
      let innerPort: number | null = null;
      if (canHang) {
        inner ??= createServer(takeIn);
        innerPort = inner.listening ? (inner.address() as AddressInfo).port : await listen(inner, 0);
      }
      listener = newListener(innerPort);
      ownPort = await listen(listener, port);
      return ownPort;
    },
    /** As by kill -9 of its process: its port is closed and every connection is gone; `listen` starts it again. */
    async kill(): Promise<void> {
      const closing = listener;
      listener = null;
      if (closing === null) return;
      const closed = new Promise<void>((resolve) => closing.close(() => resolve()));
      cut();
      await closed;
    },
    hang(): void {
      isHung = true;
      for (const wire of wires) wire.hang();
    },
    goOn(): void {
      isHung = false;
      for (const wire of wires) wire.goOn();
    },
    async close(): Promise<void> {
      const closed = [listener, inner].map(
        (each) => new Promise<void>((resolve) => (each === null ? resolve() : each.close(() => resolve()))),
      );
      cut();
      server.forceShutdown();
      await Promise.all(closed);
    },
  };
}

export type RunningMember = ReturnType<typeof createMember>;

const statusOf = { unavailable: status.UNAVAILABLE, cancelled: status.CANCELLED, unknown: status.UNKNOWN } as const;

export function asServiceError({ code, details, metadata }: Refusal) {
  return { code, details, metadata: metadata ?? new Metadata(), name: 'Refusal', message: details };
}

/** The port it got. */
export async function listen(server: SocketServer, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** The client asks before all else, and takes what is not named here for missing. */
function supportedMethods(): SupportedMethods {
  const service = 'event_store.client.streams.streams';
  const method = (name: string, featuresList: string[]) =>
    new features.SupportedMethod().setServiceName(service).setMethodName(name).setFeaturesList(featuresList);
  return new features.SupportedMethods()
    .setEventStoreServerVersion(version)
    .setMethodsList([
      method('read', ['position', 'events']),
      method('append', []),
      method('batchappend', ['deadline_duration']),
    ]);
}

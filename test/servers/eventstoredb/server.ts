/** A server that speaks EventStoreDB's protocol, as far as an event-sourced application needs it, on one SQLite file. */
import { createServer, type Server as SocketServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Server, ServerCredentials, status, Metadata } from '@grpc/grpc-js';
import type {
  sendUnaryData,
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
} from '@grpc/grpc-js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import featureServices from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
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
import { createAppends } from './appends.ts';
import { createControl } from './control.ts';
import { createFaults, type Faults } from './faults.ts';
import { openLog } from './log.ts';
import { notLeader, Refusal, unavailable } from './messages.ts';
import { read } from './reads.ts';

/** The newest version whose sources the double was written from. */
const version = '24.10.0';
/** As the real server's default; gRPC's own limit is smaller. */
const receiveLimitBytes = 17 * 1024 * 1024;

export interface EventStoreDbOptions {
  readonly port: number;
  readonly data: string;
  /** Port of the faults; null: none. */
  readonly control?: number | null;
}

export interface RunningEventStoreDb {
  readonly port: number;
  readonly url: string;
  readonly controlUrl: string | null;
  readonly faults: Faults;
  /** Closes every connection at once, as when a cable is pulled; new ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

export async function startEventStoreDb({
  port,
  data,
  control = null,
}: EventStoreDbOptions): Promise<RunningEventStoreDb> {
  const log = openLog(data);
  const faults = createFaults();
  const sockets = new Set<Socket>();
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  let ownPort = port;
  const leaderRefusal = (): Refusal => {
    const { host, port: named } = faults.leader ?? { host: '127.0.0.1', port: ownPort };
    return notLeader(host, named);
  };
  const appends = createAppends({ log, faults, cut, leaderRefusal });

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
    if (options === undefined) return finish(new Refusal(status.INVALID_ARGUMENT, 'no options'));
    if (fault === 'silent') silent = true;
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
    read(log, options, send, ending.signal).then(
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
    read: (_: ServerUnaryCall<Empty, ClusterInfo>, answer: sendUnaryData<ClusterInfo>) => {
      if (faults.refusing) return answer(asServiceError(unavailable()));
      answer(null, aloneInCluster(ownPort));
    },
  });

  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.setNoDelay(true);
    injector.injectConnection(socket);
  });
  ownPort = await listen(listener, port);
  const controlServer = control === null ? null : createControl({ faults, log, cut });
  const controlPort = controlServer === null ? null : await listen(controlServer, control ?? 0);

  return {
    port: ownPort,
    url: `esdb://127.0.0.1:${ownPort}?tls=false`,
    controlUrl: controlPort === null ? null : `http://127.0.0.1:${controlPort}`,
    faults,
    cut,
    async close() {
      const closed = [listener, controlServer].map(
        (each) => new Promise<void>((resolve) => (each === null ? resolve() : each.close(() => resolve()))),
      );
      controlServer?.closeAllConnections();
      cut();
      server.forceShutdown();
      await Promise.all(closed);
      log.close();
    },
  };
}

const statusOf = { unavailable: status.UNAVAILABLE, cancelled: status.CANCELLED, unknown: status.UNKNOWN } as const;

export function asServiceError({ code, details, metadata }: Refusal) {
  return { code, details, metadata: metadata ?? new Metadata(), name: 'Refusal', message: details };
}

/** The port it got. */
async function listen(server: SocketServer, port: number): Promise<number> {
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

function aloneInCluster(port: number): ClusterInfo {
  const member = new gossip.MemberInfo()
    .setState(gossip.MemberInfo.VNodeState.LEADER)
    .setIsAlive(true)
    .setTimeStamp('0')
    .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port));
  return new gossip.ClusterInfo().setMembersList([member]);
}

/** What the specs of the double share: a server, a client, and subscriptions that are remembered. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  type END,
  EventStoreDBClient,
  jsonEvent,
  type START,
  type AllStreamResolvedEvent,
  type AppendExpectedRevision,
  type Filter,
  type Position,
} from '@eventstore/db-client';
import { startEventStoreDb } from './server.ts';

/** Credentials of its own make the client use Append instead of BatchAppend. Client: streams/appendToStream/index.js. */
export const oneByOne = { credentials: { username: 'anyone', password: 'anything' } };

export const place = (position: Position | undefined): bigint => position?.commit ?? -1n;

export const newEvent = (type = 'happened', data: object = { a: 1 }, id: string = randomUUID()) =>
  jsonEvent({ id, type, data: { ...data }, metadata: { by: 'spec' } });

/** `dispose` ends calls and leaves the channel open, which keeps the process. Client: Client/index.js. */
export async function closeClient(client: EventStoreDBClient): Promise<void> {
  await client.dispose();
  const { getChannel } = client as unknown as { getChannel(): Promise<{ close(): void }> };
  (await getChannel()).close();
}

let streams = 0;
export const newStream = (prefix = 'stream'): string => `${prefix}-${(streams += 1)}`;

export type Told =
  | { kind: 'event'; stream: string; position: Position }
  | { kind: 'checkpoint'; position: Position }
  | { kind: 'caught up' };

/** A subscription to all, with everything that the server sent, in order. */
export function follow(
  client: EventStoreDBClient,
  fromPosition: Position | typeof START | typeof END,
  filter?: Filter,
) {
  const told: Told[] = [];
  let changed = Promise.withResolvers<void>();
  const tell = (message: Told): void => {
    told.push(message);
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const drain = (): void => {
    const source = subscription as unknown as Readable;
    for (;;) {
      const resolved = source.read() as AllStreamResolvedEvent | null;
      if (resolved === null) return;
      if (resolved.event) tell({ kind: 'event', stream: resolved.event.streamId, position: resolved.event.position });
    }
  };
  const checkpointReached = async (_: unknown, position: Position): Promise<void> => {
    drain();
    tell({ kind: 'checkpoint', position });
  };
  const subscription = client.subscribeToAll({
    fromPosition,
    ...(filter === undefined ? {} : { filter: { ...filter, checkpointReached } }),
  });
  const ended = new Promise<unknown>((resolve) => {
    subscription.on('error', resolve).on('end', () => resolve('end'));
  });
  let confirmed = false;
  subscription
    .on('confirmation', () => {
      confirmed = told.length === 0;
    })
    .on('readable', drain)
    .on('caughtUp', () => {
      drain();
      tell({ kind: 'caught up' });
    });
  return {
    told,
    ended,
    isConfirmedFirst: () => confirmed,
    async until(found: (told: readonly Told[]) => boolean): Promise<void> {
      while (!found(told)) await changed.promise;
    },
    async end(): Promise<void> {
      await subscription.unsubscribe();
      (subscription as unknown as Readable).destroy();
    },
  };
}
export const ofKind = (told: readonly Told[], kind: Told['kind']): readonly Told[] =>
  told.filter((each) => each.kind === kind);
export const isCaughtUp = (told: readonly Told[]): boolean => ofKind(told, 'caught up').length > 0;

/** A server in a folder of its own, a client of it, and what is asked of both most. */
export async function startKit() {
  const folder = mkdtempSync(join(tmpdir(), 'eventstoredb-double-'));
  const server = await startEventStoreDb({ port: 0, data: folder, control: 0 });
  const client = EventStoreDBClient.connectionString(server.url);
  return {
    server,
    client,
    append: (stream: string, count: number, expectedRevision: AppendExpectedRevision = 'any', type?: string) =>
      client.appendToStream(
        stream,
        Array.from({ length: count }, () => newEvent(type)),
        { expectedRevision },
      ),
    follow: (fromPosition: Position | typeof START | typeof END, filter?: Filter) =>
      follow(client, fromPosition, filter),
    async stop(): Promise<void> {
      await closeClient(client);
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * What the double does, each with what it follows. "Client" is @eventstore/db-client 6.2.1, under `dist/`; "Server" is the
 * public source of EventStoreDB (github.com/EventStore/EventStore, commit 3f1acb7, March 2025), under `src/EventStore.Core/Services/`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BACKWARDS,
  END,
  EventStoreDBClient,
  eventTypeFilter,
  persistentSubscriptionToStreamSettingsFromDefaults,
  START,
  streamNameFilter,
  type AllStreamResolvedEvent,
} from '@eventstore/db-client';
import { startEventStoreDb } from './server.ts';
import { closeClient, isCaughtUp, newEvent, newStream, ofKind, oneByOne, place, startKit } from './spec.kit.ts';

let kit: Awaited<ReturnType<typeof startKit>>;
let client: EventStoreDBClient;
const append: (typeof kit)['append'] = (...args) => kit.append(...args);
const follow: (typeof kit)['follow'] = (...args) => kit.follow(...args);

beforeAll(async () => {
  kit = await startKit();
  ({ client } = kit);
});
afterAll(() => kit.stop());

describe('an append to the double', () => {
  // Server: Transport/Grpc/Streams.BatchAppend.cs (ConvertMessage), Streams.Append.cs (HandleWriteEventsCompleted).
  // Client: streams/appendToStream/batchAppend.js and append.js, which read the same answer from two messages.
  it.each([
    ['BatchAppend', {}],
    ['Append', oneByOne],
  ])('answers with the revision and the position of the last event by %s', async (_, options) => {
    const stream = newStream();
    const result = await client.appendToStream(stream, [newEvent(), newEvent()], {
      expectedRevision: 'no_stream',
      ...options,
    });
    expect(result).toMatchObject({ success: true, nextExpectedRevision: 1n });
    const [, second] = await Array.fromAsync(client.readStream(stream));
    expect(result.position).toEqual(second?.event?.position);
  });

  // Server: Storage/ReaderIndex/IndexWriter.cs (CheckCommit), StorageWriterService.cs (ActOnCommitCheckFailure).
  it.each([
    ['BatchAppend', {}],
    ['Append', oneByOne],
  ])('answers a violated expectation with the stream’s revision by %s', async (_, options) => {
    const stream = newStream();
    const missing = client.appendToStream(stream, newEvent(), { expectedRevision: 0n, ...options });
    await expect(missing).rejects.toMatchObject({ type: 'wrong-expected-version', actualVersion: 'no_stream' });
    await append(stream, 3);
    for (const expectedRevision of ['no_stream', 1n, 7n] as const) {
      const refused = client.appendToStream(stream, newEvent(), { expectedRevision, ...options });
      await expect(refused).rejects.toMatchObject({ type: 'wrong-expected-version', actualVersion: 2n });
    }
    expect(await Array.fromAsync(client.readStream(stream))).toHaveLength(3);
  });

  // Server: IndexWriter.cs (CheckCommit): StreamExists needs a stream, Any takes whatever there is.
  it('accepts the expectations stream-exists and any', async () => {
    const stream = newStream();
    await expect(append(stream, 1, 'stream_exists')).rejects.toMatchObject({ type: 'wrong-expected-version' });
    await append(stream, 1, 'any');
    await expect(append(stream, 1, 'stream_exists')).resolves.toMatchObject({ nextExpectedRevision: 1n });
  });

  // Server: IndexWriter.cs (CheckCommit, `expectedVersion < curVersion`): ids are compared from the expected revision on, however
  // much was written since; RequestManager/Managers/RequestManagerBase.cs (ReturnCommitAt) answers with the first write's place.
  it('answers repeated ids at the same revision like the first time, also after other appends', async () => {
    const stream = newStream();
    await append(stream, 1);
    const events = [newEvent(), newEvent()];
    const first = await client.appendToStream(stream, events, { expectedRevision: 0n });
    await append(stream, 5, 2n);
    expect(await client.appendToStream(stream, events, { expectedRevision: 0n })).toEqual(first);
    expect(await Array.fromAsync(client.readStream(stream))).toHaveLength(8);
  });

  // Server: IndexWriter.cs (CheckCommit: CorruptedIdempotency), answered as a violated expectation.
  it('is not taken for a repeat where only its beginning is the same', async () => {
    const stream = newStream();
    const [one, two] = [newEvent(), newEvent()];
    await client.appendToStream(stream, [one, two], { expectedRevision: 'no_stream' });
    const longer = client.appendToStream(stream, [one, two, newEvent()], { expectedRevision: 'no_stream' });
    await expect(longer).rejects.toMatchObject({ type: 'wrong-expected-version', actualVersion: 1n });
    const other = client.appendToStream(stream, [one, newEvent()], { expectedRevision: 'no_stream' });
    await expect(other).rejects.toMatchObject({ type: 'wrong-expected-version' });
  });

  // Server: IndexWriter.cs (CheckCommit, Any): a memory of the newest ids, gone with the process; exact revisions are the safe way.
  it('is recognised as a repeat at any revision only while its ids are remembered', async () => {
    const stream = newStream();
    const written = newEvent();
    const first = await client.appendToStream(stream, written, { expectedRevision: 'any' });
    expect(await client.appendToStream(stream, written, { expectedRevision: 'any' })).toEqual(first);
    const elsewhere = await client.appendToStream(newStream(), written, { expectedRevision: 'any' });
    expect(elsewhere).toMatchObject({ nextExpectedRevision: 0n });
  });

  // Server: StorageWriterService.cs (WritePrepares): each event of a write is a committed record of its own.
  it('gives every event a position of its own, growing, both halves equal, with gaps', async () => {
    const stream = newStream();
    await append(stream, 3);
    const read = await Array.fromAsync(client.readStream(stream));
    const places = read.map(({ event: recorded }) => recorded?.position);
    for (const position of places) expect(position?.commit).toBe(position?.prepare);
    const [first = -1n, second = -1n, third = -1n] = places.map(place);
    expect(second - first).toBeGreaterThan(1n);
    expect(third - second).toBeGreaterThan(1n);
  });

  // Server: ClusterVNodeOptions (MaxAppendSize, 1 MiB), Streams.BatchAppend.cs, RpcExceptions.cs (MaxAppendSizeExceeded).
  it.each([
    ['BatchAppend', {}],
    ['Append', oneByOne],
  ])('is rejected above a megabyte by %s', async (_, options) => {
    const large = newEvent('large', { text: 'x'.repeat(1024 * 1024) });
    await expect(client.appendToStream(newStream(), large, options)).rejects.toMatchObject({
      type: 'maximum-append-size-exceeded',
      maxAppendSize: 1024 * 1024,
    });
  });

  // Server: Streams.BatchAppend.cs (GetRequestedTimeout): the deadline in the request is a time of day on the server's clock.
  it('is rejected where it arrives past its deadline', async () => {
    const stream = newStream();
    await expect(client.appendToStream(stream, newEvent(), { deadline: -1_000 })).rejects.toMatchObject({
      type: 'deadline-exceeded',
    });
    await expect(Array.fromAsync(client.readStream(stream))).rejects.toMatchObject({ type: 'stream-not-found' });
  });
});

describe('a read of one stream', () => {
  // Server: Transport/Enumerators/Enumerator.ReadStreamForwards.cs: told by a message, which the client makes an error of
  // (Client: streams/utils/ReadStream.js, _transform).
  it('reports a stream that does not exist', async () => {
    await expect(Array.fromAsync(client.readStream(newStream()))).rejects.toMatchObject({ type: 'stream-not-found' });
  });

  // Client: streams/readStream.js. Server: Streams.Read.cs (CreateEnumerator).
  it('starts at a revision, in both directions, up to a count', async () => {
    const stream = newStream();
    await append(stream, 600);
    const revisions = async (
      options: Parameters<EventStoreDBClient['readStream']>[1],
    ): Promise<(bigint | undefined)[]> =>
      (await Array.fromAsync(client.readStream(stream, options))).map(({ event: recorded }) => recorded?.revision);
    expect(await revisions({})).toEqual(Array.from({ length: 600 }, (_, index) => BigInt(index)));
    expect(await revisions({ fromRevision: 597n })).toEqual([597n, 598n, 599n]);
    expect(await revisions({ fromRevision: 10n, maxCount: 2 })).toEqual([10n, 11n]);
    expect(await revisions({ fromRevision: 600n })).toEqual([]);
    expect(await revisions({ direction: BACKWARDS, fromRevision: END, maxCount: 2 })).toEqual([599n, 598n]);
    expect(await revisions({ direction: BACKWARDS, fromRevision: 1n })).toEqual([1n, 0n]);
  });

  // Client: utils/convertGrpcEvent.js (convertGrpcRecord): what it takes from the headers, and JSON only of JSON.
  it('returns id, type, data, metadata and the time of writing', async () => {
    const stream = newStream();
    const written = newEvent('kept', { text: 'é\u0000"' });
    const before = Date.now();
    await client.appendToStream(stream, written);
    const [read] = await Array.fromAsync(client.readStream(stream));
    expect(read?.event).toMatchObject({
      streamId: stream,
      id: written.id,
      type: 'kept',
      isJson: true,
      data: { text: 'é\u0000"' },
      metadata: { by: 'spec' },
    });
    expect(read?.event?.created.getTime()).toBeGreaterThanOrEqual(before);
  });
});

describe('a read of all events', () => {
  // Server: Storage/ReaderIndex/AllReader.cs (ReadAllEventsForwardInternal): a position is where reading begins, itself included.
  it('goes forwards from a position, and backwards from before it', async () => {
    const stream = newStream();
    await append(stream, 3);
    const own = await Array.fromAsync(client.readStream(stream));
    const middle = own[1]?.event?.position;
    if (middle === undefined) throw new Error('no position');
    const forwards = await Array.fromAsync(client.readAll({ fromPosition: middle, maxCount: 2 }));
    expect(forwards.map(({ event: recorded }) => recorded?.id)).toEqual([own[1]?.event?.id, own[2]?.event?.id]);
    const backwards = await Array.fromAsync(
      client.readAll({ fromPosition: middle, direction: BACKWARDS, maxCount: 1 }),
    );
    expect(backwards[0]?.event?.id).toBe(own[0]?.event?.id);
    const [newest] = await Array.fromAsync(client.readAll({ fromPosition: END, direction: BACKWARDS, maxCount: 1 }));
    expect(newest?.event?.id).toBe(own[2]?.event?.id);
  });

  // Server: Transport/Grpc/RpcExceptions.cs (InvalidPositionException): a place where no record begins cannot be read from.
  it('rejects a position between events', async () => {
    const { position } = await append(newStream(), 1);
    const between = { commit: place(position) + 1n, prepare: place(position) + 1n };
    await append(newStream(), 1);
    await expect(Array.fromAsync(client.readAll({ fromPosition: between }))).rejects.toMatchObject({ code: 3 });
  });
});

describe('a subscription to all events', () => {
  // Server: Transport/Enumerators/Enumerator.AllSubscriptionFiltered.cs (MainLoop, CatchUp, GoLive). Client: streams/utils/Subscription.js.
  it('confirms, sends stored events, a checkpoint, caught-up, then live events', async () => {
    const prefix = newStream('order');
    await append(`${prefix}-a`, 2);
    const { told, until, end, isConfirmedFirst } = follow(START, streamNameFilter({ prefixes: [prefix] }));
    await until(isCaughtUp);
    await append(`${prefix}-b`, 1);
    await until((all) => ofKind(all, 'event').length === 3);
    await end();
    expect(isConfirmedFirst()).toBe(true);
    const tail = told.slice(told.findIndex(({ kind }) => kind === 'event')).map(({ kind }) => kind);
    expect(tail.filter((kind) => kind !== 'checkpoint')).toEqual(['event', 'event', 'caught up', 'event']);
    expect(tail[tail.indexOf('caught up') - 1]).toBe('checkpoint');
  });

  // Server: AllSubscriptionFiltered.cs (MainLoop): events behind the checkpoint, the one at it not.
  it('starts after the given position', async () => {
    const prefix = newStream('resume');
    const { position } = await append(`${prefix}-a`, 2);
    if (position === undefined) throw new Error('no position');
    await append(`${prefix}-b`, 1);
    const { told, until, end } = follow(position, streamNameFilter({ prefixes: [prefix] }));
    await until(isCaughtUp);
    await end();
    expect(ofKind(told, 'event')).toMatchObject([{ stream: `${prefix}-b` }]);
  });

  // Server: AllSubscriptionFiltered.cs (MainLoop, `checkpoint >= confirmationLastPos`): straight to live, without a checkpoint.
  it('is live at once where its position is the end', async () => {
    const prefix = newStream('end');
    const { position } = await append(`${prefix}-a`, 1);
    if (position === undefined) throw new Error('no position');
    const { told, until, end } = follow(position, streamNameFilter({ prefixes: [prefix] }));
    await until(isCaughtUp);
    await end();
    expect(told.map(({ kind }) => kind)).toEqual(['caught up']);
  });

  // Server: AllReader.cs (page: at most 32 events that match, `maxSearchWindow` looked at), AllSubscriptionFiltered.cs (CatchUp):
  // where a page ends without a match, the checkpoint is where that page began, whose prepare half is 0: the event
  // that begins there was not looked at before, so a client that resumes at (commit, commit) would miss it.
  it('sends checkpoints of pages without a match, each before the events of the next page', async () => {
    const prefix = newStream('sparse');
    const from = await append(newStream(), 1);
    const others = newStream('others');
    await append(others, 100);
    await append(`${prefix}-a`, 1);
    const filter = streamNameFilter({ prefixes: [prefix], maxSearchWindow: 10, checkpointInterval: 2 });
    const { told, until, end } = follow(from.position ?? START, filter);
    await until(isCaughtUp);
    await end();
    const checkpoints = ofKind(told, 'checkpoint').flatMap((each) => (each.kind === 'checkpoint' ? each.position : []));
    expect(checkpoints.length).toBeGreaterThanOrEqual(5);
    const open = checkpoints.filter(({ commit, prepare }) => commit !== prepare);
    expect(open.length).toBeGreaterThanOrEqual(4);
    expect(open.every(({ prepare }) => prepare === 0n)).toBe(true);
    const places = await Array.fromAsync(client.readStream(others));
    expect(places.some(({ event: recorded }) => recorded?.position?.commit === open[0]?.commit)).toBe(true);
    expect(checkpoints.map(place)).toEqual(checkpoints.map(place).toSorted((a, b) => Number(a - b)));
  });

  // Server: SubscriptionsService.cs (ProcessEventCommited): live, every `interval` events looked at, at the event itself.
  it('sends checkpoints of live events that do not match', async () => {
    const prefix = newStream('quiet');
    const filter = streamNameFilter({ prefixes: [prefix], maxSearchWindow: 5, checkpointInterval: 2 });
    const { told, until, end } = follow(END, filter);
    await until(isCaughtUp);
    const others = newStream('others');
    for (let n = 0; n < 10; n += 1) await append(others, 1);
    await until((all) => ofKind(all, 'checkpoint').length > 0);
    await end();
    const tenth = (await Array.fromAsync(client.readStream(others)))[9]?.event?.position;
    expect(ofKind(told, 'checkpoint').at(-1)).toEqual({ kind: 'checkpoint', position: tenth });
  });

  // Server: Storage/ReaderIndex/EventFilter.cs; Streams.Read.cs (ConvertToEventFilter). Client: utils/filter.js.
  it.each([
    ['prefixes of streams', (stream: string) => streamNameFilter({ prefixes: ['nothing', `${stream}-a`] })],
    ['a pattern of streams', (stream: string) => streamNameFilter({ regex: `^${stream}-a$` })],
    ['prefixes of event types', (stream: string) => eventTypeFilter({ prefixes: [`${stream}.a`] })],
    ['a pattern of event types', (stream: string) => eventTypeFilter({ regex: `^${stream}\\.a` })],
  ])('filters by %s', async (_, filter) => {
    const stream = newStream('filter');
    await append(`${stream}-a`, 2, 'any', `${stream}.a`);
    await append(`${stream}-b`, 2, 'any', `${stream}.b`);
    const { told, until, end } = follow(START, filter(stream));
    await until(isCaughtUp);
    await end();
    expect(ofKind(told, 'event')).toMatchObject([{ stream: `${stream}-a` }, { stream: `${stream}-a` }]);
  });

  // Server: AllSubscriptionFiltered.cs (GoLive): live events begin where the reading ended, a page that was not full behind it or not.
  it('sends caught-up once, even if many events after the last full page do not match', async () => {
    const prefix = newStream('tail');
    await append(newStream('other'), 100);
    const { told, until, end } = follow(START, streamNameFilter({ prefixes: [prefix], maxSearchWindow: 10_000 }));
    await until(isCaughtUp);
    await append(newStream('other'), 1);
    await append(prefix, 1);
    await until((all) => ofKind(all, 'event').length === 1);
    await end();
    expect(ofKind(told, 'caught up')).toHaveLength(1);
  });

  // Server: Enumerator.AllSubscription.cs: without a filter there are no checkpoints.
  it('sends all events and no checkpoints without a filter', async () => {
    const { position } = await append(newStream(), 1);
    const stream = newStream();
    await append(stream, 3);
    const { told, until, end } = follow(position ?? START);
    await until(isCaughtUp);
    await end();
    expect(told.map(({ kind }) => kind)).toEqual(['event', 'event', 'event', 'caught up']);
  });

  // Server: AllSubscriptionFiltered.cs (GoLive, 32 live events held, then back to catching up).
  it('loses no events for a slow subscriber', async () => {
    const stream = newStream('slow');
    const { told, until, end } = follow(END, streamNameFilter({ prefixes: [stream] }));
    await until(isCaughtUp);
    await append(stream, 500);
    await until((all) => ofKind(all, 'event').length === 500);
    await end();
    const places = ofKind(told, 'event').map((each) => (each.kind === 'event' ? place(each.position) : -1n));
    expect(new Set(places).size).toBe(500);
  });
});

describe('a subscription to one stream', () => {
  // Server: Transport/Enumerators/Enumerator.StreamSubscription.cs; a revision is one that was seen. Client: streams/subscribeToStream.js.
  it('sends the events after a revision, also of a stream that does not exist yet', async () => {
    const stream = newStream();
    const subscription = client.subscribeToStream(stream);
    const first = Array.fromAsync(subscription as AsyncIterable<AllStreamResolvedEvent>, ({ event: recorded }) => {
      if (recorded?.revision === 1n)
        void subscription.unsubscribe().then(() => (subscription as unknown as Readable).push(null));
      return recorded?.revision;
    });
    await append(stream, 2);
    expect(await first).toEqual([0n, 1n]);
  });
});

describe('the double of EventStoreDB', () => {
  // Server: every method has an answer there; here these are left out, as gRPC answers what it does not know.
  it('does not support deletes', async () => {
    const stream = newStream();
    await append(stream, 1);
    await expect(client.deleteStream(stream)).rejects.toMatchObject({ code: 12 });
    await expect(client.tombstoneStream(stream)).rejects.toMatchObject({ code: 12 });
  });

  // Client: persistentSubscription/*.js and Client/ServerFeatures.js: what is not in the list is not called, or not answered.
  it('has no persistent subscriptions', async () => {
    const settings = persistentSubscriptionToStreamSettingsFromDefaults();
    await expect(client.createPersistentSubscriptionToStream(newStream(), 'group', settings)).rejects.toMatchObject({
      code: 12,
    });
  });
});

describe('a restart of the double', () => {
  it('keeps all events on the same port and data', async () => {
    const data = mkdtempSync(join(tmpdir(), 'eventstoredb-double-'));
    const first = await startEventStoreDb({ port: 0, data });
    const own = EventStoreDBClient.connectionString(first.url);
    const events = [newEvent(), newEvent()];
    const before = await own.appendToStream('kept-1', events, { expectedRevision: 'no_stream' });
    await closeClient(own);
    await first.close();
    const second = await startEventStoreDb({ port: first.port, data });
    // By another name: a channel to the one that was dropped is kept for a while, and every call on it fails.
    const again = EventStoreDBClient.connectionString(`esdb://localhost:${second.port}?tls=false`);
    expect(await again.appendToStream('kept-1', events, { expectedRevision: 'no_stream' })).toEqual(before);
    const after = await again.appendToStream('kept-1', newEvent(), { expectedRevision: 1n });
    expect(place(after.position)).toBeGreaterThan(place(before.position));
    await closeClient(again);
    await second.close();
    rmSync(data, { recursive: true });
  });

  // Client: Client/discovery.js (listClusterMembers, determineBestNode).
  it('leaves it discoverable as a cluster of one', async () => {
    const own = EventStoreDBClient.connectionString(kit.server.url.replace('esdb://', 'esdb+discover://'));
    await expect(own.appendToStream(newStream(), newEvent())).resolves.toMatchObject({ success: true });
    await closeClient(own);
  });
});

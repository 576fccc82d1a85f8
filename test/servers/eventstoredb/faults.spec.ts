/** Faults on request, and what the unmodified client makes of them. "Client" and "Server" as in behaviours.spec.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { END, EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import { startEventStoreDb, type RunningEventStoreDb } from './server.ts';
import { closeClient, isCaughtUp, newEvent, newStream, ofKind, oneByOne, startKit } from './spec.kit.ts';

let kit: Awaited<ReturnType<typeof startKit>>;
let client: EventStoreDBClient;
let server: RunningEventStoreDb;
const append: (typeof kit)['append'] = (...args) => kit.append(...args);
const follow: (typeof kit)['follow'] = (...args) => kit.follow(...args);

beforeAll(async () => {
  kit = await startKit();
  ({ client, server } = kit);
});
afterAll(() => kit.stop());

describe('faults on request', () => {
  const ask = async (path: string, method = 'POST'): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(`${server.controlUrl}${path}`, { method });
    return { status: response.status, body: await response.json() };
  };
  /** A fault may cost the client its connection: each test has one of its own. */
  const withClient = async (test: (own: EventStoreDBClient) => Promise<void>): Promise<void> => {
    const own = EventStoreDBClient.connectionString(server.url);
    await own.appendToStream(newStream(), newEvent());
    try {
      await test(own);
    } finally {
      await closeClient(own);
    }
  };

  it('are rejected where they are unknown', async () => {
    expect(await ask('/state', 'GET')).toMatchObject({ status: 200, body: { refusing: false } });
    expect((await ask('/nothing')).status).toBe(404);
    expect((await ask('/appends?fault=nothing')).status).toBe(400);
    expect((await ask('/appends?fault=late&count=many')).status).toBe(400);
    expect((await ask('/subscriptions/end?error=nothing')).status).toBe(400);
  });

  // Client: streams/appendToStream/batchAppend.js: no time limit of its own; what is late is waited for.
  it('delay the answer to a written append past its deadline', async () => {
    const stream = newStream();
    await ask('/appends?fault=late&delayMs=1100');
    await expect(client.appendToStream(stream, newEvent(), { deadline: 1_000, ...oneByOne })).rejects.toMatchObject({
      type: 'deadline-exceeded',
    });
    expect(await Array.fromAsync(client.readStream(stream))).toHaveLength(1);
    await ask('/appends?fault=late&delayMs=1100');
    await expect(client.appendToStream(stream, newEvent(), { deadline: 1_000 })).resolves.toMatchObject({
      success: true,
    });
  });

  // Client: utils/CommandError.js (convertToCommandError). Server: RpcExceptions.cs (ServerNotReady).
  it.each([
    ['BatchAppend', {}],
    ['Append', oneByOne],
  ])('refuse an append as unavailable by %s, and write nothing', (_, options) =>
    withClient(async (own) => {
      const stream = newStream();
      await ask('/appends?fault=unavailable');
      await expect(own.appendToStream(stream, newEvent(), options)).rejects.toMatchObject({ type: 'unavailable' });
      await expect(Array.fromAsync(own.readStream(stream))).rejects.toMatchObject({ type: 'stream-not-found' });
    }),
  );

  // Client: Client/index.js (shouldReconnect, handleError). Server: RpcExceptions.cs (LeaderInfo).
  it.each([
    ['BatchAppend', {}],
    ['Append', oneByOne],
  ])('name another leader by %s, to which the client connects next', (_, options) =>
    withClient(async (own) => {
      const data = mkdtempSync(join(tmpdir(), 'eventstoredb-double-'));
      const leader = await startEventStoreDb({ port: 0, data });
      await ask(`/leader?port=${leader.port}`);
      await ask('/appends?fault=not-leader');
      const stream = newStream('leader');
      await expect(own.appendToStream(stream, newEvent(), options)).rejects.toMatchObject({
        type: 'not-leader',
        leader: { port: leader.port },
      });
      await own.appendToStream(stream, newEvent(), options);
      const reader = EventStoreDBClient.connectionString(leader.url);
      expect(await Array.fromAsync(reader.readStream(stream))).toHaveLength(1);
      await ask('/heal');
      await closeClient(reader);
      await leader.close();
      rmSync(data, { recursive: true });
    }),
  );

  it.each([
    ['before', 0],
    ['after', 1],
  ])('close the connection in the middle of a batch, %s it is written', (when, written) =>
    withClient(async (own) => {
      const stream = newStream('cut');
      await ask(`/appends?fault=cut-${when}`);
      await expect(own.appendToStream(stream, newEvent())).rejects.toMatchObject({ type: 'unavailable' });
      const found = await Array.fromAsync(client.readStream(stream)).catch(() => []);
      expect(found).toHaveLength(written);
    }),
  );

  it('deliver an append twice, which writes it once', async () => {
    const stream = newStream();
    await ask('/appends?fault=twice');
    await expect(client.appendToStream(stream, newEvent(), { expectedRevision: 'no_stream' })).resolves.toMatchObject({
      nextExpectedRevision: 0n,
    });
    expect(await Array.fromAsync(client.readStream(stream))).toHaveLength(1);
  });

  // Client: streams/utils/Subscription.js (initialize): the end of the call is the end of the subscription, without an error.
  it('end subscriptions with or without an error', async () => {
    const quiet = follow(END);
    await quiet.until(isCaughtUp);
    await ask('/subscriptions/end');
    expect(await quiet.ended).toBe('end');
    const loud = follow(END);
    await loud.until(isCaughtUp);
    await ask('/subscriptions/end?error=unknown');
    expect(await loud.ended).toMatchObject({ type: 'unknown' });
  });

  it('silence subscriptions that stay open', async () => {
    const stream = newStream('silence');
    const silenced = follow(END, streamNameFilter({ prefixes: [stream] }));
    await silenced.until(isCaughtUp);
    await ask('/subscriptions/silence');
    const told = silenced.told.length;
    const heard = follow(END, streamNameFilter({ prefixes: [stream] }));
    await heard.until(isCaughtUp);
    await append(stream, 1);
    await heard.until((all) => ofKind(all, 'event').length === 1);
    expect(silenced.told).toHaveLength(told);
    await Promise.all([silenced.end(), heard.end()]);
  });

  it('refuse every call until they are healed', () =>
    withClient(async (own) => {
      await ask('/refuse');
      await expect(Array.fromAsync(own.readStream(newStream()))).rejects.toMatchObject({ type: 'unavailable' });
      await ask('/heal');
      await expect(own.appendToStream(newStream(), newEvent())).resolves.toMatchObject({ success: true });
    }));
});

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { contractKey, eventStoreContract } from './event-store.contract.js';
import { eventStoreOutageContract } from './event-store-outage.contract.js';
import { createEventStoreDbEventStore } from './eventstoredb.js';
import { createFailingServer } from './eventstoredb.kit.js';
import type { EventStore, NewEvent } from './event-store.js';

function serverUrl(): string {
  const url = process.env['EVENT_STORE_URL'];
  if (url === undefined || url === '') {
    throw new Error('EVENT_STORE_URL is not set: these specs need a server (npm run servers -- up)');
  }
  return url;
}

/** One server serves all tests: each is an installation of its own. */
const newInstallation = (): string => `test-${randomBytes(6).toString('hex')}`;

eventStoreContract('EventStoreDB', async () => {
  const installation = newInstallation();
  const options = { url: serverUrl(), installation, logger: silentLogger, secretKey: contractKey };
  const open = () => createEventStoreDbEventStore(options);
  let store = await open();
  return {
    store,
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    destroy: () => store.close(),
  };
});

describe('a subscriber among much that is not for it', () => {
  let counter = 0;
  const event = (n: number): NewEvent => {
    counter += 1;
    return {
      id: `00000000-0000-5000-a000-${String(counter).padStart(12, '0')}`,
      type: 'a.n',
      version: 1,
      data: { n },
      metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '2026-11-21T10:00:00.000Z' },
    };
  };
  const ending = new AbortController();
  let store: EventStore;
  beforeAll(async () => {
    store = await createEventStoreDbEventStore({
      url: serverUrl(),
      installation: newInstallation(),
      logger: silentLogger,
    });
  });
  afterAll(async () => {
    ending.abort();
    await store.close();
  });
  const subscribe = (after: number | null) => store.subscribe({ prefixes: ['a-'], after, signal: ending.signal });

  it('misses nothing and sees nothing twice when it stops after every batch and goes on from where it was told', async () => {
    const total = 20;
    for (let n = 0; n < total; n += 1) {
      const others = Array.from({ length: 50 + n * 13 }, (_, index) => event(index));
      await store.append(`b-${n}`, others, 'none');
      await store.append(`a-${n % 3}`, [event(n)], n < 3 ? 'none' : Math.floor(n / 3) - 1);
    }
    const seen: unknown[] = [];
    for (let after: number | null = null; seen.length < total;) {
      for await (const batch of subscribe(after)) {
        seen.push(...batch.events.map(({ data }) => data['n']));
        after = batch.position;
        break;
      }
    }
    expect(seen).toEqual(Array.from({ length: total }, (_, n) => n));
  });

  it('is told how far it came when nothing matched', async () => {
    const before = await store.append('a-before', [event(0)], 'none');
    const skipped = await store.append(
      'b-last',
      Array.from({ length: 2_000 }, (_, n) => event(n)),
      'none',
    );
    if (!before.ok || !skipped.ok) throw new Error('streams of a new installation are empty');
    let reached = before.position;
    for await (const { events, position } of subscribe(before.position)) {
      expect(events).toEqual([]);
      reached = position;
      // Other installations write to the same server: it may have come further than what is skipped here.
      if (reached >= skipped.position) break;
    }
    await store.append('a-new', [event(99)], 'none');
    for await (const { events } of subscribe(reached)) {
      if (events.length === 0) continue;
      expect(events.map(({ stream }) => stream)).toEqual(['a-new']);
      break;
    }
  });
});

describe('the EventStoreDB adapter, whose server fails on request,', () => {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-eventstoredb-'));
  const { server, post, state, url } = createFailingServer(folder);
  beforeAll(() => server.start());
  afterAll(async () => {
    await server.kill();
    rmSync(folder, { recursive: true });
  });
  const open = (options: { readonly silenceMs?: number } = {}) =>
    createEventStoreDbEventStore({ url: url(), installation: newInstallation(), logger: silentLogger, ...options });

  eventStoreOutageContract('EventStoreDB', async () => {
    const store = await open({ silenceMs: 500 });
    return {
      store,
      server,
      async destroy() {
        await post('/heal');
        await store.close();
      },
    };
  });

  it('rejects where no server answers', async () => {
    const options = { url: 'esdb://127.0.0.1:1?tls=false', installation: 'test', logger: silentLogger };
    await expect(createEventStoreDbEventStore(options)).rejects.toMatchObject({ reason: 'event_store_unavailable' });
  });

  it.each(['esdb+discover', 'kurrentdb', 'kurrentdb+discover', 'kurrent', 'kdb+discover'])(
    'accepts addresses of the scheme %s',
    async (scheme) => {
      const address = url().replace(/^esdb/, scheme);
      const store = await createEventStoreDbEventStore({ url: address, installation: 'test', logger: silentLogger });
      expect(await store.readLast('a-none')).toBeNull();
      await store.close();
    },
  );

  it('does not repeat an address that it cannot read, which may hold a password', async () => {
    const options = { url: 'esdb://admin:s3cret@@:::?x', installation: 'test', logger: silentLogger };
    const refused = createEventStoreDbEventStore(options);
    await expect(refused).rejects.toThrow('EVENT_STORE_URL cannot be used');
    await expect(refused).rejects.not.toThrow('s3cret');
  });

  const event: NewEvent = {
    id: '00000000-0000-5000-a000-000000000001',
    type: 'a.one',
    version: 1,
    data: {},
    metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '2026-11-21T10:00:00.000Z' },
  };

  it.each([
    ['is never answered', 'unanswered'],
    ['is answered by a member that is not ready', 'not-ready'],
    ['is written, and answered as too late', 'timeout-answer'],
    ['stands there already and is dropped as a repeat', 'dropped-repeat'],
  ])('finds out by itself what came of an append that %s', async (_, fault) => {
    const store = await open();
    await post(`/appends?fault=${fault}`);
    expect(await store.append('a-1', [event], 'none')).toMatchObject({ ok: true, revision: 0 });
    expect(await Array.fromAsync(store.read('a-1'))).toHaveLength(1);
    await store.close();
  });

  it('asks for the leader, and so reads nothing older than what was written', async () => {
    const store = await open();
    await store.append('a-1', [event], 'none');
    await post('/reads?fault=stale-reads&count=3');
    expect(await store.readLast('a-1')).toMatchObject({ revision: 0 });
    expect(await Array.fromAsync(store.read('a-1'))).toHaveLength(1);
    expect(await store.lastPosition()).not.toBeNull();
    await post('/heal');
    await store.close();
  });

  it('takes a place of 2^64 - 1 for none: older servers tell it to who has seen nothing', async () => {
    const store = await open();
    const ending = new AbortController();
    await post('/reads?fault=max-checkpoint&count=2');
    // The first read is that of the newest event.
    const batches = store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal });
    const told: number[] = [];
    for await (const { events, position } of batches) {
      told.push(position);
      if (events.length > 0) break;
      await store.append('a-1', [event], 'none');
    }
    const last = await store.readLast('a-1');
    expect(told.at(-1)).toBe(last?.position);
    ending.abort();
    await store.close();
  });

  it('tells what a user lacks in words that say what to do', async () => {
    const store = await open();
    await post('/reads?fault=access-denied');
    await expect(store.readLast('a-1')).rejects.toThrow('the user of EVENT_STORE_URL may not do this: it needs');
    await post('/reads?fault=unauthenticated');
    await expect(store.readLast('a-1')).rejects.toThrow('The event store refused: the user name and password');
    await post('/appends?fault=access-denied');
    await expect(store.append('a-1', [event], 'none')).rejects.toThrow('may not do this: it needs a user in $admins');
    await post('/reads?fault=access-denied');
    await expect(open()).rejects.toThrow('The event store refused: the user of EVENT_STORE_URL');
    await store.close();
  });

  it('holds one subscription for all followers that have caught up', async () => {
    const store = await open();
    const ending = new AbortController();
    const seen = Array.from({ length: 20 }, () => 0);
    const following = seen.map(async (_, index) => {
      for await (const { events } of store.subscribe({ prefixes: ['a-'], after: null, signal: ending.signal })) {
        seen[index] = (seen[index] ?? 0) + events.length;
      }
    });
    await store.append('a-1', [event], 'none');
    await found(async () => seen.every((count) => count === 1));
    await found(async () => ((await state()) as { readonly subscriptions: number }).subscriptions === 1);
    ending.abort();
    await Promise.all(following);
    await found(async () => ((await state()) as { readonly subscriptions: number }).subscriptions === 0);
    await store.close();
  });

  it('refuses an append above one MiB before it is sent', async () => {
    const store = await open();
    const large = { ...event, data: { text: 'x'.repeat(1024 * 1024) } };
    await expect(store.append('a-1', [large], 'none')).rejects.toThrow('it takes 1048576 at most');
    expect(await store.append('a-1', [event], 'none')).toMatchObject({ ok: true });
    await store.close();
  });
});

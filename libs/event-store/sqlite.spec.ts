import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { DatabaseDamaged, DatabaseInUse, openDatabase } from '#sqlite/database';
import type { EventBatch, NewEvent } from './event-store.js';
import { contractKey, eventStoreContract } from './event-store.contract.js';
import { createSqliteEventStore } from './sqlite.js';

const kinds = [
  ['SQLite', {}],
  ['SQLite, every event packed', { packed: [''] }],
] as const;

for (const [name, packing] of kinds)
  eventStoreContract(name, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'meerkat-events-'));
    const file = join(folder, 'events.db');
    const open = () => createSqliteEventStore(file, { secretKey: contractKey, ...packing });
    let store = open();
    return {
      store,
      async reopen() {
        await store.close();
        store = open();
        return store;
      },
      async destroy() {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  });

describe('the SQLite file', () => {
  it('gives the pages of dropped events back to the file system', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'meerkat-events-'));
    const file = join(folder, 'events.db');
    const store = createSqliteEventStore(file, { secretKey: contractKey });
    try {
      const metadata = { organizationId: '', actor: '', requestId: '', causationId: null, at: '' };
      for (let first = 0; first < 4_000; first += 500) {
        const events = Array.from({ length: 500 }, (): NewEvent => {
          return { id: crypto.randomUUID(), type: 'a', version: 1, data: { text: 'x'.repeat(1_000) }, metadata };
        });
        await store.append('a-1', events, first === 0 ? 'none' : first - 1);
      }
      const pages = (): number => {
        const database = new DatabaseSync(file, { readOnly: true });
        try {
          return Number(database.prepare('PRAGMA page_count').get()?.['page_count']);
        } finally {
          database.close();
        }
      };
      const before = pages();
      await store.truncate('a-1', 3_990);
      expect(pages()).toBeLessThan(before / 4);
    } finally {
      await store.close();
    }
    // Once the log is folded back, so is the file.
    expect(statSync(file).size).toBeLessThan(1_500_000);
    rmSync(folder, { recursive: true });
  });

  it('is refused to a second writer', () => {
    const folder = mkdtempSync(join(tmpdir(), 'meerkat-events-'));
    const file = join(folder, 'events.db');
    const first = openDatabase({ file, durability: 'full', schema: '' });
    expect(() => createSqliteEventStore(file)).toThrow(DatabaseInUse);
    first.close();
    rmSync(folder, { recursive: true });
  });

  it('is refused where it is damaged or something else, and left as it was', () => {
    const folder = mkdtempSync(join(tmpdir(), 'meerkat-events-'));
    const file = join(folder, 'events.db');
    writeFileSync(file, 'a letter, or what a broken disk left of it. '.repeat(200));
    expect(() => createSqliteEventStore(file)).toThrow(DatabaseDamaged);
    expect(readFileSync(file, 'utf8')).toContain('a letter');
    rmSync(folder, { recursive: true });
  });

  it('is of an SQLite that does not corrupt WAL databases (3.51.3 or newer)', () => {
    const [major = 0, minor = 0, patch = 0] = (process.versions['sqlite'] ?? '').split('.').map(Number);
    expect(major * 1_000_000 + minor * 1_000 + patch).toBeGreaterThanOrEqual(3_051_003);
  });
});

describe('events that are no longer in memory', () => {
  const newEvent = (n: number): NewEvent => ({
    id: crypto.randomUUID(),
    type: 'a.n',
    version: 1,
    data: { n },
    metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '' },
  });

  it('are still the last of their streams, as those in memory are of theirs', async () => {
    const store = createSqliteEventStore(':memory:');
    await store.append('quiet-1', [newEvent(1), newEvent(2)], 'none');
    await store.append('busy-1', [newEvent(0)], 'none');
    for (let n = 1; n <= 9_000; n += 500) {
      const events = Array.from({ length: 500 }, (_, offset) => newEvent(n + offset));
      expect(await store.append('busy-1', events, n - 1)).toMatchObject({ ok: true });
      expect(await store.readLast('busy-1')).toMatchObject({ stream: 'busy-1', data: { n: n + 499 } });
      expect(await store.readLast('quiet-1')).toMatchObject({ stream: 'quiet-1', revision: 1, data: { n: 2 } });
    }
    await store.close();
  });

  it('are handed over once each and in order, to readers from any position, while more are appended', async () => {
    const store = createSqliteEventStore(':memory:');
    const streams = ['task-1', 'task-2', 'run-1', 'rare-1', 'nohyphen'];
    const streamOf = (position: number): string => (position % 997 === 0 ? 'rare-1' : (streams[position % 5] ?? ''));
    const revisions = new Map<string, number>();
    let last = 0;
    const append = async (count: number): Promise<void> => {
      for (const end = last + count; last < end; last += 1) {
        const stream = streamOf(last + 1);
        const result = await store.append(stream, [newEvent(last + 1)], revisions.get(stream) ?? 'none');
        if (!result.ok) throw new Error('a lost race');
        revisions.set(stream, result.revision);
      }
    };
    /** Positions that a subscriber is handed until it has come as far as what is there now and a little further. */
    const follow = async (prefixes: readonly string[], after: number | null): Promise<readonly number[]> => {
      const positions: number[] = [];
      const end = last + 300;
      for await (const batch of store.subscribe({ prefixes, after, signal: new AbortController().signal })) {
        positions.push(...batch.events.map(({ position }) => position));
        if (batch.position >= end - 5) break;
      }
      return positions.filter((position) => position <= end - 10);
    };
    await append(9_100);
    const asked: [readonly string[], number | null][] = [
      [['task-'], null],
      [[''], null],
      [['task-1', 'rare-'], 777],
      [['rare-'], null],
      [['run-', 'no'], 4_000],
      [['task-', 'run-', 'rare-'], 8_999],
    ];
    const end = last + 300;
    const following = asked.map(([prefixes, after]) => follow(prefixes, after));
    // In the middle of it the oldest of those in memory are dropped.
    await append(310);
    for (const [index, [prefixes, after]] of asked.entries()) {
      const expected = Array.from({ length: end - 10 }, (_, before) => before + 1).filter(
        (position) => position > (after ?? 0) && prefixes.some((prefix) => streamOf(position).startsWith(prefix)),
      );
      expect(await following[index]).toEqual(expected);
    }
    await store.close();
  });

  it('are handed over in parts of a few megabytes where they are large, once each and in order', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'meerkat-events-'));
    const file = join(folder, 'events.db');
    let store = createSqliteEventStore(file);
    const text = 'x'.repeat(500_000);
    for (let n = 0; n < 40; n += 1) await store.append(`a-${n}`, [{ ...newEvent(n), data: { n, text } }], 'none');
    await store.close();
    store = createSqliteEventStore(file);
    const ending = new AbortController();
    const sizes: number[] = [];
    const seen: unknown[] = [];
    for await (const { events, position } of store.subscribe({ prefixes: [''], after: null, signal: ending.signal })) {
      sizes.push(events.length);
      seen.push(...events.map(({ data }) => data['n']));
      if (position === (await store.lastPosition())) ending.abort();
    }
    expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(9);
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('of a kind that is rare are handed over at once, all of them, in order, and then what comes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'meerkat-events-'));
    const file = join(folder, 'events.db');
    const written = createSqliteEventStore(file);
    const revisions = new Map<string, number>();
    const append = async (store: typeof written, stream: string, count: number, n: number): Promise<void> => {
      const events = Array.from({ length: count }, () => newEvent(n));
      const result = await store.append(stream, events, revisions.get(stream) ?? 'none');
      if (!result.ok) throw new Error('a lost race');
      revisions.set(stream, result.revision);
    };
    for (let n = 1; n <= 8; n += 1) {
      await append(written, `run-${n % 3}`, 1_500, n);
      await append(written, `org-${n % 2}`, 1, n);
      // Its name comes right behind those of the kind.
      await append(written, 'org.1', 1, n);
    }
    await written.close();
    const store = createSqliteEventStore(file);
    const signal = new AbortController().signal;
    const batches = store.subscribe({ prefixes: ['org-'], after: null, signal })[Symbol.asyncIterator]();
    const first = (await batches.next()).value as EventBatch;
    expect(first.events.map(({ data }) => data['n'])).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(first.position).toBe(await store.lastPosition());
    await append(store, 'org-1', 1, 9);
    expect(((await batches.next()).value as EventBatch).events.map(({ data }) => data['n'])).toEqual([9]);
    await batches.return?.(undefined);
    const [, , third] = first.events;
    for await (const { events } of store.subscribe({ prefixes: ['org-'], after: third?.position ?? 0, signal })) {
      expect(events.map(({ data }) => data['n'])).toEqual([4, 5, 6, 7, 8]);
      break;
    }
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('say how far they reach to a subscriber for whom there are none', async () => {
    const store = createSqliteEventStore(':memory:');
    await store.append('task-1', [newEvent(1), newEvent(2)], 'none');
    for await (const batch of store.subscribe({
      prefixes: ['run-'],
      after: null,
      signal: new AbortController().signal,
    })) {
      expect(batch).toEqual({ events: [], position: 2 });
      break;
    }
    await store.close();
  });
});

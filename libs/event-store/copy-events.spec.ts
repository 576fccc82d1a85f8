import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { copyContract, type StoreForCopy } from './copy-events.contract.js';
import { copyEvents, verifyCopy } from './copy-events.js';
import type { EventArchive, NewEvent } from './event-store.js';
import { canonicalJson } from './history-digest.js';
import { createSqliteEventStore } from './sqlite.js';

async function createStore(): Promise<StoreForCopy & { readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'meerkat-copy-'));
  const file = join(folder, 'events.db');
  let store = createSqliteEventStore(file);
  return {
    file,
    store,
    async reopen() {
      await store.close();
      store = createSqliteEventStore(file);
      return store;
    },
    async destroy() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

copyContract('from SQLite to SQLite', createStore, createStore);

const metadata = { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '2026-11-21T10:00:00.000Z' };
const event = (n: number): NewEvent => ({
  id: `00000000-0000-5000-c000-${String(n).padStart(12, '0')}`,
  type: 'a.n',
  version: 1,
  data: { n },
  metadata,
});

describe('copying events between files', () => {
  const withStores = async (
    work: (from: Awaited<ReturnType<typeof createStore>>, to: Awaited<ReturnType<typeof createStore>>) => Promise<void>,
  ): Promise<void> => {
    const [from, to] = await Promise.all([createStore(), createStore()]);
    try {
      await work(from, to);
    } finally {
      await Promise.all([from.destroy(), to.destroy()]);
    }
  };
  /** As somebody with the file in an editor would. */
  const tamper = async (stored: Awaited<ReturnType<typeof createStore>>, sql: string): Promise<EventArchive> => {
    await stored.store.close();
    const database = new DatabaseSync(stored.file);
    database.exec(sql);
    database.close();
    return stored.reopen();
  };
  const hundred = Array.from({ length: 100 }, (_, n) => ({
    stream: `s-${n % 10}`,
    events: [event(n)],
    expected: n < 10 ? ('none' as const) : Math.floor(n / 10) - 1,
  }));

  it.each([
    ['a value changed', `UPDATE events SET data = '{"n":1000}' WHERE position = 42`],
    ['an event cut off', 'DELETE FROM events WHERE position = 100'],
    ['an event taken out', 'DELETE FROM events WHERE position = 42'],
    [
      'two events exchanged',
      'UPDATE events SET position = -1 WHERE position = 42; UPDATE events SET position = 42 WHERE position = 43; UPDATE events SET position = 43 WHERE position = -1',
    ],
  ])('%s in the target is found when it is read back', (_, sql) =>
    withStores(async ({ store: source }, to) => {
      await source.appendInOrder(hundred);
      const { history } = await copyEvents({ source, target: to.store });
      await verifyCopy({ target: await to.reopen(), history });
      const tampered = await tamper(to, sql);
      await expect(verifyCopy({ target: tampered, history })).rejects.toMatchObject({ reason: 'copy_differs' });
    }),
  );

  it('a target that was changed is not gone on with', () =>
    withStores(async ({ store: source }, to) => {
      await source.appendInOrder(hundred);
      await copyEvents({ source, target: to.store });
      const target = await tamper(to, `UPDATE events SET data = '{"n":1000}' WHERE position = 42`);
      const refused = copyEvents({ source, target });
      await expect(refused).rejects.toMatchObject({ reason: 'target_holds_others' });
      await expect(refused).rejects.toThrow('its event 42 is s-1@4');
    }));

  it('a target in which something cannot be read is not gone on with', () =>
    withStores(async ({ store: source }, to) => {
      await source.appendInOrder(hundred);
      const { history } = await copyEvents({ source, target: to.store });
      const target = await tamper(to, `UPDATE events SET data = '{x' WHERE position = 42`);
      await expect(copyEvents({ source, target })).rejects.toMatchObject({ reason: 'target_broken' });
      await expect(verifyCopy({ target, history })).rejects.toMatchObject({ reason: 'copy_differs' });
    }));

  it.each([
    ['without one of its events', 'DELETE FROM events WHERE position = 42', 'revision 4 should stand there'],
    [
      'with data that is no JSON',
      `UPDATE events SET data = '{x' WHERE position = 42`,
      'something in it cannot be read',
    ],
    ['with an id that is none', `UPDATE events SET id = 'x' WHERE position = 42`, 'its id is not a UUID'],
  ])('a source %s is refused', (_, sql, why) =>
    withStores(async (from, { store: target }) => {
      await from.store.appendInOrder(hundred);
      const refused = copyEvents({ source: await tamper(from, sql), target });
      await expect(refused).rejects.toMatchObject({ reason: 'source_broken' });
      await expect(refused).rejects.toThrow(why);
    }),
  );
});

describe('canonical JSON', () => {
  it('is the same whatever the order of members, and tells different values apart', () => {
    const reversed = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value;
      if (Array.isArray(value)) return value.map(reversed);
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([name, member]) => [name, reversed(member)]),
      );
    };
    const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as NewEvent['data'][string]);
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(canonicalJson(reversed(one) as typeof one)).toBe(canonicalJson(one));
        expect(JSON.parse(canonicalJson(one))).toEqual(one);
        const isSame = JSON.stringify(reversed(one)) === JSON.stringify(reversed(other));
        if (isSame) expect(canonicalJson(one)).toBe(canonicalJson(other));
      }),
    );
  });
});

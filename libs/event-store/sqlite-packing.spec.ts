import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contractKey } from './event-store.contract.js';
import { createEventChain, createEventChains } from './event-chain.js';
import type { NewEvent } from './event-store.js';
import { readHistory } from './sqlite-history.js';
import { idOfPacked, macOfPacked, packEvent, unpackEvent } from './sqlite-packing.js';
import { openStoredCopy, openStoredHistory } from './sqlite-stored.js';
import { createSqliteEventStore } from './sqlite.js';
import { verifyEvents } from './verify-events.js';

const newEvent = (n: number, data: NewEvent['data'] = { n }): NewEvent => ({
  id: `00000000-0000-5000-8000-${String(n).padStart(12, '0')}`,
  type: n % 2 === 0 ? 'slot.fired' : 'run.recorded',
  version: 1,
  data,
  metadata: {
    organizationId: 'org_01m851q9125v9hmyrghew86vj5',
    actor: 'system:scheduling',
    requestId: 'slot.ntf_01m851q99tf2vxj2beh98nqyf3.1795465914001',
    causationId: n % 2 === 0 ? null : '7c7ba563-0991-5ed0-a4ab-a8567339343b',
    at: '2026-11-23T20:31:54.058Z',
  },
});

describe('a packed event', () => {
  const names: string[] = [];
  const numberOf = (name: string): number => {
    if (!names.includes(name)) names.push(name);
    return names.indexOf(name);
  };
  const nameOf = (number: number): string => names[number] ?? '';
  const stream = 'run-ntf_01m851q99tf2vxj2beh98nqyf3';
  const metadata = JSON.stringify(newEvent(1).metadata);

  it('is the same texts again, under the same id and MAC', () => {
    const texts = fc.tuple(
      fc.uuid(),
      fc.dictionary(fc.string(), fc.jsonValue({ stringUnit: 'binary' })),
      fc.tuple(fc.string(), fc.string(), fc.string(), fc.option(fc.string()), fc.string()),
      fc.option(fc.uint8Array({ minLength: 16, maxLength: 16 })),
    );
    fc.assert(
      fc.property(texts, ([id, values, [organizationId, actor, requestId, causationId, at], sum]) => {
        const data = JSON.stringify(values);
        const who = JSON.stringify({ organizationId, actor, requestId, causationId, at });
        const mac = sum === null ? null : Buffer.from(sum).toString('base64url');
        const packed = packEvent({ stream, id, data, metadata: who, mac }, numberOf);
        if (packed === null) return expect(data).toMatch(/"(?:__proto__|toJSON)"/);
        const read = unpackEvent(packed, stream, nameOf);
        expect([idOfPacked(packed), macOfPacked(packed)]).toEqual([id, mac]);
        expect([JSON.stringify(read.data), JSON.stringify(read.metadata)]).toEqual([data, who]);
      }),
    );
  });

  it.each([
    ['its id is no UUID in small letters', { id: '7C7BA563-0991-5ED0-A4AB-A8567339343B' }],
    ['its metadata says more', { metadata: metadata.replace('{', '{"more":1,') }],
    [
      'its metadata stands in another order',
      { metadata: JSON.stringify(Object.fromEntries(Object.entries(newEvent(1).metadata).toReversed())) },
    ],
    ['its MAC is none', { mac: 'x' }],
  ])('stays in clear where %s', (_why, changed) => {
    expect(packEvent({ stream, id: newEvent(1).id, data: '{}', metadata, mac: null, ...changed }, numberOf)).toBeNull();
  });
});

describe('a file with packed events', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'meerkat-packed-'));
    file = join(folder, 'events.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const change = (sql: string): void => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  const rows = (sql: string) => {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  };
  const appended = async (stream: string, events: readonly NewEvent[], expected: number | 'none'): Promise<void> => {
    const store = createSqliteEventStore(file, { secretKey: contractKey });
    expect(await store.append(stream, events, expected)).toMatchObject({ ok: true });
    await store.close();
  };
  const faults = async (): Promise<string[]> => {
    const { stored, lastPosition, close } = openStoredHistory(file);
    const search = { history: stored, chains: createEventChains(contractKey), signedAfter: 0, end: lastPosition ?? 0 };
    const found = await Array.fromAsync(verifyEvents(search));
    close();
    return found.map(({ what, event: { stream, revision } }) => `${what} ${stream}@${revision}`);
  };

  it('keeps what people changed in clear, and takes a fraction for what checks leave', async () => {
    await appended('task-1', [newEvent(1)], 'none');
    await appended('run-1', [newEvent(2), newEvent(3)], 'none');
    const stored = rows('SELECT type, length(data) + length(metadata) AS clear, length(packed) AS packed FROM events');
    expect(stored).toMatchObject([
      { type: 'run.recorded', packed: null },
      { type: '', clear: 0 },
      { type: '', clear: 0 },
    ]);
    expect(Number(stored[1]?.['packed'])).toBeLessThan(90);
    expect(await faults()).toEqual([]);
  });

  it.each([
    ['its bytes', `UPDATE events SET packed = CAST(packed || x'00' AS BLOB) WHERE position = 2`],
    ['all of its bytes', `UPDATE events SET packed = x'ff' WHERE position = 2`],
    ['its place', 'UPDATE events SET version = 2 WHERE position = 2'],
    ['its type', "UPDATE events SET kind = (SELECT id FROM names WHERE name = 'system:scheduling') WHERE position = 2"],
    ['a name that it shares', "UPDATE names SET name = 'slot.missed' WHERE name = 'run.recorded'"],
    ['a name that is gone', "DELETE FROM names WHERE name = 'run.recorded'"],
    [
      'its bytes against those of another',
      'UPDATE events SET packed = (SELECT packed FROM events WHERE position = 1) WHERE position = 2',
    ],
  ])('is found altered by its MACs where somebody changed %s', async (_what, sql) => {
    await appended('run-1', [newEvent(2), newEvent(3)], 'none');
    change(sql);
    expect(await faults()).toEqual(['altered run-1@1']);
  });

  it('has no event without a MAC where these were stripped', async () => {
    await appended('run-1', [newEvent(2), newEvent(3)], 'none');
    change(
      "UPDATE events SET packed = CAST(x'01' || substr(packed, 2, 16) || substr(packed, 34) AS BLOB) WHERE position = 2",
    );
    expect(await faults()).toEqual(['unsigned run-1@1']);
  });

  it('forgets the numbers of names that were written in vain', async () => {
    const store = createSqliteEventStore(':memory:', { secretKey: contractKey, packed: [''] });
    const unheard = { ...newEvent(2), type: 'unheard.of' };
    const noText = { ...newEvent(4), type: null as unknown as string };
    await expect(store.append('a-1', [unheard, noText], 'none')).rejects.toThrow('could not be written');
    await store.append('a-1', [unheard], 'none');
    expect(await Array.fromAsync(store.read('a-1'))).toMatchObject([unheard]);
    await store.close();
  });

  describe('that an earlier version began', () => {
    /** As the version before wrote it: the same events, in clear, signed. */
    const begun = (count: number): void => {
      change(`
        CREATE TABLE streams (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL,
          first INTEGER NOT NULL DEFAULT 0, link TEXT, mac TEXT) STRICT;
        CREATE TABLE events (position INTEGER PRIMARY KEY AUTOINCREMENT, stream INTEGER NOT NULL, revision INTEGER NOT NULL,
          id TEXT NOT NULL, type TEXT NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL, metadata TEXT NOT NULL, mac TEXT) STRICT;
        CREATE UNIQUE INDEX events_by_stream ON events (stream, revision);
        INSERT INTO streams (name, revision) VALUES ('run-1', ${count - 1});`);
      const database = new DatabaseSync(file);
      const add = database.prepare('INSERT INTO events VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?)');
      const chain = createEventChain(contractKey);
      let mac: string | null = null;
      for (let n = 1; n <= count; n += 1) {
        const { id, type, version, data, metadata } = newEvent(n);
        const texts = { data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
        mac = chain.macOf({ stream: 'run-1', revision: n - 1, position: n, id, type, version, ...texts }, mac);
        add.run(n, n - 1, id, type, version, texts.data, texts.metadata, mac);
      }
      database.close();
    };
    const all = Array.from({ length: 5 }, (_, index) => newEvent(index + 1));

    it.each([
      ['as it was left', ''],
      ['by a process that was killed while it added columns', 'ALTER TABLE events ADD COLUMN kind INTEGER'],
    ])('is gone on with %s: the same events, one chain of MACs', async (_how, sql) => {
      begun(3);
      if (sql !== '') change(sql);
      await appended('run-1', all.slice(3), 2);
      const store = createSqliteEventStore(file, { secretKey: contractKey });
      expect(await Array.fromAsync(store.read('run-1'))).toMatchObject(all);
      expect(await store.readLast('run-1')).toMatchObject(newEvent(5));
      expect(await store.append('run-1', all.slice(1, 4), 0)).toMatchObject({ ok: true, revision: 3 });
      await store.close();
      const historic = [...readHistory(file, 5, ({ data }) => data)].flatMap(({ events }) => events);
      expect(historic.map(({ id, type, data, metadata }) => ({ id, type, data, metadata }))).toEqual(
        all.map(({ id, type, data, metadata }) => ({ id, type, data, metadata })),
      );
      expect(await faults()).toEqual([]);
      expect(rows('SELECT packed IS NULL AS clear FROM events').map(({ clear }) => clear)).toEqual([1, 1, 1, 0, 0]);
    });

    it('is cut off and erased across both', async () => {
      begun(3);
      await appended('run-1', all.slice(3), 2);
      const store = createSqliteEventStore(file, { secretKey: contractKey });
      await store.erase('run-1', 3);
      const read = await Array.fromAsync(store.read('run-1', 2));
      expect(read.map(({ data }) => Object.keys(data))).toEqual([['$erased'], ['$erased'], ['n']]);
      await store.truncate('run-1', 4);
      expect(await Array.fromAsync(store.read('run-1'))).toMatchObject([newEvent(5)]);
      await store.close();
      expect(await faults()).toEqual([]);
    });

    it('is looked at without being changed, as in a backup', async () => {
      begun(3);
      const { stored, lastPosition, close } = openStoredCopy(file);
      const [events = []] = await Array.fromAsync(stored.read(null, lastPosition ?? 0));
      close();
      expect(events.map(({ id }) => id)).toEqual(all.slice(0, 3).map(({ id }) => id));
      expect(rows("SELECT name FROM pragma_table_info('events') WHERE name = 'packed'")).toEqual([]);
    });

    it('is looked at in the same way where that made no MACs and dropped no events', async () => {
      begun(3);
      change(`ALTER TABLE events DROP COLUMN mac; ALTER TABLE streams DROP COLUMN first;
        ALTER TABLE streams DROP COLUMN link; ALTER TABLE streams DROP COLUMN mac`);
      const { stored, lastPosition, close } = openStoredCopy(file);
      const [events = []] = await Array.fromAsync(stored.read(null, lastPosition ?? 0));
      expect(events.map(({ id, mac }) => [id, mac])).toEqual(all.slice(0, 3).map(({ id }) => [id, null]));
      expect([await stored.beginning('run-1'), await Array.fromAsync(stored.beginnings())]).toEqual([null, []]);
      expect(await stored.at('run-1', 2)).toMatchObject({ id: newEvent(3).id });
      close();
    });
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createEventChains } from './event-chain.js';
import type { EventArchive, NewEvent } from './event-store.js';
import { createSqliteEventStore } from './sqlite.js';
import { openStoredHistory } from './sqlite-stored.js';
import { verifyEvents } from './verify-events.js';

const secretKey = Buffer.alloc(32, 5);
const newEvent = (n: number): NewEvent => ({
  id: crypto.randomUUID(),
  type: 'a.n',
  version: 1,
  data: { n, scopes: ['read'] },
  metadata: { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '' },
});

/** Positions 1 to 6: a-1@0, a-1@1, b-1@0, a-1@2, b-1@1, c-1@0. */
async function fill(store: EventArchive): Promise<void> {
  await store.append('a-1', [newEvent(1), newEvent(2)], 'none');
  await store.append('b-1', [newEvent(3)], 'none');
  await store.append('a-1', [newEvent(4)], 1);
  await store.append('b-1', [newEvent(5)], 0);
  await store.append('c-1', [newEvent(6)], 'none');
}

describe('a check of stored events', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'meerkat-verify-'));
    file = join(folder, 'events.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const written = async (key: Uint8Array | null = secretKey): Promise<void> => {
    const store = createSqliteEventStore(file, { secretKey: key });
    await fill(store);
    await store.close();
  };
  const change = (sql: string): void => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  const faults = async (search: { readonly signedAfter?: number | null; readonly after?: number } = {}) => {
    const { stored: history, lastPosition, close } = openStoredHistory(file);
    const chains = createEventChains(secretKey);
    try {
      const all = verifyEvents({ history, chains, signedAfter: 0, end: lastPosition ?? 0, ...search });
      const found = await Array.fromAsync(all);
      return found.map(({ what, event: { stream, revision } }) => `${what} ${stream}@${revision}`);
    } finally {
      close();
    }
  };

  it('finds nothing in what was written', async () => {
    await written();
    expect(await faults()).toEqual([]);
    for (const after of [1, 2, 3, 4, 5, 6]) expect(await faults({ after })).toEqual([]);
  });

  it.each([
    ['its data', `data = replace(data, 'read', 'admin')`],
    ['who did it', `metadata = replace(metadata, '"actor":"a"', '"actor":"b"')`],
    ['its type', `type = 'a.m'`],
    ['its version', 'version = 2'],
    ['its id', `id = '00000000-0000-4000-8000-000000000000'`],
    ['its MAC', `mac = 'AAAAAAAAAAAAAAAAAAAAAA'`],
    ['the border of its data', `data = data || char(10) || ' '`],
  ])('finds an event of which %s was changed', async (_, set) => {
    await written();
    change(`UPDATE events SET ${set} WHERE position = 4`);
    expect(await faults()).toEqual(['altered a-1@2']);
  });

  it('finds both of two events that were swapped', async () => {
    await written();
    change(`
      CREATE TABLE other AS SELECT * FROM events;
      UPDATE events SET (id, data, mac) = (SELECT id, data, mac FROM other WHERE position = 2) WHERE position = 1;
      UPDATE events SET (id, data, mac) = (SELECT id, data, mac FROM other WHERE position = 1) WHERE position = 2;
      DROP TABLE other`);
    expect(await faults()).toContain('altered a-1@0');
    expect(await faults()).toContain('altered a-1@1');
  });

  it('finds an event that was taken out, also where those behind it moved up', async () => {
    await written();
    change('DELETE FROM events WHERE position = 2');
    expect(await faults()).toContain('missing b-1@0');
    expect(await faults()).toContain('missing a-1@2');
    change(
      'UPDATE events SET revision = 1 WHERE position = 4; UPDATE events SET position = position - 1 WHERE position > 2',
    );
    expect(await faults()).toContain('altered a-1@1');
  });

  it('finds that the end of a stream was cut off, unless it was the end of the store', async () => {
    await written();
    change('DELETE FROM events WHERE position = 5; UPDATE streams SET revision = 0 WHERE id = 2');
    expect(await faults()).toEqual(['missing c-1@0']);
  });

  describe('behind events that were dropped', () => {
    beforeEach(async () => {
      const store = createSqliteEventStore(file, { secretKey });
      await fill(store);
      await store.truncate('a-1', 1);
      await store.close();
    });

    it('finds nothing that was not changed', async () => {
      expect(await faults()).toEqual([]);
      for (const after of [1, 2, 3, 4, 5, 6]) expect(await faults({ after })).toEqual([]);
    });

    it('finds that one more is gone, be it at the beginning or the end of a stream', async () => {
      change('DELETE FROM events WHERE position = 5; UPDATE streams SET revision = 0 WHERE id = 2');
      expect(await faults()).toEqual(['missing a-1@1']);
      change('DELETE FROM events WHERE position = 2; UPDATE streams SET first = 2 WHERE id = 1');
      expect(await faults()).toContain('missing a-1@2');
    });

    it.each([
      ['says another revision', 'first = 2'],
      ['has another link', `link = 'AAAAAAAAAAAAAAAAAAAAAA'`],
      ['has another MAC', `mac = 'AAAAAAAAAAAAAAAAAAAAAA'`],
      ['has no MAC', 'mac = NULL'],
      ['is gone', 'first = 0, link = NULL, mac = NULL'],
    ])('finds the first one left where its beginning %s', async (_, set) => {
      change(`UPDATE streams SET ${set} WHERE name = 'a-1'`);
      expect((await faults())[0]).toMatch(/^(missing|altered) a-1@1$/);
    });

    it('finds one that was put back', async () => {
      change(
        "INSERT INTO events (position, stream, revision, id, type, version, data, metadata, mac) SELECT 1, 1, 0, 'x', type, version, data, metadata, mac FROM events WHERE position = 2",
      );
      expect(await faults()).toContain('altered a-1@0');
    });
  });

  it('finds events that were moved to another stream', async () => {
    await written();
    change(`UPDATE streams SET name = 'd-1' WHERE name = 'c-1'`);
    expect(await faults()).toEqual(['altered d-1@0']);
    change(`DELETE FROM streams WHERE name = 'd-1'`);
    expect(await faults()).toEqual(['altered @0']);
  });

  it('finds an event that somebody added without the key', async () => {
    await written();
    const store = createSqliteEventStore(file);
    await store.append('b-1', [newEvent(7)], 1);
    await store.append('d-1', [newEvent(8)], 'none');
    await store.close();
    expect(await faults()).toEqual(['unsigned b-1@2', 'unsigned d-1@0']);
  });

  it('finds events whose MACs were taken away', async () => {
    await written();
    change('UPDATE events SET mac = NULL WHERE stream = 1');
    expect(await faults()).toEqual(['unsigned a-1@0', 'unsigned a-1@1', 'unsigned a-1@2']);
  });

  it('takes events of an older version as they are, only before those with a MAC', async () => {
    await written(null);
    const store = createSqliteEventStore(file, { secretKey });
    await store.append('b-1', [newEvent(7)], 1);
    await store.append('b-1', [newEvent(8)], 2);
    await store.append('d-1', [newEvent(9)], 'none');
    await store.close();
    expect(await faults({ signedAfter: 6 })).toEqual([]);
    expect(await faults({ signedAfter: null })).toEqual([]);
    change('UPDATE events SET mac = NULL WHERE position = 8');
    expect(await faults({ signedAfter: 6 })).toContain('unsigned b-1@3');
    expect(await faults({ signedAfter: null })).toContain('unsigned b-1@3');
  });

  it('goes on signing a file of an older version, which has no place for MACs', async () => {
    await written(null);
    change('ALTER TABLE events DROP COLUMN mac');
    const store = createSqliteEventStore(file, { secretKey });
    await store.append('b-1', [newEvent(7)], 1);
    await store.close();
    expect(await faults({ signedAfter: 6 })).toEqual([]);
  });
});

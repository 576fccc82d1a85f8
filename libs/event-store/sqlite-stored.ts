/** The rows of an event store's file as they are stored: what the MACs are held against. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openReadOnly, type Database } from '#sqlite/database';
import type { StoredEvent, StoredHistory, StreamBeginning } from './event-chain.js';
import { createRowReader, inClear, type EventRow } from './sqlite-rows.js';
import { openEvents } from './sqlite-writer.js';

const stretchLength = 500;

/** A stream's row may be gone: the events of one without a name belong to none that was ever written. */
const columns =
  "e.position, coalesce(s.name, '') AS name, e.revision, e.id, e.type, e.version, e.data, e.metadata, e.mac, e.kind, e.packed";
/** Of a file of an earlier version that must stay as it is. */
const columnsInClear = columns.replace('e.kind, e.packed', 'NULL AS kind, NULL AS packed');

type StoredRow = EventRow & { readonly mac: string | null };

/** The same row in the order of these columns: without their names it costs less to read. */
type StoredValues = readonly [
  position: number,
  name: string,
  revision: number,
  id: string,
  type: string,
  version: number,
  data: string,
  metadata: string,
  mac: string | null,
  kind: number | null,
  packed: Uint8Array | null,
];

const hasColumn = (database: Database, table: 'events' | 'streams', column: string): boolean =>
  database.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column) !== undefined;

function columnsOf(database: Database): string {
  if (hasColumn(database, 'events', 'packed')) return columns;
  return hasColumn(database, 'events', 'mac') ? columnsInClear : columnsInClear.replace('e.mac', 'NULL AS mac');
}

export function createStoredHistory(database: Database): StoredHistory {
  const selected = columnsOf(database);
  // It has columns of packed events, and the names in them.
  const isNew = selected === columns;
  const toStored = isNew ? createRowReader(database).toStored : inClear;
  const readStretch = database.prepare(
    `SELECT ${selected} FROM events e LEFT JOIN streams s ON s.id = e.stream WHERE e.position > ? AND e.position <= ? ORDER BY e.position LIMIT ?`,
  );
  readStretch.setReturnArrays(true);
  const ofValues = (values: StoredValues): StoredEvent => {
    const [position, name, revision, id, type, version, data, metadata, mac, kind, packed] = values;
    if (packed === null || kind === null) {
      return { stream: name, revision, position, id, type, version, data, metadata, mac };
    }
    return toStored({ position, name, revision, id, type, version, data, metadata, mac, kind, packed });
  };
  const readAt = database.prepare(
    `SELECT ${selected} FROM events e JOIN streams s ON s.id = e.stream WHERE s.name = ? AND e.revision = ?`,
  );
  // Of a version that dropped no events every stream begins with its first.
  const begun = hasColumn(database, 'streams', 'first')
    ? { columns: 'name AS stream, first AS revision, link, mac', isLater: 'first > 0' }
    : { columns: 'name AS stream, 0 AS revision, NULL AS link, NULL AS mac', isLater: 'FALSE' };
  const beginningOf = database.prepare(`SELECT ${begun.columns} FROM streams WHERE name = ? AND ${begun.isLater}`);
  const beginningsBehind = database.prepare(
    `SELECT id, ${begun.columns} FROM streams WHERE id > ? AND ${begun.isLater} ORDER BY id LIMIT ?`,
  );
  return {
    hasDensePositions: true,
    async *read(after, end) {
      for (let position = after ?? 0; ;) {
        const rows = readStretch.all(position, end, stretchLength) as unknown as StoredValues[];
        const last = rows.at(-1);
        if (last === undefined) return;
        yield rows.map(ofValues);
        [position] = last;
        await nextTurn();
      }
    },
    async beginning(stream) {
      return (beginningOf.get(stream) as unknown as StreamBeginning | undefined) ?? null;
    },
    async *beginnings() {
      for (let after = 0; ;) {
        const rows = beginningsBehind.all(after, stretchLength) as unknown as (StreamBeginning & { id: number })[];
        for (const { id, ...beginning } of rows) {
          yield beginning;
          after = id;
        }
        if (rows.length < stretchLength) return;
        await nextTurn();
      }
    },
    async at(stream, revision) {
      const row = readAt.get(stream, revision) as unknown as StoredRow | undefined;
      return row === undefined ? null : toStored(row);
    },
  };
}

export interface OpenStoredHistory {
  readonly stored: StoredHistory;
  readonly lastPosition: number | null;
  /** The same by now. */
  newest(): number | null;
  close(): void;
}

function toOpenHistory(database: Database): OpenStoredHistory {
  const highest = database.prepare('SELECT max(position) AS last FROM events');
  const newest = (): number | null => highest.get()?.['last'] as number | null;
  return { stored: createStoredHistory(database), lastPosition: newest(), newest, close: () => database.close() };
}

/** Beside a server that writes: nothing is held. Throws `DatabaseDamaged`. */
export const openStoredHistory = (file: string): OpenStoredHistory =>
  toOpenHistory(openEvents({ file, held: 'shared' }));

/** Of a file that nobody writes, as in a backup: nothing there is changed by looking. Throws `DatabaseDamaged`. */
export const openStoredCopy = (file: string): OpenStoredHistory => toOpenHistory(openReadOnly(file));

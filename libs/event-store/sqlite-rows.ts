/** Rows of an event store's file, as events: in clear or packed. */
import type { JsonObject } from '#runtime/json';
import type { Database } from '#sqlite/database';
import type { StoredEvent } from './event-chain.js';
import type { EventMetadata, RecordedEvent } from './event-store.js';
import { idOfPacked, macOfPacked, unpackEvent, type NameOf } from './sqlite-packing.js';

/** A packed row has its id, data, metadata and MAC in `packed`, and its type under a number. */
export interface EventRow {
  readonly position: number;
  readonly name: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly data: string;
  readonly metadata: string;
  readonly kind: number | null;
  readonly packed: Uint8Array | null;
}

/** The same row in the order of these columns: without their names it costs less to read. */
export type EventValues = readonly [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  version: number,
  data: string,
  metadata: string,
  kind: number | null,
  packed: Uint8Array | null,
];

export const eventColumns =
  'e.position, s.name, e.revision, e.id, e.type, e.version, e.data, e.metadata, e.kind, e.packed';

export function rowOf(values: EventValues): EventRow {
  const [position, name, revision, id, type, version, data, metadata, kind, packed] = values;
  return { position, name, revision, id, type, version, data, metadata, kind, packed };
}

/** About as many characters as its data has. */
export const sizeOf = ({ data, packed }: EventRow): number => (packed === null ? data.length : packed.length * 2);

/** The names that events of a file share, by number. */
export function createNames(database: Database): NameOf {
  const find = database.prepare('SELECT name FROM names WHERE id = ?');
  const known = new Map<number, string>();
  return (number) => {
    const found = known.get(number);
    if (found !== undefined) return found;
    const row = find.get(number);
    if (row === undefined) throw new Error(`the events name ${number}, which has no name`);
    const name = String(row['name']);
    known.set(number, name);
    return name;
  };
}

type StoredRow = EventRow & { readonly mac: string | null };

/** A row that is not packed. */
export function inClear({ position, name, revision, id, type, version, data, metadata, mac }: StoredRow): StoredEvent {
  return { stream: name, revision, position, id, type, version, data, metadata, mac };
}

export interface RowReader {
  readonly nameOf: NameOf;
  /** Throws on what is no event any more. */
  toRecorded(row: EventRow): RecordedEvent;
  /** As it is stored, with the MAC. */
  toStored(row: StoredRow): StoredEvent;
}

export function createRowReader(database: Database): RowReader {
  const nameOf = createNames(database);
  return {
    nameOf,

    toRecorded({ position, name, revision, id, type, version, data, metadata, kind, packed }) {
      if (packed === null || kind === null) {
        return {
          stream: name,
          revision,
          position,
          id,
          type,
          version,
          data: JSON.parse(data) as JsonObject,
          metadata: JSON.parse(metadata) as EventMetadata,
        };
      }
      const unpacked = unpackEvent(packed, name, nameOf);
      return {
        stream: name,
        revision,
        position,
        id: idOfPacked(packed),
        type: nameOf(kind),
        version,
        data: unpacked.data,
        metadata: unpacked.metadata,
      };
    },

    toStored(row) {
      const { position, name, revision, id, type, version, kind, packed } = row;
      const place = { stream: name, revision, position };
      if (packed === null || kind === null) return inClear(row);
      try {
        const unpacked = unpackEvent(packed, name, nameOf);
        return {
          ...place,
          id: idOfPacked(packed),
          type: nameOf(kind),
          version,
          data: JSON.stringify(unpacked.data),
          metadata: JSON.stringify(unpacked.metadata),
          mac: macOfPacked(packed),
        };
      } catch {
        // What was changed so that nothing of it can be read has no MAC that fits.
        const unreadable = JSON.stringify({ $unreadable: Buffer.from(packed).toString('base64url') });
        return { ...place, id, type, version, data: unreadable, metadata: '{}', mac: '' };
      }
    },
  };
}

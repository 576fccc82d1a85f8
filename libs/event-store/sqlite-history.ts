/** The events of a store's file, read by a connection of its own while another writes them: for a thread. */
import type { JsonObject } from '#runtime/json';
import type { EventMetadata, RecordedEvent } from './event-store.js';
import type { FindLast, OpenHistoric } from './historic-event.js';
import { idOfPacked, unpackEvent } from './sqlite-packing.js';
import { createRowReader, eventColumns, type EventRow, type EventValues } from './sqlite-rows.js';
import { openEvents } from './sqlite-writer.js';

/** Few enough that they are forgotten before they grow old: what is collected while it is young costs nothing. */
const stretchLength = 500;

interface Read {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  /** As it was read, where it is not packed. */
  readonly metadata: EventMetadata | string;
}

/** Who did it is asked of few events, so it is parsed for those alone. */
class HistoricEvent implements RecordedEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly data: JsonObject;
  #metadata: EventMetadata | string;

  constructor([position, stream, revision, , , version]: EventValues, { id, type, data, metadata }: Read) {
    this.stream = stream;
    this.revision = revision;
    this.position = position;
    this.id = id;
    this.type = type;
    this.version = version;
    this.data = data;
    this.#metadata = metadata;
  }

  get metadata(): EventMetadata {
    if (typeof this.#metadata === 'string') this.#metadata = JSON.parse(this.#metadata) as EventMetadata;
    return this.#metadata;
  }
}

export interface HistoryStretch {
  readonly events: readonly RecordedEvent[];
  /** Everything up to here was handed over. */
  readonly position: number;
}

/** Every event up to the position `end`, oldest first. */
export function* readHistory(file: string, end: number, open: OpenHistoric): Generator<HistoryStretch> {
  const database = openEvents({ file, held: 'shared' });
  try {
    const read = database.prepare(
      `SELECT ${eventColumns} FROM events e CROSS JOIN streams s ON s.id = e.stream WHERE e.position > ? AND e.position <= ? ORDER BY e.position`,
    );
    read.setReturnArrays(true);
    const { nameOf, toRecorded } = createRowReader(database);
    const readLast = database.prepare(
      `SELECT ${eventColumns} FROM streams s JOIN events e ON e.stream = s.id AND e.revision = s.revision WHERE s.name = ?`,
    );
    const findLast: FindLast = (stream) => {
      const row = readLast.get(stream) as unknown as EventRow | undefined;
      return row === undefined ? null : toRecorded(row);
    };
    const readRow = ([, stream, , id, type, , data, metadata, kind, packed]: EventValues): Read =>
      packed === null || kind === null
        ? { id, type, data: JSON.parse(data) as JsonObject, metadata }
        : { id: idOfPacked(packed), type: nameOf(kind), ...unpackEvent(packed, stream, nameOf) };
    const toEvents = (row: EventValues): readonly HistoricEvent[] => {
      const [, stream, revision] = row;
      const stored = readRow(row);
      const { id, type } = stored;
      const data = open({ stream, revision, id, type, data: stored.data }, findLast);
      return data === null ? [] : [new HistoricEvent(row, { ...stored, data })];
    };
    for (let after = 0; after < end;) {
      const position = Math.min(after + stretchLength, end);
      const rows = read.all(after, position) as unknown as EventValues[];
      yield { events: rows.flatMap(toEvents), position };
      after = position;
    }
  } finally {
    database.close();
  }
}

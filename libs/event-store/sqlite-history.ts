/** The events of a store's file, read by a connection of its own while another writes them: for a thread. */
import type { JsonObject } from '#runtime/json';
import type { EventMetadata, RecordedEvent } from './event-store.js';
import type { FindLast, OpenHistoric } from './historic-event.js';
import { eventColumns, type EventValues } from './sqlite-catch-up.js';
import { openEvents } from './sqlite-writer.js';

/** Few enough that they are forgotten before they grow old: what is collected while it is young costs nothing. */
const stretchLength = 500;

/** Who did it is asked of few events, so it is parsed for those alone. */
class HistoricEvent implements RecordedEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly data: JsonObject;
  readonly #metadataText: string;
  #metadata: EventMetadata | null = null;

  constructor([position, stream, revision, id, type, version, , metadata]: EventValues, data: JsonObject) {
    this.stream = stream;
    this.revision = revision;
    this.position = position;
    this.id = id;
    this.type = type;
    this.version = version;
    this.data = data;
    this.#metadataText = metadata;
  }

  get metadata(): EventMetadata {
    return (this.#metadata ??= JSON.parse(this.#metadataText) as EventMetadata);
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
    const readLast = database.prepare(
      'SELECT e.type, e.data FROM streams s JOIN events e ON e.stream = s.id AND e.revision = s.revision WHERE s.name = ?',
    );
    const findLast: FindLast = (stream) => {
      const row = readLast.get(stream);
      return row === undefined
        ? null
        : { type: String(row['type']), data: JSON.parse(String(row['data'])) as JsonObject };
    };
    const toEvents = (row: EventValues): readonly HistoricEvent[] => {
      const [, stream, revision, id, type, , text] = row;
      const data = open({ stream, revision, id, type, data: JSON.parse(text) as JsonObject }, findLast);
      return data === null ? [] : [new HistoricEvent(row, data)];
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

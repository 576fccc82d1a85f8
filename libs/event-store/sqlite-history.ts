/** The events of a store's file, read by a connection of its own beside whoever writes them: for a thread. */
import type { JsonObject } from '#runtime/json';
import { openDatabase } from '#sqlite/database';
import type { EventMetadata, RecordedEvent } from './event-store.js';
import { eventColumns, type EventRow } from './sqlite-older.js';
import { eventSchema } from './sqlite-writer.js';

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

  constructor(row: EventRow) {
    this.stream = row.name;
    this.revision = row.revision;
    this.position = row.position;
    this.id = row.id;
    this.type = row.type;
    this.version = row.version;
    this.data = JSON.parse(row.data) as JsonObject;
    this.#metadataText = row.metadata;
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
export function* readHistory(file: string, end: number): Generator<HistoryStretch> {
  const database = openDatabase({ file, durability: 'full', schema: eventSchema, held: 'shared' });
  try {
    const read = database.prepare(
      `SELECT ${eventColumns} FROM events e CROSS JOIN streams s ON s.id = e.stream WHERE e.position > ? AND e.position <= ? ORDER BY e.position`,
    );
    for (let after = 0; after < end;) {
      const position = Math.min(after + stretchLength, end);
      const rows = read.all(after, position) as unknown as EventRow[];
      yield { events: rows.map((row) => new HistoricEvent(row)), position };
      after = position;
    }
  } finally {
    database.close();
  }
}

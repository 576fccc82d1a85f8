/** Checkpoints of views in SQLite: a position and the last event applied, in a table of their own. */
import { inTransaction, type Database } from '#sqlite/database';
import type { AnyView, Seen, SeenEvent } from './read-store.js';

export const checkpointSchema =
  'CREATE TABLE IF NOT EXISTS checkpoints (view TEXT PRIMARY KEY, position INTEGER NOT NULL, event TEXT) STRICT;';

export interface Checkpoints {
  position(view: AnyView): number | null;
  seen(view: AnyView): Seen | null;
  /** Never moves back. Without an event the stored one stays. */
  advance(view: AnyView, position: number, event: SeenEvent | undefined): void;
  drop(view: AnyView): void;
  /** Gives the checkpoint of `built` to `view`. */
  move(view: AnyView, built: AnyView): void;
}

const toText = (event: SeenEvent | undefined): string | null =>
  event === undefined
    ? null
    : JSON.stringify({ stream: event.stream, revision: event.revision, id: event.id, position: event.position });

/** Files of older versions have no events in their checkpoints. */
function addEventColumn(database: Database): void {
  inTransaction(database, () => {
    const has = database.prepare("SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = 'event'").get();
    if (has === undefined) database.exec('ALTER TABLE checkpoints ADD COLUMN event TEXT');
  });
}

export function createCheckpoints(database: Database): Checkpoints {
  addEventColumn(database);
  const set = database.prepare(
    `INSERT INTO checkpoints (view, position, event) VALUES (?, ?, ?)
     ON CONFLICT (view) DO UPDATE SET position = excluded.position, event = coalesce(excluded.event, event)
     WHERE position < excluded.position`,
  );
  const get = database.prepare('SELECT position FROM checkpoints WHERE view = ?');
  const getEvent = database.prepare('SELECT event FROM checkpoints WHERE view = ?');
  const remove = database.prepare('DELETE FROM checkpoints WHERE view = ?');
  const rename = database.prepare('UPDATE checkpoints SET view = ? WHERE view = ?');
  const position = (view: AnyView): number | null => (get.get(view.name)?.['position'] as number | undefined) ?? null;
  return {
    position,
    seen(view) {
      const seen = position(view);
      if (seen === null) return null;
      const text = getEvent.get(view.name)?.['event'];
      return { position: seen, event: typeof text === 'string' ? (JSON.parse(text) as SeenEvent) : null };
    },
    advance: (view, to, event) => void set.run(view.name, to, toText(event)),
    drop: (view) => void remove.run(view.name),
    move: (view, built) => void rename.run(view.name, built.name),
  };
}

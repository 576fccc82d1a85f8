/**
 * Tables to drop. Dropping a large one blocks the process for seconds; so it is renamed, which takes none, and emptied in
 * small steps.
 */
import { inTransaction, type Database } from '#sqlite/database';

const prefix = 'discarded_';
/** The first rows of the table, so that whole pages become free: deleting them one by one costs four times as much. */
const rowsPerStep = 300;
const lastRowid = '9223372036854775807';

export interface TableTrash {
  /** Renames the table, inside the caller's transaction. */
  discard(table: string): void;
  /** Starts emptying discarded tables, also those of an earlier process. */
  empty(): void;
  /** Resolves once emptying has stopped; the rest follows after the next start. */
  stop(): Promise<void>;
}

export function createTableTrash(database: Database): TableTrash {
  let isStopping = false;
  let emptying: Promise<void> | null = null;

  const tables = (): string[] =>
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?")
      .all(`${prefix}*`)
      .map(({ name }) => String(name));

  /** One step; true once the table is dropped. */
  const shrink = (table: string): boolean =>
    inTransaction(database, () => {
      // Indexes first: rows are deleted faster without them.
      const index = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
        .get(table);
      if (index !== undefined) database.exec(`DROP INDEX "${String(index['name'])}"`);
      else {
        const { changes } = database
          .prepare(
            `DELETE FROM "${table}" WHERE rowid <= coalesce((SELECT rowid FROM "${table}" ORDER BY rowid LIMIT 1 OFFSET ${rowsPerStep - 1}), ${lastRowid})`,
          )
          .run();
        if (changes < rowsPerStep) database.exec(`DROP TABLE "${table}"`);
        return changes < rowsPerStep;
      }
      return false;
    });

  const run = async (): Promise<void> => {
    for (const table of tables()) {
      for (let isGone = false; !isGone && !isStopping;) {
        await new Promise((resolve) => setImmediate(resolve));
        if (isStopping) return;
        try {
          isGone = shrink(table);
        } catch {
          // Another process is emptying it too, or the disk is full: the next start tries again.
          return;
        }
      }
    }
  };

  return {
    discard(table) {
      let number = 1;
      const isTaken = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
      while (isTaken.get(`${prefix}${number}`) !== undefined) number += 1;
      database.exec(`ALTER TABLE "${table}" RENAME TO "${prefix}${number}"`);
    },
    empty() {
      emptying = (emptying ?? Promise.resolve()).then(run);
    },
    async stop() {
      isStopping = true;
      await emptying;
    },
  };
}

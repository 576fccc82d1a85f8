/**
 * Tables that nobody needs any more. To drop a large one takes seconds in which nothing else is done; so it is given another
 * name, which takes none, and emptied by and by.
 */
import { inTransaction, type Database } from '#sqlite/database';

const prefix = 'discarded_';
/** Always those that lie first, so that whole pages become free: found one by one they cost four times as much. */
const rowsAtOnce = 300;
const lastRowid = '9223372036854775807';

export interface TableTrash {
  /** Gives the table away, inside the caller's transaction. */
  discard(table: string): void;
  /** Begins to empty what was given away, also before a restart. */
  empty(): void;
  /** Resolves once nothing is being emptied; what is left is emptied after the next start. */
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

  /** True where the table is gone. */
  const shrink = (table: string): boolean =>
    inTransaction(database, () => {
      // Indexes first: rows go faster without them.
      const index = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
        .get(table);
      if (index !== undefined) database.exec(`DROP INDEX "${String(index['name'])}"`);
      else {
        const { changes } = database
          .prepare(
            `DELETE FROM "${table}" WHERE rowid <= coalesce((SELECT rowid FROM "${table}" ORDER BY rowid LIMIT 1 OFFSET ${rowsAtOnce - 1}), ${lastRowid})`,
          )
          .run();
        if (changes < rowsAtOnce) database.exec(`DROP TABLE "${table}"`);
        return changes < rowsAtOnce;
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
          // Another process empties it too, or the disk is full: the next start tries again.
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

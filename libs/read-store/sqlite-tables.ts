/** Views as tables of SQLite: documents with the values of their indexed fields in columns of their own. */
import { unavailable, type AppError } from '#runtime/errors';
import { inTransaction, type Database, type Statement } from '#sqlite/database';
import { partOfName } from './indexed-fields.js';
import type { AnyView } from './read-store.js';
import type { Checkpoints } from './sqlite-checkpoints.js';
import { createListAids, freeName, hasNumberedRows, isListIndex, nameOf } from './sqlite-list-aids.js';
import { createPut, type Put } from './sqlite-put.js';
import type { TableTrash } from './sqlite-table-trash.js';

export interface OpenTable {
  /** Quoted. */
  readonly name: string;
  /** Writes all columns: sooner for who has only new documents. */
  readonly save: Statement;
  readonly put: Put;
  readonly remove: Statement;
  readonly get: Statement;
  readonly load: Statement;
}

export interface ViewTables {
  /** Creates table and indexes where they are missing. Throws `read_store_unavailable`. */
  open(view: AnyView): OpenTable;
  /** Creates the first index of `view` that `built` lacks, or a part of what else its lists need; false where nothing is missing. */
  makeIndex(view: AnyView, built: AnyView): boolean;
  /** Drops table and checkpoint, inside the caller's transaction. */
  drop(view: AnyView): void;
  /** Gives the table of `built`, and its checkpoint, to `view`, inside the caller's transaction. */
  move(view: AnyView, built: AnyView): void;
  /** Forgets the prepared statements of a table that was renamed. */
  forget(view: AnyView): void;
}

/** Prefixed: a field may be called `id` or `document` too. */
export const columnOf = (field: string): string => `"${nameOf('field', field)}"`;

export const tableOf = (view: AnyView): string => `"${nameOf('view', view.name)}"`;

export const notWritten = (cause: unknown): AppError =>
  unavailable('read_store_unavailable', 'The read store could not be written.', 5, cause);

export function createViewTables(database: Database, checkpoints: Checkpoints, trash: TableTrash): ViewTables {
  const opened = new Map<string, OpenTable>();
  const aids = createListAids(database, trash);
  const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");

  /** Together: a checkpoint that outlived its table would claim that an empty view has seen everything. */
  const drop = (view: AnyView): void => {
    opened.delete(view.name);
    aids.drop(view);
    const table = nameOf('view', view.name);
    if (hasTable.get(table) !== undefined) trash.discard(table);
    checkpoints.drop(view);
  };

  /** Creates the first missing index; false where none is missing. Compared by columns: a rebuilt view keeps the index names of its build. */
  const makeIndex = (view: AnyView, built: AnyView): boolean => {
    const table = nameOf('view', built.name);
    const present = database
      .prepare(
        `SELECT (SELECT group_concat(name) FROM pragma_index_info(list.name)) AS columns FROM pragma_index_list('${table}') AS list`,
      )
      .all()
      .map((row) => row['columns']);
    for (const fields of view.indexes) {
      // On the rows of the list's values.
      if (isListIndex(view, fields)) continue;
      const columns = [...fields.map((field) => nameOf('field', field)), 'id'];
      if (present.includes(columns.join(','))) continue;
      const base = `${nameOf('view', view.name)}_by_${fields.map(partOfName).join('_')}`;
      database.exec(
        `CREATE INDEX "${freeName(database, base)}" ON "${table}" (${columns.map((column) => `"${column}"`).join(', ')})`,
      );
      return true;
    }
    return aids.makePart(view, built);
  };

  const make = (view: AnyView): OpenTable => {
    const name = tableOf(view);
    const columns = view.fields.map(columnOf);
    // Other tables point to the rows: their numbers must stay as they are, whatever becomes of the file.
    const key = hasNumberedRows(view)
      ? ['row INTEGER PRIMARY KEY', 'id TEXT NOT NULL UNIQUE']
      : ['id TEXT PRIMARY KEY'];
    database.exec(
      `CREATE TABLE IF NOT EXISTS ${name} (${[...key, 'revision INTEGER NOT NULL', 'document TEXT', ...columns].join(', ')})`,
    );
    // A view that has gained a field is dropped, and rebuilt from the events.
    const present = database.prepare(`SELECT name FROM pragma_table_info('${nameOf('view', view.name)}')`).all();
    // Tables of older versions have no numbered rows, which other tables can point to.
    const numbered = hasNumberedRows(view) ? ['row'] : [];
    const wanted = [...numbered, 'id', 'revision', 'document', ...view.fields.map((field) => nameOf('field', field))];
    if (wanted.some((one) => !present.some((column) => column['name'] === one))) {
      inTransaction(database, () => drop(view));
      trash.empty();
      return make(view);
    }
    while (makeIndex(view, view)) continue;
    const names = ['id', 'revision', 'document', ...columns];
    const save = database.prepare(
      `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
       ON CONFLICT (id) DO UPDATE SET ${names
         .slice(1)
         .map((column) => `${column} = excluded.${column}`)
         .join(', ')}
       WHERE revision < excluded.revision`,
    );
    const table: OpenTable = {
      name,
      save,
      put: createPut(database, { name, columns, save }),
      remove: database.prepare(`DELETE FROM ${name} WHERE id = ? AND revision < ?`),
      get: database.prepare(`SELECT document FROM ${name} WHERE id = ?`),
      load: database.prepare(`SELECT revision, document FROM ${name} WHERE id = ?`),
    };
    opened.set(view.name, table);
    return table;
  };

  return {
    open(view) {
      const known = opened.get(view.name);
      if (known !== undefined) return known;
      try {
        return make(view);
      } catch (error) {
        throw notWritten(error);
      }
    },
    makeIndex,
    drop,
    move(view, built) {
      drop(view);
      aids.move(view, built);
      database.exec(`ALTER TABLE ${tableOf(built)} RENAME TO ${tableOf(view)}`);
      aids.keep(view);
      checkpoints.move(view, built);
    },
    forget: (view) => void opened.delete(view.name),
  };
}

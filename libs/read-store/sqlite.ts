/** Read store in one SQLite file: a table per view, the searched fields as columns of their own beside the document. */
import { AppError, unavailable } from '#runtime/errors';
import { inTransaction, openDatabase, type Database, type Statement } from '#sqlite/database';
import { createTableTrash } from './rebuild/sqlite-table-trash.js';
import {
  viewOutOfStep,
  type AnyView,
  type FieldFilter,
  type DocumentWrite,
  type PageQuery,
  type ReadStore,
  type SeenEvent,
  type ViewDefinition,
  type ViewAdmin,
} from './read-store.js';
import { partOfName, plainValues, toIndexed, type PlainValue } from './indexed-fields.js';
import { createAhead, type BackfillSource, type Answer } from './rebuild/sqlite-backfill.js';

interface OpenView {
  readonly table: string;
  readonly save: Statement;
  readonly remove: Statement;
  readonly get: Statement;
  readonly load: Statement;
}

const nameOf = (prefix: 'view' | 'field', name: string): string => `${prefix}_${partOfName(name)}`;

/** Prefixed: a field may be called `id` or `document` too. */
const columnOf = (field: string): string => `"${nameOf('field', field)}"`;

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, (character) => `\\${character}`);

function toCondition(filter: FieldFilter): { readonly sql: string; readonly values: readonly PlainValue[] } {
  if ('contains' in filter) {
    const alternatives = filter.fields.map((field) => `${columnOf(field)} LIKE ? ESCAPE '\\'`);
    return {
      sql: `(${['0', ...alternatives].join(' OR ')})`,
      values: filter.fields.map(() => `%${escapeLike(filter.contains)}%`),
    };
  }
  const column = columnOf(filter.field);
  if ('equals' in filter) {
    return filter.equals === null
      ? { sql: `${column} IS NULL`, values: [] }
      : { sql: `${column} = ?`, values: [toIndexed(filter.equals)] };
  }
  if ('oneOf' in filter) {
    return { sql: `${column} IN (${filter.oneOf.map(() => '?').join(', ')})`, values: filter.oneOf.map(toIndexed) };
  }
  if ('has' in filter) {
    return { sql: `EXISTS (SELECT 1 FROM json_each(${column}) WHERE value = ?)`, values: [toIndexed(filter.has)] };
  }
  const { from, to } = filter;
  const bounds: { readonly sql: string; readonly value: PlainValue }[] = [];
  // To SQLite each number is less than each text: an open end stops where the other kind begins.
  if (from !== undefined) bounds.push({ sql: `${column} >= ?`, value: from });
  else if (typeof to === 'string') bounds.push({ sql: `${column} >= ?`, value: '' });
  if (to !== undefined) bounds.push({ sql: `${column} <= ?`, value: to });
  else if (typeof from === 'number') bounds.push({ sql: `${column} < ?`, value: '' });
  return {
    sql: bounds.length === 0 ? '1' : `(${bounds.map(({ sql }) => sql).join(' AND ')})`,
    values: bounds.map(({ value }) => toIndexed(value)),
  };
}

/** Rows behind a cursor, for any mix of directions: (a, b, id) compared field by field. */
function toBehind({
  sort,
  behind,
}: PageQuery): { readonly sql: string; readonly values: readonly PlainValue[] } | null {
  if (behind === undefined) return null;
  const fields = [...sort, { field: '', descending: sort.at(-1)?.descending ?? false }];
  const values = [...behind.values, behind.id].map(toIndexed);
  const column = (field: string): string => (field === '' ? 'id' : columnOf(field));
  const alternatives = fields.map(({ field, descending }, index) => {
    const equal = fields.slice(0, index).map((earlier) => `${column(earlier.field)} = ?`);
    return {
      sql: [...equal, `${column(field)} ${descending ? '<' : '>'} ?`].join(' AND '),
      values: values.slice(0, index + 1),
    };
  });
  return {
    sql: `(${alternatives.map(({ sql }) => `(${sql})`).join(' OR ')})`,
    values: alternatives.flatMap((alternative) => alternative.values),
  };
}

const toText = (event: SeenEvent | undefined): string | null =>
  event === undefined
    ? null
    : JSON.stringify({ stream: event.stream, revision: event.revision, id: event.id, position: event.position });

const notWritten = (cause: unknown): AppError =>
  unavailable('read_store_unavailable', 'The read store could not be written.', 5, cause);

/** Checkpoints of a folder that was made before they told of an event. */
function addEventColumn(database: Database): void {
  inTransaction(database, () => {
    const has = database.prepare("SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = 'event'").get();
    if (has === undefined) database.exec('ALTER TABLE checkpoints ADD COLUMN event TEXT');
  });
}

/**
 * `file`: a path or `:memory:`. `ahead`: where events that lie back are read in a thread. Throws `DatabaseInUse` where another
 * process writes it for longer than a connection waits.
 */
export function createSqliteReadStore(file: string, ahead: BackfillSource | null = null): ReadStore & ViewAdmin {
  const database = openDatabase({
    file,
    // Views are derived: after a power cut their checkpoint is as old as they are, and the events are read again.
    durability: 'normal',
    // The command line asks a running server for a rebuild by a document here. A second server is kept out by the events.
    held: 'shared',
    schema:
      'CREATE TABLE IF NOT EXISTS checkpoints (view TEXT PRIMARY KEY, position INTEGER NOT NULL, event TEXT) STRICT;',
  });
  addEventColumn(database);
  const setCheckpoint = database.prepare(
    `INSERT INTO checkpoints (view, position, event) VALUES (?, ?, ?)
     ON CONFLICT (view) DO UPDATE SET position = excluded.position, event = coalesce(excluded.event, event)
     WHERE position < excluded.position`,
  );
  const getEvent = database.prepare('SELECT event FROM checkpoints WHERE view = ?');
  const getCheckpoint = database.prepare('SELECT position FROM checkpoints WHERE view = ?');
  const dropCheckpoint = database.prepare('DELETE FROM checkpoints WHERE view = ?');
  const renameCheckpoint = database.prepare('UPDATE checkpoints SET view = ? WHERE view = ?');
  const discarded = createTableTrash(database);
  // What was given away before the last process ended.
  discarded.empty();
  const open = new Map<string, OpenView>();
  const pageStatements = new Map<string, Statement>();

  const tableOf = (view: AnyView): string => `"${nameOf('view', view.name)}"`;
  const positionOf = (view: AnyView): number | null =>
    (getCheckpoint.get(view.name)?.['position'] as number | undefined) ?? null;

  const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");

  /** Together: a checkpoint that outlived its table would say that an empty view has seen everything. */
  const dropView = (view: AnyView): void => {
    open.delete(view.name);
    const table = nameOf('view', view.name);
    if (hasTable.get(table) !== undefined) discarded.discard(table);
    dropCheckpoint.run(view.name);
  };

  const openView = (view: AnyView): OpenView => {
    const known = open.get(view.name);
    if (known !== undefined) return known;
    try {
      return makeView(view);
    } catch (error) {
      throw notWritten(error);
    }
  };

  /**
   * Makes the first index that is missing; false where none is. Compared by columns: a view that was built beside another
   * keeps the names its indexes had there.
   */
  const makeIndex = (view: AnyView, table = nameOf('view', view.name)): boolean => {
    const present = database
      .prepare(
        `SELECT (SELECT group_concat(name) FROM pragma_index_info(list.name)) AS columns FROM pragma_index_list('${table}') AS list`,
      )
      .all()
      .map((row) => row['columns']);
    for (const fields of view.indexes) {
      const columns = [...fields.map((field) => nameOf('field', field)), 'id'];
      if (present.includes(columns.join(','))) continue;
      const base = `${nameOf('view', view.name)}_by_${fields.map(partOfName).join('_')}`;
      const isTaken = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
      let name = base;
      for (let number = 2; isTaken.get(name) !== undefined; number += 1) name = `${base}_${number}`;
      database.exec(`CREATE INDEX "${name}" ON "${table}" (${columns.map((column) => `"${column}"`).join(', ')})`);
      return true;
    }
    return false;
  };

  const makeView = (view: AnyView): OpenView => {
    const table = tableOf(view);
    const columns = view.fields.map(columnOf);
    database.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (${['id TEXT PRIMARY KEY', 'revision INTEGER NOT NULL', 'document TEXT', ...columns].join(', ')})`,
    );
    // A view that has gained a field since its table was made is made anew from the events.
    const present = database.prepare(`SELECT name FROM pragma_table_info('${nameOf('view', view.name)}')`).all();
    const wanted = ['id', 'revision', 'document', ...view.fields.map((field) => nameOf('field', field))];
    if (wanted.some((name) => !present.some((column) => column['name'] === name))) {
      inTransaction(database, () => dropView(view));
      discarded.empty();
      return makeView(view);
    }
    while (makeIndex(view)) continue;
    const names = ['id', 'revision', 'document', ...columns];
    const opened: OpenView = {
      table,
      save: database.prepare(
        `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
         ON CONFLICT (id) DO UPDATE SET ${names
           .slice(1)
           .map((name) => `${name} = excluded.${name}`)
           .join(', ')}
         WHERE revision < excluded.revision`,
      ),
      remove: database.prepare(`DELETE FROM ${table} WHERE id = ? AND revision < ?`),
      get: database.prepare(`SELECT document FROM ${table} WHERE id = ?`),
      load: database.prepare(`SELECT revision, document FROM ${table} WHERE id = ?`),
    };
    open.set(view.name, opened);
    return opened;
  };

  const prepared = (sql: string): Statement => {
    const known = pageStatements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    if (pageStatements.size >= 500) pageStatements.clear();
    pageStatements.set(sql, statement);
    return statement;
  };

  const load = <D extends object>(view: ViewDefinition<D>, ids: readonly string[]): Map<string, DocumentWrite<D>> => {
    const statement = openView(view).load;
    const stored = new Map<string, DocumentWrite<D>>();
    for (const id of ids) {
      const row = statement.get(id);
      if (row === undefined) continue;
      stored.set(id, {
        id,
        revision: row['revision'] as number,
        document: JSON.parse(row['document'] as string) as D,
      });
    }
    return stored;
  };

  const answerThread: Answer = ({ built }, asked) => {
    try {
      if (asked.what === 'load') return [...load(built, asked.ids).values()];
      const { save, remove } = openView(built);
      inTransaction(database, () => {
        for (const row of asked.rows) {
          const [id, revision, document] = row;
          if (document === null) remove.run(id, revision);
          else save.run(...row);
        }
        if (asked.checkpoint !== null)
          setCheckpoint.run(built.name, asked.checkpoint, toText(asked.event ?? undefined));
      });
      return [];
    } catch {
      return null;
    }
  };
  const builds = ahead === null ? null : createAhead(ahead, answerThread);

  return {
    ...(builds === null ? {} : { buildAhead: builds.build }),

    async save(view, writes, checkpoint, after, event) {
      const { save, remove } = openView(view);
      try {
        inTransaction(database, () => {
          if (after !== undefined && positionOf(view) !== after) throw viewOutOfStep(view);
          for (const { id, revision, document } of writes) {
            if (document === null) remove.run(id, revision);
            else {
              // Lists as JSON text: `json_each` looks inside.
              save.run(id, revision, JSON.stringify(document), ...plainValues(view, document));
            }
          }
          if (checkpoint !== null) setCheckpoint.run(view.name, checkpoint, toText(event));
        });
      } catch (error) {
        throw error instanceof AppError ? error : notWritten(error);
      }
    },

    async get<D extends object>(view: AnyView, id: string) {
      const row = openView(view).get.get(id);
      return row === undefined ? null : (JSON.parse(row['document'] as string) as D);
    },

    async load(view, ids) {
      return load(view, ids);
    },

    async page<D extends object>(view: AnyView, query: PageQuery) {
      const { table } = openView(view);
      const conditions = query.where.map(toCondition);
      const behind = toBehind(query);
      const all = behind === null ? conditions : [...conditions, behind];
      const where = (parts: readonly { readonly sql: string }[]): string =>
        parts.length === 0 ? '' : `WHERE ${parts.map(({ sql }) => sql).join(' AND ')}`;
      const direction = (descending: boolean): string => (descending ? 'DESC' : 'ASC');
      const order = [
        ...query.sort.map(({ field, descending }) => `${columnOf(field)} ${direction(descending)}`),
        `id ${direction(query.sort.at(-1)?.descending ?? false)}`,
      ].join(', ');
      // Deferred join: the index alone is walked up to the offset, documents are read for one page only.
      const rows = prepared(
        `SELECT document FROM ${table} AS t JOIN (SELECT rowid AS page_row FROM ${table} ${where(all)} ORDER BY ${order} LIMIT ? OFFSET ?) AS page ON t.rowid = page.page_row ORDER BY ${order}`,
      ).all(...all.flatMap(({ values }) => values), query.limit, query.offset);
      const total = query.count
        ? (prepared(`SELECT count(*) AS total FROM ${table} ${where(conditions)}`).get(
            ...conditions.flatMap(({ values }) => values),
          )?.['total'] as number)
        : null;
      return { documents: rows.map((row) => JSON.parse(row['document'] as string) as D), total };
    },

    async checkpoint(view) {
      // Opened first: a view that is made anew has seen nothing.
      openView(view);
      return positionOf(view);
    },

    async seen(view) {
      openView(view);
      const position = positionOf(view);
      if (position === null) return null;
      const text = getEvent.get(view.name)?.['event'];
      return { position, event: typeof text === 'string' ? (JSON.parse(text) as SeenEvent) : null };
    },

    async index(view, built) {
      openView(built);
      try {
        // Each takes a while where documents are many: in between others have a turn.
        while (makeIndex(view, nameOf('view', built.name))) await new Promise((resolve) => setImmediate(resolve));
      } catch (error) {
        throw notWritten(error);
      }
    },

    async reset(view) {
      try {
        inTransaction(database, () => dropView(view));
      } catch (error) {
        throw notWritten(error);
      }
      discarded.empty();
    },

    async replace(view, built) {
      const refuseOlder = (): void => {
        const [seen, seenByBuilt] = [positionOf(view), positionOf(built)];
        if (seenByBuilt === null || (seen ?? -1) > seenByBuilt) throw viewOutOfStep(view);
      };
      refuseOlder();
      openView(built);
      try {
        inTransaction(database, () => {
          refuseOlder();
          while (makeIndex(view, nameOf('view', built.name))) continue;
          dropView(view);
          database.exec(`ALTER TABLE ${tableOf(built)} RENAME TO ${tableOf(view)}`);
          renameCheckpoint.run(view.name, built.name);
        });
      } catch (error) {
        throw error instanceof AppError ? error : notWritten(error);
      } finally {
        open.delete(built.name);
      }
      discarded.empty();
    },

    async close() {
      await builds?.stop();
      await discarded.stop();
      if (database.isOpen) database.close();
    },
  };
}

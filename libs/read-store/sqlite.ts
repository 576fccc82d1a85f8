/** Read store in one SQLite file: a table per view, the searched fields as columns of their own beside the document. */
import { unavailable } from '#runtime/errors';
import type { Json, JsonObject } from '#runtime/json';
import { inTransaction, openDatabase, type Statement } from '#sqlite/database';
import type {
  AnyView,
  FieldFilter,
  DocumentWrite,
  PageQuery,
  ReadStore,
  ViewDefinition,
  ViewKeeper,
} from './read-store.js';

type Value = string | number | null;

interface OpenView {
  readonly table: string;
  readonly save: Statement;
  readonly remove: Statement;
  readonly get: Statement;
  readonly load: Statement;
}

/** Names come from view definitions in the code, never from users; checked all the same. */
function nameOf(prefix: 'view' | 'field', name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_.]{0,60}$/.test(name)) throw new Error(`not a name of a view or field: ${name}`);
  return `${prefix}_${name.replaceAll('.', '__')}`;
}

/** Prefixed: a field may be called `id` or `document` too. */
const columnOf = (field: string): string => `"${nameOf('field', field)}"`;

function fieldOf(document: object, field: string): Json | undefined {
  let value: Json | undefined = document as JsonObject;
  for (const part of field.split('.')) {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
    value = (value as JsonObject)[part];
  }
  return value;
}

function toColumn(value: Json | undefined): Value {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, (character) => `\\${character}`);

function toCondition(filter: FieldFilter): { readonly sql: string; readonly values: readonly Value[] } {
  if ('contains' in filter) {
    const sql = filter.fields.map((field) => `${columnOf(field)} LIKE ? ESCAPE '\\'`).join(' OR ');
    return { sql: `(${sql})`, values: filter.fields.map(() => `%${escapeLike(filter.contains)}%`) };
  }
  const column = columnOf(filter.field);
  if ('equals' in filter) {
    return filter.equals === null
      ? { sql: `${column} IS NULL`, values: [] }
      : { sql: `${column} = ?`, values: [toColumn(filter.equals)] };
  }
  if ('oneOf' in filter) {
    return { sql: `${column} IN (${filter.oneOf.map(() => '?').join(', ')})`, values: filter.oneOf };
  }
  if ('has' in filter) {
    return { sql: `EXISTS (SELECT 1 FROM json_each(${column}) WHERE value = ?)`, values: [filter.has] };
  }
  const bounds: { readonly sql: string; readonly value: Value }[] = [];
  if (filter.from !== undefined) bounds.push({ sql: `${column} >= ?`, value: filter.from });
  if (filter.to !== undefined) bounds.push({ sql: `${column} <= ?`, value: filter.to });
  return {
    sql: bounds.length === 0 ? '1' : `(${bounds.map(({ sql }) => sql).join(' AND ')})`,
    values: bounds.map(({ value }) => value),
  };
}

/** Rows behind a cursor, for any mix of directions: (a, b, id) compared field by field. */
function toBehind({ sort, behind }: PageQuery): { readonly sql: string; readonly values: readonly Value[] } | null {
  if (behind === undefined) return null;
  const fields = [...sort, { field: '', descending: sort.at(-1)?.descending ?? false }];
  const values: Value[] = [...behind.values, behind.id];
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

/** `file`: a path or `:memory:`. Throws `DatabaseInUse` where another process holds the file. */
export function createSqliteReadStore(file: string): ReadStore & ViewKeeper {
  const database = openDatabase({
    file,
    // Views are derived: after a power cut their checkpoint is as old as they are, and the events are read again.
    durability: 'normal',
    schema: 'CREATE TABLE IF NOT EXISTS checkpoints (view TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT;',
  });
  const setCheckpoint = database.prepare(
    'INSERT INTO checkpoints (view, position) VALUES (?, ?) ON CONFLICT (view) DO UPDATE SET position = excluded.position WHERE position < excluded.position',
  );
  const getCheckpoint = database.prepare('SELECT position FROM checkpoints WHERE view = ?');
  const dropCheckpoint = database.prepare('DELETE FROM checkpoints WHERE view = ?');
  const open = new Map<string, OpenView>();
  const pageStatements = new Map<string, Statement>();

  const openView = (view: AnyView): OpenView => {
    const known = open.get(view.name);
    if (known !== undefined) return known;
    try {
      return makeView(view);
    } catch (error) {
      throw unavailable('read_store_unavailable', 'The read store could not be written.', 5, error);
    }
  };

  const makeView = (view: AnyView): OpenView => {
    const table = `"${nameOf('view', view.name)}"`;
    const columns = view.fields.map(columnOf);
    database.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (${['id TEXT PRIMARY KEY', 'revision INTEGER NOT NULL', 'document TEXT', ...columns].join(', ')})`,
    );
    // A view that has gained a field since its table was made is made anew from the events.
    const present = database.prepare(`SELECT name FROM pragma_table_info('${nameOf('view', view.name)}')`).all();
    const wanted = ['id', 'revision', 'document', ...view.fields.map((field) => nameOf('field', field))];
    if (wanted.some((name) => !present.some((column) => column['name'] === name))) {
      // Together: a checkpoint that outlived its table would say that an empty view has seen everything.
      inTransaction(database, () => {
        database.exec(`DROP TABLE ${table}`);
        dropCheckpoint.run(view.name);
      });
      return makeView(view);
    }
    for (const [index, fields] of view.indexes.entries()) {
      const name = `"${nameOf('view', view.name)}_by_${index}"`;
      database.exec(`CREATE INDEX IF NOT EXISTS ${name} ON ${table} (${fields.map(columnOf).join(', ')}, id)`);
    }
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

  return {
    async save(view, writes, checkpoint) {
      const { save, remove } = openView(view);
      try {
        inTransaction(database, () => {
          for (const { id, revision, document } of writes) {
            if (document === null) remove.run(id, revision);
            else {
              const fields = view.fields.map((field) => toColumn(fieldOf(document, field)));
              save.run(id, revision, JSON.stringify(document), ...fields);
            }
          }
          if (checkpoint !== null) setCheckpoint.run(view.name, checkpoint);
        });
      } catch (error) {
        throw unavailable('read_store_unavailable', 'The read store could not be written.', 5, error);
      }
    },

    async get<D extends object>(view: AnyView, id: string) {
      const row = openView(view).get.get(id);
      return row === undefined ? null : (JSON.parse(row['document'] as string) as D);
    },

    async load<D extends object>(view: ViewDefinition<D>, ids: readonly string[]) {
      const { load } = openView(view);
      const stored = new Map<string, DocumentWrite<D>>();
      for (const id of ids) {
        const row = load.get(id);
        if (row === undefined) continue;
        stored.set(id, {
          id,
          revision: row['revision'] as number,
          document: JSON.parse(row['document'] as string) as D,
        });
      }
      return stored;
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
      return (getCheckpoint.get(view.name)?.['position'] as number | undefined) ?? null;
    },

    async reset(view) {
      const { table } = openView(view);
      inTransaction(database, () => {
        database.exec(`DELETE FROM ${table}`);
        dropCheckpoint.run(view.name);
      });
    },

    async close() {
      if (database.isOpen) database.close();
    },
  };
}

/** Lists of a view in SQL: filters, cursors and pages over the columns of its indexed fields. */
import type { FieldFilter, PageQuery } from './read-store.js';
import { toIndexed, type PlainValue } from './indexed-fields.js';
import { columnOf } from './sqlite-tables.js';

interface Condition {
  readonly sql: string;
  readonly values: readonly PlainValue[];
}

/** The statements of a page; `count` has the values of the filters alone. */
export interface PageStatements {
  readonly rows: Condition;
  readonly count: Condition;
}

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, (character) => `\\${character}`);

function toCondition(filter: FieldFilter): Condition {
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

/** Rows after a cursor, for any mix of directions: (a, b, id) compared field by field. */
function toBehind({ sort, behind }: PageQuery): Condition | null {
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

const toWhere = (conditions: readonly Condition[]): string =>
  conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;

const valuesOf = (conditions: readonly Condition[]): readonly PlainValue[] =>
  conditions.flatMap(({ values }) => values);

export function toPageStatements(table: string, query: PageQuery): PageStatements {
  const conditions = query.where.map(toCondition);
  const behind = toBehind(query);
  const all = behind === null ? conditions : [...conditions, behind];
  const direction = (descending: boolean): string => (descending ? 'DESC' : 'ASC');
  const order = [
    ...query.sort.map(({ field, descending }) => `${columnOf(field)} ${direction(descending)}`),
    `id ${direction(query.sort.at(-1)?.descending ?? false)}`,
  ].join(', ');
  return {
    rows: {
      // Deferred join: the index alone is walked up to the offset, documents are read for one page only.
      sql: `SELECT document FROM ${table} AS t JOIN (SELECT rowid AS page_row FROM ${table} ${toWhere(all)} ORDER BY ${order} LIMIT ? OFFSET ?) AS page ON t.rowid = page.page_row ORDER BY ${order}`,
      values: [...valuesOf(all), query.limit, query.offset],
    },
    count: { sql: `SELECT count(*) AS total FROM ${table} ${toWhere(conditions)}`, values: valuesOf(conditions) },
  };
}

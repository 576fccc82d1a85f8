/** Lists of a view in SQL: filters, cursors and pages over the columns of its indexed fields. */
import type { AnyView, FieldFilter, PageQuery } from './read-store.js';
import { toIndexed, type PlainValue } from './indexed-fields.js';
import { fieldsBeside, heldTotalsTable, nothing, textsTable, totalsTable, valuesTable } from './sqlite-list-aids.js';
import { columnOf, tableOf } from './sqlite-tables.js';
import { anyWay, isFoundByKey, isKept, isPlain, isRange, isHeld, type HeldFilter, type Way } from './sqlite-way.js';

interface Condition {
  readonly sql: string;
  readonly values: readonly PlainValue[];
}

/** The statements of a page: the total has the values of the filters alone. */
export interface PageStatements {
  /** The same total of the rows from one number up to another, where all of them have to be gone through. */
  readonly countBetween: ((after: number, upTo: number) => Condition) | null;
  readonly rows: (part: Pick<PageQuery, 'offset' | 'limit'> & { readonly backwards: boolean }, way?: Way) => Condition;
  /** `compared`: the fields whose filters are compared with each row. */
  readonly count: (compared?: readonly string[]) => Condition;
}

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, (character) => `\\${character}`);

const containsIn = ({ fields, contains }: { fields: readonly string[]; contains: string }): Condition => ({
  sql: `(${['0', ...fields.map((field) => `${columnOf(field)} LIKE ? ESCAPE '\\'`)].join(' OR ')})`,
  values: fields.map(() => `%${escapeLike(contains)}%`),
});

/** `sign`: before the column; with a plus no index looks it up, and it is compared with each row. */
function conditionOn(filter: FieldFilter, sign: '' | '+'): Condition {
  if ('contains' in filter) {
    return containsIn(filter);
  }
  const column = `${sign}${columnOf(filter.field)}`;
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

const toCondition = (filter: FieldFilter): Condition => conditionOn(filter, '');

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

/**
 * Where the list goes on, as one range of the first field of its order. It says no more than `toBehind` does; without it the
 * engine would walk the list from its beginning.
 */
function toBound({ sort: [first], behind }: PageQuery): Condition | null {
  const value = behind?.values[0];
  if (first === undefined || value === undefined) return null;
  return { sql: `${columnOf(first.field)} ${first.descending ? '<=' : '>='} ?`, values: [toIndexed(value)] };
}

const toWhere = (conditions: readonly Condition[]): string =>
  conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;

const valuesOf = (conditions: readonly Condition[]): readonly PlainValue[] =>
  conditions.flatMap(({ values }) => values);

/** Where the rows of a page are found. */
interface Source {
  readonly from: string;
  /** The number of a row in the view's table. */
  readonly row: string;
  /** Of the parameters in `from`. */
  readonly values: readonly PlainValue[];
  readonly conditions: readonly Condition[];
}

/** Rows of the view that are known by number: these are gone through, never the list in search of them. */
function amongRows(view: AnyView, sql: string, values: readonly PlainValue[], rest: readonly FieldFilter[]): Source {
  return {
    // The engine carries out a cross join in the order in which it is written.
    from: `(${sql}) AS found CROSS JOIN ${tableOf(view)} AS held ON held.row = found.number`,
    row: 'held.row',
    values,
    conditions: rest.map(toCondition),
  };
}

export type TextFilter = Extract<FieldFilter, { contains: string }>;

const toSigned = (where: readonly FieldFilter[], compared: readonly string[]): readonly Condition[] =>
  where.map((filter) =>
    (isPlain(filter) || isRange(filter)) && compared.includes(filter.field)
      ? conditionOn(filter, '+')
      : toCondition(filter),
  );

const fieldsOf = (filter: FieldFilter): readonly string[] => ('contains' in filter ? filter.fields : [filter.field]);

/**
 * The rows that a list's value has; alone where these have every other field of the query too, and else beside what else is asked of
 * the documents, so that they are walked in their order.
 */
function toValuesSource(view: AnyView, query: PageQuery, filter: HeldFilter, compared: readonly string[]): Source {
  const others = query.where.filter((one) => one !== filter);
  const table = valuesTable(view, filter.field);
  const beside = fieldsBeside(view, filter.field);
  const isHolder: Condition = { sql: 'value = ?', values: [toIndexed(filter.has)] };
  const missing = [...new Set(others.flatMap(fieldsOf))].filter((field) => !beside.includes(field));
  if (query.sort.every(({ field }) => beside.includes(field))) {
    const held = `SELECT ${['row AS held_row', ...missing.map(columnOf)].join(', ')} FROM ${tableOf(view)}`;
    return {
      // The engine carries out a cross join in the order in which it is written.
      from: missing.length === 0 ? table : `${table} CROSS JOIN (${held}) AS held ON held_row = row`,
      row: 'row',
      values: [],
      conditions: [...toSigned(others, compared), isHolder],
    };
  }
  // What fields both have narrows the rows of the value too.
  const shared = others.filter((one) => fieldsOf(one).every((field) => beside.includes(field))).map(toCondition);
  const inner = [...shared, isHolder];
  return amongRows(view, `SELECT row AS number FROM ${table} ${toWhere(inner)}`, valuesOf(inner), others);
}

/** Three letters and more are searched by all the threes in them; null: shorter ones are compared with every text. */
function toTrigrams(text: string): string | null {
  const letters = Array.from(text);
  const threes = letters.slice(2).map((last, index) => `${letters[index]}${letters[index + 1]}${last}`);
  const quoted = threes.filter((three) => !three.includes('\0')).map((three) => `"${three.replaceAll('"', '""')}"`);
  return quoted.length === 0 ? null : [...new Set(quoted)].join(' ');
}

/** The filter of a query whose text the view can look up; null where there is none. */
export function searchedText({ searched = [] }: AnyView, { where }: PageQuery): TextFilter | null {
  const found = where.find(
    (filter): filter is TextFilter =>
      'contains' in filter && filter.fields.length > 0 && filter.fields.every((field) => searched.includes(field)),
  );
  return found !== undefined && toTrigrams(found.contains) !== null ? found : null;
}

/** Rows of the view's table, more or less: those that were removed count too. */
export const toRowsStatement = (view: AnyView): string =>
  `SELECT coalesce(max(rowid), 0) AS rows FROM ${tableOf(view)}`;

/** Whether more rows than so many have the letters of a text, whatever else is asked of them. */
export function toManyStatement(view: AnyView, { contains }: TextFilter, many: number): Condition {
  const table = textsTable(view);
  return {
    sql: `SELECT count(*) > ? AS many FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ?)`,
    values: [many, toTrigrams(contains), many + 1],
  };
}

/** The rows that have the text, looked up first. */
function toTextSource(view: AnyView, { where }: PageQuery, filter: TextFilter): Source {
  const texts = textsTable(view);
  const inner = [{ sql: `${texts} MATCH ?`, values: [toTrigrams(filter.contains)] }, containsIn(filter)];
  const rest = where.filter((one) => one !== filter);
  return amongRows(view, `SELECT rowid AS number FROM ${texts} ${toWhere(inner)}`, valuesOf(inner), rest);
}

function toSource(view: AnyView, query: PageQuery, text: TextFilter | null, way: Way): Source {
  if (text !== null) return toTextSource(view, query, text);
  const held = query.where.find(isHeld(view));
  if (held !== undefined && !way.isOfTable && !query.where.some(isFoundByKey(view)))
    return toValuesSource(view, query, held, way.compared);
  return { from: tableOf(view), row: 'rowid', values: [], conditions: toSigned(query.where, way.compared) };
}

/** Whether more documents than so many match. */
export function toMoreStatement(view: AnyView, where: readonly FieldFilter[], than: number): Condition {
  const conditions = where.map(toCondition);
  return {
    sql: `SELECT count(*) > ? AS more FROM (SELECT 1 FROM ${tableOf(view)} ${toWhere(conditions)} LIMIT ?)`,
    values: [than, ...valuesOf(conditions), than + 1],
  };
}

/** From the totals that are kept, where they tell. */
export function toKeptTotal(view: AnyView, where: readonly FieldFilter[]): Condition | null {
  const { totals = [] } = view;
  const [held, ...more] = where.filter(isHeld(view));
  const others = where.filter((filter) => filter !== held);
  if (totals.length === 0 || more.length > 0 || !others.every(isKept(view))) return null;
  const conditions = others.map((filter) =>
    'equals' in filter && filter.equals === null
      ? { sql: `${columnOf(filter.field)} = ${nothing}`, values: [] }
      : toCondition(filter),
  );
  const isHolder = held === undefined ? [] : [{ sql: 'value = ?', values: [toIndexed(held.has)] }];
  const table = held === undefined ? totalsTable(view) : heldTotalsTable(view, held.field);
  const all = [...isHolder, ...conditions];
  return { sql: `SELECT coalesce(sum(total), 0) AS total FROM ${table} ${toWhere(all)}`, values: valuesOf(all) };
}

/** Not looked up: every text of the list is compared. */
const walksTexts = ({ where }: PageQuery, text: TextFilter | null): boolean =>
  text === null && where.some((filter) => 'contains' in filter) && !where.some((filter) => 'has' in filter);

function toCountBetween(table: string, conditions: readonly Condition[], after: number, upTo: number): Condition {
  const all = [{ sql: 'rowid > ? AND rowid <= ?', values: [after, upTo] }, ...conditions];
  return { sql: `SELECT count(*) AS total FROM ${table} NOT INDEXED ${toWhere(all)}`, values: valuesOf(all) };
}

/** `text`: the filter whose text is looked up, where few have it. */
export function toPageStatements(view: AnyView, query: PageQuery, text: TextFilter | null): PageStatements {
  const table = tableOf(view);
  const behind = [toBehind(query)].filter((one) => one !== null);
  const bound = [toBound(query)].filter((one) => one !== null);
  const direction = (descending: boolean): string => (descending ? 'DESC' : 'ASC');
  const orderOf = (backwards: boolean, isSorted = false): string =>
    [
      ...query.sort.map(
        ({ field, descending }) => `${isSorted ? '+' : ''}${columnOf(field)} ${direction(descending !== backwards)}`,
      ),
      `id ${direction((query.sort.at(-1)?.descending ?? false) !== backwards)}`,
    ].join(', ');
  return {
    rows({ limit, offset, backwards }, way = anyWay) {
      const { from, row, values, conditions } = toSource(view, query, text, way);
      const all = [...conditions, ...(way.isSorted ? [] : bound), ...behind];
      return {
        // Deferred join: the index alone is walked up to the offset, documents are read for one page only.
        sql: `SELECT document FROM ${table} AS t JOIN (SELECT ${row} AS page_row FROM ${from} ${toWhere(all)} ORDER BY ${orderOf(backwards, way.isSorted)} LIMIT ? OFFSET ?) AS page ON t.rowid = page.page_row ORDER BY ${orderOf(false)}`,
        values: [...values, ...valuesOf(all), limit, offset],
      };
    },
    countBetween: walksTexts(query, text)
      ? (after, upTo) => toCountBetween(table, query.where.map(toCondition), after, upTo)
      : null,
    count(compared = []) {
      const kept = toKeptTotal(view, query.where);
      if (kept !== null) return kept;
      const { from, values, conditions } = toSource(view, query, text, { ...anyWay, compared });
      return {
        sql: `SELECT count(*) AS total FROM ${from} ${toWhere(conditions)}`,
        values: [...values, ...valuesOf(conditions)],
      };
    },
  };
}

/** Removes so many of the documents that match and are no newer than the revision. */
export function toForgetStatement(
  view: AnyView,
  where: readonly FieldFilter[],
  revision: number,
  limit: number,
): Condition {
  const conditions = [...where.map(toCondition), { sql: 'revision < ?', values: [revision] }];
  const found = `SELECT id FROM ${tableOf(view)} ${toWhere(conditions)} LIMIT ?`;
  return { sql: `DELETE FROM ${tableOf(view)} WHERE id IN (${found})`, values: [...valuesOf(conditions), limit] };
}

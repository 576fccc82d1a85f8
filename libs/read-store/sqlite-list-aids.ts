/**
 * What makes lists of very many documents fast beside the indexes of their table: totals that are kept instead of counted, the
 * values of list fields as rows, and texts found by their trigrams. Triggers keep them, so that a write cannot miss them.
 */
import type { Database } from '#sqlite/database';
import { partOfName } from './indexed-fields.js';
import type { AnyView } from './read-store.js';
import type { TableTrash } from './sqlite-table-trash.js';

export const nameOf = (prefix: 'view' | 'field' | 'totals' | 'values' | 'texts', name: string): string =>
  `${prefix}_${partOfName(name)}`;

const column = (field: string): string => `"${nameOf('field', field)}"`;

export const totalsTable = (view: AnyView): string => `"${nameOf('totals', view.name)}"`;
export const textsTable = (view: AnyView): string => `"${nameOf('texts', view.name)}"`;
/** No name of a view or field has a colon: those of one view are found by what stands before it. */
const valuesName = (view: AnyView, field: string): string => `${nameOf('values', view.name)}:${partOfName(field)}`;
export const valuesTable = (view: AnyView, field: string): string => `"${valuesName(view, field)}"`;

/** How many documents hold a value and have the same values of the fields that are counted. */
const heldTotalsName = (view: AnyView, field: string): string => `${nameOf('totals', view.name)}:${partOfName(field)}`;
export const heldTotalsTable = (view: AnyView, field: string): string => `"${heldTotalsName(view, field)}"`;

export const isListIndex = ({ lists = [] }: AnyView, fields: readonly string[]): boolean =>
  fields.some((field) => lists.includes(field));

/** The fields beside the list field that the rows of its values have: those that share an index with it. */
export function fieldsBeside(view: AnyView, list: string): readonly string[] {
  const fields = view.indexes.filter((index) => index.includes(list)).flat();
  return [...new Set(fields)].filter((field) => field !== list);
}

const hasAids = ({ totals = [], lists = [], searched = [] }: AnyView): boolean =>
  totals.length + lists.length + searched.length > 0;

/** Its rows are numbered: aids point to them. */
export const hasNumberedRows = ({ lists = [], searched = [] }: AnyView): boolean => lists.length + searched.length > 0;

/** How nothing is counted: a key of a table without row ids is never null, and no document holds bytes. */
export const nothing = "x''";

/** Rows of the view's table that go into an aid in one step. */
const rowsPerStep = 5_000;

interface Trigger {
  /** Unique among those of a view. */
  readonly name: string;
  readonly on: string;
  readonly when?: string;
  readonly run: readonly string[];
}

/** An aid: how its tables are made, how rows of the view's table are taken in, and the triggers that keep it from then on. */
interface Aid {
  /** Its table, unquoted. */
  readonly table: string;
  /** Statements; `free` gives a name that no index has. */
  readonly make: (free: (name: string) => string) => readonly string[];
  /** Takes in the rows that the condition names. */
  readonly fill: (condition: string) => string;
  readonly triggers: readonly Trigger[];
}

const onChange = (fields: readonly string[]): Pick<Trigger, 'on' | 'when'> => ({
  on: `UPDATE OF ${fields.map(column).join(', ')}`,
  when: fields.map((field) => `old.${column(field)} IS NOT new.${column(field)}`).join(' OR '),
});

function totalsAid(view: AnyView, fields: readonly string[]): Aid {
  const table = totalsTable(view);
  const columns = fields.map(column);
  const keyOf = (row: string): string => columns.map((one) => `coalesce(${row}${one}, ${nothing})`).join(', ');
  const step = (row: string, by: number): string =>
    `INSERT INTO ${table} VALUES (${keyOf(`${row}.`)}, ${by}) ON CONFLICT DO UPDATE SET total = total + ${by}`;
  return {
    table: nameOf('totals', view.name),
    make: () => [
      `CREATE TABLE ${table} (${columns.join(', ')}, total, PRIMARY KEY (${columns.join(', ')})) WITHOUT ROWID`,
    ],
    fill: (condition) =>
      `INSERT INTO ${table} SELECT ${keyOf('')}, count(*) FROM "${nameOf('view', view.name)}" WHERE ${condition} GROUP BY ${keyOf('')} ON CONFLICT DO UPDATE SET total = total + excluded.total`,
    triggers: [
      { name: 'totals_insert', on: 'INSERT', run: [step('new', 1)] },
      { name: 'totals_delete', on: 'DELETE', run: [step('old', -1)] },
      { name: 'totals_update', ...onChange(fields), run: [step('old', -1), step('new', 1)] },
    ],
  };
}

function valuesAid(view: AnyView, list: string): Aid {
  const table = valuesTable(view, list);
  const fields = fieldsBeside(view, list);
  const take = (row: string, from: string): string =>
    `INSERT INTO ${table} SELECT DISTINCT ${row}row, value, ${row}id${fields.map((field) => `, ${row}${column(field)}`).join('')} FROM ${from}json_each(${row}${column(list)})`;
  const insert = take('new.', '');
  const remove = `DELETE FROM ${table} WHERE row = old.row`;
  const name = valuesName(view, list);
  return {
    table: name,
    make: (free) => [
      `CREATE TABLE ${table} (${['row INTEGER', 'value', 'id', ...fields.map(column)].join(', ')})`,
      `CREATE INDEX "${free(`${name}_by_row`)}" ON ${table} (row)`,
      ...view.indexes
        .filter((index) => index.includes(list))
        .map((index) => {
          const columns = index.map((field) => (field === list ? 'value' : column(field)));
          return `CREATE INDEX "${free(`${name}_by_${index.map(partOfName).join('_')}`)}" ON ${table} (${columns.join(', ')}, id, row)`;
        }),
    ],
    fill: (condition) => `${take('t.', `"${nameOf('view', view.name)}" AS t, `)} WHERE ${condition}`,
    triggers: [
      { name: `${list}_insert`, on: 'INSERT', run: [insert] },
      { name: `${list}_delete`, on: 'DELETE', run: [remove] },
      { name: `${list}_update`, ...onChange([list]), run: [remove, insert] },
      // Each by itself: a document that changes in one of them touches the indexes of that one alone.
      ...fields.map((field) => ({
        name: `${list}_${field}`,
        ...onChange([field]),
        run: [`UPDATE ${table} SET ${column(field)} = new.${column(field)} WHERE row = old.row`],
      })),
    ],
  };
}

function heldTotalsAid(view: AnyView, list: string, fields: readonly string[]): Aid {
  const table = heldTotalsTable(view, list);
  const columns = fields.map(column);
  const keyOf = (row: string): string => columns.map((one) => `coalesce(${row}${one}, ${nothing})`).join(', ');
  const isOld = [
    `value IN (SELECT value FROM json_each(old.${column(list)}))`,
    ...columns.map((one) => `${one} = coalesce(old.${one}, ${nothing})`),
  ].join(' AND ');
  const add = `INSERT INTO ${table} SELECT DISTINCT value, ${keyOf('new.')}, 1 FROM json_each(new.${column(list)}) WHERE value IS NOT NULL ON CONFLICT DO UPDATE SET total = total + 1`;
  // What nothing holds any more is not kept: it may have been written in confidence.
  const take = [
    `UPDATE ${table} SET total = total - 1 WHERE ${isOld}`,
    `DELETE FROM ${table} WHERE ${isOld} AND total = 0`,
  ];
  return {
    table: heldTotalsName(view, list),
    make: () => [
      `CREATE TABLE ${table} (value, ${columns.join(', ')}, total, PRIMARY KEY (value, ${columns.join(', ')})) WITHOUT ROWID`,
    ],
    fill: (condition) =>
      `INSERT INTO ${table} SELECT value, ${keyOf('t.')}, count(DISTINCT t.row) FROM "${nameOf('view', view.name)}" AS t, json_each(t.${column(list)}) WHERE ${condition} AND value IS NOT NULL GROUP BY value, ${keyOf('t.')} ON CONFLICT DO UPDATE SET total = total + excluded.total`,
    triggers: [
      { name: `${list}_total_insert`, on: 'INSERT', run: [add] },
      { name: `${list}_total_delete`, on: 'DELETE', run: take },
      { name: `${list}_total_update`, ...onChange([list, ...fields]), run: [...take, add] },
    ],
  };
}

function textsAid(view: AnyView, fields: readonly string[]): Aid {
  const table = textsTable(view);
  const columns = fields.map(column).join(', ');
  const insert = `INSERT INTO ${table} (rowid, ${columns}) VALUES (new.row, ${fields.map((field) => `new.${column(field)}`).join(', ')})`;
  const remove = `DELETE FROM ${table} WHERE rowid = old.row`;
  return {
    table: nameOf('texts', view.name),
    // Which documents hold three letters is enough to know: what is found is compared with the whole text.
    make: () => [
      `CREATE VIRTUAL TABLE ${table} USING fts5(${columns}, tokenize = 'trigram', detail = 'none', columnsize = 0)`,
    ],
    fill: (condition) =>
      `INSERT INTO ${table} (rowid, ${columns}) SELECT row, ${columns} FROM "${nameOf('view', view.name)}" WHERE ${condition}`,
    triggers: [
      { name: 'texts_insert', on: 'INSERT', run: [insert] },
      { name: 'texts_delete', on: 'DELETE', run: [remove] },
      { name: 'texts_update', ...onChange(fields), run: [remove, insert] },
    ],
  };
}

function aidsOf(view: AnyView): readonly Aid[] {
  const { totals = [], lists = [], searched = [] } = view;
  return [
    ...(totals.length === 0 ? [] : [totalsAid(view, totals)]),
    ...lists.map((list) => valuesAid(view, list)),
    ...(totals.length === 0 ? [] : lists.map((list) => heldTotalsAid(view, list, totals))),
    ...(searched.length === 0 ? [] : [textsAid(view, searched)]),
  ];
}

/** The name, or it with a number: an index keeps its name where its table was renamed. */
export function freeName(database: Database, name: string): string {
  const isTaken = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
  let found = name;
  for (let number = 2; isTaken.get(found) !== undefined; number += 1) found = `${name}_${number}`;
  return found;
}

/** The statements that make its triggers. An aid of another definition is kept by others: so it is told from the one that is wanted. */
function triggersFor(view: AnyView, { triggers }: Aid): readonly string[] {
  const table = nameOf('view', view.name);
  return triggers.map(({ name, on, when, run }) => {
    const condition = when === undefined ? '' : ` WHEN ${when}`;
    return `CREATE TRIGGER "${table}_${partOfName(name)}" AFTER ${on} ON "${table}"${condition} BEGIN ${run.join('; ')}; END`;
  });
}

export interface ListAids {
  /** Makes a part of what `view` asks for and the table of `built` lacks; false where nothing is missing. */
  makePart(view: AnyView, built: AnyView): boolean;
  /** Drops them, before the view's table goes. */
  drop(view: AnyView): void;
  /** Gives those of `built` to `view`, before the table of `built` gets the view's name; then `keep` has to be called. */
  move(view: AnyView, built: AnyView): void;
  /** Lets triggers keep what is made. */
  keep(view: AnyView): void;
}

export function createListAids(database: Database, trash: TableTrash): ListAids {
  /** Up to which row the aids of a table were filled, by the table's name; of those that are being made. */
  const filled = new Map<string, number>();
  const triggersOf = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?");
  const ownTables = database.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL AND (name IN (?, ?) OR name GLOB ? OR name GLOB ?)",
  );
  const tablesOf = ({ name }: AnyView): readonly string[] =>
    ownTables
      .all(nameOf('totals', name), nameOf('texts', name), `${nameOf('values', name)}:*`, `${nameOf('totals', name)}:*`)
      .map((row) => String(row['name']));

  const free = (name: string): string => freeName(database, name);

  const keep = (view: AnyView, aids = aidsOf(view)): void => {
    for (const sql of aids.flatMap((aid) => triggersFor(view, aid))) database.exec(sql);
  };

  const dropTriggers = (view: AnyView, except: readonly string[] = []): void => {
    for (const { name, sql } of triggersOf.all(nameOf('view', view.name))) {
      if (!except.includes(String(sql))) database.exec(`DROP TRIGGER "${String(name)}"`);
    }
  };

  const drop = (view: AnyView, except: readonly Aid[] = []): void => {
    filled.delete(view.name);
    dropTriggers(
      view,
      except.flatMap((aid) => triggersFor(view, aid)),
    );
    for (const table of tablesOf(view)) {
      if (except.some((aid) => aid.table === table)) continue;
      // Shadow tables of a virtual table go with it; it cannot be emptied in steps.
      if (table.startsWith('values_')) trash.discard(table);
      else database.exec(`DROP TABLE "${table}"`);
    }
  };

  return {
    drop: (view) => drop(view),
    keep: (view) => keep(view),

    makePart(wanted, built) {
      const view = { ...wanted, name: built.name };
      if (wanted.isBuild === true || !hasAids(view)) return false;
      const table = nameOf('view', view.name);
      const present = triggersOf.all(table).map(({ sql }) => sql);
      const isKeptAlready = (aid: Aid): boolean => triggersFor(view, aid).every((sql) => present.includes(sql));
      const aids = aidsOf(view).filter((aid) => !isKeptAlready(aid));
      if (aids.length === 0) return false;
      let after = filled.get(view.name);
      if (after === undefined) {
        // What another process began, or another version made, is not continued.
        drop(view, aidsOf(view).filter(isKeptAlready));
        for (const sql of aids.flatMap(({ make }) => make(free))) database.exec(sql);
        after = 0;
      }
      const row = hasNumberedRows(view) ? 'row' : 'rowid';
      const last = Number(database.prepare(`SELECT coalesce(max(${row}), 0) AS last FROM "${table}"`).get()?.['last']);
      const upTo = after + rowsPerStep;
      for (const { fill } of aids) database.exec(fill(`${row} > ${after} AND ${row} <= ${upTo}`));
      filled.set(view.name, upTo);
      if (upTo < last) return true;
      keep(view, aids);
      filled.delete(view.name);
      trash.empty();
      return false;
    },

    move(view, built) {
      dropTriggers(built);
      for (const table of tablesOf(built)) {
        database.exec(
          `ALTER TABLE "${table}" RENAME TO "${table.replace(partOfName(built.name), partOfName(view.name))}"`,
        );
      }
    },
  };
}

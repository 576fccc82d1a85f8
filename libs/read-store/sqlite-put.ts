/**
 * Writes a document over an older one of the table, the columns alone that differ: an index whose columns a statement names is
 * written whether they change or not, and of most documents only one or two do.
 */
import type { Database, Statement } from '#sqlite/database';
import type { PlainValue } from './indexed-fields.js';

/** A bit for each column. */
const mostColumns = 30;
/** Statements of a view; of others, all columns are written. */
const mostStatements = 32;

export interface PutTable {
  /** Quoted. */
  readonly name: string;
  /** Quoted, in the order of the values. */
  readonly columns: readonly string[];
  /** Writes all columns, over none or an older document. */
  readonly save: Statement;
}

export type Put = (id: string, revision: number, document: string | Uint8Array, values: readonly PlainValue[]) => void;

export function createPut(database: Database, { name, columns, save }: PutTable): Put {
  const stored = database.prepare(`SELECT ${['revision', ...columns].join(', ')} FROM ${name} WHERE id = ?`);
  stored.setReturnArrays(true);
  const statements = new Map<number, Statement>();

  const updateOf = (changed: number): Statement | null => {
    const known = statements.get(changed);
    if (known !== undefined) return known;
    if (statements.size >= mostStatements) return null;
    const set = columns.filter((_column, at) => (changed & (1 << at)) !== 0);
    const all = ['revision', 'document', ...set].map((column) => `${column} = ?`).join(', ');
    const statement = database.prepare(`UPDATE ${name} SET ${all} WHERE id = ?`);
    statements.set(changed, statement);
    return statement;
  };

  return (id, revision, document, values) => {
    const before =
      columns.length > mostColumns ? undefined : (stored.get(id) as unknown as readonly unknown[] | undefined);
    if (before === undefined) return void save.run(id, revision, document, ...values);
    if (Number(before[0]) >= revision) return;
    let changed = 0;
    for (const [at, value] of values.entries()) if (before[at + 1] !== value) changed |= 1 << at;
    const update = updateOf(changed);
    if (update === null) return void save.run(id, revision, document, ...values);
    update.run(revision, document, ...values.filter((_value, at) => (changed & (1 << at)) !== 0), id);
  };
}

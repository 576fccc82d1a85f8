/** Where the rows of each key start, and the rows. */
export interface RowTables {
  readonly starts: Int32Array;
  readonly rows: Int32Array;
}

/** Of keys 0 to `keys` − 1; a key may have no rows. */
export function rowTables(rowsOf: readonly (readonly number[] | undefined)[], keys: number): RowTables {
  const starts = new Int32Array(keys + 1);
  for (let key = 0; key < keys; key++) starts[key + 1] = (starts[key] ?? 0) + (rowsOf[key]?.length ?? 0);
  const rows = new Int32Array(starts[keys] ?? 0);
  for (let key = 0; key < keys; key++) rows.set(rowsOf[key] ?? [], starts[key]);
  return { starts, rows };
}

/** Rows of the flat tables by a key (a tag, a class, an id), keys in the order of their first appearance. */
export class RowIndex {
  readonly #ids = new Map<string, number>();
  readonly #rows: number[][] = [];

  idOf(key: string): number {
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#rows.length;
      this.#ids.set(key, id);
      this.#rows.push([]);
    }
    return id;
  }

  add(key: string, row: number): number {
    const id = this.idOf(key);
    const rows = this.#rows[id] ?? [];
    if (rows[rows.length - 1] !== row) rows.push(row);
    return id;
  }

  tables(): RowTables {
    return rowTables(this.#rows, this.#rows.length);
  }

  keys(): string {
    return [...this.#ids.keys()].join('\0');
  }
}

/** Rows of the flat tables by a key (a class, an id). */

/** Rows by key, keys in the order of their first appearance. */
export class RowIndex {
  readonly keys = new Map<string, number>();
  readonly #rows: number[][] = [];
  count = 0;

  add(key: string, row: number): void {
    let at = this.keys.get(key);
    if (at === undefined) {
      at = this.#rows.length;
      this.keys.set(key, at);
      this.#rows.push([]);
    }
    const rows = this.#rows[at] ?? [];
    if (rows[rows.length - 1] === row) return;
    rows.push(row);
    this.count += 1;
  }

  /** Writes start (keys + 1) and rows; returns where it ended. */
  write(tables: Int32Array, at: number): number {
    let next = at + this.#rows.length + 1;
    let written = 0;
    let start = at;
    for (const rows of this.#rows) {
      tables[start++] = written;
      for (const row of rows) tables[next++] = row;
      written += rows.length;
    }
    tables[start] = written;
    return next;
  }
}

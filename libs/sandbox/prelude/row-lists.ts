/** Sorted lists of rows, and the names that lead to them: searching without a state of its own. */

export function asciiLowerCase(text: string): string {
  // Most are lower case already, and a regular expression costs the engine more than the copy.
  return text.toLowerCase() === text ? text : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** So many names are looked for in their list, before it pays to make a map of it. */
export const searchesBeforeMap = 8;

/** Places of names in a list of names that are divided by NUL. */
export class NamePlaces {
  readonly #names: string[];
  readonly #foldsCase: boolean;
  #searches = 0;
  #map: Map<string, number[]> | null = null;

  constructor(list: string, foldsCase: boolean) {
    this.#names = list === '' ? [] : list.split('\0');
    this.#foldsCase = foldsCase;
  }

  of(name: string): readonly number[] | null {
    if (this.#map === null && !this.#foldsCase && this.#searches++ < searchesBeforeMap) {
      const at = this.#names.indexOf(name);
      return at < 0 ? null : [at];
    }
    const map = (this.#map ??= this.#mapped());
    return map.get(this.#foldsCase ? asciiLowerCase(name) : name) ?? null;
  }

  #mapped(): Map<string, number[]> {
    const map = new Map<string, number[]>();
    const names = this.#names;
    for (let at = 0; at < names.length; at++) {
      const key = this.#foldsCase ? asciiLowerCase(names[at] ?? '') : (names[at] ?? '');
      const same = map.get(key);
      if (same === undefined) map.set(key, [at]);
      else same.push(at);
    }
    return map;
  }
}

/** Where in the part of a list the first row is that is no less. */
function bisect(list: ArrayLike<number>, row: number, from: number, to: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a part of a list holds the row. */
export function isAmong(list: ArrayLike<number>, row: number, from: number, to: number): boolean {
  const at = bisect(list, row, from, to);
  return at < to && list[at] === row;
}

const fewRows = 8;

/** Rows of one key that lie in the subtree from `root` to `end`. */
export function rowsWithin(
  start: Int32Array,
  list: Int32Array,
  key: number,
  root: number,
  end: number,
): ArrayLike<number> {
  const from = start[key] ?? 0;
  const to = start[key + 1] ?? 0;
  const first = root === 0 ? from : bisect(list, root + 1, from, to);
  // Few or none, as in a card's or a row's own subtree: a view costs the engine more than the numbers.
  const few: number[] = [];
  for (let at = first; few.length < fewRows; at++) {
    const row = at < to ? (list[at] ?? end) : end;
    if (row >= end) return few;
    few.push(row);
  }
  return list.subarray(first, bisect(list, end, first, to));
}

/** Those of a list that lie inside one of the subtrees, of which none holds another; both in order. */
export function rowsInside(list: ArrayLike<number>, holders: ArrayLike<number>, ends: Int32Array): number[] {
  const { length } = list;
  const found: number[] = [];
  let at = 0;
  for (let each = 0; each < holders.length && at < length; each++) {
    const holder = holders[each] ?? 0;
    const end = ends[holder] ?? 0;
    if ((list[at] ?? 0) <= holder) at = bisect(list, holder + 1, at, length);
    for (let row = list[at] ?? end; row < end; row = list[++at] ?? end) found.push(row);
  }
  return found;
}

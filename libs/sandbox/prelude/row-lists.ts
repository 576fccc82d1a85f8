/** Sorted lists of rows, and the names that lead to them: searching without a state of its own. */

export function asciiLowerCase(text: string): string {
  // Most are lower case already, and a regular expression costs the engine more than the copy.
  return text.toLowerCase() === text ? text : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Places of each name in a list of names that are divided by NUL. */
export function indexOfNames(list: string, foldsCase: boolean): Map<string, number[]> {
  const map = new Map<string, number[]>();
  if (list === '') return map;
  const keys = list.split('\0');
  for (let at = 0; at < keys.length; at++) {
    const key = foldsCase ? asciiLowerCase(keys[at] ?? '') : (keys[at] ?? '');
    const same = map.get(key);
    if (same === undefined) map.set(key, [at]);
    else same.push(at);
  }
  return map;
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
  const first = bisect(list, root + 1, from, to);
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

/** The page's indexes of tags, classes and ids: sorted rows for each name, good until code changes what they list. */
import type { FlatTables } from './flat-tables.js';
import { isAmong, NamePlaces, rowsWithin } from './row-lists.js';
import { classIndex, endOf, isFrozen, isQuirks } from './tree.js';

const empty = new Int32Array(0);

let rows = 0;
let tagStart: Int32Array = empty;
let tagRows: Int32Array = empty;
let classStart: Int32Array = empty;
let classRows: Int32Array = empty;
let idStart: Int32Array = empty;
let idRows: Int32Array = empty;
let classNames = '';
let idNames = '';
let classIds: NamePlaces | null = null;
let idIds: NamePlaces | null = null;

export function loadIndexes(tables: FlatTables, classList: string, idList: string): void {
  rows = tables.rows;
  tagStart = tables.tagStart;
  tagRows = tables.tagRows;
  classStart = tables.classStart;
  classRows = tables.classRows;
  idStart = tables.idStart;
  idRows = tables.idRows;
  classNames = classList;
  idNames = idList;
}

function merged(start: Int32Array, list: Int32Array, keys: readonly number[] | null, root: number): ArrayLike<number> {
  if (keys === null) return empty;
  if (keys.length === 1) return rowsWithin(start, list, keys[0] ?? 0, root, endOf(root));
  const all: number[] = [];
  for (const key of keys) all.push(...Array.from(rowsWithin(start, list, key, root, endOf(root))));
  return all.sort((left, right) => left - right);
}

/** In the class index; null where nothing on the page is of the class. */
function keysOfClass(name: string): readonly number[] | null {
  classIds ??= new NamePlaces(classNames, isQuirks());
  return classIds.of(name);
}

/** Elements of a class inside `root`, in document order; null where the index is not valid. */
export function indexedByClass(root: number, name: string): ArrayLike<number> | null {
  if (root >= classIndex.limit) return null;
  return merged(classStart, classRows, keysOfClass(name), root);
}

/** Whether a node is of a class; good for nodes below `classIndex.limit`. */
export function isOfClass(node: number, name: string): boolean {
  const keys = keysOfClass(name) ?? [];
  for (let each = 0; each < keys.length; each++) {
    const key = keys[each] ?? 0;
    if (isAmong(classRows, node, classStart[key] ?? 0, classStart[key + 1] ?? 0)) return true;
  }
  return false;
}

const classMarks: Map<string, Uint8Array> = new Map();

/** One byte for each node of the page: 1 where it is of the class. Good for nodes below `classIndex.limit`. */
export function marksOfClass(name: string): Uint8Array {
  let marks = classMarks.get(name);
  if (marks === undefined) {
    marks = new Uint8Array(rows);
    for (const key of keysOfClass(name) ?? []) {
      const end = classStart[key + 1] ?? 0;
      for (let at = classStart[key] ?? 0; at < end; at++) marks[classRows[at] ?? 0] = 1;
    }
    classMarks.set(name, marks);
  }
  return marks;
}

export function indexedById(root: number, id: string): ArrayLike<number> | null {
  if (root >= classIndex.limit) return null;
  idIds ??= new NamePlaces(idNames, isQuirks());
  return merged(idStart, idRows, idIds.of(id), root);
}

/** Elements with this name id inside `root`, in document order; null where the index is not valid. */
export function indexedByTag(root: number, name: number): ArrayLike<number> | null {
  if (!isFrozen(root)) return null;
  if (name >= tagStart.length - 1) return empty;
  return rowsWithin(tagStart, tagRows, name, root, endOf(root));
}

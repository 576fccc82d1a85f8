/**
 * Whether flat tables hold together: each index within its table, each subtree inside its parent's. A page may have
 * broken the parser that wrote them, so the sandbox is given none that were not checked.
 */
import { headerLength, headerWords, namelessAttribute, rowKinds, unitsOf } from './flat-page.js';
import type { FlatPage, FlatText } from './flat-page.js';

const nameBits = 0xffffff;
const leafKinds: ReadonlySet<number> = new Set([
  rowKinds.text,
  rowKinds.cdata,
  rowKinds.instruction,
  rowKinds.comment,
  rowKinds.doctype,
]);

/** Tables that contradict themselves. */
export class UnsoundTables extends Error {
  constructor(table: string) {
    super(`the page parser wrote ${table} that cannot be`);
  }
}

/** From 0, never less than before, ending where the table it points into ends. */
function checkOffsets(offsets: Int32Array, end: number, table: string): void {
  let last = 0;
  for (let at = 0; at < offsets.length; at++) {
    const offset = offsets[at] ?? -1;
    if (offset < last) throw new UnsoundTables(table);
    last = offset;
  }
  if (offsets[0] !== 0 || last !== end) throw new UnsoundTables(table);
}

/** Each row ends behind itself and within the row that holds it, which is the nearest that is still open. */
function checkTree(kinds: Int32Array, parents: Int32Array, ends: Int32Array, names: number): void {
  const rows = kinds.length;
  let open = -1;
  for (let row = 0; row < rows; row++) {
    while (open >= 0 && (ends[open] ?? 0) <= row) open = parents[open] ?? -1;
    const end = ends[row] ?? 0;
    if (parents[row] !== open || end <= row || end > (open < 0 ? rows : (ends[open] ?? 0))) {
      throw new UnsoundTables('rows');
    }
    const word = kinds[row] ?? 0;
    const kind = word >> 24;
    const isRoot = kind === rowKinds.document || kind === rowKinds.fragment;
    const isKnown = kind === rowKinds.element ? (word & nameBits) < names : isRoot || leafKinds.has(kind);
    if (!isKnown || isRoot !== open < 0) throw new UnsoundTables('kinds of rows');
    open = row;
  }
}

/** Rows of elements, in ascending order for each key. */
function checkIndex(starts: Int32Array, rows: Int32Array, kinds: Int32Array, table: string): void {
  checkOffsets(starts, rows.length, table);
  for (let key = 0; key + 1 < starts.length; key++) {
    let last = -1;
    const end = starts[key + 1] ?? 0;
    for (let at = starts[key] ?? 0; at < end; at++) {
      const row = rows[at] ?? -1;
      if (row <= last || (kinds[row] ?? 0) >> 24 !== rowKinds.element) throw new UnsoundTables(table);
      last = row;
    }
  }
}

/** As many keys, divided by NUL, as the tables say. */
function checkKeys(keys: FlatText, count: number, table: string): void {
  let found = unitsOf(keys) === 0 ? 0 : 1;
  if (typeof keys === 'string') {
    for (let at = keys.indexOf('\0'); at >= 0; at = keys.indexOf('\0', at + 1)) found += 1;
  } else if (keys.isWide) {
    for (let at = 0; at < keys.bytes.length; at += 2) if (keys.bytes[at] === 0 && keys.bytes[at + 1] === 0) found += 1;
  } else for (let at = keys.bytes.indexOf(0); at >= 0; at = keys.bytes.indexOf(0, at + 1)) found += 1;
  if (found !== count) throw new UnsoundTables(table);
}

/** Throws `UnsoundTables`. */
export function checkFlatPage({ tables, text, values, names, classes, ids }: FlatPage): void {
  const count = (name: keyof typeof headerWords): number => {
    const value = tables[headerWords[name]] ?? -1;
    if (value < 0 || value > tables.length) throw new UnsoundTables('a header');
    return value;
  };
  let next = headerLength;
  const take = (length: number): Int32Array => {
    const table = tables.subarray(next, next + length);
    next += length;
    return table;
  };
  const rows = count('rows');
  const attributes = count('attributes');
  const nameCount = count('names');
  const kinds = take(rows);
  const parents = take(rows);
  const ends = take(rows);
  const texts = take(rows + 1);
  const firstAttributes = take(rows + 1);
  const attributeNames = take(attributes);
  const valueOffsets = take(attributes + 1);
  const tagStarts = take(nameCount + 1);
  const tagRows = take(count('tagRows'));
  const classStarts = take(count('classes') + 1);
  const classRows = take(count('classRows'));
  const idStarts = take(count('ids') + 1);
  const idRows = take(count('idRows'));
  const templates = take(count('templates') * 2);
  if (next !== tables.length || rows === 0 || (tables[headerWords.mode] ?? -1) >>> 0 > 2) {
    throw new UnsoundTables('a header');
  }
  checkTree(kinds, parents, ends, nameCount);
  checkOffsets(texts, unitsOf(text), 'places of text');
  checkOffsets(firstAttributes, attributes, 'places of attributes');
  checkOffsets(valueOffsets, unitsOf(values), 'places of values');
  for (let at = 0; at < attributes; at++) {
    const name = attributeNames[at] ?? nameCount;
    if (name < namelessAttribute || name >= nameCount) throw new UnsoundTables('names of attributes');
  }
  checkIndex(tagStarts, tagRows, kinds, 'an index of tags');
  checkIndex(classStarts, classRows, kinds, 'an index of classes');
  checkIndex(idStarts, idRows, kinds, 'an index of ids');
  for (let at = 0; at < templates.length; at += 2) {
    const template = kinds[templates[at] ?? -1] ?? 0;
    const content = kinds[templates[at + 1] ?? -1] ?? 0;
    if (template >> 24 !== rowKinds.element || content >> 24 !== rowKinds.fragment) {
      throw new UnsoundTables('contents of templates');
    }
  }
  checkKeys(names, nameCount, 'names');
  checkKeys(classes, classStarts.length - 1, 'classes');
  checkKeys(ids, idStarts.length - 1, 'ids');
}

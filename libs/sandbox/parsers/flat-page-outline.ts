/**
 * A flat page written out as text, a line for each node and attribute, in the form of the html5lib tests. Two parsers
 * made the same of a page where their outlines are the same; the indexes are outlined separately.
 */
import { decodeText, headerLength, headerWords, rowKinds } from './flat-page.js';
import type { FlatPage } from './flat-page.js';

interface Reader {
  readonly kinds: Int32Array;
  readonly ends: Int32Array;
  readonly texts: Int32Array;
  readonly firstAttributes: Int32Array;
  readonly attributeNames: Int32Array;
  readonly indexes: readonly {
    readonly keys: readonly string[];
    readonly starts: Int32Array;
    readonly rows: Int32Array;
  }[];
  readonly contents: ReadonlyMap<number, number>;
  readonly names: readonly string[];
  text(row: number): string;
  value(attribute: number): string;
}

function read({ tables, ...texts }: FlatPage): Reader {
  const count = (name: keyof typeof headerWords): number => tables[headerWords[name]] ?? 0;
  let next = headerLength;
  const take = (length: number): Int32Array => {
    next += length;
    return tables.subarray(next - length, next);
  };
  const rows = count('rows');
  const kinds = take(rows);
  take(rows);
  const ends = take(rows);
  const textAt = take(rows + 1);
  const firstAttributes = take(rows + 1);
  const attributeNames = take(count('attributes'));
  const valueAt = take(count('attributes') + 1);
  const split = (list: string): string[] => (list === '' ? [] : list.split('\0'));
  const names = split(decodeText(texts.names));
  const classes = split(decodeText(texts.classes));
  const ids = split(decodeText(texts.ids));
  const index = (keys: readonly string[], rowCount: number) => ({
    keys,
    starts: take(keys.length + 1),
    rows: take(rowCount),
  });
  const indexes = [index(names, count('tagRows')), index(classes, count('classRows')), index(ids, count('idRows'))];
  const pairs = take(count('templates') * 2);
  const contents = new Map<number, number>();
  for (let at = 0; at < pairs.length; at += 2) contents.set(pairs[at] ?? 0, pairs[at + 1] ?? 0);
  const text = decodeText(texts.text);
  const values = decodeText(texts.values);
  return {
    kinds,
    ends,
    texts: textAt,
    firstAttributes,
    attributeNames,
    indexes,
    contents,
    names,
    text: (row) => text.substring(textAt[row] ?? 0, textAt[row + 1] ?? 0),
    value: (attribute) => values.substring(valueAt[attribute] ?? 0, valueAt[attribute + 1] ?? 0),
  };
}

const foreignAttribute = /^(?:(xlink):(actuate|arcrole|href|role|show|title|type)|(xml):(lang|space)|(xmlns):(xlink))$/;

function attributeLines(reader: Reader, row: number, isForeign: boolean): string[] {
  const found: { name: string; value: string }[] = [];
  const end = reader.firstAttributes[row + 1] ?? 0;
  for (let at = reader.firstAttributes[row] ?? 0; at < end; at++) {
    const name = reader.names[reader.attributeNames[at] ?? 0] ?? '';
    found.push({ name: isForeign ? name.replace(foreignAttribute, '$1$3$5 $2$4$6') : name, value: reader.value(at) });
  }
  found.sort((left, right) => (left.name < right.name ? -1 : 1));
  return found.map(({ name, value }) => `${name}="${value}"`);
}

function nodeLines(reader: Reader, row: number, name: string): string[] {
  const at = reader.firstAttributes[row] ?? 0;
  switch ((reader.kinds[row] ?? 0) >> 24) {
    case rowKinds.element:
      return [`<${name}>`, ...attributeLines(reader, row, name.includes(' ')).map((line) => `  ${line}`)];
    case rowKinds.text:
      return [`"${reader.text(row)}"`];
    case rowKinds.cdata:
      return [`<![CDATA[${reader.text(row)}]]>`];
    case rowKinds.instruction:
      return [`<?${name} ${reader.value(at)}?>`];
    case rowKinds.comment:
      return [`<!-- ${reader.value(at)} -->`];
    case rowKinds.doctype: {
      const [publicId, systemId] = [reader.value(at + 1), reader.value(at + 2)];
      const ids = publicId === '' && systemId === '' ? '' : ` "${publicId}" "${systemId}"`;
      return [`<!DOCTYPE ${reader.value(at)}${ids}>`];
    }
    default:
      return [];
  }
}

/** The tree, without the row that holds it. */
export function outlineOf(flat: FlatPage): string {
  const reader = read(flat);
  const lines: string[] = [];
  const waiting: { row: number; depth: number }[] = [{ row: 0, depth: -1 }];
  const addChildren = (row: number, depth: number): void => {
    const children: number[] = [];
    const end = reader.ends[row] ?? 0;
    for (let child = row + 1; child < end; child = reader.ends[child] ?? end) children.push(child);
    for (const child of children.reverse()) waiting.push({ row: child, depth });
  };
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const { row, depth } = node;
    const name = reader.names[(reader.kinds[row] ?? 0) & 0xffffff] ?? '';
    for (const line of nodeLines(reader, row, name)) lines.push(`| ${'  '.repeat(Math.max(0, depth))}${line}`);
    addChildren(row, depth + 1);
    const content = reader.contents.get(row);
    if (content !== undefined) {
      // A template's own children come after its content, which is next.
      lines.push(`| ${'  '.repeat(depth + 1)}content`);
      addChildren(content, depth + 2);
    }
  }
  return lines.join('\n');
}

/** Rows of each tag, class and id, sorted by name. */
export function indexesOf(flat: FlatPage): readonly (readonly (readonly [string, readonly number[]])[])[] {
  return read(flat).indexes.map(({ keys, starts, rows }) =>
    keys
      .map((key, at) => [key, [...rows.subarray(starts[at], starts[at + 1])]] as const)
      .filter(([, found]) => found.length > 0)
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}

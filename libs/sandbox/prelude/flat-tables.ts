/** The tables in which a page enters the sandbox, as views of one buffer; see `parsers/flat-page.ts` for their order. */

export interface FlatTables {
  readonly rows: number;
  readonly isQuirks: boolean;
  readonly isXml: boolean;
  readonly kinds: Int32Array;
  readonly parents: Int32Array;
  readonly ends: Int32Array;
  readonly texts: Int32Array;
  readonly attributes: Int32Array;
  readonly attributeNames: Int32Array;
  readonly values: Int32Array;
  readonly tagStart: Int32Array;
  readonly tagRows: Int32Array;
  readonly classStart: Int32Array;
  readonly classRows: Int32Array;
  readonly idStart: Int32Array;
  readonly idRows: Int32Array;
  readonly templatePairs: Int32Array;
}

export function readTables(buffer: ArrayBuffer): FlatTables {
  const header = new Int32Array(buffer);
  const word = (at: number): number => header[at] ?? 0;
  const rows = word(0);
  const attributes = word(1);
  let at = 10;
  const take = (length: number): Int32Array => {
    const table = new Int32Array(buffer, at * 4, length);
    at += length;
    return table;
  };
  return {
    rows,
    isQuirks: word(9) === 1,
    isXml: word(9) === 2,
    kinds: take(rows),
    parents: take(rows),
    ends: take(rows),
    texts: take(rows + 1),
    attributes: take(rows + 1),
    attributeNames: take(attributes),
    values: take(attributes + 1),
    tagStart: take(word(2) + 1),
    tagRows: take(word(5)),
    classStart: take(word(3) + 1),
    classRows: take(word(6)),
    idStart: take(word(4) + 1),
    idRows: take(word(7)),
    templatePairs: take(word(8) * 2),
  };
}

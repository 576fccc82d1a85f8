/**
 * A parsed page as flat tables, the one form in which it enters the sandbox. Rows are nodes in document order; the
 * contents of `template` elements follow the document as rows of their own. The guest reads them as they are
 * (`prelude/flat-tables.ts`), so a parser needs to produce nothing but this.
 */

export const rowKinds = {
  element: 1,
  text: 3,
  cdata: 4,
  instruction: 7,
  comment: 8,
  document: 9,
  doctype: 10,
  fragment: 11,
} as const;

/** In which mode the document was read. */
export const treeModes = { standards: 0, quirks: 1, xml: 2 } as const;

/** Words of the header at the start of `tables`; the tables follow in the order of `tableOrder`. */
export const headerWords = {
  rows: 0,
  attributes: 1,
  names: 2,
  classes: 3,
  ids: 4,
  tagRows: 5,
  classRows: 6,
  idRows: 7,
  templates: 8,
  mode: 9,
} as const;
export const headerLength = 10;

/** Attribute rows without a name hold what a comment, processing instruction or doctype says; an instruction's target is its name. */
export const namelessAttribute = -1;

/** Text as the guest's engine keeps it: a byte for each UTF-16 unit where all are below 256, else two, the low one first. */
export interface EncodedText {
  readonly bytes: Uint8Array;
  readonly isWide: boolean;
}

export type FlatText = string | EncodedText;

export function unitsOf(text: FlatText): number {
  if (typeof text === 'string') return text.length;
  return text.isWide ? text.bytes.byteLength / 2 : text.bytes.byteLength;
}

export function decodeText(text: FlatText): string {
  if (typeof text === 'string') return text;
  const { buffer, byteOffset, byteLength } = text.bytes;
  return Buffer.from(buffer, byteOffset, byteLength).toString(text.isWide ? 'utf16le' : 'latin1');
}

export interface FlatPage {
  /**
   * Header, then: kind << 24 | name (rows), parent (rows, -1 without), end of subtree (rows), text offset (rows + 1),
   * first attribute (rows + 1), attribute name (attributes), attribute value offset (attributes + 1), then for tags,
   * classes and ids each: start (distinct + 1) and rows; then pairs of template row and fragment row.
   */
  readonly tables: Int32Array;
  /** All text nodes and CDATA sections, in row order. Offsets count UTF-16 units. */
  readonly text: FlatText;
  /** All attribute values, comments and doctypes, in row order. */
  readonly values: FlatText;
  /**
   * Separated by NUL, which no name can hold. Names of foreign elements are prefixed with `svg ` or `math `; in XML what
   * has a prefix or another namespace, and any attribute with one, is followed by a line break and the namespace.
   */
  readonly names: FlatText;
  readonly classes: FlatText;
  readonly ids: FlatText;
}

/** The tables of a page one behind the other in one buffer, with the header that `flat-page.ts` describes. */
import { headerLength, headerWords } from './flat-page.js';
import type { treeModes } from './flat-page.js';
import type { RowTables } from './row-index.js';

export interface PageTables {
  readonly mode: (typeof treeModes)[keyof typeof treeModes];
  readonly kinds: ArrayLike<number>;
  readonly parents: ArrayLike<number>;
  readonly ends: ArrayLike<number>;
  /** One more than there are rows, as are `firstAttributes`. */
  readonly texts: ArrayLike<number>;
  readonly firstAttributes: ArrayLike<number>;
  readonly attributeNames: ArrayLike<number>;
  readonly valueOffsets: ArrayLike<number>;
  readonly tags: RowTables;
  readonly classes: RowTables;
  readonly ids: RowTables;
  readonly templatePairs: ArrayLike<number>;
}

export function packTables(page: PageTables): Int32Array {
  const { tags, classes, ids, templatePairs } = page;
  const rowParts = [page.kinds, page.parents, page.ends, page.texts, page.firstAttributes];
  const indexParts = [tags, classes, ids].flatMap(({ starts, rows }) => [starts, rows]);
  const parts = [...rowParts, page.attributeNames, page.valueOffsets, ...indexParts, templatePairs];
  const tables = new Int32Array(parts.reduce((sum, part) => sum + part.length, headerLength));
  tables[headerWords.rows] = page.kinds.length;
  tables[headerWords.attributes] = page.attributeNames.length;
  tables[headerWords.names] = tags.starts.length - 1;
  tables[headerWords.classes] = classes.starts.length - 1;
  tables[headerWords.ids] = ids.starts.length - 1;
  tables[headerWords.tagRows] = tags.rows.length;
  tables[headerWords.classRows] = classes.rows.length;
  tables[headerWords.idRows] = ids.rows.length;
  tables[headerWords.templates] = templatePairs.length / 2;
  tables[headerWords.mode] = page.mode;
  let at = headerLength;
  for (const part of parts) {
    tables.set(part, at);
    at += part.length;
  }
  return tables;
}

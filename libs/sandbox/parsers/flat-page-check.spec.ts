import { describe, expect, it } from '@jest/globals';
import { checkFlatPage, UnsoundTables } from './flat-page-check.js';
import { decodeText, headerLength, headerWords } from './flat-page.js';
import type { FlatPage } from './flat-page.js';
import { defaultPageLimits } from './page-parser.js';
import { parse5PageParser } from './parse5-page-parser.js';

const markup = `<!doctype html><p class="a b" id=i>x<b title="y">z</b><!-- c --></p><template><i class=b>t</i></template><p id=i>`;

function page(): FlatPage {
  return parse5PageParser.parsePage(Buffer.from(markup), 'html', defaultPageLimits).flat;
}

describe('the check of flat page tables', () => {
  it('accepts tables that are consistent', () => {
    expect(() => checkFlatPage(page())).not.toThrow();
  });

  it('rejects any word changed to one that points outside', () => {
    const { tables } = page();
    for (let at = 0; at < tables.length; at++) {
      // Only 1 and 0 are both good as an answer to whether a page is in quirks mode.
      if (at === headerWords.mode) continue;
      for (const value of [-2, 0x7fffffff, -0x80000000, tables.length * 4]) {
        const changed = page();
        changed.tables[at] = value;
        expect(() => checkFlatPage(changed)).toThrow(UnsoundTables);
      }
    }
  });

  it('rejects a subtree that ends outside its parent, or is not its parent’s', () => {
    const rows = page().tables[headerWords.rows] ?? 0;
    for (const table of [1, 2]) {
      for (let row = 1; row < rows; row++) {
        for (let value = -1; value <= rows; value++) {
          const changed = page();
          const at = headerLength + table * rows + row;
          if (changed.tables[at] === value) continue;
          changed.tables[at] = value;
          expect(() => checkFlatPage(changed)).toThrow(UnsoundTables);
        }
      }
    }
  });

  it('rejects tables shorter than their header says, and texts shorter than their offsets', () => {
    const { tables, ...texts } = page();
    expect(() => checkFlatPage({ ...texts, tables: tables.subarray(0, -1) })).toThrow(UnsoundTables);
    expect(() => checkFlatPage({ ...texts, tables: new Int32Array(0) })).toThrow(UnsoundTables);
    for (const text of ['text', 'values', 'names', 'classes', 'ids'] as const) {
      expect(() => checkFlatPage({ tables, ...texts, [text]: '' })).toThrow(UnsoundTables);
      const longer = `${decodeText(texts[text])}\0x`;
      expect(() => checkFlatPage({ tables, ...texts, [text]: longer })).toThrow(UnsoundTables);
    }
  });
});

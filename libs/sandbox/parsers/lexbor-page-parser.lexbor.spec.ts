/** Needs what `npm run build:parser` makes; fails where it is not there. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { outlineOf } from './flat-page-outline.js';
import { createLexborPageParser } from './lexbor-page-parser.js';
import { lexborUrl } from './lexbor-place.js';
import { describePageParser } from './page-parser.contract.js';
import { defaultPageLimits, PageTooComplex } from './page-parser.js';
import type { PageParser } from './page-parser.js';

const create = (): PageParser => createLexborPageParser(new WebAssembly.Module(readFileSync(lexborUrl())));

describePageParser('lexbor', create);

describe('lexbor as a page parser', () => {
  const parser = create();
  const page = (markup: string) => (): unknown => parser.parsePage(Buffer.from(markup), 'html', defaultPageLimits);
  const attributes = (count: number): string => Array.from({ length: count }, (_, at) => `a${at}`).join(' ');
  const tooMany = new PageTooComplex('has more than 1024 attributes on one element');

  it('accepts inside a select what the standard does, and fills selectedcontent', () => {
    const { flat } = parser.parsePage(
      Buffer.from('<select><button><selectedcontent></button><option>a<option selected>b<i>c'),
      'html',
      defaultPageLimits,
    );
    expect(outlineOf(flat)).toContain('<selectedcontent>\n|           "b"\n|           <i>\n|             "c"');
  });

  it('reads all options where there are too many to fill selectedcontent', () => {
    const options = '<option>x'.repeat(20_000);
    const markup = `<select><button><selectedcontent></button>${options}<option selected>y`;
    const { flat } = parser.parsePage(Buffer.from(markup), 'html', defaultPageLimits);
    expect(outlineOf(flat).match(/<option>/g)).toHaveLength(20_001);
  });

  it('rejects an element with too many attributes to compare with each other', () => {
    expect(page(`<p ${attributes(1_024)}>`)).not.toThrow();
    expect(page(`<p ${attributes(1_025)}>`)).toThrow(tooMany);
  });

  it('counts attributes that several tags give to the same element', () => {
    const tags = (name: string, count: number): string =>
      Array.from({ length: count }, (_, at) => `<${name} a${at}>`).join('');
    expect(page(tags('html', 1_024))).not.toThrow();
    expect(page(tags('html', 1_025))).toThrow(tooMany);
    expect(page(tags('body', 1_025))).toThrow(tooMany);
  });

  it('rejects a page for which its memory is too small', () => {
    const parse = (): unknown =>
      parser.parsePage(Buffer.from('<b>x</b>'.repeat(600_000)), 'html', { ...defaultPageLimits, elements: 10_000_000 });
    expect(parse).toThrow(new PageTooComplex('takes more than 128 MB to parse'));
    expect(page('<p>')).not.toThrow();
  });
});

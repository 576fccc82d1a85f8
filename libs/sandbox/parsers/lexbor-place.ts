/** Where `npm run build:parser` puts the fast page parser, and whether it is built. */
import { existsSync } from 'node:fs';
import type { PageParserName } from './page-parser.js';

/** The folder of the product holds `libs` in a checkout under a test runner, and `dist/libs` otherwise. */
const places = ['../../../dist-parser/lexbor.wasm', '../../../../dist-parser/lexbor.wasm'];

export function isLexborBuilt(): boolean {
  return places.some((place) => existsSync(new URL(place, import.meta.url)));
}

/** The parser that a setting means: `auto` is the fast one where it was built. */
export function choosePageParser(setting: PageParserName | 'auto'): PageParserName {
  if (setting !== 'auto') return setting;
  return isLexborBuilt() ? 'lexbor' : 'parse5';
}

/** Throws where it is not built. */
export function lexborUrl(): URL {
  const urls = places.map((place) => new URL(place, import.meta.url));
  const found = urls.find((url) => existsSync(url));
  if (found === undefined) throw new Error('The fast page parser is not built: run `npm run build:parser`.');
  return found;
}

// The product's page parsers, as it was built: parse5, and lexbor where `npm run build:parser` was run.
import { readFile } from 'node:fs/promises';

const load = (file) => import(new URL(`../../dist/libs/sandbox/${file}.js`, import.meta.url));

export const limits = { elements: 200_000, depth: 512, parseMs: 60_000 };

/** One of them by its name. Rejects where it is not built. */
export async function loadParser(name) {
  if (name === 'parse5') return (await load('parsers/parse5-page-parser')).parse5PageParser;
  const [{ createLexborPageParser }, { lexborUrl }] = await Promise.all(
    ['parsers/lexbor-page-parser', 'parsers/lexbor-place'].map(load),
  );
  return createLexborPageParser(await WebAssembly.compile(await readFile(lexborUrl())));
}

/** Both parsers by name. Rejects where one is not there: a comparison with itself would prove nothing. */
export async function loadParsers() {
  const [parse5, lexbor] = await Promise.all(['parse5', 'lexbor'].map(loadParser));
  return { parse5, lexbor };
}

/** The outline of a document or fragment, its indexes, or what was thrown. */
export async function loadReaders() {
  const { outlineOf, indexesOf } = await load('parsers/flat-page-outline');
  const guarded = (read) => {
    try {
      return read();
    } catch (error) {
      return `threw ${error.message}`;
    }
  };
  return {
    /** With scripting, as pages are read; without, as documents that code makes. */
    document: (parser, text, isScripting) =>
      guarded(() =>
        outlineOf(
          isScripting
            ? parser.parsePage(Buffer.from(text, 'utf8'), 'html', limits).flat
            : parser.parseMarkup(text, null, limits),
        ),
      ),
    fragment: (parser, text, context) => guarded(() => outlineOf(parser.parseMarkup(text, context, limits))),
    indexes: (parser, text) =>
      guarded(() => JSON.stringify(indexesOf(parser.parsePage(Buffer.from(text, 'utf8'), 'html', limits).flat))),
  };
}

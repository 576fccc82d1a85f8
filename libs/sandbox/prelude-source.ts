/**
 * The prelude as scripts. Its files are ES modules, type-checked and read like any others; inside the engine each
 * becomes a closure that returns what it exports, because real modules could be imported again by the user's code. So a
 * file may import only from files before it, and exports only by `export function`, `export const`, `export class`.
 */
import { readFileSync } from 'node:fs';

/** In the order in which they are evaluated. */
const preludeFiles = [
  'touched',
  'output',
  'outcome',
  'determinism',
  'node-map',
  'lazy-modules',
  'row-lists',
  'linked-rows',
  'flat-tables',
  'name-table',
  'tree',
  'attribute-values',
  'page-indexes',
  'tree-walks',
  'names',
  'documents',
  'wrappers',
  'dom-exception',
  'mutations',
  'utf8',
  'url-host',
  'url-record',
  'url-search-params',
  'url',
  'encoding',
  'markup',
  'selector-reader',
  'sibling-positions',
  'element-state',
  'inner-text',
  'attribute-selectors',
  'simple-pseudo-classes',
  'selector-matching',
  'selectors',
  'lists',
  'parse-markup',
  'queries',
  'addresses',
  'event-target',
  'nodes',
  'parent-members',
  'node-kinds',
  'reflection',
  'attributes',
  'element',
  'document',
  'element-tables',
  'form-members',
  'select-members',
  'form-data',
  'table-members',
  'elements',
  'traversal',
  'window',
  'unsupported-apis',
  'numbers',
  'languages',
  'page',
  'main',
] as const;

/** In the image as text alone, and evaluated when first asked for (`prelude/lazy-modules.ts`); these import what they like. */
const lazyFiles = [
  'autofill',
  'clone',
  'events',
  'intl',
  'iterators',
  'live',
  'ranges',
  'range-contents',
  'range-points',
  'node-extras',
  'selection',
  'validity',
  'xml-markup',
  'xpath-parser',
  'xpath',
  'xpath-functions',
  'xpath-steps',
  'xpath-values',
] as const;

const importStatement = /^import \{([^}]*)\} from '\.\/([\w-]+)\.js';$/gm;
const exportWord = /^export (?=(?:async function|function|const|let|class|abstract class)\b)/gm;
const exportedName = /^export (?:async function|function|const|let|class|abstract class) ([\w$]+)/gm;

/** The engine keeps the source of each function, nested ones again: what only people read would be copied at each restore. */
function withoutComments(source: string): string {
  return source
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/^\s+/gm, '');
}

function read(name: string): string {
  return withoutComments(readFileSync(new URL(`./prelude/${name}.js`, import.meta.url), 'utf8'));
}

/** What the file exports as the value of a function; `files` are those that it imports from. */
function asFunction(name: string, files: (name: string) => string): string {
  const source = read(name);
  const exported = [...source.matchAll(exportedName)].map((match) => match[1]);
  const body = source
    .replace(importStatement, (_statement, names: string, from: string) => {
      return `const {${names.replaceAll(' as ', ': ')}} = ${files(from)};`;
    })
    .replace(exportWord, '')
    .replace(/^export \{\s*\};?$/gm, '');
  return `(function () {\n${body}\nreturn { ${exported.join(', ')} };\n})`;
}

/** Where the parts of the prelude find each other while they are evaluated; the last one takes it away. */
const frameName = 'preludeFrame';

const frame = `globalThis.${frameName} = (function () {
'use strict';
const texts = { __proto__: null };
const files = { __proto__: null };
const evaluate = eval;
function loadLazyModule(name) {
return (files[name] ??= evaluate(texts[name])(loadLazyModule));
}
return { texts, files, loadLazyModule };
})();`;

function asPart(body: string): string {
  return `(function () {\n'use strict';\nconst { texts, files, loadLazyModule } = ${frameName};\n${body}\n})()`;
}

const importsOf = (name: string): string[] => [...read(name).matchAll(importStatement)].map(([, , from = '']) => from);

/** Files that nothing asks for once the one at this place is evaluated: with them goes what only the image's making needed. */
function lastAskedFor(): (at: number) => readonly string[] {
  const lastUse = new Map<string, number>(preludeFiles.map((name, at) => [name, at]));
  preludeFiles.forEach((name, at) => {
    for (const from of importsOf(name)) lastUse.set(from, at);
  });
  for (const name of ['main', ...lazyFiles.flatMap(importsOf)]) lastUse.delete(name);
  return (at) => [...lastUse].flatMap(([name, use]) => (use === at ? [name] : []));
}

function asClosure(name: string, unneeded: readonly string[]): string {
  const released = unneeded.map((each) => `\ndelete files['${each}'];`).join('');
  return asPart(`files['${name}'] = ${asFunction(name, (from) => `files['${from}']`)}();${released}`);
}

function asText(name: string): string {
  const source = asFunction(name, (from) => `loadLazyModule('${from}')`);
  return asPart(
    `texts['${name}'] = ${JSON.stringify(`(function (loadLazyModule) {'use strict';return ${source}();})`)};`,
  );
}

/**
 * Scripts to be evaluated one after the other; the last comes to an object of the functions through which the host enters
 * (`prelude/main.ts`). In one piece the compiler would leave twice as much of the memory, which is imaged, in shreds.
 */
export function readPrelude(): readonly string[] {
  const done = lastAskedFor();
  const last = asPart(`delete globalThis.${frameName};\nreturn files.main.guestEntry;`);
  return [frame, ...lazyFiles.map(asText), ...preludeFiles.map((name, at) => asClosure(name, done(at))), last];
}

/** The global under which the prelude finds the host's parser of markup; it takes it away. */
export const hostFunctionName = 'hostMarkupParser';

/**
 * The prelude as one script. Its files are ES modules, type-checked and read like any others; inside the engine each
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
  'row-lists',
  'tree',
  'wrappers',
  'dom-exception',
  'utf8',
  'url-host',
  'url',
  'encoding',
  'markup',
  'inner-text',
  'selector-reader',
  'sibling-positions',
  'element-state',
  'attribute-selectors',
  'plain-tests',
  'selectors',
  'lists',
  'parse-markup',
  'queries',
  'addresses',
  'nodes',
  'element',
  'document',
  'element-tables',
  'form-members',
  'elements',
  'traversal',
  'window',
  'numbers',
  'page',
  'main',
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

function asClosure(name: string, source: string): string {
  const exported = [...withoutComments(source).matchAll(exportedName)].map((match) => match[1]);
  const body = withoutComments(source)
    .replace(importStatement, (_statement, names: string, from: string) => {
      return `const {${names.replaceAll(' as ', ': ')}} = files['${from}'];`;
    })
    .replace(exportWord, '')
    .replace(/^export \{\s*\};?$/gm, '');
  return `files['${name}'] = (function () {\n${body}\nreturn { ${exported.join(', ')} };\n})();`;
}

/** Evaluates to an object of the functions through which the host enters (`prelude/main.ts`). */
export function readPrelude(): string {
  const closures = preludeFiles.map((name) =>
    asClosure(name, readFileSync(new URL(`./prelude/${name}.js`, import.meta.url), 'utf8')),
  );
  return `(function () {\n'use strict';\nconst files = {};\n${closures.join('\n')}\nreturn files.main.guestEntry;\n})()`;
}

/** The global under which the prelude finds the host's parser of markup; it takes it away. */
export const hostFunctionName = 'hostMarkupParser';

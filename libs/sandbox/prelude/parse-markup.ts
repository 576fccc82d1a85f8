/**
 * Markup that code writes (`innerHTML =`, `DOMParser`): the parser that reads pages reads it, outside, and its tables
 * become nodes here. This is the one call that leaves the sandbox: text goes out, tables come in.
 */
import { addDocument } from './documents.js';
import { domError } from './dom-exception.js';
import { attributeParts, mathNamespace, partsOf, svgNamespace, xmlnsNamespace } from './names.js';
import { attributesOf, setAttribute } from './attribute-values.js';
import { internName } from './name-table.js';
import {
  commentKind,
  createNode,
  doctypeKind,
  elementKind,
  insertNode,
  instructionKind,
  isElement,
  isTextual,
  parentOf,
  setTemplateContent,
} from './tree.js';

/** Tables and texts as a page has them (`flat-page.ts`), or one text: what is wrong with the markup. */
type Parsed = readonly [ArrayBuffer, string, string, string] | readonly [string];
type ParseOutside = (markup: string, tag: string, namespace: string) => Parsed;

const headerLength = 10;

let parseOutside: ParseOutside = () => ['There is no parser.'];

/** Takes the parser from where the host has put it, before any user code runs. */
export function installParser(): void {
  const holder = globalThis as { hostMarkupParser?: ParseOutside };
  const { hostMarkupParser } = holder;
  delete holder.hostMarkupParser;
  if (hostMarkupParser !== undefined) parseOutside = hostMarkupParser;
}

/** Of the document that was read last. */
let wasQuirks = false;

/** Nodes made of tables; the first row's, which holds the others. */
function graft(buffer: ArrayBuffer, text: string, values: string, nameList: string): number {
  const tables = new Int32Array(buffer);
  const word = (at: number): number => tables[at] ?? 0;
  wasQuirks = word(9) === 1;
  const rows = word(0);
  const attributes = word(1);
  const parentAt = headerLength + rows;
  const textAt = parentAt + 2 * rows;
  const attributeAt = textAt + rows + 1;
  const attributeNameAt = attributeAt + rows + 1;
  const valueAt = attributeNameAt + attributes;
  const names = nameList === '' ? [] : nameList.split('\0');
  const nameIds = names.map(internName);
  const valueOf = (attribute: number): string =>
    values.substring(word(valueAt + attribute), word(valueAt + attribute + 1));
  const nodes: number[] = [];
  for (let row = 0; row < rows; row++) {
    const kind = word(headerLength + row) >> 24;
    const first = word(attributeAt + row);
    let data = '';
    if (isTextual(kind)) data = text.substring(word(textAt + row), word(textAt + row + 1));
    else if (kind === commentKind || kind === instructionKind) data = valueOf(first);
    else if (kind === doctypeKind) data = `${valueOf(first)}\0${valueOf(first + 1)}\0${valueOf(first + 2)}`;
    const name =
      kind === elementKind || kind === instructionKind ? (nameIds[word(headerLength + row) & 0xffffff] ?? 0) : 0;
    const node = createNode(kind, name, data);
    nodes.push(node);
    const end = kind === elementKind ? word(attributeAt + row + 1) : first;
    for (let at = first; at < end; at++) setAttribute(node, names[word(attributeNameAt + at)] ?? '', valueOf(at));
    const parent = word(parentAt + row);
    if (parent >= 0) insertNode(nodes[parent] ?? -1, node, -1);
  }
  const pairs = tables.length - 2 * word(8);
  for (let at = pairs; at < tables.length; at += 2) {
    setTemplateContent(nodes[word(at)] ?? -1, nodes[word(at + 1)] ?? -1);
  }
  return nodes[0] ?? -1;
}

function parse(markup: string, tag: string, namespace: string): number {
  const parsed = parseOutside(markup, tag, namespace);
  if (parsed.length === 1) {
    throw namespace === 'xml fragment' ? domError('SyntaxError', parsed[0]) : new Error(parsed[0]);
  }
  return graft(...parsed);
}

/** A fragment of what the markup is inside an element. */
export function parseFragment(markup: string, contextTag: string, contextNamespace: string | null): number {
  if (contextNamespace === svgNamespace) return parse(markup, contextTag, 'svg');
  return parse(markup, contextTag, contextNamespace === mathNamespace ? 'math' : 'html');
}

/** A document of its own. */
export function parseDocument(markup: string): number {
  const document = parse(markup, '', '');
  addDocument(document, { isXml: false, contentType: 'text/html', isQuirks: wasQuirks });
  return document;
}

export function parseXmlDocument(markup: string, contentType: string): number {
  const document = parse(markup, '', 'xml');
  addDocument(document, { isXml: true, contentType });
  return document;
}

/** A fragment of XML, with the prefixes and namespaces in turn that are in scope. */
export function parseXmlInside(markup: string, around: readonly string[]): number {
  return parse(markup, around.join('\0'), 'xml fragment');
}

/** Prefixes and their namespaces where markup stands inside a node: those declared nearest count. */
export function namespacesAround(node: number): string[] {
  const found: string[] = [];
  const add = (prefix: string, namespace: string): void => {
    if (!found.some((known, at) => at % 2 === 0 && known === prefix)) found.push(prefix, namespace);
  };
  for (let up = node; up >= 0 && isElement(up); up = parentOf(up)) {
    const { prefix, namespace } = partsOf(up);
    add(prefix ?? '', namespace ?? '');
    for (const [key, value] of attributesOf(up)) {
      const parts = attributeParts(up, key);
      if (parts.namespace === xmlnsNamespace) add(parts.prefix === null ? '' : parts.local, value);
    }
  }
  return found;
}

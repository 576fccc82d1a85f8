/** Nodes written as XML, after the DOM Parsing standard: prefixes and namespaces are declared where they are missing. */
import type { SplitName } from './names.js';
import { attributeParts, htmlNamespace, partsOf, xmlNamespace, xmlnsNamespace } from './names.js';
import { attributesOf } from './attribute-values.js';
import { nameText } from './name-table.js';
import {
  cdataKind,
  commentKind,
  dataOf,
  doctypeKind,
  doctypeParts,
  elementKind,
  firstChild,
  instructionKind,
  kind,
  nextSibling,
  tagOf,
  templateContent,
  textKind,
} from './tree.js';

const voidTags = ' area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr ';
const marks: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (mark) => marks[mark] ?? mark);
}
function escapeValue(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (mark) => marks[mark] ?? mark);
}

/** Prefixes in scope by namespace, the nearest last. */
type Prefixes = Map<string, string[]>;

function copy(prefixes: Prefixes): Prefixes {
  return new Map([...prefixes].map(([namespace, list]) => [namespace, [...list]]));
}

function add(prefixes: Prefixes, prefix: string, namespace: string): void {
  const list = prefixes.get(namespace);
  if (list === undefined) prefixes.set(namespace, [prefix]);
  else list.push(prefix);
}

function preferred(prefixes: Prefixes, namespace: string, prefix: string | null): string | null {
  const list = prefixes.get(namespace);
  if (list === undefined) return null;
  return prefix !== null && list.includes(prefix) ? prefix : (list.at(-1) ?? null);
}

interface Counter {
  next: number;
}

function madePrefix(prefixes: Prefixes, namespace: string, counter: Counter): string {
  const prefix = `ns${counter.next++}`;
  add(prefixes, prefix, namespace);
  return prefix;
}

interface Declared {
  readonly local: Map<string, string>;
  readonly byDefault: string | null;
}

/** Notes what an element's own attributes declare. */
function readDeclarations(attributes: readonly (readonly [SplitName, string])[], prefixes: Prefixes): Declared {
  const local = new Map<string, string>();
  let byDefault: string | null = null;
  for (const [parts, value] of attributes) {
    if (parts.namespace !== xmlnsNamespace) continue;
    if (parts.prefix === null) byDefault = value;
    else if (value !== xmlNamespace && !(prefixes.get(value) ?? []).includes(parts.local)) {
      add(prefixes, parts.local, value);
      local.set(parts.local, value);
    }
  }
  return { local, byDefault };
}

function attributesMarkup(
  attributes: readonly (readonly [SplitName, string])[],
  prefixes: Prefixes,
  local: Map<string, string>,
  leavesOutDefault: boolean,
  counter: Counter,
): string {
  let markup = '';
  for (const [{ namespace, prefix, local: name }, value] of attributes) {
    let candidate: string | null = null;
    if (namespace !== null) {
      candidate = preferred(prefixes, namespace, prefix);
      if (namespace === xmlnsNamespace) {
        if (value === xmlNamespace) continue;
        if (prefix === null && leavesOutDefault) continue;
        if (prefix !== null && local.get(name) !== value && (prefixes.get(value) ?? []).includes(name)) {
          if (!local.has(name)) continue;
        }
        candidate = prefix === 'xmlns' ? 'xmlns' : null;
      } else if (namespace === xmlNamespace) candidate = 'xml';
      else if (candidate === null) {
        candidate = prefix !== null && !local.has(prefix) ? prefix : madePrefix(prefixes, namespace, counter);
        if (candidate === prefix) add(prefixes, prefix, namespace);
        markup += ` xmlns:${candidate}="${escapeValue(namespace)}"`;
      }
    }
    markup += ` ${candidate === null ? '' : `${candidate}:`}${name}="${escapeValue(value)}"`;
  }
  return markup;
}

function elementMarkup(node: number, inherited: string | null, above: Prefixes, counter: Counter): string {
  const parts = partsOf(node);
  const prefixes = copy(above);
  const attributes = [...attributesOf(node)].map(([key, value]) => [attributeParts(node, key), value] as const);
  const { local, byDefault } = readDeclarations(attributes, prefixes);
  const { namespace, local: name } = parts;
  let { prefix } = parts;
  let qualified = name;
  let declared = '';
  let leavesOutDefault = false;
  let scope = inherited;
  if (inherited === namespace) {
    if (byDefault !== null) leavesOutDefault = true;
    if (namespace === xmlNamespace) qualified = `xml:${name}`;
    scope = inherited;
  } else {
    let candidate = namespace === null ? null : preferred(prefixes, namespace, prefix);
    if (prefix === 'xmlns') candidate = 'xmlns';
    if (candidate !== null) {
      qualified = `${candidate}:${name}`;
      if (byDefault !== null && byDefault !== xmlNamespace) scope = byDefault === '' ? null : byDefault;
    } else if (prefix !== null && namespace !== null) {
      if (local.has(prefix)) prefix = madePrefix(prefixes, namespace, counter);
      else add(prefixes, prefix, namespace);
      qualified = `${prefix}:${name}`;
      declared = ` xmlns:${prefix}="${escapeValue(namespace)}"`;
      if (byDefault !== null) scope = byDefault === '' ? null : byDefault;
    } else if (byDefault === null || byDefault !== (namespace ?? '')) {
      leavesOutDefault = true;
      scope = namespace;
      declared = ` xmlns="${escapeValue(namespace ?? '')}"`;
    } else scope = namespace;
  }
  const start = `<${qualified}${declared}${attributesMarkup(attributes, prefixes, local, leavesOutDefault, counter)}`;
  const content = templateContent(node);
  const holder = content >= 0 ? content : node;
  const isEmpty = firstChild(holder) < 0;
  if (isEmpty && namespace === htmlNamespace) {
    return voidTags.includes(` ${name} `) ? `${start} />` : `${start}></${qualified}>`;
  }
  if (isEmpty) return `${start}/>`;
  return `${start}>${childrenMarkup(holder, scope, prefixes, counter)}</${qualified}>`;
}

function childrenMarkup(node: number, scope: string | null, prefixes: Prefixes, counter: Counter): string {
  let markup = '';
  for (let child = firstChild(node); child >= 0; child = nextSibling(child)) {
    markup += nodeMarkup(child, scope, prefixes, counter);
  }
  return markup;
}

function doctypeMarkup(node: number): string {
  const [name, publicId, systemId] = doctypeParts(node);
  const asPublic = publicId === '' ? '' : ` PUBLIC "${publicId}"`;
  const asSystem = systemId === '' ? '' : `${publicId === '' ? ' SYSTEM' : ''} "${systemId}"`;
  return `<!DOCTYPE ${name}${asPublic}${asSystem}>`;
}

function nodeMarkup(node: number, scope: string | null, prefixes: Prefixes, counter: Counter): string {
  switch (kind(node)) {
    case elementKind:
      return elementMarkup(node, scope, prefixes, counter);
    case textKind:
      return escapeText(dataOf(node));
    case cdataKind:
      return `<![CDATA[${dataOf(node)}]]>`;
    case commentKind:
      return `<!--${dataOf(node)}-->`;
    case instructionKind:
      return `<?${nameText(tagOf(node))} ${dataOf(node)}?>`;
    case doctypeKind:
      return doctypeMarkup(node);
    default:
      return childrenMarkup(node, scope, prefixes, counter);
  }
}

const fresh = (): Prefixes => new Map([[xmlNamespace, ['xml']]]);

export function outerXml(node: number): string {
  return nodeMarkup(node, null, fresh(), { next: 1 });
}

/** What stands inside. */
export function innerXml(node: number): string {
  return childrenMarkup(node, null, fresh(), { next: 1 });
}

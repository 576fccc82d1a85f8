/**
 * Names of elements and attributes, and whose they are. Most are HTML's and stand as they are; `svg path` and `math mi`
 * are those of SVG and MathML; what has another namespace or a prefix is the name, a line break, and the namespace.
 */
import { attributesOf, getAttribute } from './attribute-values.js';
import { nameText, spacedNames } from './name-table.js';
import { tagOf } from './tree.js';

export const htmlNamespace = 'http://www.w3.org/1999/xhtml';
export const svgNamespace = 'http://www.w3.org/2000/svg';
export const mathNamespace = 'http://www.w3.org/1998/Math/MathML';
export const xlinkNamespace = 'http://www.w3.org/1999/xlink';
export const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';
export const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/';

export interface SplitName {
  readonly qualified: string;
  readonly prefix: string | null;
  readonly local: string;
  readonly namespace: string | null;
}

function partsWith(qualified: string, namespace: string | null): SplitName {
  const colon = namespace === null ? -1 : qualified.indexOf(':');
  if (colon < 0) return { qualified, prefix: null, local: qualified, namespace };
  return { qualified, prefix: qualified.slice(0, colon), local: qualified.slice(colon + 1), namespace };
}

function readElementName(name: string): SplitName {
  const line = name.indexOf('\n');
  if (line >= 0) return partsWith(name.slice(0, line), name.slice(line + 1) || null);
  if (name.startsWith('svg ')) return partsWith(name.slice(4), svgNamespace);
  if (name.startsWith('math ')) return partsWith(name.slice(5), mathNamespace);
  return { qualified: name, prefix: null, local: name, namespace: htmlNamespace };
}

const known: (SplitName | undefined)[] = [];

/** What the name with this id says. */
export function partsOfName(id: number): SplitName {
  let parts = known[id];
  if (parts === undefined) {
    parts = readElementName(nameText(id));
    // One after the other: an array with holes is a slow one.
    while (known.length <= id) known.push(undefined);
    known[id] = parts;
  }
  return parts;
}

export function partsOf(node: number): SplitName {
  return partsOfName(tagOf(node));
}

/** The tag without a prefix. */
export function localName(node: number): string {
  return partsOfName(tagOf(node)).local;
}

export function isHtmlElement(node: number): boolean {
  return partsOfName(tagOf(node)).namespace === htmlNamespace;
}

/** How an element's name is kept. */
export function elementKey(qualified: string, namespace: string | null): string {
  if (!qualified.includes(':')) {
    if (namespace === htmlNamespace) return qualified;
    if (namespace === svgNamespace) return `svg ${qualified}`;
    if (namespace === mathNamespace) return `math ${qualified}`;
  }
  return `${qualified}\n${namespace ?? ''}`;
}

// Attributes ----------------------------------------------------------------------------------------------------------

export function attributeKey(qualified: string, namespace: string | null): string {
  return namespace === null ? qualified : `${qualified}\n${namespace}`;
}

/** What the parser of HTML gives a namespace in SVG and MathML. */
const foreignAttribute =
  /^(?:(xlink):(?:actuate|arcrole|href|role|show|title|type)|(xml):(?:lang|space)|xmlns(?::xlink)?)$/;

export function attributeParts(node: number, key: string): SplitName {
  const line = key.indexOf('\n');
  if (line >= 0) return partsWith(key.slice(0, line), key.slice(line + 1));
  const match = node >= 0 && !isHtmlElement(node) ? foreignAttribute.exec(key) : null;
  if (match === null) return { qualified: key, prefix: null, local: key, namespace: null };
  return partsWith(
    key,
    match[1] !== undefined ? xlinkNamespace : match[2] !== undefined ? xmlNamespace : xmlnsNamespace,
  );
}

/** The key of the first attribute that is written so. */
export function keyOfAttribute(node: number, qualified: string): string | null {
  if (spacedNames.count === 0) return getAttribute(node, qualified) === null ? null : qualified;
  for (const key of attributesOf(node).keys()) {
    if (key === qualified || (key.startsWith(qualified) && key[qualified.length] === '\n')) return key;
  }
  return null;
}

/** The key of the attribute of that name and namespace. */
export function keyOfAttributeNS(node: number, namespace: string | null, local: string): string | null {
  for (const key of attributesOf(node).keys()) {
    const parts = attributeParts(node, key);
    if (parts.local === local && parts.namespace === namespace) return key;
  }
  return null;
}

// Making names --------------------------------------------------------------------------------------------------------

const prefixForm = /^[^\0\t\n\f\r />]+$/;
const elementForm = /^(?:[A-Za-z][^\0\t\n\f\r />]*|[:_\u0080-\uffff][A-Za-z0-9\-.:_\u0080-\uffff]*)$/;
const attributeForm = /^[^\0\t\n\f\r />=]+$/;

export function isElementName(name: string): boolean {
  return elementForm.test(name);
}

export function isAttributeName(name: string): boolean {
  return attributeForm.test(name);
}

/** Null where the name cannot be; the fault is in `wrong`. */
export function checkedName(
  qualified: string,
  namespace: string | null,
  isAttribute: boolean,
): { readonly parts: SplitName } | { readonly wrong: 'InvalidCharacterError' | 'NamespaceError' } {
  const colon = qualified.indexOf(':');
  const prefix = colon < 0 ? null : qualified.slice(0, colon);
  const local = qualified.slice(colon + 1);
  const isName = isAttribute ? isAttributeName(local) : isElementName(local);
  if (!isName || (prefix !== null && !prefixForm.test(prefix))) return { wrong: 'InvalidCharacterError' };
  if (prefix !== null && namespace === null) return { wrong: 'NamespaceError' };
  if (prefix === 'xml' && namespace !== xmlNamespace) return { wrong: 'NamespaceError' };
  const isXmlns = qualified === 'xmlns' || prefix === 'xmlns';
  if (isXmlns !== (namespace === xmlnsNamespace)) return { wrong: 'NamespaceError' };
  return { parts: { qualified, prefix, local, namespace } };
}

/** Steps of a path of XPath: along which axis, to which nodes, in which order. */
import { Attr, attributeNode } from './attributes.js';
import { isXmlNode } from './documents.js';
import { htmlNamespace, isHtmlElement, partsOf, partsOfName } from './names.js';
import { asciiLowerCase } from './row-lists.js';
import { attributesOf } from './attribute-values.js';
import { nameCount, nameText } from './name-table.js';
import { indexedByTag } from './page-indexes.js';
import {
  commentKind,
  elementKind,
  following,
  followingSubtree,
  instructionKind,
  isElement,
  isTextual,
  kind,
  nextSibling,
  parentOf,
  previousSibling,
  tagOf,
} from './tree.js';
import { childNodesOf, compareOrder, rootOf } from './tree-walks.js';
import type { Item } from './xpath-values.js';

export const axes =
  ' ancestor ancestor-or-self attribute child descendant descendant-or-self following following-sibling namespace parent preceding preceding-sibling self ';
export const reverseAxes = ' ancestor ancestor-or-self preceding preceding-sibling ';

export type NodeTest =
  | { readonly kind: 'node' | 'text' | 'comment' }
  | { readonly kind: 'instruction'; readonly target: string | null }
  /** `local` is null for any; the namespace is null without a prefix. */
  | { readonly kind: 'name'; readonly local: string | null; readonly namespace: string | null };

function fitsAttribute(test: NodeTest, attribute: Attr): boolean {
  if (test.kind === 'node') return true;
  if (test.kind !== 'name') return false;
  if (test.local === null) return test.namespace === null || attribute.namespaceURI === test.namespace;
  if (attribute.namespaceURI !== test.namespace) return false;
  if (attribute.localName === test.local) return true;
  // HTML's own attributes are lower case, however they are asked for.
  const owner = Attr.ownerOf(attribute);
  const isOfHtml = owner >= 0 && isHtmlElement(owner) && !isXmlNode(owner);
  return isOfHtml && attribute.localName === asciiLowerCase(test.local);
}

function fitsElement(test: NodeTest & { kind: 'name' }, node: number): boolean {
  const parts = partsOf(node);
  if (test.local === null) return test.namespace === null || parts.namespace === test.namespace;
  if (isXmlNode(node)) return parts.local === test.local && parts.namespace === test.namespace;
  if (parts.namespace === htmlNamespace) {
    const isNamed = asciiLowerCase(parts.local) === asciiLowerCase(test.local);
    return isNamed && (test.namespace === null || test.namespace === htmlNamespace);
  }
  // In documents of HTML a name without a prefix is one of HTML.
  return test.namespace !== null && parts.local === test.local && parts.namespace === test.namespace;
}

export function fits(test: NodeTest, item: Item): boolean {
  if (item instanceof Attr) return fitsAttribute(test, item);
  const what = kind(item);
  switch (test.kind) {
    case 'node':
      return true;
    case 'text':
      return isTextual(what);
    case 'comment':
      return what === commentKind;
    case 'instruction':
      return what === instructionKind && (test.target === null || nameText(tagOf(item)) === test.target);
    default:
      return what === elementKind && fitsElement(test, item);
  }
}

function parentOfItem(item: Item): number {
  return item instanceof Attr ? Attr.ownerOf(item) : parentOf(item);
}

/** Elements of a name inside a node, by the page's index where it has one. */
function namedDescendants(node: number, test: NodeTest & { kind: 'name' }): number[] | null {
  if (test.local === null) return null;
  const lists: ArrayLike<number>[] = [];
  const wanted = asciiLowerCase(test.local);
  for (let id = 0; id < nameCount(); id++) {
    if (asciiLowerCase(partsOfName(id).local) !== wanted) continue;
    const rows = indexedByTag(node, id);
    if (rows === null) return null;
    if (rows.length > 0) lists.push(rows);
  }
  const found = lists.flatMap((rows) => Array.from(rows)).filter((row) => fits(test, row));
  return lists.length > 1 ? found.sort((left, right) => left - right) : found;
}

function descendants(node: number, test: NodeTest, found: Item[]): void {
  const named = test.kind === 'name' ? namedDescendants(node, test) : null;
  if (named !== null) {
    for (const each of named) found.push(each);
    return;
  }
  for (let each = following(node, node); each >= 0; each = following(each, node))
    if (fits(test, each)) found.push(each);
}

function attributes(node: number, test: NodeTest, found: Item[]): void {
  if (!isElement(node)) return;
  for (const key of attributesOf(node).keys()) {
    const attribute = attributeNode(node, key);
    if (attribute === null || attribute.namespaceURI === 'http://www.w3.org/2000/xmlns/') continue;
    if (fits(test, attribute)) found.push(attribute);
  }
}

/** Everything that ends before a node begins, the nearest first. */
function preceding(from: number, test: NodeTest, found: Item[]): void {
  for (let up = from; up >= 0; up = parentOf(up)) {
    for (let sibling = previousSibling(up); sibling >= 0; sibling = previousSibling(sibling)) {
      const below: number[] = [];
      for (let each = sibling; each >= 0; each = following(each, sibling)) below.push(each);
      for (const each of below.reverse()) if (fits(test, each)) found.push(each);
    }
  }
}

/** What an axis leads to from a node, in the order of the axis. */
export function along(axis: string, item: Item, test: NodeTest): Item[] {
  const found: Item[] = [];
  const add = (node: Item): void => {
    if (fits(test, node)) found.push(node);
  };
  const node = item instanceof Attr ? -1 : item;
  switch (axis) {
    case 'self':
      add(item);
      break;
    case 'child':
      if (node >= 0) for (const child of childNodesOf(node)) add(child);
      break;
    case 'attribute':
      if (node >= 0) attributes(node, test, found);
      break;
    case 'parent': {
      const parent = parentOfItem(item);
      if (parent >= 0) add(parent);
      break;
    }
    case 'descendant-or-self':
      add(item);
      if (node >= 0) descendants(node, test, found);
      break;
    case 'descendant':
      if (node >= 0) descendants(node, test, found);
      break;
    case 'ancestor-or-self':
      add(item);
      for (let up = parentOfItem(item); up >= 0; up = parentOf(up)) add(up);
      break;
    case 'ancestor':
      for (let up = parentOfItem(item); up >= 0; up = parentOf(up)) add(up);
      break;
    case 'following-sibling':
      if (node >= 0) for (let next = nextSibling(node); next >= 0; next = nextSibling(next)) add(next);
      break;
    case 'preceding-sibling':
      if (node >= 0) for (let next = previousSibling(node); next >= 0; next = previousSibling(next)) add(next);
      break;
    case 'following': {
      const from = item instanceof Attr ? Attr.ownerOf(item) : item;
      const root = rootOf(from);
      let next = item instanceof Attr ? following(from, root) : followingSubtree(from, root);
      for (; next >= 0; next = following(next, root)) add(next);
      break;
    }
    case 'preceding':
      preceding(item instanceof Attr ? Attr.ownerOf(item) : item, test, found);
      break;
    default:
      // The namespace axis leads nowhere, as in browsers.
      break;
  }
  return found;
}

function compareItems(left: Item, right: Item): number {
  const leftNode = left instanceof Attr ? Attr.ownerOf(left) : left;
  const rightNode = right instanceof Attr ? Attr.ownerOf(right) : right;
  if (leftNode !== rightNode) return compareOrder(leftNode, rightNode);
  if (!(left instanceof Attr)) return right instanceof Attr ? -1 : 0;
  if (!(right instanceof Attr)) return 1;
  const keys = [...attributesOf(leftNode).keys()];
  return keys.indexOf(Attr.keyOf(left)) - keys.indexOf(Attr.keyOf(right));
}

/** Each once, in document order. */
export function inOrder(items: readonly Item[]): Item[] {
  return [...new Set(items)].sort(compareItems);
}

/** Where a path that begins with `/` begins. */
export function topOf(item: Item): number {
  return rootOf(item instanceof Attr ? Attr.ownerOf(item) : item);
}

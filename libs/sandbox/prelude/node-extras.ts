/** What few scripts ask of a node: order, namespaces in scope, texts put together. */
import { Attr } from './attributes.js';
import { attributeParts, partsOf, xmlNamespace, xmlnsNamespace } from './names.js';
import { Node } from './nodes.js';
import { attributesOf } from './attribute-values.js';
import {
  containsNode,
  dataOf,
  detachNode,
  doctypeKind,
  documentKind,
  elementKind,
  firstChild,
  fragmentKind,
  isElement,
  kind,
  nextSibling,
  parentElementOf,
  replaceData,
  textKind,
} from './tree.js';
import { childNodesOf, compareOrder, rootOf } from './tree-walks.js';

const position = { disconnected: 1, preceding: 2, following: 4, contains: 8, containedBy: 16, specific: 32 } as const;

function keyedPlace(object: unknown): { node: number; key: string | null } {
  if (!(object instanceof Attr)) return { node: Node.numberOf(object), key: null };
  return { node: Attr.ownerOf(object), key: Attr.keyOf(object) };
}

export function comparePosition(self: unknown, other: unknown): number {
  if (self === other) return 0;
  const [own, others] = [keyedPlace(self), keyedPlace(other)];
  const isApart = own.node < 0 || others.node < 0 || rootOf(own.node) !== rootOf(others.node);
  if (isApart) {
    const order = others.node < own.node ? position.preceding : position.following;
    return position.disconnected | position.specific | order;
  }
  if (own.node === others.node) {
    if (others.key === null) return position.contains | position.preceding;
    if (own.key === null) return position.containedBy | position.following;
    const keys = [...attributesOf(own.node).keys()];
    const isAhead = keys.indexOf(others.key) < keys.indexOf(own.key);
    return position.specific | (isAhead ? position.preceding : position.following);
  }
  if (own.key === null && containsNode(own.node, others.node)) return position.containedBy | position.following;
  if (others.key === null && containsNode(others.node, own.node)) return position.contains | position.preceding;
  return compareOrder(others.node, own.node) < 0 ? position.preceding : position.following;
}

function elementFor(node: number): number {
  switch (kind(node)) {
    case elementKind:
      return node;
    case documentKind: {
      let top = firstChild(node);
      while (top >= 0 && !isElement(top)) top = nextSibling(top);
      return top;
    }
    case doctypeKind:
    case fragmentKind:
      return -1;
    default:
      return parentElementOf(node);
  }
}

export function lookUpNamespace(node: number, given: unknown): string | null {
  const prefix = given === null || given === undefined || given === '' ? null : String(given);
  for (let up = elementFor(node); up >= 0; up = parentElementOf(up)) {
    if (prefix === 'xml') return xmlNamespace;
    if (prefix === 'xmlns') return xmlnsNamespace;
    const parts = partsOf(up);
    if (parts.namespace !== null && parts.prefix === prefix) return parts.namespace;
    for (const [key, value] of attributesOf(up)) {
      const attribute = attributeParts(up, key);
      if (attribute.namespace !== xmlnsNamespace) continue;
      if ((attribute.prefix === null ? null : attribute.local) === prefix) return value === '' ? null : value;
    }
  }
  return null;
}

export function lookUpPrefix(node: number, given: unknown): string | null {
  if (given === null || given === undefined || given === '') return null;
  for (let up = elementFor(node); up >= 0; up = parentElementOf(up)) {
    const { prefix, namespace } = partsOf(up);
    if (namespace === given && prefix !== null) return prefix;
    for (const [key, value] of attributesOf(up)) {
      const attribute = attributeParts(up, key);
      if (attribute.prefix === 'xmlns' && attribute.namespace === xmlnsNamespace && value === given) {
        return attribute.local;
      }
    }
  }
  return null;
}

/** Puts neighbouring texts together and takes out empty ones. */
export function normalize(node: number): void {
  let before = -1;
  for (const child of childNodesOf(node)) {
    if (kind(child) !== textKind) {
      before = -1;
      if (firstChild(child) >= 0) normalize(child);
      continue;
    }
    const text = dataOf(child);
    if (text === '') detachNode(child);
    else if (before < 0) before = child;
    else {
      replaceData(before, dataOf(before).length, 0, text);
      detachNode(child);
    }
  }
}

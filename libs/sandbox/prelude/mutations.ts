/** Structure changed by code, with what the DOM refuses. */
import { documentOf, setOwner, takeOut } from './documents.js';
import { domError } from './dom-exception.js';
import {
  containsNode,
  createNode,
  doctypeKind,
  documentKind,
  elementKind,
  firstChild,
  fragmentKind,
  insertNode,
  isTextual,
  kind,
  nextSibling,
  parentOf,
  previousSibling,
} from './tree.js';
import { childNodesOf } from './tree-walks.js';

function refuse(message: string): never {
  throw domError('HierarchyRequestError', message);
}

function hasKind(node: number, wanted: number): boolean {
  return node >= 0 && kind(node) === wanted;
}

/** What a document may hold: one doctype, then one element, and no text. */
function checkDocument(document: number, nodes: readonly number[], before: number, replaced: number): void {
  const others = childNodesOf(document).filter((child) => child !== replaced && !nodes.includes(child));
  const elements = nodes.filter((node) => kind(node) === elementKind).length;
  const doctypes = nodes.filter((node) => kind(node) === doctypeKind).length;
  const place = before < 0 ? others.length : others.indexOf(before);
  const [ahead, behind] = [others.slice(0, place), others.slice(place)];
  if (nodes.some((node) => isTextual(kind(node)))) refuse('A document holds no text.');
  if (elements > 0 && (elements > 1 || others.some((child) => hasKind(child, elementKind)))) {
    refuse('A document holds one element.');
  }
  if (elements > 0 && behind.some((child) => hasKind(child, doctypeKind)))
    refuse('A doctype stands before the element.');
  if (doctypes > 0 && (doctypes > 1 || others.some((child) => hasKind(child, doctypeKind)))) {
    refuse('A document holds one doctype.');
  }
  if (doctypes > 0 && ahead.some((child) => hasKind(child, elementKind)))
    refuse('A doctype stands before the element.');
}

/** `before` is the child ahead of which the node goes, -1 for the end; `replaced` a child that goes. */
function check(parent: number, node: number, before: number, replaced: number): void {
  const parentKind = kind(parent);
  if (parentKind !== elementKind && parentKind !== fragmentKind && parentKind !== documentKind) {
    refuse('This node type does not support children.');
  }
  if (containsNode(node, parent)) refuse('The new child element contains the parent.');
  const child = replaced >= 0 ? replaced : before;
  if (child >= 0 && parentOf(child) !== parent) {
    throw domError(
      'NotFoundError',
      replaced >= 0
        ? 'The node to be replaced is not a child of this node.'
        : 'The node before which the new node is to be inserted is not a child of this node.',
    );
  }
  const nodeKind = kind(node);
  if (nodeKind === documentKind) refuse('A document cannot be inserted.');
  if (nodeKind === doctypeKind && parentKind !== documentKind) refuse('A doctype stands in a document alone.');
  if (parentKind !== documentKind) return;
  checkDocument(parent, nodeKind === fragmentKind ? childNodesOf(node) : [node], before, replaced);
}

function place(parent: number, node: number, before: number): void {
  if (kind(node) !== fragmentKind) return insertNode(parent, node, before);
  const document = documentOf(node);
  for (const child of childNodesOf(node)) insertNode(parent, child, before);
  setOwner(node, document);
}

/** Puts a node, or what a fragment holds, before `before`, at the end where that is -1. Throws where it cannot stand. */
export function insertInto(parent: number, node: number, before: number): void {
  check(parent, node, before, -1);
  place(parent, node, before === node ? nextSibling(node) : before);
}

export function replaceNode(parent: number, node: number, old: number): void {
  let before = nextSibling(old);
  check(parent, node, before === node ? nextSibling(node) : before, old);
  if (before === node) before = nextSibling(node);
  if (node !== old) takeOut(old);
  place(parent, node, before);
}

/** One node of several, as `append` and its like take them. */
export function gathered(nodes: readonly number[]): number {
  const [only] = nodes;
  if (only !== undefined && nodes.length === 1) return only;
  const fragment = createNode(fragmentKind, 0, '');
  for (const node of nodes) insertInto(fragment, node, -1);
  return fragment;
}

/** In the place of all children; -1 for nothing. */
export function replaceAll(parent: number, node: number): void {
  if (node >= 0 && kind(parent) === documentKind) checkDocument(parent, [node], -1, -1);
  if (node >= 0 && containsNode(node, parent)) refuse('The new child element contains the parent.');
  for (const child of childNodesOf(parent)) if (child !== node) takeOut(child);
  if (node >= 0) insertInto(parent, node, -1);
}

/** The nearest sibling, in one direction, that is not among those that move. */
function outside(node: number, moving: readonly number[], step: (node: number) => number): number {
  let sibling = step(node);
  while (sibling >= 0 && moving.includes(sibling)) sibling = step(sibling);
  return sibling;
}

export function insertBeside(node: number, nodes: readonly number[], isBefore: boolean): void {
  const parent = parentOf(node);
  if (parent < 0) return;
  const sibling = outside(node, nodes, isBefore ? previousSibling : nextSibling);
  const moved = gathered(nodes);
  if (!isBefore) return insertInto(parent, moved, sibling);
  insertInto(parent, moved, sibling < 0 ? firstChild(parent) : nextSibling(sibling));
}

export function replaceBy(node: number, nodes: readonly number[]): void {
  const parent = parentOf(node);
  if (parent < 0) return;
  const after = outside(node, nodes, nextSibling);
  const moved = gathered(nodes);
  if (parentOf(node) === parent) replaceNode(parent, moved, node);
  else insertInto(parent, moved, after);
}

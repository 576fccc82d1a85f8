/** Boundary points of ranges and their order. */
import {
  commentKind,
  containsNode,
  dataOf,
  doctypeKind,
  instructionKind,
  isTextual,
  kind,
  parentOf,
  previousSibling,
} from './tree.js';
import { childNodesOf, compareOrder } from './tree-walks.js';

export interface Point {
  node: number;
  offset: number;
}

export function isData(node: number): boolean {
  const what = kind(node);
  return isTextual(what) || what === commentKind || what === instructionKind;
}

export function lengthOf(node: number): number {
  if (kind(node) === doctypeKind) return 0;
  return isData(node) ? dataOf(node).length : childNodesOf(node).length;
}

export function indexOf(node: number): number {
  let index = 0;
  for (let before = previousSibling(node); before >= 0; before = previousSibling(before)) index++;
  return index;
}

/** The child of `ancestor` that holds a node. */
export function childHolding(ancestor: number, node: number): number {
  let child = node;
  while (child >= 0 && parentOf(child) !== ancestor) child = parentOf(child);
  return child;
}

/** -1, 0 or 1; both in one tree. */
export function compare(left: Point, right: Point): number {
  if (left.node === right.node) return Math.sign(left.offset - right.offset);
  if (containsNode(left.node, right.node)) {
    return indexOf(childHolding(left.node, right.node)) < left.offset ? 1 : -1;
  }
  if (containsNode(right.node, left.node)) return -compare(right, left);
  return compareOrder(left.node, right.node);
}

export interface Points {
  start: Point;
  end: Point;
}

export function commonAncestor({ start, end }: Points): number {
  let node = start.node;
  while (!containsNode(node, end.node)) node = parentOf(node);
  return node;
}

/** Ways through the tree that are made of single steps. */
import { firstChild, isElement, isFrozen, nextSibling, parentOf, previousSibling } from './tree.js';

export function rootOf(node: number): number {
  let root = node;
  for (let up = parentOf(node); up >= 0; up = parentOf(up)) root = up;
  return root;
}

export function previousElement(node: number): number {
  let sibling = previousSibling(node);
  while (sibling >= 0 && !isElement(sibling)) sibling = previousSibling(sibling);
  return sibling;
}

export function nextElement(node: number): number {
  let sibling = nextSibling(node);
  while (sibling >= 0 && !isElement(sibling)) sibling = nextSibling(sibling);
  return sibling;
}

export function childNodesOf(node: number): number[] {
  const children: number[] = [];
  for (let child = firstChild(node); child >= 0; child = nextSibling(child)) children.push(child);
  return children;
}

/** -1, 0 or 1 in document order; nodes of different trees are ordered by number. */
export function compareOrder(left: number, right: number): number {
  if (left === right) return 0;
  if (isFrozen(left) && isFrozen(right)) return left < right ? -1 : 1;
  const path = (node: number): number[] => {
    const up: number[] = [];
    for (let each = node; each >= 0; each = parentOf(each)) up.push(each);
    return up.reverse();
  };
  const leftPath = path(left);
  const rightPath = path(right);
  if (leftPath[0] !== rightPath[0]) return (leftPath[0] ?? 0) < (rightPath[0] ?? 0) ? -1 : 1;
  let at = 0;
  while (at < leftPath.length && leftPath[at] === rightPath[at]) at++;
  const leftBranch = leftPath[at];
  const rightBranch = rightPath[at];
  if (leftBranch === undefined) return -1;
  if (rightBranch === undefined) return 1;
  for (let sibling = nextSibling(leftBranch); sibling >= 0; sibling = nextSibling(sibling)) {
    if (sibling === rightBranch) return -1;
  }
  return 1;
}

/** What lies between two boundary points: copied, taken out or removed. */
import { documentOf, setOwner, takeOut } from './documents.js';
import { domError } from './dom-exception.js';
import { insertInto } from './mutations.js';
import { cloneOf } from './nodes.js';
import {
  containsNode,
  createNode,
  dataOf,
  doctypeKind,
  following,
  fragmentKind,
  kind,
  parentOf,
  replaceData,
} from './tree.js';
import { childNodesOf, rootOf } from './tree-walks.js';
import type { Point, Points } from './range-points.js';
import { isData, lengthOf, indexOf, childHolding, compare, commonAncestor } from './range-points.js';

/** The part of a text that lies between two offsets, as a node of its own. */
function textPart(node: number, from: number, to: number, isTaken: boolean): number {
  const part = cloneOf(node, false);
  replaceData(part, 0, -1, dataOf(node).slice(from, to));
  if (isTaken) replaceData(node, from, to - from, '');
  return part;
}

/** What is between two places as a fragment, copied or taken out. */
export function contents(own: Points, isTaken: boolean): number {
  const start = { ...own.start };
  const end = { ...own.end };
  const fragment = createNode(fragmentKind, 0, '');
  setOwner(fragment, documentOf(start.node));
  if (start.node === end.node && start.offset === end.offset) return fragment;
  if (start.node === end.node && isData(start.node)) {
    insertInto(fragment, textPart(start.node, start.offset, end.offset, isTaken), -1);
    if (isTaken) own.end = { ...own.start };
    return fragment;
  }
  const ancestor = commonAncestor({ start, end });
  const first = containsNode(start.node, end.node) ? -1 : childHolding(ancestor, start.node);
  const last = containsNode(end.node, start.node) ? -1 : childHolding(ancestor, end.node);
  const from = first >= 0 ? indexOf(first) + 1 : start.offset;
  const to = last >= 0 ? indexOf(last) : end.offset;
  const whole = childNodesOf(ancestor).slice(from, to);
  if (whole.some((child) => kind(child) === doctypeKind)) {
    throw domError('HierarchyRequestError', 'A doctype cannot be in a fragment.');
  }
  let left: Point = start;
  if (isTaken && first >= 0) {
    let node = start.node;
    while (parentOf(node) >= 0 && !containsNode(parentOf(node), end.node)) node = parentOf(node);
    left = { node: parentOf(node), offset: indexOf(node) + 1 };
  }
  const partOf = (child: number, inner: Points): void => {
    if (isData(child)) {
      const to_ = inner.end.node === child ? inner.end.offset : lengthOf(child);
      insertInto(fragment, textPart(child, inner.start.offset, to_, isTaken), -1);
      return;
    }
    const clone = cloneOf(child, false);
    insertInto(fragment, clone, -1);
    insertInto(clone, contents(inner, isTaken), -1);
  };
  if (first >= 0) partOf(first, { start, end: { node: first, offset: lengthOf(first) } });
  for (const child of whole) insertInto(fragment, isTaken ? child : cloneOf(child, true), -1);
  if (last >= 0) partOf(last, { start: { node: last, offset: 0 }, end });
  if (isTaken) Object.assign(own, { start: { ...left }, end: { ...left } });
  return fragment;
}

export function remove(own: Points): void {
  const { start, end } = { start: { ...own.start }, end: { ...own.end } };
  if (start.node === end.node && isData(start.node)) {
    return replaceData(start.node, start.offset, end.offset - start.offset, '');
  }
  const root = rootOf(start.node);
  const gone: number[] = [];
  for (let node = root; node >= 0; node = following(node, root)) {
    const parent = parentOf(node);
    if (parent < 0 || gone.includes(parent)) {
      if (parent >= 0) gone.push(node);
      continue;
    }
    const at = { node: parent, offset: indexOf(node) };
    if (compare(at, start) >= 0 && compare({ node: parent, offset: at.offset + 1 }, end) <= 0) gone.push(node);
  }
  const tops = gone.filter((node) => !gone.includes(parentOf(node)));
  let left: Point = start;
  if (!containsNode(start.node, end.node)) {
    let node = start.node;
    while (parentOf(node) >= 0 && !containsNode(parentOf(node), end.node)) node = parentOf(node);
    left = { node: parentOf(node), offset: indexOf(node) + 1 };
  }
  if (isData(start.node)) replaceData(start.node, start.offset, lengthOf(start.node) - start.offset, '');
  for (const node of tops) takeOut(node);
  if (isData(end.node)) replaceData(end.node, 0, end.offset, '');
  Object.assign(own, { start: { ...left }, end: { ...left } });
}

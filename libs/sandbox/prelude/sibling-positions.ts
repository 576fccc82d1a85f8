/** Where elements stand among their siblings, counted once for each parent. */
import { firstChild, isElement, nextSibling, nodeLimit, parentOf, tagOf, versionOf } from './tree.js';

const none = new Int32Array(0);

let countedVersion = -1;
/** By node: its place among its sibling elements, and among those of its own tag; from 1. 0 where not counted. */
let positions = none;
let typePositions = none;
/** By node: how many siblings of its tag there are, itself included. */
let typeCounts = none;
/** By parent: how many elements it holds. */
let childCounts = none;

/** Counts the children of a parent once, and remembers it until the tree changes. */
function countChildren(parent: number): void {
  if (countedVersion !== versionOf()) {
    countedVersion = versionOf();
    const length = nodeLimit();
    positions = new Int32Array(length);
    typePositions = new Int32Array(length);
    typeCounts = new Int32Array(length);
    childCounts = new Int32Array(length);
  }
  const children: number[] = [];
  const counts: Record<number, number> = {};
  for (let child = firstChild(parent); child >= 0; child = nextSibling(child)) {
    if (!isElement(child)) continue;
    children.push(child);
    const tag = tagOf(child);
    const count = (counts[tag] ?? 0) + 1;
    counts[tag] = count;
    positions[child] = children.length;
    typePositions[child] = count;
  }
  for (let at = 0; at < children.length; at++) {
    const child = children[at] ?? 0;
    typeCounts[child] = counts[tagOf(child)] ?? 0;
  }
  childCounts[parent] = children.length;
}

export function positionOf(node: number, isFromEnd: boolean, isOfType: boolean): number {
  const parent = parentOf(node);
  if (parent < 0) return 1;
  if (countedVersion !== versionOf() || (positions[node] ?? 0) === 0) countChildren(parent);
  const position = (isOfType ? typePositions : positions)[node] ?? 1;
  if (!isFromEnd) return position;
  return ((isOfType ? typeCounts[node] : childCounts[parent]) ?? 1) - position + 1;
}

/** Where elements stand among their siblings, counted once for each parent. */
import { firstChild, isElement, nextSibling, parentOf, tagOf, versionOf } from './tree.js';

let positionsVersion = -1;
let childPositions: Map<number, number> = new Map();
let childCounts: Map<number, number> = new Map();
let typePositions: Map<number, number> = new Map();
let typeCounts: Map<string, number> = new Map();
let countedParents: Set<number> = new Set();

/** Counts the children of a parent once, and remembers it until the tree changes. */
function countChildren(parent: number): void {
  if (positionsVersion !== versionOf()) {
    positionsVersion = versionOf();
    childPositions = new Map();
    childCounts = new Map();
    typePositions = new Map();
    typeCounts = new Map();
    countedParents = new Set();
  }
  if (countedParents.has(parent)) return;
  countedParents.add(parent);
  const ofType = new Map<number, number>();
  let position = 0;
  for (let child = firstChild(parent); child >= 0; child = nextSibling(child)) {
    if (!isElement(child)) continue;
    childPositions.set(child, ++position);
    const tag = tagOf(child);
    const count = (ofType.get(tag) ?? 0) + 1;
    ofType.set(tag, count);
    typePositions.set(child, count);
  }
  childCounts.set(parent, position);
  for (const [tag, count] of ofType) typeCounts.set(`${parent} ${tag}`, count);
}

export function positionOf(node: number, isFromEnd: boolean, isOfType: boolean): number {
  const parent = parentOf(node);
  if (parent < 0) return 1;
  countChildren(parent);
  if (isOfType) {
    const position = typePositions.get(node) ?? 1;
    return isFromEnd ? (typeCounts.get(`${parent} ${tagOf(node)}`) ?? 1) - position + 1 : position;
  }
  const position = childPositions.get(node) ?? 1;
  return isFromEnd ? (childCounts.get(parent) ?? 1) - position + 1 : position;
}

/** `Range`, `StaticRange` and `Selection`: places in the tree and the text between them. */
import { documentOf, setOwner, takeOut } from './documents.js';
import { domError, noLayout } from './dom-exception.js';
import { follow } from './live.js';
import { insertInto, replaceAll } from './mutations.js';
import { htmlNamespace, localName, partsOf } from './names.js';
import { cloneOf, Node } from './nodes.js';
import { namespacesAround, parseFragment, parseXmlInside } from './parse-markup.js';
import { isXmlNode } from './documents.js';
import {
  commentKind,
  containsNode,
  createNode,
  dataOf,
  doctypeKind,
  documentKind,
  following,
  followingSubtree,
  fragmentKind,
  instructionKind,
  isElement,
  isTextual,
  kind,
  nextSibling,
  parentOf,
  previousSibling,
  replaceData,
} from './tree.js';
import { childNodesOf, compareOrder, rootOf } from './tree-walks.js';
import { wrap } from './wrappers.js';

interface Point {
  node: number;
  offset: number;
}

function isData(node: number): boolean {
  const what = kind(node);
  return isTextual(what) || what === commentKind || what === instructionKind;
}

function lengthOf(node: number): number {
  if (kind(node) === doctypeKind) return 0;
  return isData(node) ? dataOf(node).length : childNodesOf(node).length;
}

function indexOf(node: number): number {
  let index = 0;
  for (let before = previousSibling(node); before >= 0; before = previousSibling(before)) index++;
  return index;
}

/** The child of `ancestor` that holds a node. */
function childHolding(ancestor: number, node: number): number {
  let child = node;
  while (child >= 0 && parentOf(child) !== ancestor) child = parentOf(child);
  return child;
}

/** -1, 0 or 1; both in one tree. */
function compare(left: Point, right: Point): number {
  if (left.node === right.node) return Math.sign(left.offset - right.offset);
  if (containsNode(left.node, right.node)) {
    return indexOf(childHolding(left.node, right.node)) < left.offset ? 1 : -1;
  }
  if (containsNode(right.node, left.node)) return -compare(right, left);
  return compareOrder(left.node, right.node);
}

function checkedPoint(object: unknown, given: unknown): Point {
  const node = Node.numberOf(object);
  if (kind(node) === doctypeKind) throw domError('InvalidNodeTypeError', 'A range cannot start or end in a doctype.');
  const offset = Number(given) >>> 0;
  if (offset > lengthOf(node)) {
    throw domError('IndexSizeError', `There is no child at offset ${offset}, or the text is shorter.`);
  }
  return { node, offset };
}

function parentAround(object: unknown): { node: number; parent: number } {
  const node = Node.numberOf(object);
  const parent = parentOf(node);
  if (parent < 0) throw domError('InvalidNodeTypeError', 'The given node has no parent.');
  return { node, parent };
}

const live: Range[] = [];

export class AbstractRange {
  get startContainer(): object | null {
    return wrap(pointsOf(this).start.node);
  }
  get startOffset(): number {
    return pointsOf(this).start.offset;
  }
  get endContainer(): object | null {
    return wrap(pointsOf(this).end.node);
  }
  get endOffset(): number {
    return pointsOf(this).end.offset;
  }
  get collapsed(): boolean {
    const { start, end } = pointsOf(this);
    return start.node === end.node && start.offset === end.offset;
  }
  get [Symbol.toStringTag](): string {
    return this.constructor.name;
  }
}

interface Points {
  start: Point;
  end: Point;
}

const points = new WeakMap<object, Points>();

function pointsOf(range: object): Points {
  const known = points.get(range);
  if (known === undefined) throw new TypeError('Illegal invocation');
  return known;
}

export class StaticRange extends AbstractRange {
  constructor(init: { startContainer: unknown; startOffset: unknown; endContainer: unknown; endOffset: unknown }) {
    super();
    const point = (object: unknown, offset: unknown): Point => {
      const node = Node.numberOf(object);
      if (kind(node) === doctypeKind) throw domError('InvalidNodeTypeError', 'A range cannot be in a doctype.');
      return { node, offset: Number(offset) >>> 0 };
    };
    points.set(this, {
      start: point(init.startContainer, init.startOffset),
      end: point(init.endContainer, init.endOffset),
    });
  }
}

export class Range extends AbstractRange {
  static readonly START_TO_START = 0;
  static readonly START_TO_END = 1;
  static readonly END_TO_END = 2;
  static readonly END_TO_START = 3;

  constructor() {
    super();
    points.set(this, { start: { node: 0, offset: 0 }, end: { node: 0, offset: 0 } });
    live.push(this);
  }

  get commonAncestorContainer(): object | null {
    return wrap(commonAncestor(pointsOf(this)));
  }

  setStart(node: unknown, offset: unknown): void {
    setPoint(this, 'start', checkedPoint(node, offset));
  }
  setEnd(node: unknown, offset: unknown): void {
    setPoint(this, 'end', checkedPoint(node, offset));
  }
  setStartBefore(object: unknown): void {
    const { node, parent } = parentAround(object);
    setPoint(this, 'start', { node: parent, offset: indexOf(node) });
  }
  setStartAfter(object: unknown): void {
    const { node, parent } = parentAround(object);
    setPoint(this, 'start', { node: parent, offset: indexOf(node) + 1 });
  }
  setEndBefore(object: unknown): void {
    const { node, parent } = parentAround(object);
    setPoint(this, 'end', { node: parent, offset: indexOf(node) });
  }
  setEndAfter(object: unknown): void {
    const { node, parent } = parentAround(object);
    setPoint(this, 'end', { node: parent, offset: indexOf(node) + 1 });
  }
  collapse(toStart: unknown = false): void {
    const own = pointsOf(this);
    if (toStart) own.end = { ...own.start };
    else own.start = { ...own.end };
  }
  selectNode(object: unknown): void {
    const { node, parent } = parentAround(object);
    const at = indexOf(node);
    points.set(this, { start: { node: parent, offset: at }, end: { node: parent, offset: at + 1 } });
  }
  selectNodeContents(object: unknown): void {
    const node = Node.numberOf(object);
    if (kind(node) === doctypeKind) throw domError('InvalidNodeTypeError', 'A doctype holds nothing.');
    points.set(this, { start: { node, offset: 0 }, end: { node, offset: lengthOf(node) } });
  }
  compareBoundaryPoints(given: unknown, other: unknown): number {
    const how = Number(given) & 0xffff;
    if (how > 3) throw domError('NotSupportedError', 'The comparison method provided is none of the four.');
    const [own, others] = [pointsOf(this), pointsOf(other as object)];
    if (rootOf(own.start.node) !== rootOf(others.start.node)) {
      throw domError('WrongDocumentError', 'The ranges are in different trees.');
    }
    return compare(how === 0 || how === 3 ? own.start : own.end, how === 0 || how === 1 ? others.start : others.end);
  }
  comparePoint(object: unknown, offset: unknown): number {
    const { start, end } = pointsOf(this);
    if (rootOf(Node.numberOf(object)) !== rootOf(start.node)) {
      throw domError('WrongDocumentError', 'The node is in another tree.');
    }
    const point = checkedPoint(object, offset);
    if (compare(point, start) < 0) return -1;
    return compare(point, end) > 0 ? 1 : 0;
  }
  isPointInRange(object: unknown, offset: unknown): boolean {
    if (rootOf(Node.numberOf(object)) !== rootOf(pointsOf(this).start.node)) return false;
    return this.comparePoint(object, offset) === 0;
  }
  intersectsNode(object: unknown): boolean {
    const node = Node.numberOf(object);
    const { start, end } = pointsOf(this);
    if (rootOf(node) !== rootOf(start.node)) return false;
    const parent = parentOf(node);
    if (parent < 0) return true;
    const at = indexOf(node);
    return compare({ node: parent, offset: at }, end) < 0 && compare({ node: parent, offset: at + 1 }, start) > 0;
  }
  cloneRange(): Range {
    const { start, end } = pointsOf(this);
    const clone = new Range();
    points.set(clone, { start: { ...start }, end: { ...end } });
    return clone;
  }
  cloneContents(): object | null {
    return wrap(contents(pointsOf(this), false));
  }
  extractContents(): object | null {
    const own = pointsOf(this);
    return wrap(contents(own, true));
  }
  deleteContents(): void {
    remove(pointsOf(this));
  }
  insertNode(object: unknown): void {
    insertAt(this, Node.numberOf(object));
  }
  surroundContents(object: unknown): void {
    const own = pointsOf(this);
    const node = Node.numberOf(object);
    const isPartly = (holder: number): boolean =>
      containsNode(holder, own.start.node) !== containsNode(holder, own.end.node);
    const ancestor = commonAncestor(own);
    for (const end of [own.start.node, own.end.node]) {
      for (let up = end; up !== ancestor; up = parentOf(up)) {
        if (!isTextual(kind(up)) && isPartly(up)) {
          throw domError('InvalidStateError', 'The range has selected a part of an element.');
        }
      }
    }
    if (kind(node) === documentKind || kind(node) === doctypeKind || kind(node) === fragmentKind) {
      throw domError('InvalidNodeTypeError', 'The node given cannot stand around others.');
    }
    const fragment = contents(own, true);
    replaceAll(node, -1);
    insertAt(this, node);
    insertInto(node, fragment, -1);
    this.selectNode(object);
  }
  createContextualFragment(markup: unknown): object | null {
    let node = pointsOf(this).start.node;
    if (!isElement(node)) node = kind(node) === documentKind || kind(node) === fragmentKind ? -1 : parentOf(node);
    const isHtmlTop = node >= 0 && localName(node) === 'html' && partsOf(node).namespace === htmlNamespace;
    if (node < 0 || !isElement(node) || (isHtmlTop && !isXmlNode(node))) {
      return wrap(parseFragment(String(markup), 'body', htmlNamespace));
    }
    if (isXmlNode(node)) return wrap(parseXmlInside(String(markup), namespacesAround(node)));
    return wrap(parseFragment(String(markup), localName(node), partsOf(node).namespace));
  }
  detach(): void {
    // Kept by the standard to do nothing.
  }
  override toString(): string {
    const { start, end } = pointsOf(this);
    if (start.node === end.node && isTextual(kind(start.node))) {
      return dataOf(start.node).slice(start.offset, end.offset);
    }
    let text = isTextual(kind(start.node)) ? dataOf(start.node).slice(start.offset) : '';
    const root = rootOf(start.node);
    const last = afterPoint(end, root);
    for (let node = afterPoint(start, root); node >= 0 && node !== last; node = following(node, root)) {
      if (isTextual(kind(node)) && node !== start.node && node !== end.node) text += dataOf(node);
    }
    return isTextual(kind(end.node)) ? text + dataOf(end.node).slice(0, end.offset) : text;
  }
  getBoundingClientRect(): never {
    return noLayout('getBoundingClientRect()');
  }
  getClientRects(): never {
    return noLayout('getClientRects()');
  }
}
for (const name of ['START_TO_START', 'START_TO_END', 'END_TO_END', 'END_TO_START'] as const) {
  Object.defineProperty(Range.prototype, name, { value: Range[name], enumerable: true });
}

/** The first node that begins behind a place. */
function afterPoint({ node, offset }: Point, root: number): number {
  if (isData(node)) return followingSubtree(node, root);
  const child = childNodesOf(node)[offset];
  return child ?? followingSubtree(node, root);
}

function setPoint(range: Range, end: keyof Points, point: Point): void {
  const own = pointsOf(range);
  own[end] = point;
  const isApart = rootOf(own.start.node) !== rootOf(own.end.node);
  if (isApart || compare(own.start, own.end) > 0) own[end === 'start' ? 'end' : 'start'] = { ...point };
}

function commonAncestor({ start, end }: Points): number {
  let node = start.node;
  while (!containsNode(node, end.node)) node = parentOf(node);
  return node;
}

/** The part of a text that lies between two offsets, as a node of its own. */
function textPart(node: number, from: number, to: number, isTaken: boolean): number {
  const part = cloneOf(node, false);
  replaceData(part, 0, -1, dataOf(node).slice(from, to));
  if (isTaken) replaceData(node, from, to - from, '');
  return part;
}

/** What is between two places as a fragment, copied or taken out. */
function contents(own: Points, isTaken: boolean): number {
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

function remove(own: Points): void {
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

function insertAt(range: Range, node: number): void {
  const own = pointsOf(range);
  const { start } = own;
  const startKind = kind(start.node);
  const isText = isTextual(startKind);
  const cannotHold = startKind === commentKind || startKind === instructionKind || (isText && parentOf(start.node) < 0);
  if (cannotHold || start.node === node) {
    throw domError('HierarchyRequestError', 'Nothing can be inserted where the range starts.');
  }
  let reference = isText ? start.node : (childNodesOf(start.node)[start.offset] ?? -1);
  const parent = isText ? parentOf(start.node) : start.node;
  const isCollapsed = range.collapsed;
  if (isText) {
    const split = (wrap(start.node) as unknown as { splitText(offset: number): object }).splitText(start.offset);
    reference = Node.numberOf(split);
  }
  if (reference === node) reference = nextSibling(node);
  if (parentOf(node) >= 0) takeOut(node);
  let offset = reference < 0 ? lengthOf(parent) : indexOf(reference);
  offset += kind(node) === fragmentKind ? lengthOf(node) : 1;
  insertInto(parent, node, reference);
  if (isCollapsed) pointsOf(range).end = { node: parent, offset };
}

function eachPoint(change: (point: Point) => void): void {
  for (const range of live) {
    const { start, end } = pointsOf(range);
    change(start);
    change(end);
  }
}

follow({
  removing(node) {
    const parent = parentOf(node);
    const index = indexOf(node);
    eachPoint((point) => {
      if (containsNode(node, point.node)) Object.assign(point, { node: parent, offset: index });
      else if (point.node === parent && point.offset > index) point.offset--;
    });
  },
  inserted(node) {
    const parent = parentOf(node);
    const index = indexOf(node);
    eachPoint((point) => {
      if (point.node === parent && point.offset > index) point.offset++;
    });
  },
  changing(node, offset, count, length) {
    eachPoint((point) => {
      if (point.node !== node || point.offset <= offset) return;
      if (point.offset <= offset + count) point.offset = offset;
      else point.offset += length - count;
    });
  },
  split(node, offset, rest) {
    const parent = parentOf(node);
    const index = indexOf(node);
    eachPoint((point) => {
      if (point.node === node && point.offset > offset)
        Object.assign(point, { node: rest, offset: point.offset - offset });
      else if (point.node === parent && point.offset === index + 1) point.offset++;
    });
  },
});

export function createRange(document: number): Range {
  const range = new Range();
  points.set(range, { start: { node: document, offset: 0 }, end: { node: document, offset: 0 } });
  return range;
}

/** `Range` and `StaticRange`: places in the tree and what lies between them. */
import { takeOut, isXmlNode } from './documents.js';
import { domError, noLayout } from './dom-exception.js';
import { follow } from './live.js';
import { insertInto, replaceAll } from './mutations.js';
import { htmlNamespace, localName, partsOf } from './names.js';
import { Node } from './nodes.js';
import { namespacesAround, parseFragment, parseXmlInside } from './parse-markup.js';
import {
  commentKind,
  containsNode,
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
} from './tree.js';
import { childNodesOf, rootOf } from './tree-walks.js';
import { wrap } from './wrappers.js';
import type { Point, Points } from './range-points.js';
import { isData, lengthOf, indexOf, compare, commonAncestor } from './range-points.js';
import { contents, remove } from './range-contents.js';

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

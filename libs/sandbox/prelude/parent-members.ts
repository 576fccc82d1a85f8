/** What elements, documents and fragments share as parents, and what a node with siblings offers. */
import type { HTMLCollection, NodeList } from './lists.js';
import { liveCollection, oncePerNode, staticList } from './lists.js';
import { takeOut } from './documents.js';
import { gathered, insertBeside, insertInto, replaceAll, replaceBy } from './mutations.js';
import { asDomError, selecting } from './queries.js';
import { select, selectFirst } from './selectors.js';
import { childElementsOf, createNode, firstChild, isElement, lastChild, textKind } from './tree.js';
import { nextElement, previousElement } from './tree-walks.js';
import { wrap } from './wrappers.js';
import { Node } from './nodes.js';

const childElements = oncePerNode(liveCollection, (node) => childElementsOf(node));

function toNodes(items: readonly unknown[]): number[] {
  return items.map((item) => (item instanceof Node ? Node.numberOf(item) : createNode(textKind, 0, String(item))));
}

interface ParentMembers {
  readonly children: HTMLCollection;
  readonly childElementCount: number;
  readonly firstElementChild: object | null;
  readonly lastElementChild: object | null;
  querySelector(selector: unknown): object | null;
  querySelectorAll(selector: unknown): NodeList;
  append(...items: unknown[]): void;
  prepend(...items: unknown[]): void;
  replaceChildren(...items: unknown[]): void;
}

/** What elements, documents and fragments have in common. */
export const parentMembers: ParentMembers & ThisType<Node> = {
  get children(): HTMLCollection {
    return childElements(Node.numberOf(this));
  },
  get childElementCount(): number {
    return childElementsOf(Node.numberOf(this)).length;
  },
  get firstElementChild(): object | null {
    const child = firstChild(Node.numberOf(this));
    return wrap(child < 0 || isElement(child) ? child : nextElement(child));
  },
  get lastElementChild(): object | null {
    const child = lastChild(Node.numberOf(this));
    return wrap(child < 0 || isElement(child) ? child : previousElement(child));
  },
  querySelector(selector) {
    const node = Node.numberOf(this);
    // No closure: scripts call this for each card and row of a page.
    try {
      return wrap(selectFirst(node, String(selector)));
    } catch (thrown) {
      throw asDomError(thrown);
    }
  },
  querySelectorAll(selector) {
    const node = Node.numberOf(this);
    return staticList(selecting(() => select(node, String(selector))));
  },
  append(...items) {
    if (items.length > 0) insertInto(Node.numberOf(this), gathered(toNodes(items)), -1);
  },
  prepend(...items) {
    const parent = Node.numberOf(this);
    if (items.length > 0) insertInto(parent, gathered(toNodes(items)), firstChild(parent));
  },
  replaceChildren(...items) {
    replaceAll(Node.numberOf(this), items.length === 0 ? -1 : gathered(toNodes(items)));
  },
};

/** Members of nodes that can have siblings. */
export const childMembers: Record<'before' | 'after' | 'replaceWith' | 'remove', (...items: unknown[]) => void> &
  ThisType<Node> = {
  before(...items: unknown[]) {
    insertBeside(Node.numberOf(this), toNodes(items), true);
  },
  after(...items: unknown[]) {
    insertBeside(Node.numberOf(this), toNodes(items), false);
  },
  replaceWith(...items: unknown[]) {
    replaceBy(Node.numberOf(this), toNodes(items));
  },
  remove() {
    takeOut(Node.numberOf(this));
  },
};

export function mixIn(target: object, members: object): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(members))) {
    Object.defineProperty(target, name, { ...descriptor, enumerable: false });
  }
}

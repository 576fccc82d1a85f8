/** `TreeWalker`. */
import { lazyModule } from './lazy-modules.js';
import { domError } from './dom-exception.js';
import { numberOf } from './nodes.js';
import {
  firstChild,
  following,
  followingSubtree,
  kind,
  lastChild,
  nextSibling,
  parentOf,
  previousSibling,
} from './tree.js';
import { wrap } from './wrappers.js';

export class NodeFilter {
  static readonly FILTER_ACCEPT = 1;
  static readonly FILTER_REJECT = 2;
  static readonly FILTER_SKIP = 3;
  static readonly SHOW_ALL = 0xffffffff;
  static readonly SHOW_ELEMENT = 1;
  static readonly SHOW_ATTRIBUTE = 2;
  static readonly SHOW_TEXT = 4;
  static readonly SHOW_CDATA_SECTION = 8;
  static readonly SHOW_PROCESSING_INSTRUCTION = 64;
  static readonly SHOW_COMMENT = 128;
  static readonly SHOW_DOCUMENT = 256;
  static readonly SHOW_DOCUMENT_TYPE = 512;
  static readonly SHOW_DOCUMENT_FRAGMENT = 1024;
}

for (const name of Object.getOwnPropertyNames(NodeFilter)) {
  if (/^(?:FILTER|SHOW)_/.test(name)) Object.defineProperty(NodeFilter, name, { writable: false, configurable: false });
}

export type Filter = ((node: unknown) => number) | { acceptNode(node: unknown): number } | null;

export const accepted = 1;
const rejected = 2;
const skipped = 3;

const iterators = lazyModule('iterators');

export class Walk {
  readonly root: object | null;
  readonly whatToShow: number;
  readonly filter: Filter;

  constructor(root: unknown, whatToShow: unknown, filter: unknown) {
    this.root = wrap(numberOf(root));
    this.whatToShow = whatToShow === undefined ? 0xffffffff : Number(whatToShow) >>> 0;
    if (filter !== null && filter !== undefined && typeof filter !== 'function' && typeof filter !== 'object') {
      throw new TypeError("The filter is not of type 'NodeFilter'.");
    }
    this.filter = (filter ?? null) as Filter;
  }

  #isJudging = false;

  judge(node: number): number {
    if (this.#isJudging) throw domError('InvalidStateError', 'The filter cannot walk while it is asked.');
    if (((this.whatToShow >>> (kind(node) - 1)) & 1) === 0) return skipped;
    if (this.filter === null) return accepted;
    this.#isJudging = true;
    try {
      const { filter } = this;
      const verdict: unknown = typeof filter === 'function' ? filter(wrap(node)) : filter.acceptNode(wrap(node));
      return Number(verdict) & 0xffff;
    } finally {
      this.#isJudging = false;
    }
  }
}

export class TreeWalker {
  #walk: Walk;
  #current: number;

  constructor(root: unknown, whatToShow?: unknown, filter?: unknown) {
    this.#walk = new Walk(root, whatToShow, filter);
    this.#current = numberOf(root);
  }

  get root(): object | null {
    return this.#walk.root;
  }
  get whatToShow(): number {
    return this.#walk.whatToShow;
  }
  get filter(): Filter {
    return this.#walk.filter;
  }
  get currentNode(): object | null {
    return wrap(this.#current);
  }
  set currentNode(node: unknown) {
    this.#current = numberOf(node);
  }

  get [Symbol.toStringTag](): string {
    return 'TreeWalker';
  }

  #arrive(node: number): object | null {
    if (node >= 0) this.#current = node;
    return wrap(node);
  }

  nextNode(): object | null {
    const root = numberOf(this.root);
    let node = following(this.#current, root);
    while (node >= 0) {
      const verdict = this.#walk.judge(node);
      if (verdict === accepted) return this.#arrive(node);
      node = verdict === rejected ? followingSubtree(node, root) : following(node, root);
    }
    return null;
  }

  previousNode(): object | null {
    const root = numberOf(this.root);
    let node = this.#current;
    while (node !== root) {
      let sibling = previousSibling(node);
      while (sibling >= 0) {
        node = sibling;
        let verdict = this.#walk.judge(node);
        while (verdict !== rejected && lastChild(node) >= 0) {
          node = lastChild(node);
          verdict = this.#walk.judge(node);
        }
        if (verdict === accepted) return this.#arrive(node);
        sibling = previousSibling(node);
      }
      if (node === root || parentOf(node) < 0) return null;
      node = parentOf(node);
      if (this.#walk.judge(node) === accepted) return this.#arrive(node);
    }
    return null;
  }

  parentNode(): object | null {
    const root = numberOf(this.root);
    for (let node = this.#current; node !== root && node >= 0;) {
      node = parentOf(node);
      if (node >= 0 && this.#walk.judge(node) === accepted) return this.#arrive(node);
    }
    return null;
  }

  #child(first: (node: number) => number, next: (node: number) => number): object | null {
    let node = first(this.#current);
    while (node >= 0) {
      const verdict = this.#walk.judge(node);
      if (verdict === accepted) return this.#arrive(node);
      const inside = verdict === skipped ? first(node) : -1;
      if (inside >= 0) {
        node = inside;
        continue;
      }
      let after = next(node);
      while (after < 0) {
        const parent = parentOf(node);
        if (parent < 0 || parent === numberOf(this.root) || parent === this.#current) return null;
        node = parent;
        after = next(node);
      }
      node = after;
    }
    return null;
  }
  firstChild(): object | null {
    return this.#child(firstChild, nextSibling);
  }
  lastChild(): object | null {
    return this.#child(lastChild, previousSibling);
  }

  #sibling(first: (node: number) => number, next: (node: number) => number): object | null {
    const root = numberOf(this.root);
    let node = this.#current;
    if (node === root) return null;
    for (;;) {
      let sibling = next(node);
      while (sibling >= 0) {
        node = sibling;
        const verdict = this.#walk.judge(node);
        if (verdict === accepted) return this.#arrive(node);
        sibling = verdict === rejected ? -1 : first(node);
        if (sibling < 0) sibling = next(node);
      }
      node = parentOf(node);
      if (node < 0 || node === root || this.#walk.judge(node) === accepted) return null;
    }
  }
  nextSibling(): object | null {
    return this.#sibling(firstChild, nextSibling);
  }
  previousSibling(): object | null {
    return this.#sibling(lastChild, previousSibling);
  }
}

/** Adds the makers to documents. */
export function addTraversal(documentPrototype: object): void {
  const define = (name: string, value: unknown): void =>
    void Object.defineProperty(documentPrototype, name, { value, writable: true, configurable: true });
  define('createTreeWalker', (root: unknown, show?: unknown, filter?: unknown) => new TreeWalker(root, show, filter));
  define('createNodeIterator', (root: unknown, show?: unknown, filter?: unknown) =>
    iterators().createIterator(root, show, filter),
  );
}

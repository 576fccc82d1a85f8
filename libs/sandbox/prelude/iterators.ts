/** `NodeIterator`, which keeps its place while the tree changes. */
import { follow } from './live.js';
import { numberOf } from './nodes.js';
import type { Filter } from './traversal.js';
import { accepted, Walk } from './traversal.js';
import { containsNode, following, followingSubtree, lastChild, parentOf, previousSibling } from './tree.js';
import { wrap } from './wrappers.js';

const live: NodeIterator[] = [];

export class NodeIterator {
  #walk: Walk;
  #at: number;
  #isBefore = true;

  constructor(root: unknown, whatToShow?: unknown, filter?: unknown) {
    this.#walk = new Walk(root, whatToShow, filter);
    this.#at = numberOf(root);
    live.push(this);
  }

  /** Before a node leaves the tree that is walked. */
  static leave(iterator: NodeIterator, gone: number): void {
    const root = numberOf(iterator.root);
    if (gone === root || !containsNode(gone, iterator.#at) || containsNode(gone, root)) return;
    if (iterator.#isBefore) {
      const next = followingSubtree(gone, root);
      if (next >= 0) {
        iterator.#at = next;
        return;
      }
      iterator.#isBefore = false;
    }
    const sibling = previousSibling(gone);
    iterator.#at = sibling < 0 ? parentOf(gone) : sibling;
    if (sibling >= 0) while (lastChild(iterator.#at) >= 0) iterator.#at = lastChild(iterator.#at);
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
  get referenceNode(): object | null {
    return wrap(this.#at);
  }
  get pointerBeforeReferenceNode(): boolean {
    return this.#isBefore;
  }

  nextNode(): object | null {
    const root = numberOf(this.root);
    let node = this.#at;
    let isBefore = this.#isBefore;
    for (;;) {
      if (isBefore) isBefore = false;
      else node = following(node, root);
      if (node < 0) return null;
      if (this.#walk.judge(node) === accepted) break;
    }
    this.#at = node;
    this.#isBefore = false;
    return wrap(node);
  }

  previousNode(): object | null {
    const root = numberOf(this.root);
    let node = this.#at;
    let isBefore = this.#isBefore;
    for (;;) {
      if (!isBefore) isBefore = true;
      else {
        if (node === root) return null;
        const sibling = previousSibling(node);
        if (sibling < 0) node = parentOf(node);
        else for (node = sibling; lastChild(node) >= 0;) node = lastChild(node);
      }
      if (node < 0) return null;
      if (this.#walk.judge(node) === accepted) break;
    }
    this.#at = node;
    this.#isBefore = true;
    return wrap(node);
  }
  get [Symbol.toStringTag](): string {
    return 'NodeIterator';
  }
  detach(): void {
    // Kept by the standard to do nothing.
  }
}

export function createIterator(root: unknown, show?: unknown, filter?: unknown): NodeIterator {
  return new NodeIterator(root, show, filter);
}

follow({
  removing(node) {
    for (const iterator of live) NodeIterator.leave(iterator, node);
  },
});

/** `Selection`: nothing is selected on a page at rest, until code selects something. */
import { domError } from './dom-exception.js';
import { Range } from './ranges.js';

export class Selection {
  #range: Range | null = null;
  get rangeCount(): number {
    return this.#range === null ? 0 : 1;
  }
  get isCollapsed(): boolean {
    return this.#range?.collapsed ?? true;
  }
  get type(): string {
    if (this.#range === null) return 'None';
    return this.#range.collapsed ? 'Caret' : 'Range';
  }
  get anchorNode(): object | null {
    return this.#range?.startContainer ?? null;
  }
  get anchorOffset(): number {
    return this.#range?.startOffset ?? 0;
  }
  get focusNode(): object | null {
    return this.#range?.endContainer ?? null;
  }
  get focusOffset(): number {
    return this.#range?.endOffset ?? 0;
  }
  getRangeAt(index: unknown): Range {
    if (this.#range === null || Number(index) !== 0) {
      throw domError('IndexSizeError', `${String(index)} is not the number of a range that is selected.`);
    }
    return this.#range;
  }
  addRange(range: Range): void {
    this.#range ??= range;
  }
  removeRange(range: Range): void {
    if (this.#range === range) this.#range = null;
  }
  removeAllRanges(): void {
    this.#range = null;
  }
  empty(): void {
    this.#range = null;
  }
  selectAllChildren(node: unknown): void {
    this.#range = new Range();
    this.#range.selectNodeContents(node);
  }
  collapse(node: unknown, offset: unknown = 0): void {
    this.#range = null;
    if (node === null) return;
    this.#range = new Range();
    this.#range.setStart(node, offset);
    this.#range.collapse(true);
  }
  containsNode(node: unknown): boolean {
    return this.#range?.intersectsNode(node) ?? false;
  }
  toString(): string {
    return this.#range === null ? '' : this.#range.toString();
  }
  get [Symbol.toStringTag](): string {
    return 'Selection';
  }
}

const theSelection = new Selection();

export function selection(): Selection {
  return theSelection;
}

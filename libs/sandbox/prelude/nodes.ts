/** The DOM's node classes, as far as all elements share them. */
import { baseUrl } from './addresses.js';
import { domError } from './dom-exception.js';
import type { HTMLCollection, NodeList } from './lists.js';
import { liveCollection, liveNodes, oncePerNode, staticList } from './lists.js';
import { localName, outerMarkup } from './markup.js';
import { asDomError, byId, selecting } from './queries.js';
import { select, selectFirst } from './selectors.js';
import {
  attributesOf,
  childElementsOf,
  childNodesOf,
  commentKind,
  compareOrder,
  containsNode,
  createNode,
  dataOf,
  detachNode,
  doctypeKind,
  doctypeParts,
  documentKind,
  elementKind,
  firstChild,
  fragmentKind,
  insertNode,
  isElement,
  kind,
  lastChild,
  nameText,
  nextElement,
  nextSibling,
  parentElementOf,
  parentOf,
  previousElement,
  previousSibling,
  rootOf,
  setAttribute,
  setData,
  setTemplateContent,
  tagOf,
  templateContent,
  textKind,
  textOf,
} from './tree.js';
import { adopt, wrap } from './wrappers.js';

export const htmlNamespace = 'http://www.w3.org/1999/xhtml';
export const svgNamespace = 'http://www.w3.org/2000/svg';
export const mathNamespace = 'http://www.w3.org/1998/Math/MathML';

/** Thrown to by constructors that code may not call. */
const illegal = (): never => {
  throw new TypeError('Illegal constructor');
};

/** The node that the next object is made for; -1 while none is being made here. */
let nodeInMaking = -1;

export class EventTarget {
  addEventListener(): void {
    // Nothing happens on a page at rest.
  }
  removeEventListener(): void {
    // See above.
  }
  dispatchEvent(): boolean {
    return true;
  }
}

export type NodeClass = abstract new () => Node;

const construct = Reflect.construct;
const noArguments: never[] = [];
const childNodes = oncePerNode(liveNodes, childNodesOf);
const childElements = oncePerNode(liveCollection, (node) => childElementsOf(node));

export class Node {
  static readonly ELEMENT_NODE = 1;
  static readonly ATTRIBUTE_NODE = 2;
  static readonly TEXT_NODE = 3;
  static readonly CDATA_SECTION_NODE = 4;
  static readonly PROCESSING_INSTRUCTION_NODE = 7;
  static readonly COMMENT_NODE = 8;
  static readonly DOCUMENT_NODE = 9;
  static readonly DOCUMENT_TYPE_NODE = 10;
  static readonly DOCUMENT_FRAGMENT_NODE = 11;
  static readonly DOCUMENT_POSITION_DISCONNECTED = 1;
  static readonly DOCUMENT_POSITION_PRECEDING = 2;
  static readonly DOCUMENT_POSITION_FOLLOWING = 4;
  static readonly DOCUMENT_POSITION_CONTAINS = 8;
  static readonly DOCUMENT_POSITION_CONTAINED_BY = 16;

  #node: number;

  constructor() {
    this.#node = nodeInMaking >= 0 ? nodeInMaking : illegal();
    nodeInMaking = -1;
  }

  /** The object of a node, of a class of its own; the constructors between are passed over, they would do nothing. */
  static of(node: number, nodeClass: NodeClass): Node {
    nodeInMaking = node;
    return construct(Node, noArguments, nodeClass) as Node;
  }

  /** The number that an object stands for; throws what the DOM throws where something else was given. */
  static numberOf(object: unknown): number {
    if (typeof object !== 'object' || object === null || !(#node in object)) {
      throw new TypeError("The parameter is not of type 'Node'.");
    }
    return object.#node;
  }

  get nodeType(): number {
    return kind(this.#node);
  }
  get nodeName(): string {
    switch (kind(this.#node)) {
      case elementKind:
        return tagNameOf(this.#node);
      case textKind:
        return '#text';
      case commentKind:
        return '#comment';
      case documentKind:
        return '#document';
      case doctypeKind:
        return doctypeParts(this.#node)[0];
      default:
        return '#document-fragment';
    }
  }
  get nodeValue(): string | null {
    const what = kind(this.#node);
    return what === textKind || what === commentKind ? dataOf(this.#node) : null;
  }
  set nodeValue(value: unknown) {
    const what = kind(this.#node);
    if (what === textKind || what === commentKind) setData(this.#node, value === null ? '' : String(value));
  }
  get textContent(): string | null {
    switch (kind(this.#node)) {
      case textKind:
      case commentKind:
        return dataOf(this.#node);
      case documentKind:
      case doctypeKind:
        return null;
      default:
        return textOf(this.#node);
    }
  }
  set textContent(value: unknown) {
    const text = value === null || value === undefined ? '' : String(value);
    const what = kind(this.#node);
    if (what === textKind || what === commentKind) setData(this.#node, text);
    else if (what === elementKind || what === fragmentKind) {
      replaceChildren(this.#node, text === '' ? [] : [createNode(textKind, 0, text)]);
    }
  }
  get parentNode(): object | null {
    return wrap(parentOf(this.#node));
  }
  get parentElement(): object | null {
    return wrap(parentElementOf(this.#node));
  }
  get childNodes(): NodeList {
    return childNodes(this.#node);
  }
  get firstChild(): object | null {
    return wrap(firstChild(this.#node));
  }
  get lastChild(): object | null {
    return wrap(lastChild(this.#node));
  }
  get nextSibling(): object | null {
    return wrap(nextSibling(this.#node));
  }
  get previousSibling(): object | null {
    return wrap(previousSibling(this.#node));
  }
  get ownerDocument(): object | null {
    return kind(this.#node) === documentKind ? null : wrap(documentOf(this.#node));
  }
  get isConnected(): boolean {
    return kind(rootOf(this.#node)) === documentKind;
  }
  get baseURI(): string {
    return baseUrl();
  }
  hasChildNodes(): boolean {
    return firstChild(this.#node) >= 0;
  }
  getRootNode(): object | null {
    return wrap(rootOf(this.#node));
  }
  contains(other: unknown): boolean {
    return other !== null && other !== undefined && containsNode(this.#node, Node.numberOf(other));
  }
  isSameNode(other: unknown): boolean {
    return other === this;
  }
  isEqualNode(other: unknown): boolean {
    if (other === null || other === undefined) return false;
    const node = Node.numberOf(other);
    return kind(node) === kind(this.#node) && outerMarkup(node) === outerMarkup(this.#node);
  }
  compareDocumentPosition(other: unknown): number {
    const node = Node.numberOf(other);
    if (node === this.#node) return 0;
    if (rootOf(node) !== rootOf(this.#node)) return 1 | 32 | (node < this.#node ? 2 : 4);
    if (containsNode(this.#node, node)) return 16 | 4;
    if (containsNode(node, this.#node)) return 8 | 2;
    return compareOrder(node, this.#node) < 0 ? 2 : 4;
  }
  normalize(): void {
    for (const child of childNodesOf(this.#node)) {
      if (kind(child) === elementKind) (wrap(child) as Node).normalize();
      if (kind(child) !== textKind) continue;
      const before = previousSibling(child);
      if (dataOf(child) === '') detachNode(child);
      else if (before >= 0 && kind(before) === textKind) {
        setData(before, dataOf(before) + dataOf(child));
        detachNode(child);
      }
    }
  }
  cloneNode(isDeep = false): object | null {
    return wrap(cloneOf(this.#node, Boolean(isDeep)));
  }
  appendChild(child: unknown): object | null {
    return this.insertBefore(child, null);
  }
  insertBefore(child: unknown, reference: unknown): object | null {
    const node = Node.numberOf(child);
    const before = reference === null || reference === undefined ? -1 : Node.numberOf(reference);
    if (before >= 0 && parentOf(before) !== this.#node) {
      throw domError(
        'NotFoundError',
        'The node before which the new node is to be inserted is not a child of this node.',
      );
    }
    insertInto(this.#node, node, before === node ? nextSibling(node) : before);
    return wrap(node);
  }
  removeChild(child: unknown): object | null {
    const node = Node.numberOf(child);
    if (parentOf(node) !== this.#node) {
      throw domError('NotFoundError', 'The node to be removed is not a child of this node.');
    }
    detachNode(node);
    return wrap(node);
  }
  replaceChild(child: unknown, old: unknown): object | null {
    this.insertBefore(child, old);
    return this.removeChild(old);
  }
  get [Symbol.toStringTag](): string {
    return this.constructor.name;
  }
}
// Not by `extends`: every object of a node would run a constructor more, and this one does nothing.
Object.setPrototypeOf(Node, EventTarget);
Object.setPrototypeOf(Node.prototype, EventTarget.prototype);
for (const name of Object.getOwnPropertyNames(Node)) {
  if (/^[A-Z]+_[A-Z_]+$/.test(name)) {
    Object.defineProperty(Node.prototype, name, { value: Node[name as keyof typeof Node], enumerable: true });
  }
}

export const numberOf = (object: unknown): number => Node.numberOf(object);

/** Names in the order of the tree; upper case for HTML, as written for foreign elements. */
export function tagNameOf(node: number): string {
  const name = nameText(tagOf(node));
  return name.includes(' ') ? localName(node) : name.toUpperCase();
}

export function documentOf(node: number): number {
  const root = rootOf(node);
  return kind(root) === documentKind ? root : 0;
}

// Structure changed by code -------------------------------------------------------------------------------------------

export function insertInto(parent: number, node: number, before: number): void {
  const parentKind = kind(parent);
  if (parentKind !== elementKind && parentKind !== fragmentKind && parentKind !== documentKind) {
    throw domError('HierarchyRequestError', 'This node type does not support children.');
  }
  if (containsNode(node, parent)) {
    throw domError('HierarchyRequestError', 'The new child element contains the parent.');
  }
  if (kind(node) === documentKind) throw domError('HierarchyRequestError', 'A document cannot be inserted.');
  if (kind(node) !== fragmentKind) return insertNode(parent, node, before);
  for (const child of childNodesOf(node)) insertNode(parent, child, before);
}

export function replaceChildren(parent: number, nodes: readonly number[]): void {
  for (const child of childNodesOf(parent)) detachNode(child);
  for (const node of nodes) insertInto(parent, node, -1);
}

function toNodes(items: readonly unknown[]): number[] {
  return items.map((item) =>
    typeof item === 'object' && item !== null ? Node.numberOf(item) : createNode(textKind, 0, String(item)),
  );
}

export function cloneOf(node: number, isDeep: boolean): number {
  const what = kind(node);
  const isNamed = what === elementKind;
  const data = what === doctypeKind ? doctypeParts(node).join('\0') : isNamed ? '' : dataOf(node);
  const clone = createNode(what, isNamed ? tagOf(node) : 0, data);
  if (isNamed) for (const [name, value] of attributesOf(node)) setAttribute(clone, name, value);
  const content = isNamed ? templateContent(node) : -1;
  if (content >= 0) setTemplateContent(clone, isDeep ? cloneOf(content, true) : createNode(fragmentKind, 0, ''));
  if (isDeep) for (const child of childNodesOf(node)) insertNode(clone, cloneOf(child, true), -1);
  return clone;
}

// Queries -------------------------------------------------------------------------------------------------------------

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
    for (const node of toNodes(items)) insertInto(Node.numberOf(this), node, -1);
  },
  prepend(...items) {
    const parent = Node.numberOf(this);
    const first = firstChild(parent);
    for (const node of toNodes(items)) insertInto(parent, node, first);
  },
  replaceChildren(...items) {
    replaceChildren(Node.numberOf(this), toNodes(items));
  },
};

/** What can stand beside siblings. */
export const childMembers: Record<'before' | 'after' | 'replaceWith' | 'remove', (...items: unknown[]) => void> &
  ThisType<Node> = {
  before(...items: unknown[]) {
    const node = Node.numberOf(this);
    const parent = parentOf(node);
    if (parent >= 0) for (const item of toNodes(items)) insertInto(parent, item, node);
  },
  after(...items: unknown[]) {
    const node = Node.numberOf(this);
    const parent = parentOf(node);
    const next = nextSibling(node);
    if (parent >= 0) for (const item of toNodes(items)) insertInto(parent, item, next);
  },
  replaceWith(...items: unknown[]) {
    const node = Node.numberOf(this);
    const parent = parentOf(node);
    if (parent < 0) return;
    const next = nextSibling(node);
    detachNode(node);
    for (const item of toNodes(items)) insertInto(parent, item, next);
  },
  remove() {
    detachNode(Node.numberOf(this));
  },
};

export function mixIn(target: object, members: object): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(members))) {
    Object.defineProperty(target, name, { ...descriptor, enumerable: false });
  }
}

// The kinds of nodes --------------------------------------------------------------------------------------------------

export class CharacterData extends Node {
  get data(): string {
    return dataOf(Node.numberOf(this));
  }
  set data(value: unknown) {
    setData(Node.numberOf(this), value === null ? '' : String(value));
  }
  get length(): number {
    return this.data.length;
  }
  substringData(offset: number, count: number): string {
    return this.data.substr(offset, count);
  }
  appendData(text: unknown): void {
    this.data += String(text);
  }
  deleteData(offset: number, count: number): void {
    this.data = this.data.slice(0, offset) + this.data.slice(offset + count);
  }
  insertData(offset: number, text: unknown): void {
    this.data = this.data.slice(0, offset) + String(text) + this.data.slice(offset);
  }
  replaceData(offset: number, count: number, text: unknown): void {
    this.data = this.data.slice(0, offset) + String(text) + this.data.slice(offset + count);
  }
  get nextElementSibling(): object | null {
    return wrap(nextElement(Node.numberOf(this)));
  }
  get previousElementSibling(): object | null {
    return wrap(previousElement(Node.numberOf(this)));
  }
}
mixIn(CharacterData.prototype, childMembers);

/** For `new Text()` and its like: the node comes before its object. */
function make(nodeKind: number, data: unknown): void {
  nodeInMaking = createNode(nodeKind, 0, data === undefined ? '' : String(data));
}

export class Text extends CharacterData {
  constructor(data?: unknown) {
    make(textKind, data);
    super();
    adopt(Node.numberOf(this), this);
  }
  get wholeText(): string {
    let node = Node.numberOf(this);
    for (let before = previousSibling(node); before >= 0 && kind(before) === textKind; before = previousSibling(node)) {
      node = before;
    }
    let text = '';
    for (; node >= 0 && kind(node) === textKind; node = nextSibling(node)) text += dataOf(node);
    return text;
  }
  splitText(offset: number): object | null {
    const rest = createNode(textKind, 0, this.data.slice(offset));
    const node = Node.numberOf(this);
    if (parentOf(node) >= 0) insertNode(parentOf(node), rest, nextSibling(node));
    this.data = this.data.slice(0, offset);
    return wrap(rest);
  }
}

export class Comment extends CharacterData {
  constructor(data?: unknown) {
    make(commentKind, data);
    super();
    adopt(Node.numberOf(this), this);
  }
}

export class DocumentType extends Node {
  get name(): string {
    return doctypeParts(Node.numberOf(this))[0];
  }
  get publicId(): string {
    return doctypeParts(Node.numberOf(this))[1];
  }
  get systemId(): string {
    return doctypeParts(Node.numberOf(this))[2];
  }
}
mixIn(DocumentType.prototype, childMembers);

export class DocumentFragment extends Node {
  constructor() {
    make(fragmentKind, '');
    super();
    adopt(Node.numberOf(this), this);
  }
  getElementById(id: unknown): object | null {
    return wrap(byId(Node.numberOf(this), String(id)));
  }
}
mixIn(DocumentFragment.prototype, parentMembers);

export function tag(node: number): string {
  return nameText(tagOf(node));
}

export function write(node: number, attribute: string, value: unknown): void {
  setAttribute(node, attribute, String(value));
}

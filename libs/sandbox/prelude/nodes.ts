/** The DOM's node classes, as far as all elements share them. */
import { baseUrl } from './addresses.js';
import { domError } from './dom-exception.js';
import type { HTMLCollection, NodeList } from './lists.js';
import { liveCollection, liveNodes, oncePerNode, staticList } from './lists.js';
import { addDocument, documentOf, factsOf, isXmlNode, setOwner, takeOut } from './documents.js';
import { EventTarget } from './event-target.js';
import { lazyModule } from './lazy-modules.js';
import { gathered, insertBeside, insertInto, replaceAll, replaceBy, replaceNode } from './mutations.js';
import { htmlNamespace, partsOf } from './names.js';
import { asDomError, byId, selecting } from './queries.js';
import { select, selectFirst } from './selectors.js';
import {
  attributesOf,
  cdataKind,
  childElementsOf,
  commentKind,
  containsNode,
  createNode,
  dataOf,
  doctypeKind,
  doctypeParts,
  documentKind,
  elementKind,
  firstChild,
  fragmentKind,
  insertNode,
  instructionKind,
  isElement,
  isTextual,
  isXml,
  kind,
  lastChild,
  nameText,
  nextSibling,
  parentElementOf,
  parentOf,
  previousSibling,
  replaceData,
  setAttribute,
  setData,
  setTemplateContent,
  tagOf,
  tellSplit,
  templateContent,
  textKind,
  textOf,
} from './tree.js';
import { childNodesOf, nextElement, previousElement, rootOf } from './tree-walks.js';
import { adopt, wrap } from './wrappers.js';

/** Thrown to by constructors that code may not call. */
const illegal = (): never => {
  throw new TypeError('Illegal constructor');
};

/** The node that the next object is made for; -1 while none is being made here. */
let nodeInMaking = -1;

export type NodeClass = abstract new () => Node;

const rare = lazyModule('node-extras');
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
  static readonly DOCUMENT_POSITION_IMPLEMENTATION_SPECIFIC = 32;
  static readonly ENTITY_REFERENCE_NODE = 5;
  static readonly ENTITY_NODE = 6;
  static readonly NOTATION_NODE = 12;

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
      case cdataKind:
        return '#cdata-section';
      case instructionKind:
        return nameText(tagOf(this.#node));
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
    return holdsData(this.#node) ? dataOf(this.#node) : null;
  }
  set nodeValue(value: unknown) {
    if (holdsData(this.#node)) setData(this.#node, value === null || value === undefined ? '' : String(value));
  }
  get textContent(): string | null {
    const what = kind(this.#node);
    if (what === elementKind || what === fragmentKind) return textOf(this.#node);
    return holdsData(this.#node) ? dataOf(this.#node) : null;
  }
  set textContent(value: unknown) {
    const text = value === null || value === undefined ? '' : String(value);
    const what = kind(this.#node);
    if (holdsData(this.#node)) setData(this.#node, text);
    else if (what === elementKind || what === fragmentKind) {
      replaceAll(this.#node, text === '' ? -1 : createNode(textKind, 0, text));
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
    if (typeof other !== 'object' || other === null) return false;
    return #node in other && containsNode(this.#node, Node.numberOf(other));
  }
  isSameNode(other: unknown): boolean {
    return other === this;
  }
  isEqualNode(other: unknown): boolean {
    return other !== null && other !== undefined && isEqual(this.#node, Node.numberOf(other));
  }
  compareDocumentPosition(other: unknown): number {
    return rare().comparePosition(this, other);
  }
  lookupPrefix(namespace: unknown): string | null {
    return rare().lookUpPrefix(this.#node, namespace);
  }
  lookupNamespaceURI(prefix: unknown): string | null {
    return rare().lookUpNamespace(this.#node, prefix);
  }
  isDefaultNamespace(namespace: unknown): boolean {
    return (
      rare().lookUpNamespace(this.#node, null) === (namespace === undefined || namespace === '' ? null : namespace)
    );
  }
  normalize(): void {
    rare().normalize(this.#node);
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
    insertInto(this.#node, node, before);
    return wrap(node);
  }
  removeChild(child: unknown): object | null {
    const node = Node.numberOf(child);
    if (parentOf(node) !== this.#node) {
      throw domError('NotFoundError', 'The node to be removed is not a child of this node.');
    }
    takeOut(node);
    return wrap(node);
  }
  replaceChild(child: unknown, old: unknown): object | null {
    const replaced = Node.numberOf(old);
    replaceNode(this.#node, Node.numberOf(child), replaced);
    return wrap(replaced);
  }
  get [Symbol.toStringTag](): string {
    return this.constructor.name;
  }
}
// Not by `extends`: every object of a node would run a constructor more, and this one does nothing.
Object.setPrototypeOf(Node, EventTarget);
Object.setPrototypeOf(Node.prototype, EventTarget.prototype);
for (const name of Object.getOwnPropertyNames(Node)) {
  if (!/^[A-Z]+_[A-Z_]+$/.test(name)) continue;
  const constant = { value: Node[name as keyof typeof Node], writable: false, enumerable: true, configurable: false };
  Object.defineProperty(Node, name, constant);
  Object.defineProperty(Node.prototype, name, constant);
}

export const numberOf = (object: unknown): number => Node.numberOf(object);

/** As it is written; in documents of HTML, HTML's own are upper case. */
export function tagNameOf(node: number): string {
  const name = nameText(tagOf(node));
  if (!isXml() && !name.includes(' ') && !name.includes('\n') && !isXmlNode(node)) return name.toUpperCase();
  const { qualified, namespace } = partsOf(node);
  return namespace === htmlNamespace && !isXmlNode(node) ? qualified.toUpperCase() : qualified;
}

function holdsData(node: number): boolean {
  const what = kind(node);
  return what === textKind || what === commentKind || what === cdataKind || what === instructionKind;
}

function isEqual(left: number, right: number): boolean {
  if (kind(left) !== kind(right)) return false;
  if (kind(left) === doctypeKind) return doctypeParts(left).join('\0') === doctypeParts(right).join('\0');
  if (kind(left) === elementKind || kind(left) === instructionKind) {
    if (tagOf(left) !== tagOf(right)) return false;
  }
  if (holdsData(left) && dataOf(left) !== dataOf(right)) return false;
  if (kind(left) === elementKind) {
    const [own, others] = [attributesOf(left), attributesOf(right)];
    if (own.size !== others.size) return false;
    for (const [name, value] of own) if (others.get(name) !== value) return false;
  }
  const [children, otherChildren] = [childNodesOf(left), childNodesOf(right)];
  return (
    children.length === otherChildren.length && children.every((child, at) => isEqual(child, otherChildren[at] ?? -1))
  );
}

function toNodes(items: readonly unknown[]): number[] {
  return items.map((item) => (item instanceof Node ? Node.numberOf(item) : createNode(textKind, 0, String(item))));
}

export function cloneOf(node: number, isDeep: boolean): number {
  const what = kind(node);
  const isNamed = what === elementKind;
  const data = what === doctypeKind ? doctypeParts(node).join('\0') : holdsData(node) ? dataOf(node) : '';
  const clone = createNode(what, isNamed || what === instructionKind ? tagOf(node) : 0, data);
  if (what === documentKind) addDocument(clone, factsOf(node));
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

/** What can stand beside siblings. */
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

// The kinds of nodes --------------------------------------------------------------------------------------------------

/** An offset within a text of this length. */
function offsetIn(length: number, offset: unknown): number {
  const at = Number(offset) >>> 0;
  if (at > length) throw domError('IndexSizeError', `The offset ${at} is larger than the node's length (${length}).`);
  return at;
}

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
  substringData(offset: unknown, count: unknown): string {
    const from = offsetIn(this.length, offset);
    return this.data.slice(from, from + (Number(count) >>> 0));
  }
  appendData(text: unknown): void {
    this.replaceData(this.length, 0, text);
  }
  deleteData(offset: unknown, count: unknown): void {
    this.replaceData(offset, count, '');
  }
  insertData(offset: unknown, text: unknown): void {
    this.replaceData(offset, 0, text);
  }
  replaceData(offset: unknown, count: unknown, text: unknown): void {
    replaceData(Node.numberOf(this), offsetIn(this.length, offset), Number(count) >>> 0, String(text));
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
export function makeNode(nodeKind: number, data: unknown): void {
  nodeInMaking = createNode(nodeKind, 0, data === undefined ? '' : String(data));
}

export class Text extends CharacterData {
  constructor(data?: unknown) {
    makeNode(textKind, data);
    super();
    adopt(Node.numberOf(this), this);
  }
  get wholeText(): string {
    let node = Node.numberOf(this);
    for (let up = previousSibling(node); up >= 0 && isTextual(kind(up)); up = previousSibling(node)) node = up;
    let text = '';
    for (; node >= 0 && isTextual(kind(node)); node = nextSibling(node)) text += dataOf(node);
    return text;
  }
  splitText(offset: unknown): object | null {
    const from = offsetIn(this.length, offset);
    const node = Node.numberOf(this);
    const rest = createNode(textKind, 0, this.data.slice(from));
    setOwner(rest, documentOf(node));
    const parent = parentOf(node);
    if (parent >= 0) {
      insertNode(parent, rest, nextSibling(node));
      tellSplit(node, from, rest);
    }
    replaceData(node, from, this.length, '');
    return wrap(rest);
  }
}

export class CDATASection extends Text {
  constructor() {
    illegal();
    super();
  }
}

export class ProcessingInstruction extends CharacterData {
  get target(): string {
    return nameText(tagOf(Node.numberOf(this)));
  }
}

export class Comment extends CharacterData {
  constructor(data?: unknown) {
    makeNode(commentKind, data);
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
    makeNode(fragmentKind, '');
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

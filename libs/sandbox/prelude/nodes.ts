/** `Node`, the class under all nodes of the DOM. */
import { baseUrl } from './addresses.js';
import { domError } from './dom-exception.js';
import type { NodeList } from './lists.js';
import { liveNodes, oncePerNode } from './lists.js';
import { addDocument, documentOf, factsOf, isXmlNode, takeOut } from './documents.js';
import { EventTarget } from './event-target.js';
import { lazyModule } from './lazy-modules.js';
import { insertInto, replaceAll, replaceNode } from './mutations.js';
import { htmlNamespace, partsOf } from './names.js';
import { attributesOf, setAttribute } from './attribute-values.js';
import { nameText } from './name-table.js';
import {
  cdataKind,
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
  isXml,
  kind,
  lastChild,
  nextSibling,
  parentElementOf,
  parentOf,
  previousSibling,
  setData,
  setTemplateContent,
  tagOf,
  templateContent,
  textKind,
  textOf,
} from './tree.js';
import { childNodesOf, rootOf } from './tree-walks.js';
import { wrap } from './wrappers.js';

/** Thrown to by constructors that code may not call. */
export const illegal = (): never => {
  throw new TypeError('Illegal constructor');
};

/** The node that the next object is made for; -1 while none is being made here. */
let nodeInMaking = -1;

export type NodeClass = abstract new () => Node;

const rare = lazyModule('node-extras');
const construct = Reflect.construct;
const noArguments: never[] = [];
const childNodes = oncePerNode(liveNodes, childNodesOf);

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

/** For `new Text()` and its like: the node comes before its object. */
export function makeNode(nodeKind: number, data: unknown): void {
  nodeInMaking = createNode(nodeKind, 0, data === undefined ? '' : String(data));
}

export function tag(node: number): string {
  return nameText(tagOf(node));
}

export function write(node: number, attribute: string, value: unknown): void {
  setAttribute(node, attribute, String(value));
}

/** The DOM's node classes, as far as all elements share them. */
import { domError, noLayout } from './dom-exception.js';
import { innerText } from './inner-text.js';
import {
  attributeMap,
  Attr,
  dataset,
  HTMLCollection,
  inlineStyle,
  namedCollection,
  NodeList,
  staticList,
  tokenList,
} from './lists.js';
import type { DOMTokenList, NamedNodeMap } from './lists.js';
import { innerMarkup, localName, outerMarkup } from './markup.js';
import { markupParser } from './parse-markup.js';
import { closestMatch, matchesSelector, selectAll, selectFirst, SelectorError } from './selectors.js';
import {
  asciiLowerCase,
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
  following,
  fragmentKind,
  getAttribute,
  indexedById,
  insertNode,
  internName,
  isElement,
  isQuirks,
  kind,
  lastChild,
  nameText,
  nextElement,
  nextSibling,
  parentElementOf,
  parentOf,
  previousElement,
  previousSibling,
  removeAttribute,
  rootOf,
  setAttribute,
  setData,
  setTemplateContent,
  tagOf,
  templateContent,
  textKind,
  textOf,
  versionOf,
} from './tree.js';
import { URL } from './url.js';
import { adopt, wrap } from './wrappers.js';

const htmlNamespace = 'http://www.w3.org/1999/xhtml';
const svgNamespace = 'http://www.w3.org/2000/svg';
const mathNamespace = 'http://www.w3.org/1998/Math/MathML';

/** Thrown to by constructors that code may not call. */
const illegal = (): never => {
  throw new TypeError('Illegal constructor');
};

/** Handed to a node class by the factory alone: what it wraps. */
export class NodeToken {
  readonly node: number;
  constructor(node: number) {
    this.node = node;
  }
}

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

export class Node extends EventTarget {
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

  constructor(token?: unknown) {
    super();
    this.#node = token instanceof NodeToken ? token.node : illegal();
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
    const node = this.#node;
    return new NodeList(() => childNodesOf(node));
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

function insertInto(parent: number, node: number, before: number): void {
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

function replaceChildren(parent: number, nodes: readonly number[]): void {
  for (const child of childNodesOf(parent)) detachNode(child);
  for (const node of nodes) insertInto(parent, node, -1);
}

function toNodes(items: readonly unknown[]): number[] {
  return items.map((item) =>
    typeof item === 'object' && item !== null ? Node.numberOf(item) : createNode(textKind, 0, String(item)),
  );
}

function cloneOf(node: number, isDeep: boolean): number {
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

function asDomError(thrown: unknown): unknown {
  return thrown instanceof SelectorError ? domError('SyntaxError', thrown.message) : thrown;
}

function selecting<Result>(select: () => Result): Result {
  try {
    return select();
  } catch (thrown) {
    throw asDomError(thrown);
  }
}

function byTag(root: number, name: string): number[] {
  if (name === '*') return selectAll(root, '*');
  const lower = asciiLowerCase(name);
  const plain = /^[a-z][a-z0-9]*$/;
  if (plain.test(lower)) return selectAll(root, name);
  const found: number[] = [];
  for (let node = following(root, root); node >= 0; node = following(node, root)) {
    if (isElement(node) && (nameText(tagOf(node)) === lower || localName(node) === name)) found.push(node);
  }
  return found;
}

function byClass(root: number, names: string): number[] {
  const wanted = names.split(/[\t\n\f\r ]+/).filter((name) => name !== '');
  if (wanted.length === 0) return [];
  const escaped = wanted.map((name) => `.${escapeIdentifier(name)}`).join('');
  return selectAll(root, escaped);
}

function byAttribute(root: number, attribute: string, value: string): number[] {
  const found: number[] = [];
  for (let node = following(root, root); node >= 0; node = following(node, root)) {
    if (isElement(node) && getAttribute(node, attribute) === value) found.push(node);
  }
  return found;
}

function byId(root: number, id: string): number {
  if (id === '') return -1;
  if (!isQuirks()) {
    const indexed = indexedById(root, id);
    if (indexed !== null) return indexed[0] ?? -1;
  }
  return byAttribute(root, 'id', id)[0] ?? -1;
}

/** `CSS.escape` */
export function escapeIdentifier(text: string): string {
  return Array.from(text, (mark, at) => {
    const isDigit = mark >= '0' && mark <= '9';
    if (mark === '\0') return '\ufffd';
    if (/[\x01-\x1f\x7f]/.test(mark) || (isDigit && (at === 0 || (at === 1 && text.startsWith('-'))))) {
      return `\\${mark.charCodeAt(0).toString(16)} `;
    }
    if (mark === '-' && text.length === 1) return '\\-';
    return /[\w\u0080-\u{10ffff}-]/u.test(mark) ? mark : `\\${mark}`;
  }).join('');
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
const parentMembers: ParentMembers & ThisType<Node> = {
  get children(): HTMLCollection {
    const node = Node.numberOf(this);
    return new HTMLCollection(() => childElementsOf(node));
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
    return wrap(selecting(() => selectFirst(node, String(selector))));
  },
  querySelectorAll(selector) {
    const node = Node.numberOf(this);
    return staticList(selecting(() => selectAll(node, String(selector))));
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
const childMembers: Record<'before' | 'after' | 'replaceWith' | 'remove', (...items: unknown[]) => void> &
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

function mixIn(target: object, members: object): void {
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

function made(nodeKind: number, data: unknown): NodeToken {
  return new NodeToken(createNode(nodeKind, 0, data === undefined ? '' : String(data)));
}

export class Text extends CharacterData {
  constructor(data?: unknown) {
    super(data instanceof NodeToken ? data : made(textKind, data));
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
    super(data instanceof NodeToken ? data : made(commentKind, data));
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
  constructor(token?: unknown) {
    super(token instanceof NodeToken ? token : made(fragmentKind, ''));
    adopt(Node.numberOf(this), this);
  }
  getElementById(id: unknown): object | null {
    return wrap(byId(Node.numberOf(this), String(id)));
  }
}
mixIn(DocumentFragment.prototype, parentMembers);
export interface DocumentFragment extends ParentMembers {}

export class Element extends Node {
  get tagName(): string {
    return tagNameOf(Node.numberOf(this));
  }
  get localName(): string {
    return localName(Node.numberOf(this));
  }
  get prefix(): null {
    return null;
  }
  get namespaceURI(): string {
    const name = nameText(tagOf(Node.numberOf(this)));
    if (name.startsWith('svg ')) return svgNamespace;
    return name.startsWith('math ') ? mathNamespace : htmlNamespace;
  }
  get id(): string {
    return getAttribute(Node.numberOf(this), 'id') ?? '';
  }
  set id(value: unknown) {
    setAttribute(Node.numberOf(this), 'id', String(value));
  }
  get className(): string {
    return getAttribute(Node.numberOf(this), 'class') ?? '';
  }
  set className(value: unknown) {
    setAttribute(Node.numberOf(this), 'class', String(value));
  }
  get classList(): DOMTokenList {
    return tokenList(Node.numberOf(this), 'class');
  }
  set classList(value: unknown) {
    this.className = value;
  }
  get slot(): string {
    return getAttribute(Node.numberOf(this), 'slot') ?? '';
  }
  get attributes(): NamedNodeMap {
    return attributeMap(Node.numberOf(this));
  }
  get shadowRoot(): null {
    return null;
  }
  #attributeName(name: unknown): string {
    const text = String(name);
    return nameText(tagOf(Node.numberOf(this))).includes(' ') ? text : asciiLowerCase(text);
  }
  getAttribute(name: unknown): string | null {
    return getAttribute(Node.numberOf(this), this.#attributeName(name));
  }
  getAttributeNS(_namespace: unknown, name: unknown): string | null {
    const node = Node.numberOf(this);
    return getAttribute(node, String(name)) ?? getAttribute(node, `xlink:${String(name)}`);
  }
  getAttributeNames(): string[] {
    return [...attributesOf(Node.numberOf(this)).keys()];
  }
  getAttributeNode(name: unknown): Attr | null {
    return this.hasAttribute(name) ? new Attr(Node.numberOf(this), this.#attributeName(name)) : null;
  }
  hasAttribute(name: unknown): boolean {
    return this.getAttribute(name) !== null;
  }
  hasAttributeNS(namespace: unknown, name: unknown): boolean {
    return this.getAttributeNS(namespace, name) !== null;
  }
  hasAttributes(): boolean {
    return attributesOf(Node.numberOf(this)).size > 0;
  }
  setAttribute(name: unknown, value: unknown): void {
    const text = this.#attributeName(name);
    if (!/^[^\0\t\n\f\r />=]+$/.test(text)) {
      throw domError('InvalidCharacterError', `'${text}' is not a valid attribute name.`);
    }
    setAttribute(Node.numberOf(this), text, String(value));
  }
  setAttributeNS(_namespace: unknown, name: unknown, value: unknown): void {
    setAttribute(Node.numberOf(this), String(name), String(value));
  }
  removeAttribute(name: unknown): void {
    removeAttribute(Node.numberOf(this), this.#attributeName(name));
  }
  removeAttributeNS(_namespace: unknown, name: unknown): void {
    removeAttribute(Node.numberOf(this), String(name));
  }
  toggleAttribute(name: unknown, force?: boolean): boolean {
    const isWanted = force ?? !this.hasAttribute(name);
    if (!isWanted) this.removeAttribute(name);
    else if (!this.hasAttribute(name)) this.setAttribute(name, '');
    return isWanted;
  }
  matches(selector: unknown): boolean {
    const node = Node.numberOf(this);
    return selecting(() => matchesSelector(node, String(selector), node));
  }
  webkitMatchesSelector(selector: unknown): boolean {
    return this.matches(selector);
  }
  closest(selector: unknown): object | null {
    const node = Node.numberOf(this);
    return wrap(selecting(() => closestMatch(node, String(selector))));
  }
  getElementsByTagName(name: unknown): HTMLCollection {
    const node = Node.numberOf(this);
    return new HTMLCollection(() => byTag(node, String(name)));
  }
  getElementsByTagNameNS(_namespace: unknown, name: unknown): HTMLCollection {
    return this.getElementsByTagName(name);
  }
  getElementsByClassName(names: unknown): HTMLCollection {
    const node = Node.numberOf(this);
    return new HTMLCollection(() => byClass(node, String(names)));
  }
  get nextElementSibling(): object | null {
    return wrap(nextElement(Node.numberOf(this)));
  }
  get previousElementSibling(): object | null {
    return wrap(previousElement(Node.numberOf(this)));
  }
  get innerHTML(): string {
    return innerMarkup(Node.numberOf(this));
  }
  set innerHTML(markup: unknown) {
    const node = Node.numberOf(this);
    const content = templateContent(node);
    const fragment = this.#parse(markup, this);
    replaceChildren(content >= 0 ? content : node, [fragment]);
  }
  get outerHTML(): string {
    return outerMarkup(Node.numberOf(this));
  }
  set outerHTML(markup: unknown) {
    const node = Node.numberOf(this);
    const parent = parentOf(node);
    if (parent < 0) return;
    const context = isElement(parent) ? (wrap(parent) as Element) : this;
    const fragment = this.#parse(markup, context);
    insertInto(parent, fragment, node);
    detachNode(node);
  }
  #parse(markup: unknown, context: Element): number {
    const text = markup === null ? '' : String(markup);
    return markupParser().parseFragment(text, context.localName, context.namespaceURI);
  }
  insertAdjacentHTML(position: unknown, markup: unknown): void {
    const place = String(position).toLowerCase();
    const isOutside = place === 'beforebegin' || place === 'afterend';
    const parent = parentElementOf(Node.numberOf(this));
    const context = isOutside && parent >= 0 ? (wrap(parent) as Element) : this;
    this.#insertAdjacent(place, this.#parse(markup, context));
  }
  insertAdjacentElement(position: unknown, element: unknown): object | null {
    this.#insertAdjacent(String(position).toLowerCase(), Node.numberOf(element));
    return element as object;
  }
  insertAdjacentText(position: unknown, text: unknown): void {
    this.#insertAdjacent(String(position).toLowerCase(), createNode(textKind, 0, String(text)));
  }
  #insertAdjacent(place: string, inserted: number): void {
    const node = Node.numberOf(this);
    const parent = parentOf(node);
    if (place === 'beforebegin') {
      if (parent >= 0) insertInto(parent, inserted, node);
    } else if (place === 'afterbegin') insertInto(node, inserted, firstChild(node));
    else if (place === 'beforeend') insertInto(node, inserted, -1);
    else if (place === 'afterend') {
      if (parent >= 0) insertInto(parent, inserted, nextSibling(node));
    } else throw domError('SyntaxError', `'${place}' is not a place beside or inside an element.`);
  }
  checkVisibility(): boolean {
    return noLayout('checkVisibility()');
  }
  getBoundingClientRect(): never {
    return noLayout('getBoundingClientRect()');
  }
  getClientRects(): never {
    return noLayout('getClientRects()');
  }
  scrollIntoView(): void {
    // There is nothing to scroll.
  }
}
mixIn(Element.prototype, parentMembers);
mixIn(Element.prototype, childMembers);
export interface Element extends ParentMembers {
  before(...items: unknown[]): void;
  after(...items: unknown[]): void;
  replaceWith(...items: unknown[]): void;
  remove(): void;
}
for (const measure of [
  'clientWidth',
  'clientHeight',
  'clientTop',
  'clientLeft',
  'scrollWidth',
  'scrollHeight',
  'scrollTop',
  'scrollLeft',
  'offsetWidth',
  'offsetHeight',
  'offsetTop',
  'offsetLeft',
  'offsetParent',
]) {
  Object.defineProperty(Element.prototype, measure, { get: () => noLayout(measure), configurable: true });
}

/** Elements of HTML and SVG share these. */
const styledMembers = {
  get dataset(): object {
    return dataset(Node.numberOf(this));
  },
  get style(): object {
    return inlineStyle(Node.numberOf(this));
  },
  set style(value: unknown) {
    setAttribute(Node.numberOf(this), 'style', String(value));
  },
  get tabIndex(): number {
    return Number.parseInt(getAttribute(Node.numberOf(this), 'tabindex') ?? '-1', 10);
  },
  focus(): void {
    // Nothing has the focus on a page at rest.
  },
  blur(): void {
    // See above.
  },
};

export class HTMLElement extends Element {
  get innerText(): string {
    return innerText(Node.numberOf(this));
  }
  set innerText(value: unknown) {
    const node = Node.numberOf(this);
    const nodes: number[] = [];
    String(value)
      .split(/\r\n|\n|\r/)
      .forEach((line, at) => {
        if (at > 0) nodes.push(createNode(elementKind, internName('br'), ''));
        if (line !== '') nodes.push(createNode(textKind, 0, line));
      });
    replaceChildren(node, nodes);
  }
  get outerText(): string {
    return this.innerText;
  }
  get hidden(): boolean {
    return getAttribute(Node.numberOf(this), 'hidden') !== null;
  }
  set hidden(value: unknown) {
    if (value) setAttribute(Node.numberOf(this), 'hidden', '');
    else removeAttribute(Node.numberOf(this), 'hidden');
  }
  get isContentEditable(): boolean {
    return (this.getAttribute('contenteditable') ?? 'false').toLowerCase() !== 'false';
  }
  click(): void {
    // Nothing happens on a page at rest.
  }
}
mixIn(HTMLElement.prototype, styledMembers);

export class SVGElement extends Element {
  get ownerSVGElement(): object | null {
    return this.parentElement === null ? null : (this.parentElement as Element).closest('svg');
  }
}
mixIn(SVGElement.prototype, styledMembers);

export class MathMLElement extends Element {}
mixIn(MathMLElement.prototype, styledMembers);

// The document --------------------------------------------------------------------------------------------------------

let readDocumentUrl: () => string = () => 'about:blank';
let knownDocumentUrl: string | null = null;
let baseVersion = -1;
let knownBase = '';

export function setDocumentUrl(read: () => string): void {
  readDocumentUrl = read;
}

function documentUrl(): string {
  return (knownDocumentUrl ??= readDocumentUrl());
}

/** What relative addresses on the page are relative to. */
export function baseUrl(): string {
  if (baseVersion === versionOf()) return knownBase;
  baseVersion = versionOf();
  const base = selectFirst(0, 'base[href]');
  const href = base < 0 ? null : getAttribute(base, 'href');
  const resolved = href === null ? null : URL.parse(href, documentUrl());
  knownBase = resolved === null ? documentUrl() : resolved.href;
  return knownBase;
}

/** An attribute that holds an address, made absolute; as written where it is none. */
export function resolvedUrl(node: number, attribute: string): string {
  const written = getAttribute(node, attribute);
  if (written === null) return '';
  return URL.parse(written, baseUrl())?.href ?? written;
}

function elementWithTag(document: number, tag: string): number {
  for (let top = firstChild(document); top >= 0; top = nextSibling(top)) {
    if (!isElement(top)) continue;
    if (tag === 'html') return top;
    for (const child of childElementsOf(top)) {
      const name = nameText(tagOf(child));
      if (name === tag || (tag === 'body' && name === 'frameset')) return child;
    }
    return -1;
  }
  return -1;
}

export class Document extends Node {
  get URL(): string {
    return documentUrl();
  }
  get documentURI(): string {
    return documentUrl();
  }
  get domain(): string {
    return URL.parse(documentUrl())?.hostname ?? '';
  }
  get compatMode(): string {
    return isQuirks() ? 'BackCompat' : 'CSS1Compat';
  }
  get characterSet(): string {
    return 'UTF-8';
  }
  get charset(): string {
    return 'UTF-8';
  }
  get inputEncoding(): string {
    return 'UTF-8';
  }
  get contentType(): string {
    return 'text/html';
  }
  get readyState(): string {
    return 'complete';
  }
  get visibilityState(): string {
    return 'visible';
  }
  get hidden(): boolean {
    return false;
  }
  get referrer(): string {
    return '';
  }
  get cookie(): string {
    return '';
  }
  get lastModified(): string {
    return '';
  }
  get designMode(): string {
    return 'off';
  }
  get dir(): string {
    return (this.documentElement as Element | null)?.getAttribute('dir') ?? '';
  }
  get defaultView(): object | null {
    return Node.numberOf(this) === 0 ? globalThis : null;
  }
  get location(): unknown {
    return Node.numberOf(this) === 0 ? (globalThis as { location?: unknown }).location : null;
  }
  get doctype(): object | null {
    return wrap(childNodesOf(Node.numberOf(this)).find((child) => kind(child) === doctypeKind) ?? -1);
  }
  get documentElement(): object | null {
    return wrap(elementWithTag(Node.numberOf(this), 'html'));
  }
  get scrollingElement(): object | null {
    return this.documentElement;
  }
  get activeElement(): object | null {
    return this.body;
  }
  get currentScript(): null {
    return null;
  }
  get head(): object | null {
    return wrap(elementWithTag(Node.numberOf(this), 'head'));
  }
  get body(): object | null {
    return wrap(elementWithTag(Node.numberOf(this), 'body'));
  }
  get title(): string {
    const title = selectFirst(Node.numberOf(this), 'title');
    return title < 0
      ? ''
      : textOf(title)
          .replace(/[\t\n\f\r ]+/g, ' ')
          .replace(/^ | $/g, '');
  }
  set title(value: unknown) {
    const title = selectFirst(Node.numberOf(this), 'title');
    if (title >= 0) (wrap(title) as Node).textContent = String(value);
    else if (this.head !== null) {
      const made = this.createElement('title') as Node;
      made.textContent = String(value);
      (this.head as Node).appendChild(made);
    }
  }
  #all(selector: string): HTMLCollection {
    const node = Node.numberOf(this);
    return namedCollection(() => selectAll(node, selector));
  }
  get links(): HTMLCollection {
    return this.#all('a[href], area[href]');
  }
  get anchors(): HTMLCollection {
    return this.#all('a[name]');
  }
  get images(): HTMLCollection {
    return this.#all('img');
  }
  get forms(): HTMLCollection {
    return this.#all('form');
  }
  get scripts(): HTMLCollection {
    return this.#all('script');
  }
  get embeds(): HTMLCollection {
    return this.#all('embed');
  }
  get plugins(): HTMLCollection {
    return this.#all('embed');
  }
  get all(): HTMLCollection {
    return this.#all('*');
  }
  get styleSheets(): readonly unknown[] {
    return [];
  }
  getElementById(id: unknown): object | null {
    return wrap(byId(Node.numberOf(this), String(id)));
  }
  getElementsByTagName(name: unknown): HTMLCollection {
    const node = Node.numberOf(this);
    return new HTMLCollection(() => byTag(node, String(name)));
  }
  getElementsByTagNameNS(_namespace: unknown, name: unknown): HTMLCollection {
    return this.getElementsByTagName(name);
  }
  getElementsByClassName(names: unknown): HTMLCollection {
    const node = Node.numberOf(this);
    return new HTMLCollection(() => byClass(node, String(names)));
  }
  getElementsByName(name: unknown): NodeList {
    const node = Node.numberOf(this);
    return new NodeList(() => byAttribute(node, 'name', String(name)));
  }
  createElement(name: unknown): object | null {
    const tag = asciiLowerCase(String(name));
    if (!/^[a-z][^\0\t\n\f\r />]*$/.test(tag)) {
      throw domError('InvalidCharacterError', `The tag name provided ('${tag}') is not a valid name.`);
    }
    const node = createNode(elementKind, internName(tag), '');
    if (tag === 'template') setTemplateContent(node, createNode(fragmentKind, 0, ''));
    return wrap(node);
  }
  createElementNS(namespace: unknown, name: unknown): object | null {
    const tag = String(name).replace(/^.*:/, '');
    if (namespace === svgNamespace) return wrap(createNode(elementKind, internName(`svg ${tag}`), ''));
    if (namespace === mathNamespace) return wrap(createNode(elementKind, internName(`math ${tag}`), ''));
    return this.createElement(tag);
  }
  createTextNode(data: unknown): Text {
    return new Text(String(data));
  }
  createComment(data: unknown): Comment {
    return new Comment(String(data));
  }
  createDocumentFragment(): DocumentFragment {
    return new DocumentFragment();
  }
  createAttribute(name: unknown): Attr {
    return new Attr(-1, asciiLowerCase(String(name)), '');
  }
  importNode(node: unknown, isDeep = false): object | null {
    return wrap(cloneOf(Node.numberOf(node), Boolean(isDeep)));
  }
  adoptNode(node: unknown): object | null {
    const adopted = Node.numberOf(node);
    detachNode(adopted);
    return wrap(adopted);
  }
  get implementation(): object {
    return {
      hasFeature: () => true,
      createHTMLDocument: (title?: unknown) => {
        const markup = title === undefined ? '' : `<title></title>`;
        const made = wrap(
          markupParser().parseDocument(`<!doctype html><html><head>${markup}</head><body></body></html>`),
        );
        if (title !== undefined) (made as Document).title = title as string;
        return made;
      },
    };
  }
  hasFocus(): boolean {
    return false;
  }
  getSelection(): null {
    return null;
  }
  elementFromPoint(): never {
    return noLayout('elementFromPoint()');
  }
  elementsFromPoint(): never {
    return noLayout('elementsFromPoint()');
  }
  write(): never {
    throw domError('NotSupportedError', 'document.write() is over once a page is loaded.');
  }
  writeln(): never {
    return this.write();
  }
}
mixIn(Document.prototype, parentMembers);
export interface Document extends ParentMembers {}

export class HTMLDocument extends Document {}
export class XMLDocument extends Document {}

/** `Attr` and `NamedNodeMap`. An attribute has an object only where code asks for one. */
import { documentOf } from './documents.js';
import { domError } from './dom-exception.js';
import type { SplitName } from './names.js';
import { attributeKey, attributeParts, isHtmlElement, keyOfAttribute, keyOfAttributeNS } from './names.js';
import { isXmlNode } from './documents.js';
import { NodeMap } from './node-map.js';
import { Node } from './nodes.js';
import { asciiLowerCase } from './row-lists.js';
import { attributesOf, getAttribute, removeAttribute, setAttribute } from './attribute-values.js';
import { wrap } from './wrappers.js';

/** By element, then by key. */
const made = new NodeMap<Map<string, Attr>>();
const noObjects: object[] = [];

/** The name of an attribute as an element's document has it. */
export function writtenFor(node: number, name: unknown): string {
  const text = String(name);
  return isHtmlElement(node) && !isXmlNode(node) ? asciiLowerCase(text) : text;
}

export class Attr {
  #node: number;
  #key: string;
  #parts: SplitName;
  #value: string;
  #document: number;

  constructor(node: number, key: string, value = '', document = 0) {
    this.#node = node;
    this.#key = key;
    this.#parts = attributeParts(node, key);
    this.#value = value;
    this.#document = document;
  }

  static keyOf(attribute: Attr): string {
    return attribute.#key;
  }
  static ownerOf(attribute: Attr): number {
    return attribute.#node;
  }
  static attach(attribute: Attr, node: number): void {
    attribute.#node = node;
    const known = made.get(node) ?? new Map<string, Attr>();
    known.set(attribute.#key, attribute);
    made.set(node, known);
  }
  static detach(attribute: Attr, value: string): void {
    attribute.#document = documentOf(attribute.#node);
    attribute.#node = -1;
    attribute.#value = value;
  }

  get name(): string {
    return this.#parts.qualified;
  }
  get localName(): string {
    return this.#parts.local;
  }
  get prefix(): string | null {
    return this.#parts.prefix;
  }
  get namespaceURI(): string | null {
    return this.#parts.namespace;
  }
  get value(): string {
    return this.#node < 0 ? this.#value : (getAttribute(this.#node, this.#key) ?? '');
  }
  set value(value: unknown) {
    if (this.#node < 0) this.#value = String(value);
    else setAttribute(this.#node, this.#key, String(value));
  }
  get nodeName(): string {
    return this.name;
  }
  get nodeType(): number {
    return 2;
  }
  get nodeValue(): string {
    return this.value;
  }
  set nodeValue(value: unknown) {
    this.value = value === null ? '' : value;
  }
  get textContent(): string {
    return this.value;
  }
  set textContent(value: unknown) {
    this.value = value === null ? '' : value;
  }
  get specified(): boolean {
    return true;
  }
  get ownerElement(): object | null {
    return wrap(this.#node);
  }
  get ownerDocument(): object | null {
    return wrap(this.#node < 0 ? this.#document : documentOf(this.#node));
  }
  get parentNode(): null {
    return null;
  }
  get parentElement(): null {
    return null;
  }
  get childNodes(): object[] {
    return noObjects;
  }
  get firstChild(): null {
    return null;
  }
  get lastChild(): null {
    return null;
  }
  get nextSibling(): null {
    return null;
  }
  get previousSibling(): null {
    return null;
  }
  get isConnected(): boolean {
    return false;
  }
  getRootNode(): object {
    return this;
  }
  hasChildNodes(): boolean {
    return false;
  }
  contains(other: unknown): boolean {
    return other === this;
  }
  cloneNode(): Attr {
    return new Attr(-1, this.#key, this.value, this.#document);
  }
  isEqualNode(other: unknown): boolean {
    return other instanceof Attr && other.#key === this.#key && other.value === this.value;
  }
  get [Symbol.toStringTag](): string {
    return 'Attr';
  }
}
Object.setPrototypeOf(Attr, Node);
Object.setPrototypeOf(Attr.prototype, Node.prototype);

/** The object of an element's attribute, the same each time; null where it has none. */
export function attributeNode(node: number, key: string | null): Attr | null {
  if (key === null || getAttribute(node, key) === null) return null;
  const known = made.get(node)?.get(key);
  if (known !== undefined) return known;
  const attribute = new Attr(node, key);
  Attr.attach(attribute, node);
  return attribute;
}

/** Takes an attribute away; its object, if there is one, keeps its value. */
export function dropAttribute(node: number, key: string): Attr | null {
  const value = getAttribute(node, key);
  if (value === null) return null;
  const object = made.get(node)?.get(key) ?? null;
  made.get(node)?.delete(key);
  if (object !== null) Attr.detach(object, value);
  removeAttribute(node, key);
  return object;
}

export function putAttributeNode(node: number, attribute: unknown): Attr | null {
  if (!(attribute instanceof Attr)) throw new TypeError("The parameter is not of type 'Attr'.");
  const owner = Attr.ownerOf(attribute);
  if (owner === node) return attribute;
  if (owner >= 0) {
    throw domError('InUseAttributeError', 'The attribute is in use by another element. Clone it to use it twice.');
  }
  const key = keyOfAttributeNS(node, attribute.namespaceURI, attribute.localName) ?? Attr.keyOf(attribute);
  const replaced = attributeNode(node, key);
  const { value } = attribute;
  if (replaced !== null) Attr.detach(replaced, replaced.value);
  if (key !== Attr.keyOf(attribute)) removeAttribute(node, key);
  setAttribute(node, Attr.keyOf(attribute), value);
  Attr.attach(attribute, node);
  return replaced;
}

export class NamedNodeMap {
  #node: number;

  constructor(node: number) {
    this.#node = node;
  }

  get length(): number {
    return attributesOf(this.#node).size;
  }
  item(index: unknown): Attr | null {
    return attributeNode(this.#node, [...attributesOf(this.#node).keys()][Number(index) >>> 0] ?? null);
  }
  getNamedItem(name: unknown): Attr | null {
    return attributeNode(this.#node, keyOfAttribute(this.#node, writtenFor(this.#node, name)));
  }
  getNamedItemNS(namespace: unknown, name: unknown): Attr | null {
    const space = namespace === null || namespace === undefined || namespace === '' ? null : String(namespace);
    return attributeNode(this.#node, keyOfAttributeNS(this.#node, space, String(name)));
  }
  setNamedItem(attribute: unknown): Attr | null {
    return putAttributeNode(this.#node, attribute);
  }
  setNamedItemNS(attribute: unknown): Attr | null {
    return putAttributeNode(this.#node, attribute);
  }
  removeNamedItem(name: unknown): Attr {
    return this.#remove(this.getNamedItem(name), name);
  }
  removeNamedItemNS(namespace: unknown, name: unknown): Attr {
    return this.#remove(this.getNamedItemNS(namespace, name), name);
  }
  #remove(attribute: Attr | null, name: unknown): Attr {
    if (attribute === null) throw domError('NotFoundError', `No item with name '${String(name)}' was found.`);
    dropAttribute(this.#node, Attr.keyOf(attribute));
    return attribute;
  }
  *[Symbol.iterator](): Generator<Attr> {
    for (let at = 0; at < this.length; at++) yield this.item(at) as Attr;
  }
  get [Symbol.toStringTag](): string {
    return 'NamedNodeMap';
  }
}

const isIndex = /^(?:0|[1-9]\d{0,8})$/;

const indexedAttributes: ProxyHandler<NamedNodeMap> = {
  get(target, name) {
    if (typeof name === 'symbol' || name in target) {
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    }
    return (isIndex.test(name) ? target.item(Number(name)) : target.getNamedItem(name)) ?? undefined;
  },
  has: (target, name) =>
    name in target ||
    (typeof name === 'string' &&
      (isIndex.test(name) ? Number(name) < target.length : target.getNamedItem(name) !== null)),
  ownKeys: (target) => {
    const names = [...target].map((attribute) => attribute.name);
    return [...new Set([...names.keys()].map(String)), ...new Set(names)];
  },
  getOwnPropertyDescriptor(target, name) {
    if (typeof name === 'symbol') return undefined;
    const value = isIndex.test(name) ? target.item(Number(name)) : target.getNamedItem(name);
    return value === null ? undefined : { value, writable: false, enumerable: isIndex.test(name), configurable: true };
  },
};

export function attributeMap(node: number): NamedNodeMap {
  return new Proxy(new NamedNodeMap(node), indexedAttributes);
}

/** Sets an attribute by namespace and qualified name. */
export function setAttributeNS(node: number, parts: SplitName, value: string): void {
  const key = keyOfAttributeNS(node, parts.namespace, parts.local) ?? attributeKey(parts.qualified, parts.namespace);
  setAttribute(node, key, value);
}

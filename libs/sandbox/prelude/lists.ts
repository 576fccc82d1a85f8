/** Lists of nodes and tokens. A live list brings its items up to date when it is asked for its length or walked. */
import { domError } from './dom-exception.js';
import { NodeMap } from './node-map.js';
import { attributesOf, getAttribute, removeAttribute, setAttribute } from './attribute-values.js';
import { versionOf } from './tree.js';
import { wrap } from './wrappers.js';

type Read = (node: number) => ArrayLike<number>;

const blanks = /[\t\n\f\r ]+/;
const none: number[] = [];
const getProperty = Reflect.get;
const apply = Reflect.apply;
const valuesOfArray = Array.prototype.values;

/** Asked of what stands for a live list, answers with the list itself; no code can name it. */
const behind = Symbol('list');

/**
 * A list that never changes holds its items as its own. A live one holds numbers, reads them again where the tree has
 * changed since, and makes an object of those alone that are asked for: code sees it through `liveItems`.
 */
class NodeCollection {
  [index: number]: object;
  #read: Read | null;
  #node: number;
  #nodes: ArrayLike<number>;
  #version = -1;

  constructor(nodes: ArrayLike<number>, read: Read | null = null, node = -1) {
    this.#nodes = nodes;
    this.#read = read;
    this.#node = node;
    for (let at = 0; at < nodes.length; at++) this[at] = wrap(nodes[at] ?? -1) as object;
  }

  /** As of now. */
  static nodesOf(list: NodeCollection): ArrayLike<number> {
    const own = #nodes in list ? list : (list as unknown as Record<symbol, NodeCollection>)[behind];
    if (own === undefined) throw new TypeError('Illegal invocation');
    if (own.#read === null) return own.#nodes;
    const version = versionOf();
    if (own.#version !== version) {
      own.#version = version;
      own.#nodes = own.#read(own.#node);
    }
    return own.#nodes;
  }

  get length(): number {
    return NodeCollection.nodesOf(this).length;
  }

  item(index: unknown): object | null {
    return wrap(NodeCollection.nodesOf(this)[Number(index) >>> 0] ?? -1);
  }

  [Symbol.iterator](): IterableIterator<object> {
    return #nodes in this ? (apply(valuesOfArray, this, []) as IterableIterator<object>) : walk(this);
  }
}

const { nodesOf } = NodeCollection;

/** What is removed or added on the way is seen. */
function* walk(list: NodeCollection): Generator<object> {
  for (let at = 0; at < nodesOf(list).length; at++) yield wrap(nodesOf(list)[at] ?? -1) as object;
}

export class NodeList extends NodeCollection {
  forEach(visit: (node: object, index: number, list: NodeList) => void, self?: unknown): void {
    for (let at = 0; at < this.length; at++) visit.call(self, this[at] as object, at, this);
  }
  *entries(): Generator<[number, object]> {
    for (let at = 0; at < this.length; at++) yield [at, this[at] as object];
  }
  *keys(): Generator<number> {
    for (let at = 0; at < this.length; at++) yield at;
  }
  values(): IterableIterator<object> {
    return this[Symbol.iterator]();
  }
  get [Symbol.toStringTag](): string {
    return 'NodeList';
  }
}

export class HTMLCollection extends NodeCollection {
  namedItem(name: unknown): object | null {
    const wanted = String(name);
    if (wanted === '') return null;
    const nodes = nodesOf(this);
    for (let at = 0; at < nodes.length; at++) {
      const node = nodes[at] ?? -1;
      if (getAttribute(node, 'id') === wanted || getAttribute(node, 'name') === wanted) return wrap(node);
    }
    return null;
  }
  get [Symbol.toStringTag](): string {
    return 'HTMLCollection';
  }
}

/** Controls that share a name: the value is that of the button of them that is pressed. */
export class RadioNodeList extends NodeList {
  get value(): string {
    for (const each of this) {
      const { type, checked, value } = each as { type?: unknown; checked?: unknown; value?: unknown };
      if (type === 'radio' && checked === true) return String(value);
    }
    return '';
  }
  set value(wanted: unknown) {
    for (const each of this) {
      const radio = each as { type?: unknown; checked?: unknown; value?: unknown };
      if (radio.type === 'radio' && radio.value === String(wanted)) radio.checked = true;
    }
  }
  override get [Symbol.toStringTag](): string {
    return 'RadioNodeList';
  }
}

/** The control of that id or name; all of them where there are more. */
export function namedControl(controls: ArrayLike<number>, name: string): object | null {
  const found: number[] = [];
  for (let at = 0; name !== '' && at < controls.length; at++) {
    const node = controls[at] ?? -1;
    if (getAttribute(node, 'id') === name || getAttribute(node, 'name') === name) found.push(node);
  }
  if (found.length < 2) return wrap(found[0] ?? -1);
  return Reflect.construct(NodeCollection, [found, null, -1], RadioNodeList);
}

export class HTMLFormControlsCollection extends HTMLCollection {
  override namedItem(name: unknown): object | null {
    return namedControl(nodesOf(this), String(name));
  }
  override get [Symbol.toStringTag](): string {
    return 'HTMLFormControlsCollection';
  }
}

/** The number that a property's name is the plain writing of, else -1. */
function indexOf(name: string | symbol): number {
  if (typeof name === 'symbol') return -1;
  const first = name.charCodeAt(0);
  if (!(first >= 48 && first <= 57)) return -1;
  if (name.length === 1) return first - 48;
  const index = Number(name) >>> 0;
  return String(index) === name ? index : -1;
}

/** Indexed items of a live list, and where the list has them, items by their id or name: `document.forms.login`. */
const liveItems: ProxyHandler<NodeCollection> = {
  get(target, name): unknown {
    if (name === behind) return target;
    const index = indexOf(name);
    if (index >= 0) return wrap(nodesOf(target)[index] ?? -1) ?? undefined;
    return getProperty(target, name, target);
  },
  has: (target, name) => {
    const index = indexOf(name);
    return index >= 0 ? index < nodesOf(target).length : name in target;
  },
  ownKeys: (target) => [...Array.from(nodesOf(target), (_node, at) => String(at)), ...Reflect.ownKeys(target)],
  getOwnPropertyDescriptor(target, name) {
    const index = indexOf(name);
    if (index < 0) return Reflect.getOwnPropertyDescriptor(target, name);
    const value = wrap(nodesOf(target)[index] ?? -1);
    return value === null ? undefined : { value, writable: false, enumerable: true, configurable: true };
  },
  defineProperty: (target, name, descriptor) => indexOf(name) < 0 && Reflect.defineProperty(target, name, descriptor),
  deleteProperty: (target, name) => {
    const index = indexOf(name);
    return index >= 0 ? index >= nodesOf(target).length : Reflect.deleteProperty(target, name);
  },
  // Its items could no longer be identified.
  preventExtensions: () => false,
};

const namedItems: ProxyHandler<HTMLCollection> = {
  ...(liveItems as ProxyHandler<HTMLCollection>),
  get(target, name): unknown {
    if (name === behind) return target;
    const index = indexOf(name);
    if (index >= 0) return wrap(nodesOf(target)[index] ?? -1) ?? undefined;
    const value: unknown = getProperty(target, name, target);
    if (value !== undefined || typeof name === 'symbol') return value;
    return target.namedItem(name) ?? undefined;
  },
};

const construct = Reflect.construct;

/** A list of a class of its own; the constructors between are passed over, they would do nothing. */
function listOf(node: number, read: Read, listClass: typeof NodeCollection): NodeCollection {
  return construct(NodeCollection, [none, read, node], listClass);
}

/** Elements that `read` finds for a node, as they are whenever the list is asked; by their name or id, too. */
export function liveCollection(node: number, read: Read): HTMLCollection {
  return new Proxy(listOf(node, read, HTMLCollection) as HTMLCollection, namedItems);
}

export function controlsCollection(node: number, read: Read): HTMLCollection {
  return new Proxy(listOf(node, read, HTMLFormControlsCollection) as HTMLCollection, namedItems);
}

export function liveNodes(node: number, read: Read): NodeList {
  return new Proxy(listOf(node, read, NodeList), liveItems) as NodeList;
}

/** The same list whenever a node is asked for it again. */
export function oncePerNode<List>(make: (node: number, read: Read) => List, read: Read): (node: number) => List {
  const made = new NodeMap<List>();
  return (node) => {
    const known = made.get(node);
    if (known !== undefined) return known;
    const list = make(node, read);
    made.set(node, list);
    return list;
  };
}

/** Items that stay as they are, whatever happens to the tree. */
export function staticList(nodes: ArrayLike<number>): NodeList {
  return construct(NodeCollection, [nodes, null, -1], NodeList) as NodeList;
}

const relations =
  ' alternate canonical dns-prefetch icon manifest modulepreload next noopener noreferrer opener preconnect prefetch preload stylesheet ';

export class DOMTokenList {
  #node: number;
  #attribute: string;

  constructor(node: number, attribute: string) {
    this.#node = node;
    this.#attribute = attribute;
  }

  #tokens(): string[] {
    const value = getAttribute(this.#node, this.#attribute);
    return value === null ? [] : [...new Set(value.split(blanks).filter((token) => token !== ''))];
  }
  #write(tokens: string[]): void {
    if (tokens.length === 0 && getAttribute(this.#node, this.#attribute) === null) return;
    setAttribute(this.#node, this.#attribute, tokens.join(' '));
  }
  #checked(token: unknown): string {
    const text = String(token);
    if (text === '') throw domError('SyntaxError', 'The token provided must not be empty.');
    if (/[\t\n\f\r ]/.test(text)) {
      throw domError('InvalidCharacterError', `The token provided ('${text}') contains HTML space characters.`);
    }
    return text;
  }

  get length(): number {
    return this.#tokens().length;
  }
  get value(): string {
    return getAttribute(this.#node, this.#attribute) ?? '';
  }
  set value(value: string) {
    setAttribute(this.#node, this.#attribute, String(value));
  }
  item(index: number): string | null {
    return this.#tokens()[index] ?? null;
  }
  contains(token: unknown): boolean {
    return this.#tokens().includes(String(token));
  }
  add(...tokens: unknown[]): void {
    const added = tokens.map((token) => this.#checked(token));
    this.#write([...new Set([...this.#tokens(), ...added])]);
  }
  remove(...tokens: unknown[]): void {
    const removed = tokens.map((token) => this.#checked(token));
    this.#write(this.#tokens().filter((token) => !removed.includes(token)));
  }
  toggle(token: unknown, force?: boolean): boolean {
    const isWanted = force ?? !this.contains(this.#checked(token));
    if (isWanted) this.add(token);
    else this.remove(token);
    return isWanted;
  }
  replace(token: unknown, by: unknown): boolean {
    const tokens = this.#tokens();
    const at = tokens.indexOf(this.#checked(token));
    if (at < 0) return false;
    tokens[at] = this.#checked(by);
    this.#write([...new Set(tokens)]);
    return true;
  }
  supports(token: unknown): boolean {
    if (this.#attribute !== 'rel') throw new TypeError('The attribute has no tokens that could be supported.');
    return relations.includes(` ${String(token).toLowerCase()} `);
  }
  forEach(visit: (token: string, index: number, list: DOMTokenList) => void, self?: unknown): void {
    this.#tokens().forEach((token, at) => visit.call(self, token, at, this));
  }
  entries(): IterableIterator<[number, string]> {
    return this.#tokens().entries();
  }
  keys(): IterableIterator<number> {
    return this.#tokens().keys();
  }
  values(): IterableIterator<string> {
    return this.#tokens().values();
  }
  [Symbol.iterator](): IterableIterator<string> {
    return this.values();
  }
  toString(): string {
    return this.value;
  }
  get [Symbol.toStringTag](): string {
    return 'DOMTokenList';
  }
}

const indexedTokens: ProxyHandler<DOMTokenList> = {
  get(target, name) {
    if (typeof name === 'string' && /^\d+$/.test(name)) return target.item(Number(name)) ?? undefined;
    const value: unknown = Reflect.get(target, name, target);
    return typeof value === 'function' ? (value.bind(target) as unknown) : value;
  },
  set: (target, name, value) => Reflect.set(target, name, value, target),
};

const tokenLists: Record<string, NodeMap<DOMTokenList>> = {};

/** The same list whenever it is asked for. */
export function tokenList(node: number, attribute: string): DOMTokenList {
  const known = (tokenLists[attribute] ??= new NodeMap<DOMTokenList>());
  const made = known.get(node) ?? new Proxy(new DOMTokenList(node, attribute), indexedTokens);
  known.set(node, made);
  return made;
}

function dataAttribute(name: string): string {
  return `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function dataName(attribute: string): string {
  return attribute.slice(5).replace(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** `element.dataset` */
export function dataset(node: number): object {
  return new Proxy(
    {},
    {
      get: (target, name) =>
        typeof name === 'symbol'
          ? (Reflect.get(target, name) as unknown)
          : (getAttribute(node, dataAttribute(name)) ?? (Reflect.get(target, name) as unknown)),
      set: (_target, name, value) => {
        setAttribute(node, dataAttribute(String(name)), String(value));
        return true;
      },
      has: (target, name) =>
        typeof name === 'string' && (getAttribute(node, dataAttribute(name)) !== null || name in target),
      deleteProperty: (_target, name) => {
        removeAttribute(node, dataAttribute(String(name)));
        return true;
      },
      ownKeys: () => [...attributesOf(node).keys()].filter((name) => name.startsWith('data-')).map(dataName),
      getOwnPropertyDescriptor: (_target, name) => {
        const value = typeof name === 'string' ? getAttribute(node, dataAttribute(name)) : null;
        return value === null ? undefined : { value, writable: true, enumerable: true, configurable: true };
      },
    },
  );
}

function styleName(property: string): string {
  if (property === 'cssFloat') return 'float';
  return property.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replace(/^(webkit|moz|ms)-/, '-$1-');
}

function readStyle(node: number): Map<string, string> {
  const declarations = new Map<string, string>();
  const text = (getAttribute(node, 'style') ?? '').replace(/\/\*[\s\S]*?\*\//g, '');
  for (const declaration of text.match(/(?:[^;"'(]|"[^"]*"|'[^']*'|\((?:[^()"']|"[^"]*"|'[^']*')*\))+/g) ?? []) {
    const colon = declaration.indexOf(':');
    if (colon < 0) continue;
    const name = declaration.slice(0, colon).trim();
    const value = declaration.slice(colon + 1).trim();
    if (value !== '') declarations.set(name.startsWith('--') ? name : name.toLowerCase(), value);
  }
  return declarations;
}

/** `element.style`: the declarations of the element's own attribute. */
export function inlineStyle(node: number): object {
  const write = (declarations: Map<string, string>): void =>
    setAttribute(node, 'style', [...declarations].map(([name, value]) => `${name}: ${value};`).join(' '));
  const valueOf = (name: string): string => (readStyle(node).get(name) ?? '').replace(/\s*!important$/i, '');
  const setProperty = (name: string, value: unknown): void => {
    const declarations = readStyle(node);
    if (value === '' || value === null) declarations.delete(name);
    else declarations.set(name, String(value));
    write(declarations);
  };
  const methods: Record<string, unknown> = {
    getPropertyValue: (name: unknown) => valueOf(String(name).toLowerCase()),
    getPropertyPriority: (name: unknown) =>
      /!important$/i.test(readStyle(node).get(String(name).toLowerCase()) ?? '') ? 'important' : '',
    setProperty: (name: unknown, value: unknown) => setProperty(String(name).toLowerCase(), value),
    removeProperty: (name: unknown) => {
      const before = valueOf(String(name).toLowerCase());
      setProperty(String(name).toLowerCase(), '');
      return before;
    },
    item: (index: number) => [...readStyle(node).keys()][index] ?? '',
  };
  return new Proxy(methods, {
    get: (target, name) => {
      if (typeof name === 'symbol') return Reflect.get(target, name) as unknown;
      if (name === 'cssText') return getAttribute(node, 'style') ?? '';
      if (name === 'length') return readStyle(node).size;
      if (Object.hasOwn(target, name)) return target[name];
      if (/^\d+$/.test(name)) return [...readStyle(node).keys()][Number(name)];
      return name in Object.prototype ? Reflect.get(target, name) : valueOf(styleName(name));
    },
    set: (_target, name, value) => {
      if (name === 'cssText') setAttribute(node, 'style', String(value));
      else setProperty(styleName(String(name)), value);
      return true;
    },
  });
}

/** XPath 1.0 by `document.evaluate`, whole but for the namespace axis, which no browser has. */
import { Attr } from './attributes.js';
import { domError } from './dom-exception.js';
import { xmlNamespace } from './names.js';
import { Node } from './nodes.js';
import { versionOf } from './tree.js';
import { wrap } from './wrappers.js';
import type { Item, Value } from './xpath-values.js';
import { asBoolean, asNumber, asText } from './xpath-values.js';
import type { Expression, Resolver } from './xpath-parser.js';
import { SyntaxFault, Parser } from './xpath-parser.js';

function resolverOf(given: unknown): Resolver {
  if (given !== null && given !== undefined && typeof given !== 'function' && typeof given !== 'object') {
    throw new TypeError("The resolver is not of type 'XPathNSResolver'.");
  }
  return (prefix) => {
    if (prefix === 'xml') return xmlNamespace;
    const found = askResolver(given, prefix);
    if (found === null || found === undefined) {
      throw domError('NamespaceError', `The prefix '${prefix}' is not one that the resolver knows.`);
    }
    return found === '' ? null : found;
  };
}

/** As text; null where it does not know, or breaks. */
function askResolver(given: unknown, prefix: string): string | null {
  try {
    const ask: unknown =
      typeof given === 'function' ? given : (given as { lookupNamespaceURI?: unknown } | null)?.lookupNamespaceURI;
    const found: unknown = typeof ask === 'function' ? ask.call(given, prefix) : null;
    return found === null || found === undefined ? null : `${found as string}`;
  } catch {
    return null;
  }
}

function itemOf(object: unknown): Item {
  return object instanceof Attr ? object : Node.numberOf(object);
}

function objectOf(item: Item | undefined): object | null {
  if (item === undefined) return null;
  return item instanceof Attr ? item : wrap(item);
}

const types = {
  ANY_TYPE: 0,
  NUMBER_TYPE: 1,
  STRING_TYPE: 2,
  BOOLEAN_TYPE: 3,
  UNORDERED_NODE_ITERATOR_TYPE: 4,
  ORDERED_NODE_ITERATOR_TYPE: 5,
  UNORDERED_NODE_SNAPSHOT_TYPE: 6,
  ORDERED_NODE_SNAPSHOT_TYPE: 7,
  ANY_UNORDERED_NODE_TYPE: 8,
  FIRST_ORDERED_NODE_TYPE: 9,
} as const;

let inMaking: { value: Value; type: number } | null = null;

export class XPathResult {
  #value: Value;
  #type: number;
  #at = 0;
  #version = versionOf();

  constructor() {
    if (inMaking === null) throw new TypeError('Illegal constructor');
    const { value, type } = inMaking;
    inMaking = null;
    this.#value = value;
    this.#type = type;
    if (type !== types.ANY_TYPE) return;
    if (typeof value === 'object') this.#type = types.UNORDERED_NODE_ITERATOR_TYPE;
    else if (typeof value === 'number') this.#type = types.NUMBER_TYPE;
    else this.#type = typeof value === 'string' ? types.STRING_TYPE : types.BOOLEAN_TYPE;
  }

  #need(...wanted: number[]): void {
    if (!wanted.includes(this.#type)) throw new TypeError('The result is of another type.');
  }
  #items(): Item[] {
    return typeof this.#value === 'object' ? this.#value : [];
  }

  get resultType(): number {
    return this.#type;
  }
  get numberValue(): number {
    this.#need(types.NUMBER_TYPE);
    return asNumber(this.#value);
  }
  get stringValue(): string {
    this.#need(types.STRING_TYPE);
    return asText(this.#value);
  }
  get booleanValue(): boolean {
    this.#need(types.BOOLEAN_TYPE);
    return asBoolean(this.#value);
  }
  get singleNodeValue(): object | null {
    this.#need(types.ANY_UNORDERED_NODE_TYPE, types.FIRST_ORDERED_NODE_TYPE);
    return objectOf(this.#items()[0]);
  }
  get invalidIteratorState(): boolean {
    const isIterator =
      this.#type === types.UNORDERED_NODE_ITERATOR_TYPE || this.#type === types.ORDERED_NODE_ITERATOR_TYPE;
    return isIterator && this.#version !== versionOf();
  }
  get snapshotLength(): number {
    this.#need(types.UNORDERED_NODE_SNAPSHOT_TYPE, types.ORDERED_NODE_SNAPSHOT_TYPE);
    return this.#items().length;
  }
  iterateNext(): object | null {
    this.#need(types.UNORDERED_NODE_ITERATOR_TYPE, types.ORDERED_NODE_ITERATOR_TYPE);
    if (this.invalidIteratorState) {
      throw domError('InvalidStateError', 'The document has changed since the result was made.');
    }
    return objectOf(this.#items()[this.#at++]);
  }
  snapshotItem(index: unknown): object | null {
    this.#need(types.UNORDERED_NODE_SNAPSHOT_TYPE, types.ORDERED_NODE_SNAPSHOT_TYPE);
    return objectOf(this.#items()[Number(index) >>> 0]);
  }
  get [Symbol.toStringTag](): string {
    return 'XPathResult';
  }
}
for (const [name, value] of Object.entries(types)) {
  for (const target of [XPathResult, XPathResult.prototype]) {
    Object.defineProperty(target, name, { value, enumerable: true });
  }
}

function resultOf(value: Value, given: unknown): XPathResult {
  const type = Number(given ?? 0) & 0xffff;
  if (type > types.FIRST_ORDERED_NODE_TYPE) throw domError('NotSupportedError', 'There is no result of that type.');
  if (type >= types.UNORDERED_NODE_ITERATOR_TYPE && typeof value !== 'object') {
    throw new TypeError('The result is not a node set, and cannot be converted to the desired type.');
  }
  inMaking = { value, type };
  return new XPathResult();
}

function read(text: string, resolver: unknown): Expression {
  try {
    return new Parser(text, resolverOf(resolver)).whole();
  } catch (thrown) {
    if (thrown instanceof SyntaxFault) throw domError('SyntaxError', `'${text}' is not a valid XPath expression.`);
    throw thrown;
  }
}

export class XPathExpression {
  #expression: Expression;
  constructor(text: unknown, resolver: unknown) {
    this.#expression = read(String(text), resolver);
  }
  evaluate(context: unknown, type?: unknown): XPathResult {
    const value = this.#expression.evaluate({ item: itemOf(context), position: 1, size: 1 });
    return resultOf(value, type);
  }
}

export function createExpression(text: unknown, resolver: unknown): XPathExpression {
  return new XPathExpression(text, resolver);
}

/** Expression, context, resolver, type of the result. */
export function evaluate(...[text, context, resolver, type]: unknown[]): XPathResult {
  return new XPathExpression(text, resolver).evaluate(context, type);
}

export class XPathEvaluator {
  evaluate(...asked: unknown[]): XPathResult {
    return evaluate(...asked);
  }
  createExpression(text: unknown, resolver?: unknown): XPathExpression {
    return new XPathExpression(text, resolver);
  }
  createNSResolver(node: unknown): unknown {
    return node;
  }
}

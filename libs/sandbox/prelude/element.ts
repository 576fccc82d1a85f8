/** `Element`, and what HTML and SVG add to it. */
import { domError, noLayout } from './dom-exception.js';
import { innerText } from './inner-text.js';
import type { DOMTokenList, HTMLCollection, NamedNodeMap } from './lists.js';
import { Attr, attributeMap, dataset, inlineStyle, liveCollection, tokenList } from './lists.js';
import { innerMarkup, localName, outerMarkup } from './markup.js';
import {
  childMembers,
  htmlNamespace,
  insertInto,
  mathNamespace,
  mixIn,
  Node,
  parentMembers,
  replaceChildren,
  svgNamespace,
  tagNameOf,
} from './nodes.js';
import { parseFragment } from './parse-markup.js';
import { byClass, byTag, selecting } from './queries.js';
import { closestMatch, matchesSelector } from './selectors.js';
import { asciiLowerCase } from './row-lists.js';
import {
  attributesOf,
  createNode,
  detachNode,
  elementKind,
  firstChild,
  getAttribute,
  internName,
  isElement,
  nameText,
  nextElement,
  nextSibling,
  parentElementOf,
  parentOf,
  previousElement,
  removeAttribute,
  setAttribute,
  tagOf,
  templateContent,
  textKind,
} from './tree.js';
import { wrap } from './wrappers.js';

// No private methods here: objects of these classes are made without their constructors (`Node.of`).

function attributeNameFor(element: Element, name: unknown): string {
  const text = String(name);
  return nameText(tagOf(Node.numberOf(element))).includes(' ') ? text : asciiLowerCase(text);
}

function parseInside(context: Element, markup: unknown): number {
  const text = markup === null ? '' : String(markup);
  return parseFragment(text, context.localName, context.namespaceURI);
}

function insertAdjacent(element: Element, place: string, inserted: number): void {
  const node = Node.numberOf(element);
  const parent = parentOf(node);
  if (place === 'beforebegin') {
    if (parent >= 0) insertInto(parent, inserted, node);
  } else if (place === 'afterbegin') insertInto(node, inserted, firstChild(node));
  else if (place === 'beforeend') insertInto(node, inserted, -1);
  else if (place === 'afterend') {
    if (parent >= 0) insertInto(parent, inserted, nextSibling(node));
  } else throw domError('SyntaxError', `'${place}' is not a place beside or inside an element.`);
}

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
  getAttribute(name: unknown): string | null {
    return getAttribute(Node.numberOf(this), attributeNameFor(this, name));
  }
  getAttributeNS(_namespace: unknown, name: unknown): string | null {
    const node = Node.numberOf(this);
    return getAttribute(node, String(name)) ?? getAttribute(node, `xlink:${String(name)}`);
  }
  getAttributeNames(): string[] {
    return [...attributesOf(Node.numberOf(this)).keys()];
  }
  getAttributeNode(name: unknown): Attr | null {
    return this.hasAttribute(name) ? new Attr(Node.numberOf(this), attributeNameFor(this, name)) : null;
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
    const text = attributeNameFor(this, name);
    if (!/^[^\0\t\n\f\r />=]+$/.test(text)) {
      throw domError('InvalidCharacterError', `'${text}' is not a valid attribute name.`);
    }
    setAttribute(Node.numberOf(this), text, String(value));
  }
  setAttributeNS(_namespace: unknown, name: unknown, value: unknown): void {
    setAttribute(Node.numberOf(this), String(name), String(value));
  }
  removeAttribute(name: unknown): void {
    removeAttribute(Node.numberOf(this), attributeNameFor(this, name));
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
    const wanted = String(name);
    return liveCollection(Node.numberOf(this), (root) => byTag(root, wanted));
  }
  getElementsByTagNameNS(_namespace: unknown, name: unknown): HTMLCollection {
    return this.getElementsByTagName(name);
  }
  getElementsByClassName(names: unknown): HTMLCollection {
    const wanted = String(names);
    return liveCollection(Node.numberOf(this), (root) => byClass(root, wanted));
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
    const fragment = parseInside(this, markup);
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
    const fragment = parseInside(context, markup);
    insertInto(parent, fragment, node);
    detachNode(node);
  }
  insertAdjacentHTML(position: unknown, markup: unknown): void {
    const place = String(position).toLowerCase();
    const isOutside = place === 'beforebegin' || place === 'afterend';
    const parent = parentElementOf(Node.numberOf(this));
    const context = isOutside && parent >= 0 ? (wrap(parent) as Element) : this;
    insertAdjacent(this, place, parseInside(context, markup));
  }
  insertAdjacentElement(position: unknown, element: unknown): object | null {
    insertAdjacent(this, String(position).toLowerCase(), Node.numberOf(element));
    return element as object;
  }
  insertAdjacentText(position: unknown, text: unknown): void {
    insertAdjacent(this, String(position).toLowerCase(), createNode(textKind, 0, String(text)));
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

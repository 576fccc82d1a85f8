/** `Element`, and what HTML and SVG add to it. */
import {
  Attr,
  attributeMap,
  attributeNode,
  dropAttribute,
  putAttributeNode,
  setAttributeNS,
  writtenFor,
} from './attributes.js';
import type { NamedNodeMap } from './attributes.js';
import { isXmlNode } from './documents.js';
import { domError, noLayout } from './dom-exception.js';
import { innerText } from './inner-text.js';
import { lazyModule } from './lazy-modules.js';
import type { DOMTokenList, HTMLCollection } from './lists.js';
import { dataset, inlineStyle, liveCollection, tokenList } from './lists.js';
import { innerMarkup, outerMarkup } from './markup.js';
import { gathered, insertInto, replaceAll, replaceNode } from './mutations.js';
import {
  attributeParts,
  checkedName,
  htmlNamespace,
  isAttributeName,
  isHtmlElement,
  keyOfAttribute,
  keyOfAttributeNS,
  localName,
  partsOf,
} from './names.js';
import { Node, tagNameOf } from './nodes.js';
import { childMembers, mixIn, parentMembers } from './parent-members.js';
import { namespacesAround, parseFragment, parseXmlInside } from './parse-markup.js';
import { byClass, byTag, byTagNS, selecting } from './queries.js';
import { focusMembers } from './reflection.js';
import { closestMatch, matchesSelector } from './selectors.js';
import { asciiLowerCase } from './row-lists.js';
import { attributesOf, getAttribute, setAttribute } from './attribute-values.js';
import { internName, spacedNames } from './name-table.js';
import {
  createNode,
  documentKind,
  elementKind,
  firstChild,
  isElement,
  kind,
  nextSibling,
  parentOf,
  templateContent,
  textKind,
} from './tree.js';
import { nextElement, previousElement } from './tree-walks.js';
import { wrap } from './wrappers.js';

const events = lazyModule('events');
const xmlMarkup = lazyModule('xml-markup');

// No private methods here: objects of these classes are made without their constructors (`Node.of`).

function spaceOf(namespace: unknown): string | null {
  return namespace === null || namespace === undefined || namespace === '' ? null : String(namespace);
}

function parseInside(context: number, markup: unknown): number {
  const text = markup === null ? '' : String(markup);
  if (isXmlNode(context)) return parseXmlInside(text, namespacesAround(context));
  return isElement(context)
    ? parseFragment(text, localName(context), partsOf(context).namespace)
    : parseFragment(text, 'body', htmlNamespace);
}

function insertAdjacent(element: Element, place: string, inserted: number): boolean {
  const node = Node.numberOf(element);
  const parent = parentOf(node);
  if (place === 'beforebegin') {
    if (parent < 0) return false;
    insertInto(parent, inserted, node);
  } else if (place === 'afterbegin') insertInto(node, inserted, firstChild(node));
  else if (place === 'beforeend') insertInto(node, inserted, -1);
  else if (place === 'afterend') {
    if (parent < 0) return false;
    insertInto(parent, inserted, nextSibling(node));
  } else throw domError('SyntaxError', `'${place}' is not a place beside or inside an element.`);
  return true;
}

export class Element extends Node {
  get tagName(): string {
    return tagNameOf(Node.numberOf(this));
  }
  get localName(): string {
    return localName(Node.numberOf(this));
  }
  get prefix(): string | null {
    return partsOf(Node.numberOf(this)).prefix;
  }
  get namespaceURI(): string | null {
    return partsOf(Node.numberOf(this)).namespace;
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
    const node = Node.numberOf(this);
    const written = writtenFor(node, name);
    const value = getAttribute(node, written);
    if (value !== null || spacedNames.count === 0) return value;
    const key = keyOfAttribute(node, written);
    return key === null ? null : getAttribute(node, key);
  }
  getAttributeNS(namespace: unknown, name: unknown): string | null {
    const node = Node.numberOf(this);
    const key = keyOfAttributeNS(node, spaceOf(namespace), String(name));
    return key === null ? null : getAttribute(node, key);
  }
  getAttributeNames(): string[] {
    const node = Node.numberOf(this);
    return [...attributesOf(node).keys()].map((key) => attributeParts(node, key).qualified);
  }
  getAttributeNode(name: unknown): Attr | null {
    const node = Node.numberOf(this);
    return attributeNode(node, keyOfAttribute(node, writtenFor(node, name)));
  }
  getAttributeNodeNS(namespace: unknown, name: unknown): Attr | null {
    const node = Node.numberOf(this);
    return attributeNode(node, keyOfAttributeNS(node, spaceOf(namespace), String(name)));
  }
  setAttributeNode(attribute: unknown): Attr | null {
    return putAttributeNode(Node.numberOf(this), attribute);
  }
  setAttributeNodeNS(attribute: unknown): Attr | null {
    return putAttributeNode(Node.numberOf(this), attribute);
  }
  removeAttributeNode(attribute: Attr): Attr {
    const node = Node.numberOf(this);
    if (Attr.ownerOf(attribute) !== node) throw domError('NotFoundError', 'The attribute is not one of this element.');
    dropAttribute(node, Attr.keyOf(attribute));
    return attribute;
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
    const node = Node.numberOf(this);
    const written = writtenFor(node, name);
    if (!isAttributeName(written)) {
      throw domError('InvalidCharacterError', `'${written}' is not a valid attribute name.`);
    }
    setAttribute(node, keyOfAttribute(node, written) ?? written, String(value));
  }
  setAttributeNS(namespace: unknown, name: unknown, value: unknown): void {
    const checked = checkedName(String(name), spaceOf(namespace), true);
    if ('wrong' in checked) throw domError(checked.wrong, `'${String(name)}' is not a valid attribute name.`);
    setAttributeNS(Node.numberOf(this), checked.parts, String(value));
  }
  removeAttribute(name: unknown): void {
    const node = Node.numberOf(this);
    const key = keyOfAttribute(node, writtenFor(node, name));
    if (key !== null) dropAttribute(node, key);
  }
  removeAttributeNS(namespace: unknown, name: unknown): void {
    const node = Node.numberOf(this);
    const key = keyOfAttributeNS(node, spaceOf(namespace), String(name));
    if (key !== null) dropAttribute(node, key);
  }
  toggleAttribute(name: unknown, force?: boolean): boolean {
    if (!isAttributeName(String(name))) {
      throw domError('InvalidCharacterError', `'${String(name)}' is not a valid attribute name.`);
    }
    const isWanted = force === undefined ? !this.hasAttribute(name) : Boolean(force);
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
  getElementsByTagNameNS(namespace: unknown, name: unknown): HTMLCollection {
    const [space, wanted] = [spaceOf(namespace), String(name)];
    return liveCollection(Node.numberOf(this), (root) => byTagNS(root, space, wanted));
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
    const node = Node.numberOf(this);
    return isXmlNode(node) ? xmlMarkup().innerXml(node) : innerMarkup(node);
  }
  set innerHTML(markup: unknown) {
    const node = Node.numberOf(this);
    const content = templateContent(node);
    replaceAll(content >= 0 ? content : node, parseInside(node, markup));
  }
  get outerHTML(): string {
    const node = Node.numberOf(this);
    return isXmlNode(node) ? xmlMarkup().outerXml(node) : outerMarkup(node);
  }
  set outerHTML(markup: unknown) {
    const node = Node.numberOf(this);
    const parent = parentOf(node);
    if (parent < 0) return;
    if (kind(parent) === documentKind) {
      throw domError('NoModificationAllowedError', 'The element of a document cannot be replaced by markup.');
    }
    replaceNode(parent, parseInside(parent, markup), node);
  }
  insertAdjacentHTML(position: unknown, markup: unknown): void {
    const node = Node.numberOf(this);
    const place = asciiLowerCase(String(position));
    const isOutside = place === 'beforebegin' || place === 'afterend';
    const parent = parentOf(node);
    if (isOutside && (parent < 0 || kind(parent) === documentKind)) {
      throw domError('NoModificationAllowedError', 'The element has no parent that could hold more.');
    }
    const around = isOutside ? parent : node;
    const isRoot = isElement(around) && isHtmlElement(around) && localName(around) === 'html' && !isXmlNode(around);
    const inserted = isRoot
      ? parseFragment(String(markup), 'body', htmlNamespace)
      : parseInside(around, String(markup));
    insertAdjacent(this, place, inserted);
  }
  insertAdjacentElement(position: unknown, element: unknown): object | null {
    const isPut = insertAdjacent(this, asciiLowerCase(String(position)), Node.numberOf(element));
    return isPut ? (element as object) : null;
  }
  insertAdjacentText(position: unknown, text: unknown): void {
    insertAdjacent(this, asciiLowerCase(String(position)), createNode(textKind, 0, String(text)));
  }
  getHTML(): string {
    return innerMarkup(Node.numberOf(this));
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
    replaceAll(node, gathered(nodes));
  }
  get outerText(): string {
    return this.innerText;
  }
  click(): void {
    events().click(this);
  }
}
mixIn(HTMLElement.prototype, styledMembers);
mixIn(HTMLElement.prototype, focusMembers);

/** An attribute as SVG shows it: what it is, and what an animation makes of it, which is the same. */
function animated(node: number, ...names: readonly string[]): object {
  const read = (): string => {
    for (const name of names) {
      const value = getAttribute(node, name);
      if (value !== null) return value;
    }
    return '';
  };
  return {
    get baseVal(): string {
      return read();
    },
    set baseVal(value: unknown) {
      setAttribute(node, names[0] ?? '', String(value));
    },
    get animVal(): string {
      return read();
    },
  };
}

export class SVGElement extends Element {
  get ownerSVGElement(): object | null {
    return this.parentElement === null ? null : (this.parentElement as Element).closest('svg');
  }
}
mixIn(SVGElement.prototype, styledMembers);
mixIn(SVGElement.prototype, focusMembers);
// Not by `override`: for elements of HTML these are texts.
mixIn(SVGElement.prototype, {
  get className(): object {
    return animated(Node.numberOf(this), 'class');
  },
  get href(): object {
    return animated(Node.numberOf(this), 'href', 'xlink:href');
  },
});
export class SVGSVGElement extends SVGElement {
  get viewBox(): object {
    const written = getAttribute(Node.numberOf(this), 'viewBox') ?? '';
    const [x = 0, y = 0, width = 0, height = 0] = written
      .split(/[\s,]+/)
      .filter((part) => part !== '')
      .map(Number);
    const rectangle = { x, y, width, height };
    return { baseVal: rectangle, animVal: rectangle };
  }
}

export class MathMLElement extends Element {}
mixIn(MathMLElement.prototype, styledMembers);
mixIn(MathMLElement.prototype, focusMembers);

// The document --------------------------------------------------------------------------------------------------------

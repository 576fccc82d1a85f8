/** `Document`. */
import { documentUrl } from './addresses.js';
import { Attr } from './attributes.js';
import { addDocument, factsOf, pageFacts, setOwner } from './documents.js';
import { domError, noLayout } from './dom-exception.js';
import { lazyModule } from './lazy-modules.js';
import type { HTMLCollection, NodeList } from './lists.js';
import { liveCollection, liveNodes, oncePerNode } from './lists.js';
import { insertInto, replaceNode } from './mutations.js';
import type { SplitName } from './names.js';
import {
  attributeKey,
  checkedName,
  elementKey,
  htmlNamespace,
  isAttributeName,
  isElementName,
  svgNamespace,
} from './names.js';
import { cloneOf, makeNode, Node } from './nodes.js';
import { mixIn, parentMembers } from './parent-members.js';
import { parseDocument } from './parse-markup.js';
import { byAttribute, byClass, byId, byTag, byTagNS } from './queries.js';
import { selectAll, selectFirst } from './selectors.js';
import { asciiLowerCase } from './row-lists.js';
import { internName, nameText } from './name-table.js';
import {
  cdataKind,
  childElementsOf,
  commentKind,
  createNode,
  dataOf,
  detachNode,
  doctypeKind,
  documentKind,
  elementKind,
  firstChild,
  fragmentKind,
  insertNode,
  instructionKind,
  isElement,
  isQuirks,
  isTextual,
  kind,
  nextSibling,
  setTemplateContent,
  tagOf,
  textKind,
} from './tree.js';
import { childNodesOf } from './tree-walks.js';
import { URL } from './url.js';
import { adopt, wrap } from './wrappers.js';

const events = lazyModule('events');
const ranges = lazyModule('ranges');
const selections = lazyModule('selection');
const xpath = lazyModule('xpath');

/** The one element at the top. */
function topElement(document: number): number {
  let top = firstChild(document);
  while (top >= 0 && !isElement(top)) top = nextSibling(top);
  return top;
}

function elementWithTag(document: number, tag: string): number {
  for (let top = firstChild(document); top >= 0; top = nextSibling(top)) {
    if (!isElement(top)) continue;
    if (nameText(tagOf(top)) !== 'html') return -1;
    for (const child of childElementsOf(top)) {
      const name = nameText(tagOf(child));
      if (name === tag || (tag === 'body' && name === 'frameset')) return child;
    }
    return -1;
  }
  return -1;
}

function titleOf(document: number): number {
  const top = topElement(document);
  if (top < 0 || nameText(tagOf(top)) !== 'svg svg') return selectFirst(document, 'title');
  return childElementsOf(top).find((child) => nameText(tagOf(child)) === 'svg title') ?? -1;
}

function allOf(document: Document, selector: string): HTMLCollection {
  return liveCollection(Node.numberOf(document), (root) => selectAll(root, selector));
}

/** What a document owns that was just made. */
function owned(document: Document, node: number): number {
  setOwner(node, Node.numberOf(document));
  return node;
}

function spaceOf(namespace: unknown): string | null {
  return namespace === null || namespace === undefined || namespace === '' ? null : String(namespace);
}

function checked(name: unknown, namespace: unknown, isAttribute: boolean): SplitName {
  const result = checkedName(String(name), spaceOf(namespace), isAttribute);
  if ('wrong' in result) throw domError(result.wrong, `The name provided ('${String(name)}') is not valid.`);
  return result.parts;
}

export class Document extends Node {
  constructor() {
    makeNode(documentKind, '');
    super();
    const node = Node.numberOf(this);
    addDocument(node, { isXml: true, contentType: 'application/xml', isBlank: true });
    adopt(node, this);
  }
  get URL(): string {
    return factsOf(Node.numberOf(this)).isBlank === true ? 'about:blank' : documentUrl();
  }
  get documentURI(): string {
    return this.URL;
  }
  get domain(): string {
    return URL.parse(documentUrl())?.hostname ?? '';
  }
  get compatMode(): string {
    const node = Node.numberOf(this);
    return (node === 0 ? isQuirks() : factsOf(node).isQuirks === true) ? 'BackCompat' : 'CSS1Compat';
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
    const node = Node.numberOf(this);
    return node === 0 && pageFacts.contentType !== '' ? pageFacts.contentType : factsOf(node).contentType;
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
    return wrap(topElement(Node.numberOf(this)));
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
  set body(value: unknown) {
    const document = Node.numberOf(this);
    const [body, top] = [value === null ? -1 : Node.numberOf(value), topElement(document)];
    const known = elementWithTag(document, 'body');
    if (body < 0 || top < 0 || !/^(?:body|frameset)$/.test(nameText(tagOf(body)))) {
      throw domError('HierarchyRequestError', 'The body is a body or a frameset, within the element of the document.');
    }
    if (body === known) return;
    if (known < 0) insertInto(top, body, -1);
    else replaceNode(top, body, known);
  }
  get title(): string {
    const title = titleOf(Node.numberOf(this));
    if (title < 0) return '';
    const text = childNodesOf(title).reduce((sum, child) => (isTextual(kind(child)) ? sum + dataOf(child) : sum), '');
    return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
  }
  set title(value: unknown) {
    const document = Node.numberOf(this);
    let title = titleOf(document);
    if (title < 0) {
      const top = topElement(document);
      const holder = top >= 0 && nameText(tagOf(top)) === 'svg svg' ? top : elementWithTag(document, 'head');
      if (holder < 0) return;
      title = createNode(elementKind, internName(holder === top ? 'svg title' : 'title'), '');
      insertNode(holder, title, holder === top ? firstChild(top) : -1);
    }
    (wrap(title) as Node).textContent = String(value);
  }
  get links(): HTMLCollection {
    return allOf(this, 'a[href], area[href]');
  }
  get anchors(): HTMLCollection {
    return allOf(this, 'a[name]');
  }
  get images(): HTMLCollection {
    return allOf(this, 'img');
  }
  get forms(): HTMLCollection {
    return allOf(this, 'form');
  }
  get scripts(): HTMLCollection {
    return allOf(this, 'script');
  }
  get embeds(): HTMLCollection {
    return allOf(this, 'embed');
  }
  get plugins(): HTMLCollection {
    return allOf(this, 'embed');
  }
  get all(): HTMLCollection {
    return allOf(this, '*');
  }
  get styleSheets(): readonly unknown[] {
    return [];
  }
  getElementById(id: unknown): object | null {
    return wrap(byId(Node.numberOf(this), String(id)));
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
  getElementsByName(name: unknown): NodeList {
    const wanted = String(name);
    return liveNodes(Node.numberOf(this), (root) => byAttribute(root, 'name', wanted));
  }
  createElement(name: unknown): object | null {
    const facts = factsOf(Node.numberOf(this));
    const tag = facts.isXml ? String(name) : asciiLowerCase(String(name));
    if (!isElementName(tag)) {
      throw domError('InvalidCharacterError', `The tag name provided ('${tag}') is not a valid name.`);
    }
    const isHtml = !facts.isXml || this.contentType === 'application/xhtml+xml';
    // HTML's own are kept by their names alone, also where one has a colon in it.
    return wrap(owned(this, newElement(isHtml ? tag : `${tag}\n`)));
  }
  createElementNS(namespace: unknown, name: unknown): object | null {
    const parts = checked(name, namespace, false);
    return wrap(owned(this, newElement(elementKey(parts.qualified, parts.namespace))));
  }
  createTextNode(data: unknown): object | null {
    return wrap(owned(this, createNode(textKind, 0, String(data))));
  }
  createComment(data: unknown): object | null {
    return wrap(owned(this, createNode(commentKind, 0, String(data))));
  }
  createCDATASection(data: unknown): object | null {
    if (!factsOf(Node.numberOf(this)).isXml) {
      throw domError('NotSupportedError', 'A document of HTML holds no CDATA sections.');
    }
    if (String(data).includes(']]>')) throw domError('InvalidCharacterError', 'The data holds the end of the section.');
    return wrap(owned(this, createNode(cdataKind, 0, String(data))));
  }
  createProcessingInstruction(target: unknown, data: unknown): object | null {
    if (!/^[A-Za-z_:\u0080-\uffff][\w:.\-\u0080-\uffff]*$/.test(String(target)) || String(data).includes('?>')) {
      throw domError('InvalidCharacterError', `'${String(target)}' makes no processing instruction.`);
    }
    return wrap(owned(this, createNode(instructionKind, internName(String(target)), String(data))));
  }
  createDocumentFragment(): object | null {
    return wrap(owned(this, createNode(fragmentKind, 0, '')));
  }
  createAttribute(name: unknown): Attr {
    if (!isAttributeName(String(name))) {
      throw domError('InvalidCharacterError', `'${String(name)}' is not a valid attribute name.`);
    }
    const document = Node.numberOf(this);
    return new Attr(-1, factsOf(document).isXml ? String(name) : asciiLowerCase(String(name)), '', document);
  }
  createAttributeNS(namespace: unknown, name: unknown): Attr {
    const parts = checked(name, namespace, true);
    return new Attr(-1, attributeKey(parts.qualified, parts.namespace), '', Node.numberOf(this));
  }
  createEvent(name: unknown): object {
    return events().createEvent(String(name));
  }
  createRange(): object {
    return ranges().createRange(Node.numberOf(this));
  }
  importNode(node: unknown, isDeep = false): object | null {
    if (node instanceof Attr) return node.cloneNode();
    const number = Node.numberOf(node);
    if (kind(number) === documentKind) throw domError('NotSupportedError', 'A document cannot be imported.');
    return wrap(owned(this, cloneOf(number, Boolean(isDeep))));
  }
  adoptNode(node: unknown): object | null {
    const adopted = Node.numberOf(node);
    if (kind(adopted) === documentKind) throw domError('NotSupportedError', 'A document cannot be adopted.');
    detachNode(adopted);
    return wrap(owned(this, adopted));
  }
  get implementation(): DOMImplementation {
    return implementationOf(Node.numberOf(this));
  }
  evaluate(...asked: unknown[]): object {
    return xpath().evaluate(...asked);
  }
  createExpression(expression: unknown, resolver?: unknown): object {
    return xpath().createExpression(expression, resolver);
  }
  createNSResolver(node: unknown): unknown {
    return node;
  }
  hasFocus(): boolean {
    return false;
  }
  getSelection(): object {
    return selections().selection();
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

function makesNoDocument(): never {
  throw new TypeError('Illegal constructor');
}

export class HTMLDocument extends Document {
  constructor() {
    makesNoDocument();
    super();
  }
}
export class XMLDocument extends Document {
  constructor() {
    makesNoDocument();
    super();
  }
}

function newElement(key: string): number {
  const node = createNode(elementKind, internName(key), '');
  if (key === 'template') setTemplateContent(node, createNode(fragmentKind, 0, ''));
  return node;
}

const typeOfNamespace: Readonly<Record<string, string>> = {
  [htmlNamespace]: 'application/xhtml+xml',
  [svgNamespace]: 'image/svg+xml',
};

export class DOMImplementation {
  #document: number;
  constructor(document: number) {
    this.#document = document;
  }
  hasFeature(): boolean {
    return true;
  }
  createDocumentType(name: unknown, publicId: unknown, systemId: unknown): object | null {
    if (/[\t\n\f\r >]|\0/.test(String(name))) {
      throw domError('InvalidCharacterError', `'${String(name)}' is no name of a doctype.`);
    }
    const node = createNode(doctypeKind, 0, [name, publicId, systemId].map(String).join('\0'));
    setOwner(node, this.#document);
    return wrap(node);
  }
  createDocument(namespace: unknown, name: unknown, doctype: unknown = null): object | null {
    const space = spaceOf(namespace);
    const document = createNode(documentKind, 0, '');
    addDocument(document, {
      isXml: true,
      contentType: typeOfNamespace[space ?? ''] ?? 'application/xml',
      isBlank: true,
    });
    const qualified = name === null ? '' : String(name);
    const parts = qualified === '' ? null : checked(qualified, space, false);
    if (doctype !== null && doctype !== undefined) insertInto(document, Node.numberOf(doctype), -1);
    if (parts !== null) insertInto(document, newElement(elementKey(parts.qualified, space)), -1);
    return wrap(document);
  }
  createHTMLDocument(title?: unknown): object | null {
    const markup = title === undefined ? '' : '<title></title>';
    const node = parseDocument(`<!doctype html><html><head>${markup}</head><body></body></html>`);
    addDocument(node, { isXml: false, contentType: 'text/html', isBlank: true });
    const made = wrap(node);
    if (title !== undefined) (made as Document).title = title;
    return made;
  }
}

const implementationOf = oncePerNode(
  (document: number) => new DOMImplementation(document),
  () => [],
);

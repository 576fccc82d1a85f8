/** `Document`. */
import { documentUrl } from './addresses.js';
import { domError, noLayout } from './dom-exception.js';
import type { Element } from './element.js';
import type { HTMLCollection, NodeList } from './lists.js';
import { Attr, liveCollection, liveNodes, namedCollection } from './lists.js';
import {
  cloneOf,
  Comment,
  DocumentFragment,
  mathNamespace,
  mixIn,
  Node,
  parentMembers,
  svgNamespace,
  Text,
} from './nodes.js';
import { parseDocument } from './parse-markup.js';
import { byAttribute, byClass, byId, byTag } from './queries.js';
import { selectAll, selectFirst } from './selectors.js';
import { asciiLowerCase } from './row-lists.js';
import {
  childElementsOf,
  childNodesOf,
  createNode,
  detachNode,
  doctypeKind,
  elementKind,
  firstChild,
  fragmentKind,
  internName,
  isElement,
  isQuirks,
  kind,
  nameText,
  nextSibling,
  setTemplateContent,
  tagOf,
  textOf,
} from './tree.js';
import { URL } from './url.js';
import { wrap } from './wrappers.js';

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

function allOf(document: Document, selector: string): HTMLCollection {
  return namedCollection(Node.numberOf(document), (root) => selectAll(root, selector));
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
  getElementsByTagNameNS(_namespace: unknown, name: unknown): HTMLCollection {
    return this.getElementsByTagName(name);
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
        const made = wrap(parseDocument(`<!doctype html><html><head>${markup}</head><body></body></html>`));
        if (title !== undefined) (made as Document).title = title;
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

export class HTMLDocument extends Document {}
export class XMLDocument extends Document {}

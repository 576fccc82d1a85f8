/** The global object: what a script finds in addition to the language itself. */
import { elementClasses } from './elements.js';
import { setDocumentUrl } from './addresses.js';
import { Attr, NamedNodeMap } from './attributes.js';
import { Document, DOMImplementation, HTMLDocument, XMLDocument } from './document.js';
import { domError, noLayout } from './dom-exception.js';
import { Element, MathMLElement, SVGElement, SVGSVGElement } from './element.js';
import { atob, btoa, structuredClone, TextDecoder, TextEncoder } from './encoding.js';
import { EventTarget } from './event-target.js';
import { FormData } from './form-data.js';
import { lazyModule } from './lazy-modules.js';
import { DOMTokenList, HTMLCollection, HTMLFormControlsCollection, NodeList, RadioNodeList } from './lists.js';
import { Node, numberOf } from './nodes.js';
import {
  CDATASection,
  CharacterData,
  Comment,
  DocumentFragment,
  DocumentType,
  ProcessingInstruction,
  Text,
} from './node-kinds.js';
import { parseDocument, parseXmlDocument } from './parse-markup.js';
import { escapeIdentifier } from './queries.js';
import { setTarget } from './simple-pseudo-classes.js';
import { addTraversal, NodeFilter, TreeWalker } from './traversal.js';
import { URL } from './url.js';
import { URLSearchParams } from './url-search-params.js';
import { wrap } from './wrappers.js';

class DOMParser {
  parseFromString(markup: unknown, type: unknown = 'text/html'): object | null {
    const contentType = String(type);
    if (contentType === 'text/html') return wrap(parseDocument(String(markup)));
    if (!/^(?:(?:text|application)\/xml|application\/xhtml\+xml|image\/svg\+xml)$/.test(contentType)) {
      throw new TypeError(`The provided value '${contentType}' is not a type that can be parsed.`);
    }
    return wrap(parseXmlDocument(String(markup), contentType));
  }
}

class XMLSerializer {
  serializeToString(node: unknown): string {
    return xmlMarkup().outerXml(numberOf(node));
  }
}

const xmlMarkup = lazyModule('xml-markup');
const events = lazyModule('events');
const ranges = lazyModule('ranges');
const selections = lazyModule('selection');
const iterators = lazyModule('iterators');
const validity = lazyModule('validity');
const xpath = lazyModule('xpath');

class Location {
  #url: URL;
  constructor(url: URL) {
    this.#url = url;
  }
  get href(): string {
    return this.#url.href;
  }
  set href(_value: unknown) {
    refuseToLeave();
  }
  get origin(): string {
    return this.#url.origin;
  }
  get protocol(): string {
    return this.#url.protocol;
  }
  get host(): string {
    return this.#url.host;
  }
  get hostname(): string {
    return this.#url.hostname;
  }
  get port(): string {
    return this.#url.port;
  }
  get pathname(): string {
    return this.#url.pathname;
  }
  get search(): string {
    return this.#url.search;
  }
  get hash(): string {
    return this.#url.hash;
  }
  assign(): never {
    return refuseToLeave();
  }
  replace(): never {
    return refuseToLeave();
  }
  reload(): never {
    return refuseToLeave();
  }
  toString(): string {
    return this.#url.href;
  }
  toJSON(): string {
    return this.#url.href;
  }
}

function refuseToLeave(): never {
  throw domError('NotSupportedError', 'The page cannot be left: nothing else is loaded here.');
}

function missing(name: string, why: string): () => never {
  return function refuse() {
    throw domError('NotSupportedError', `${name} is not available here: ${why}.`);
  };
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

/** A global that is made when it is first asked for. */
function defineLater(name: string, make: () => unknown): void {
  Object.defineProperty(globalThis, name, {
    get() {
      const value = make();
      define(name, value);
      return value;
    },
    set(value: unknown) {
      define(name, value);
    },
    enumerable: false,
    configurable: true,
  });
}

const eventNames =
  'Event CustomEvent UIEvent FocusEvent InputEvent CompositionEvent KeyboardEvent MouseEvent PointerEvent WheelEvent SubmitEvent HashChangeEvent MessageEvent ErrorEvent ProgressEvent StorageEvent';

function defineRareClasses(): void {
  for (const name of eventNames.split(' ')) defineLater(name, () => events().eventClasses[name]);
  defineLater('AbstractRange', () => ranges().AbstractRange);
  defineLater('Range', () => ranges().Range);
  defineLater('StaticRange', () => ranges().StaticRange);
  defineLater('Selection', () => selections().Selection);
  defineLater('ValidityState', () => validity().ValidityState);
  defineLater('NodeIterator', () => iterators().NodeIterator);
  defineLater('XPathEvaluator', () => xpath().XPathEvaluator);
  defineLater('XPathExpression', () => xpath().XPathExpression);
  defineLater('XPathResult', () => xpath().XPathResult);
}

function madeElement(name: string): Element {
  return (wrap(0) as Document).createElement(name) as Element;
}

/** `new Image(width, height)` and `new Option(text, value, …)`, which make elements. */
function defineMakers(): void {
  define('Image', function Image(width?: unknown, height?: unknown): Element {
    const image = madeElement('img');
    if (width !== undefined) image.setAttribute('width', Number(width) >>> 0);
    if (height !== undefined) image.setAttribute('height', Number(height) >>> 0);
    return image;
  });
  define('Option', function Option(text: unknown = '', value?: unknown, isDefault?: unknown): Element {
    const option = madeElement('option');
    if (String(text) !== '') option.textContent = text;
    if (value !== undefined) option.setAttribute('value', value);
    if (isDefault === true) option.setAttribute('selected', '');
    return option;
  });
}

/** Everything that does not depend on a page; done once, when the image is made. */
export function installDom(): void {
  const classes = {
    Attr,
    CDATASection,
    CharacterData,
    Comment,
    Document,
    DocumentFragment,
    DocumentType,
    DOMParser,
    DOMTokenList,
    Element,
    DOMImplementation,
    EventTarget,
    FormData,
    HTMLCollection,
    HTMLDocument,
    HTMLFormControlsCollection,
    MathMLElement,
    NamedNodeMap,
    Node,
    NodeFilter,
    NodeList,
    ProcessingInstruction,
    RadioNodeList,
    SVGElement,
    SVGSVGElement,
    Text,
    TextDecoder,
    TextEncoder,
    TreeWalker,
    URL,
    URLSearchParams,
    XMLDocument,
    XMLSerializer,
    ...elementClasses,
  };
  for (const [name, value] of Object.entries(classes)) define(name, value);
  defineRareClasses();
  defineMakers();
  addTraversal(Document.prototype);
  for (const name of ['window', 'self', 'top', 'parent', 'frames']) define(name, globalThis);
  define('structuredClone', structuredClone);
  define('atob', atob);
  define('btoa', btoa);
  define('CSS', {
    escape: (text: unknown) => escapeIdentifier(String(text)),
    supports: () => noLayout('CSS.supports()'),
  });
  define('getComputedStyle', () => noLayout('getComputedStyle()'));
  define('matchMedia', () => noLayout('matchMedia()'));
  define('getSelection', () => selections().selection());
  const noTimers = 'there are no timers, the page is at rest';
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'requestAnimationFrame', 'requestIdleCallback']) {
    define(name, missing(`${name}()`, noTimers));
  }
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate', 'cancelAnimationFrame'])
    define(name, () => undefined);
  const noNetwork = 'code has no network';
  for (const name of ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'Worker'])
    define(name, missing(name, noNetwork));
  setDocumentUrl(() => currentUrl().href);
  setTarget(() => targetOf(currentUrl()));
  Object.defineProperty(globalThis, 'location', {
    get: () => (knownLocation ??= new Location(currentUrl())),
    set: refuseToLeave,
    enumerable: true,
    configurable: true,
  });
  Object.defineProperty(globalThis, 'origin', { get: () => currentUrl().origin, configurable: true });
  const target = EventTarget.prototype;
  define('addEventListener', target.addEventListener);
  define('removeEventListener', target.removeEventListener);
  define('dispatchEvent', target.dispatchEvent);
}

let addresses = { final: 'about:blank', asked: '' };
let knownLocation: Location | null = null;

/** The final address with the fragment of the task's. Made when asked for: reading an address takes its time. */
function currentUrl(): URL {
  const url = URL.parse(addresses.final) ?? new URL('about:blank');
  const asked = URL.parse(addresses.asked);
  if (url.hash === '' && asked !== null) url.hash = asked.hash;
  return url;
}

function targetOf(url: URL): string {
  try {
    return decodeURIComponent(url.hash.slice(1));
  } catch {
    return url.hash.slice(1);
  }
}

/** The document of the page whose tables were loaded. */
export function openDocument(finalUrl: string, taskUrl: string): object | null {
  addresses = { final: finalUrl, asked: taskUrl };
  return wrap(0);
}

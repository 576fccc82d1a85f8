/**
 * XML as flat tables: feeds, sitemaps, XHTML, and what code gives to `DOMParser`. saxes reads it and reports in document
 * order, which is the order of the rows. What is not well-formed ends as in Chromium: everything up to the first error,
 * and a `parsererror` that says where it is.
 */
import { parseFragment } from 'parse5';
import { SaxesParser } from 'saxes';
import { CpuDeadline } from '../guest/deadline.js';
import { namelessAttribute, rowKinds, treeModes } from './flat-page.js';
import type { FlatPage } from './flat-page.js';
import { packTables } from './pack-tables.js';
import { PageTooComplex } from './page-parser.js';
import type { PageLimits } from './page-parser.js';
import { RowIndex } from './row-index.js';

const htmlNamespace = 'http://www.w3.org/1999/xhtml';
const svgNamespace = 'http://www.w3.org/2000/svg';
const mathNamespace = 'http://www.w3.org/1998/Math/MathML';

/** What entities may add to a document, in UTF-16 units, on top of as much again as the document itself. */
const entityUnits = 1 << 20;
const entityDepth = 16;

/** Names of elements and attributes as the guest takes them apart (`prelude/names.ts`): names outside HTML carry their namespace. */
function elementKey(qualified: string, namespace: string): string {
  const hasPrefix = qualified.includes(':');
  if (namespace === htmlNamespace && !hasPrefix) return qualified;
  if (namespace === svgNamespace && !hasPrefix) return `svg ${qualified}`;
  if (namespace === mathNamespace && !hasPrefix) return `math ${qualified}`;
  return `${qualified}\n${namespace}`;
}

function attributeKey(qualified: string, namespace: string): string {
  return namespace === '' ? qualified : `${qualified}\n${namespace}`;
}

interface WrittenAttribute {
  readonly key: string;
  readonly value: string;
}

/** The tables of a tree whose nodes arrive in document order. */
class FlatWriter {
  readonly #limits: PageLimits;
  readonly #deadline = new CpuDeadline();
  readonly #kinds: number[] = [];
  readonly #parents: number[] = [];
  readonly #ends: number[] = [];
  readonly #texts: number[] = [];
  readonly #firstAttributes: number[] = [];
  readonly #attributeNames: number[] = [];
  readonly #valueOffsets: number[] = [0];
  readonly #names = new RowIndex();
  readonly #classes = new RowIndex();
  readonly #ids = new RowIndex();
  readonly #open: number[] = [];
  #text = '';
  #values = '';
  #elements = 0;

  constructor(limits: PageLimits, root: number) {
    this.#limits = limits;
    this.#deadline.start(limits.parseMs);
    this.#open.push(this.#add(root << 24));
  }

  get depth(): number {
    return this.#open.length - 1;
  }

  #add(kind: number): number {
    const row = this.#kinds.length;
    this.#kinds.push(kind);
    this.#parents.push(this.#open.at(-1) ?? -1);
    this.#ends.push(row + 1);
    this.#texts.push(this.#text.length);
    this.#firstAttributes.push(this.#attributeNames.length);
    return row;
  }

  #value(name: number, value: string): void {
    this.#attributeNames.push(name);
    this.#values += value;
    this.#valueOffsets.push(this.#values.length);
  }

  openElement(key: string, attributes: readonly WrittenAttribute[]): void {
    this.#elements += 1;
    const { elements, depth, parseMs } = this.#limits;
    if (this.#elements > elements) throw new PageTooComplex(`has more than ${elements} elements`);
    if (this.#open.length > depth) throw new PageTooComplex(`nests its elements more than ${depth} deep`);
    if ((this.#elements & 255) === 0 && this.#deadline.check()) {
      throw new PageTooComplex(`takes more than ${parseMs} ms to parse`);
    }
    const row = this.#add(0);
    this.#kinds[row] = (rowKinds.element << 24) | this.#names.add(key, row);
    for (const { key: name, value } of attributes) {
      this.#value(this.#names.idOf(name), value);
      if (name === 'class')
        for (const token of value.split(/[\t\n\f\r ]+/)) if (token !== '') this.#classes.add(token, row);
      if (name === 'id' && value !== '') this.#ids.add(value, row);
    }
    this.#open.push(row);
  }

  closeElement(): void {
    const row = this.#open.pop() ?? 0;
    this.#ends[row] = this.#kinds.length;
  }

  text(kind: typeof rowKinds.text | typeof rowKinds.cdata, text: string): void {
    this.#add(kind << 24);
    this.#text += text;
  }

  /** A comment, processing instruction or doctype, what it says, and the name that it has. */
  data(kind: number, parts: readonly string[], name = ''): void {
    this.#add((kind << 24) | (name === '' ? 0 : this.#names.idOf(name)));
    for (const part of parts) this.#value(namelessAttribute, part);
  }

  finish(): FlatPage {
    while (this.#open.length > 0) this.closeElement();
    this.#texts.push(this.#text.length);
    this.#firstAttributes.push(this.#attributeNames.length);
    const tables = packTables({
      mode: treeModes.xml,
      kinds: this.#kinds,
      parents: this.#parents,
      ends: this.#ends,
      texts: this.#texts,
      firstAttributes: this.#firstAttributes,
      attributeNames: this.#attributeNames,
      valueOffsets: this.#valueOffsets,
      tags: this.#names.tables(),
      classes: this.#classes.tables(),
      ids: this.#ids.tables(),
      templatePairs: [],
    });
    return {
      tables,
      text: this.#text,
      values: this.#values,
      names: this.#names.keys(),
      classes: this.#classes.keys(),
      ids: this.#ids.keys(),
    };
  }
}

// Entities ------------------------------------------------------------------------------------------------------------

const xhtmlPublicId = /^-\/\/W3C\/\/DTD (?:XHTML|MathML)/;
const namedReference = /^[A-Za-z][A-Za-z0-9]*$/;

/** What HTML calls `&name;`, undefined where it knows none. */
function htmlEntity(name: string): string | undefined {
  if (!namedReference.test(name)) return undefined;
  const [node] = parseFragment(`&${name};`).childNodes;
  const text = node !== undefined && 'value' in node ? node.value : '';
  return text === `&${name};` || text.endsWith(';') ? undefined : text;
}

interface Doctype {
  readonly name: string;
  readonly publicId: string;
  readonly systemId: string;
  readonly entities: ReadonlyMap<string, string>;
}

const doctypePattern =
  /^\s*([^\s[]+)\s*(?:PUBLIC\s+(?:"([^"]*)"|'([^']*)')\s*(?:"([^"]*)"|'([^']*)')?|SYSTEM\s+(?:"([^"]*)"|'([^']*)'))?\s*/;
const declarationPattern =
  /<!--[\s\S]*?-->|<!ENTITY\s+([^\s%"'<>]+)\s+(?:"([^"]*)"|'([^']*)')\s*>|<![A-Z]+(?:[^"'<>]|"[^"]*"|'[^']*')*>|<\?[\s\S]*?\?>/g;

function readDoctype(text: string): Doctype {
  const head = doctypePattern.exec(text);
  const entities = new Map<string, string>();
  for (const [, name, double, single] of text.slice(head?.[0].length ?? 0).matchAll(declarationPattern)) {
    // The first declaration of a name counts.
    if (name !== undefined && !entities.has(name)) entities.set(name, double ?? single ?? '');
  }
  const [, name = '', publicId, otherPublicId, system, otherSystem, only, otherOnly] = head ?? [];
  const systemId = system ?? otherSystem ?? only ?? otherOnly ?? '';
  return { name, publicId: publicId ?? otherPublicId ?? '', systemId, entities };
}

const predefined: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Where the parser looks up an entity, which it puts in as text. What all of them add is limited. */
class Entities {
  readonly #declared: ReadonlyMap<string, string>;
  readonly #isHtml: boolean;
  #left: number;

  constructor(doctype: Doctype | null, units: number) {
    this.#declared = doctype?.entities ?? new Map<string, string>();
    this.#isHtml = doctype !== null && xhtmlPublicId.test(doctype.publicId);
    this.#left = units + entityUnits;
  }

  lookUp(name: string): string | undefined {
    return predefined[name] ?? this.#expand(name, 0);
  }

  #expand(name: string, depth: number): string | undefined {
    const declared = this.#declared.get(name);
    if (declared === undefined) return this.#isHtml ? htmlEntity(name) : undefined;
    // Recursive entities, and those that contain markup, which would have to be parsed.
    if (depth > entityDepth || declared.includes('<')) return undefined;
    this.#left -= declared.length + 1;
    if (this.#left < 0) throw new PageTooComplex('is blown up by its entities');
    let isKnown = true;
    const expanded = declared.replace(/&([^;&\s]+);/g, (_reference, inner: string) => {
      const hex = /^#x([0-9a-fA-F]{1,6})$/.exec(inner)?.[1];
      const decimal = /^#([0-9]{1,7})$/.exec(inner)?.[1];
      const code = hex !== undefined ? Number.parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : -1;
      if (code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)) return String.fromCodePoint(code);
      const found = predefined[inner] ?? this.#expand(inner, depth + 1);
      if (found === undefined) isKnown = false;
      return found ?? '';
    });
    return isKnown ? expanded : undefined;
  }
}

// Reading -------------------------------------------------------------------------------------------------------------

/** Not well-formed; from outside it is a `parsererror` in the document. */
class IllFormed extends Error {}

const errorStyle =
  'display: block; white-space: pre; border: 2px solid #c77; padding: 0 1em 0 1em; margin: 1em; background-color: #fdd; color: black';

function writeError(writer: FlatWriter, message: string): void {
  const element = (tag: string, text: string, style: string | null): void => {
    writer.openElement(tag, style === null ? [] : [{ key: 'style', value: style }]);
    writer.text(rowKinds.text, text);
    writer.closeElement();
  };
  writer.openElement('parsererror', [{ key: 'style', value: errorStyle }]);
  element('h3', 'This page contains the following errors:', null);
  element('div', message, 'font-family:monospace;font-size:12px');
  element('h3', 'Below is a rendering of the page up to the first error.', null);
  writer.closeElement();
}

type Namespaces = Readonly<Record<string, string>>;

interface Reading {
  readonly markup: string;
  readonly limits: PageLimits;
  /** Prefixes in scope around a fragment; null for a document. */
  readonly around: Namespaces | null;
  /** What is wrong, known from a first reading. */
  readonly error: string | null;
}

/** Throws `IllFormed` where an error is not known yet. */
function read({ markup, limits, around, error }: Reading): FlatPage {
  const writer = new FlatWriter(limits, around === null ? rowKinds.document : rowKinds.fragment);
  const options = around === null ? {} : { fragment: true, additionalNamespaces: { ...around } };
  const parser = new SaxesParser({ xmlns: true, ...options });
  let isOver = false;
  let hasRoot = false;
  let entities = new Entities(null, markup.length);
  const isInside = (): boolean => around !== null || writer.depth > 0;

  // By name, as the parser asks: nothing is expanded that nobody refers to.
  parser.ENTITIES = new Proxy<Record<string, string>>({}, { get: (_target, name) => entities.lookUp(String(name)) });
  parser.on('error', (fault) => {
    if (isOver) return;
    const message = fault.message.replace(/^[\d:.]+:? */, '');
    const text = `error on line ${parser.line} at column ${parser.column}: ${message}`;
    if (error === null) throw new IllFormed(text);
    isOver = true;
  });
  parser.on('doctype', (text) => {
    if (isOver) return;
    const doctype = readDoctype(text);
    entities = new Entities(doctype, markup.length);
    writer.data(rowKinds.doctype, [doctype.name, doctype.publicId, doctype.systemId]);
  });
  parser.on('opentag', (tag) => {
    if (isOver) return;
    const isWrapped = !hasRoot && error !== null && tag.uri === svgNamespace;
    if (isWrapped) {
      writer.openElement('html', []);
      writer.openElement('body', []);
      writeError(writer, error);
    }
    writer.openElement(
      elementKey(tag.name, tag.uri),
      Object.values(tag.attributes).map(({ name, uri, value }) => ({ key: attributeKey(name, uri), value })),
    );
    if (!hasRoot && error !== null && !isWrapped) writeError(writer, error);
    hasRoot = true;
  });
  parser.on('closetag', () => {
    if (!isOver) writer.closeElement();
  });
  parser.on('text', (text) => {
    if (!isOver && isInside()) writer.text(rowKinds.text, text);
  });
  parser.on('cdata', (text) => {
    if (!isOver && isInside()) writer.text(rowKinds.cdata, text);
  });
  parser.on('comment', (text) => {
    if (!isOver) writer.data(rowKinds.comment, [text]);
  });
  parser.on('processinginstruction', ({ target, body }) => {
    if (!isOver) writer.data(rowKinds.instruction, [body], target);
  });
  parser.write(markup).close();
  if (!hasRoot && error !== null) {
    writer.openElement('html', []);
    writer.openElement('body', []);
    writeError(writer, error);
  }
  return writer.finish();
}

/** A document of XML, well-formed or not. Throws `PageTooComplex`. */
export function parseXmlDocument(markup: string, limits: PageLimits): FlatPage {
  try {
    return read({ markup, limits, around: null, error: null });
  } catch (thrown) {
    if (thrown instanceof IllFormed) return read({ markup, limits, around: null, error: thrown.message });
    throw thrown;
  }
}

/** What stands inside an element of XML, with the prefixes that are in scope there; null where it is not well-formed. */
export function parseXmlFragment(markup: string, around: Namespaces, limits: PageLimits): FlatPage | null {
  try {
    return read({ markup, limits, around, error: null });
  } catch (thrown) {
    if (thrown instanceof IllFormed) return null;
    throw thrown;
  }
}

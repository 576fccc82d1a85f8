/** The classes of HTML's elements: mostly attributes under other names, written down as tables. */
import { documentUrl, resolvedUrl } from './addresses.js';
import { Document, HTMLDocument, XMLDocument } from './document.js';
import { factsOf } from './documents.js';
import { Element, HTMLElement, MathMLElement, SVGElement, SVGSVGElement } from './element.js';
import { optionsOf } from './element-state.js';
import { ariaAttributes, ofDocument, reflected, tagsOfClasses } from './element-tables.js';
import {
  controlMembers,
  controlOf,
  filledMembers,
  formMembers,
  formOf,
  inputMembers,
  labelledMembers,
  listedControls,
  nameControls,
  textAreaMembers,
} from './form-members.js';
import { optionMembers, selectMembers } from './select-members.js';
import type { HTMLCollection } from './lists.js';
import { liveCollection } from './lists.js';
import type { NodeClass } from './nodes.js';
import { htmlNamespace, mathNamespace, partsOfName, svgNamespace } from './names.js';
import { Node, numberOf, tag, write } from './nodes.js';
import { CDATASection, Comment, DocumentFragment, DocumentType, ProcessingInstruction, Text } from './node-kinds.js';
import {
  doubleOf,
  globalMembers,
  kindProperty,
  kindReader,
  ofProperty,
  reflection,
  textOrNull,
  writeDouble,
} from './reflection.js';
import { selectAll } from './selectors.js';
import { cellMembers, rowMembers, sectionMembers, tableMembers } from './table-members.js';
import { getAttribute } from './attribute-values.js';
import {
  cdataKind,
  commentKind,
  doctypeKind,
  documentKind,
  elementKind,
  fragmentKind,
  instructionKind,
  kindWord,
  parentElementOf,
  templateContent,
  textKind,
  textOf,
} from './tree.js';
import { URL } from './url.js';
import { createWrappersBy, wrap } from './wrappers.js';

type ElementClass = new () => Element;

const classes: Record<string, ElementClass> = { HTMLElement };
const classOfTag = new Map<string, ElementClass>();

function makeClasses(): void {
  // Classes that have the same entry share its accessors.
  const kindOf = kindReader();
  const reflections = new Map<string, readonly [string, PropertyDescriptor]>();
  for (const [name, entries] of Object.entries(reflected)) {
    if (name !== 'HTMLElement') {
      const parent =
        name === 'HTMLAudioElement' || name === 'HTMLVideoElement' ? classes['HTMLMediaElement'] : HTMLElement;
      const Parent = parent ?? HTMLElement;
      const made = { [name]: class extends Parent {} }[name];
      if (made === undefined) continue;
      classes[name] = made;
    }
    const target = classes[name]?.prototype as object;
    for (const entry of entries.split(' ')) {
      if (entry === '') continue;
      const [property, descriptor] = reflections.get(entry) ?? reflection(entry, kindOf);
      reflections.set(entry, [property, descriptor]);
      Object.defineProperty(target, property, descriptor);
    }
  }
  for (const [name, tags] of Object.entries(tagsOfClasses)) {
    const made = classes[name];
    if (made !== undefined) for (const each of tags.split(' ')) classOfTag.set(each, made);
  }
}

/** What a document shows of its element or its body, while it has one. */
function showInDocument(property: string, holder: string, shown: string): void {
  Object.defineProperty(Document.prototype, property, {
    get(this: Record<string, Record<string, unknown> | null>): unknown {
      return this[holder]?.[shown] ?? '';
    },
    set(this: Record<string, Record<string, unknown> | null>, value: unknown): void {
      const element = this[holder] ?? {};
      if (shown in element) element[shown] = value;
    },
    enumerable: true,
    configurable: true,
  });
}

/** Adds members to a class of the table. */
function extend(name: string, members: object): void {
  const target = classes[name]?.prototype as object;
  const descriptors = Object.getOwnPropertyDescriptors(members) as Record<PropertyKey, PropertyDescriptor>;
  for (const key of Reflect.ownKeys(members)) {
    Object.defineProperty(target, key, { ...descriptors[key], enumerable: typeof key === 'string' });
  }
}

// Links ---------------------------------------------------------------------------------------------------------------

const urlParts = [
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

function linkMembers(): object {
  const members = {
    get origin(): string {
      return URL.parse(resolvedUrl(numberOf(this), 'href'))?.origin ?? '';
    },
    toString(): string {
      return resolvedUrl(numberOf(this), 'href');
    },
  };
  for (const part of urlParts) {
    Object.defineProperty(members, part, {
      get(this: unknown) {
        return URL.parse(resolvedUrl(numberOf(this), 'href'))?.[part] ?? (part === 'protocol' ? ':' : '');
      },
      set(this: unknown, value: unknown) {
        const url = URL.parse(resolvedUrl(numberOf(this), 'href'));
        if (url === null) return;
        url[part] = String(value);
        write(numberOf(this), 'href', url.href);
      },
      configurable: true,
    });
  }
  return members;
}

// The rest ------------------------------------------------------------------------------------------------------------

const textMembers = {
  get text(): string {
    return textOf(numberOf(this));
  },
  set text(value: unknown) {
    (this as unknown as HTMLElement).textContent = String(value);
  },
};

const least = (meter: number): number => doubleOf(meter, 'min', 0);
const greatest = (meter: number): number => Math.max(least(meter), doubleOf(meter, 'max', 1));

/** A number of a meter within its limits. */
function gauge(name: string, otherwise: (meter: number) => number, from = least): PropertyDescriptor {
  return {
    get(this: unknown): number {
      const meter = numberOf(this);
      return Math.min(greatest(meter), Math.max(from(meter), doubleOf(meter, name, otherwise(meter))));
    },
    set(this: unknown, value: unknown): void {
      writeDouble(numberOf(this), name, value);
    },
    ...ofProperty,
  };
}

const lowOf = (meter: number): number =>
  Math.min(greatest(meter), Math.max(least(meter), doubleOf(meter, 'low', least(meter))));

function meterMembers(): object {
  return Object.defineProperties(
    {},
    {
      max: gauge('max', () => 1),
      low: gauge('low', least),
      high: gauge('high', greatest, lowOf),
      value: gauge('value', () => 0),
      optimum: gauge('optimum', (meter) => (least(meter) + greatest(meter)) / 2),
    },
  );
}

function progressMost(node: number): number {
  const most = doubleOf(node, 'max', 1);
  return most > 0 ? most : 1;
}

function progressOf(node: number): number {
  return Math.min(progressMost(node), Math.max(0, doubleOf(node, 'value', 0)));
}

function addSpecialMembers(): void {
  extend('HTMLAnchorElement', linkMembers());
  extend('HTMLAreaElement', linkMembers());
  extend('HTMLBaseElement', {
    get href(): string {
      const written = getAttribute(numberOf(this), 'href') ?? '';
      return URL.parse(written, documentUrl())?.href ?? written;
    },
    set href(value: unknown) {
      write(numberOf(this), 'href', value);
    },
  });
  extend('HTMLElement', globalMembers);
  extend('HTMLAnchorElement', textMembers);
  extend('HTMLTitleElement', textMembers);
  extend('HTMLScriptElement', textMembers);
  extend('HTMLImageElement', {
    get currentSrc(): string {
      return resolvedUrl(numberOf(this), 'src');
    },
    get complete(): boolean {
      return true;
    },
    get naturalWidth(): number {
      return 0;
    },
    get naturalHeight(): number {
      return 0;
    },
  });
  extend('HTMLLinkElement', {
    get sheet(): null {
      return null;
    },
  });
  extend('HTMLTemplateElement', {
    get content(): object | null {
      return wrap(templateContent(numberOf(this)));
    },
  });
  extend('HTMLLabelElement', {
    get control(): object | null {
      return wrap(controlOf(numberOf(this)));
    },
    get form(): object | null {
      const control = controlOf(numberOf(this));
      return control < 0 ? null : wrap(formOf(control));
    },
  });
  extend('HTMLProgressElement', {
    get value(): number {
      return progressOf(numberOf(this));
    },
    set value(value: unknown) {
      writeDouble(numberOf(this), 'value', value);
    },
    get position(): number {
      const node = numberOf(this);
      return getAttribute(node, 'value') === null ? -1 : progressOf(node) / progressMost(node);
    },
  });
  extend('HTMLMeterElement', meterMembers());
  extend('HTMLOutputElement', {
    get type(): string {
      return 'output';
    },
    get value(): string {
      return textOf(numberOf(this));
    },
  });
  extend('HTMLDataListElement', {
    get options(): HTMLCollection {
      return liveCollection(numberOf(this), optionsOf);
    },
  });
  extend('HTMLFieldSetElement', {
    get type(): string {
      return 'fieldset';
    },
    get elements(): HTMLCollection {
      return liveCollection(numberOf(this), (node) => selectAll(node, listedControls));
    },
  });
  for (const control of ['Button', 'FieldSet', 'Input', 'Object', 'Output', 'Select', 'TextArea']) {
    extend(`HTML${control}Element`, controlMembers);
  }
  for (const labelled of ['Button', 'Input', 'Meter', 'Output', 'Progress', 'Select', 'TextArea']) {
    extend(`HTML${labelled}Element`, labelledMembers);
  }
  extend('HTMLLegendElement', {
    get form(): object | null {
      const parent = parentElementOf(numberOf(this));
      return parent >= 0 && tag(parent) === 'fieldset' ? wrap(formOf(parent)) : null;
    },
  });
  for (const filled of ['Input', 'Select', 'TextArea']) extend(`HTML${filled}Element`, filledMembers);
  extend('HTMLInputElement', inputMembers);
  extend('HTMLTextAreaElement', textAreaMembers);
  extend('HTMLSelectElement', selectMembers);
  extend('HTMLOptionElement', optionMembers);
  extend('HTMLFormElement', formMembers);
  extend('HTMLTableElement', tableMembers);
  extend('HTMLTableSectionElement', sectionMembers);
  extend('HTMLTableRowElement', rowMembers);
  extend('HTMLTableCellElement', cellMembers);
}

function elementClass(id: number): ElementClass {
  const { local: name, namespace } = partsOfName(id);
  if (namespace === svgNamespace) return name === 'svg' ? SVGSVGElement : SVGElement;
  if (namespace === mathNamespace) return MathMLElement;
  if (namespace !== htmlNamespace) return Element;
  const known = classOfTag.get(name);
  if (known !== undefined) return known;
  return name.includes('-') ? HTMLElement : (classes['HTMLUnknownElement'] ?? HTMLElement);
}

const classesByKind: Readonly<Record<number, NodeClass>> = {
  [textKind]: Text,
  [cdataKind]: CDATASection,
  [instructionKind]: ProcessingInstruction,
  [commentKind]: Comment,
  [documentKind]: HTMLDocument,
  [doctypeKind]: DocumentType,
  [fragmentKind]: DocumentFragment,
};
/** By the name ids of this page, as they come up. */
const classesByName: (ElementClass | undefined)[] = [];

function createWrapper(node: number): object {
  const word = kindWord(node);
  if (word >> 24 !== elementKind) {
    const isXmlDocument = word >> 24 === documentKind && factsOf(node).isXml;
    const nodeClass = isXmlDocument ? XMLDocument : classesByKind[word >> 24];
    return nodeClass === undefined ? {} : Node.of(node, nodeClass);
  }
  const name = word & 0xffffff;
  let nodeClass = classesByName[name];
  if (nodeClass === undefined) {
    nodeClass = elementClass(name);
    while (classesByName.length <= name) classesByName.push(undefined);
    classesByName[name] = nodeClass;
  }
  const object = Node.of(node, nodeClass);
  if (nodeClass === classes['HTMLFormElement']) nameControls(object);
  return object;
}

makeClasses();
Object.defineProperty(Element.prototype, 'role', kindProperty('role', textOrNull));
for (const name of ariaAttributes.split(' ')) {
  Object.defineProperty(Element.prototype, `aria${name}`, kindProperty(`aria-${name.toLowerCase()}`, textOrNull));
}
for (const shown of ofDocument) showInDocument(...shown);
addSpecialMembers();
createWrappersBy(createWrapper);

/** All classes by name, for the global object. */
export const elementClasses: Readonly<Record<string, unknown>> = classes;

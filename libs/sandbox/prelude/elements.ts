/** The classes of HTML's elements: mostly attributes under other names, written down as tables. */
import { resolvedUrl } from './addresses.js';
import { HTMLDocument, XMLDocument } from './document.js';
import { factsOf } from './documents.js';
import { Element, HTMLElement, MathMLElement, SVGElement, SVGSVGElement } from './element.js';
import { optionsOf } from './element-state.js';
import { ariaAttributes, reflected, tagsOfClasses } from './element-tables.js';
import {
  controlMembers,
  controlOf,
  formMembers,
  formOf,
  inputMembers,
  listedControls,
  nameControls,
  optionMembers,
  selectMembers,
  textAreaMembers,
} from './form-members.js';
import type { DOMTokenList, HTMLCollection } from './lists.js';
import { liveCollection, tokenList } from './lists.js';
import type { NodeClass } from './nodes.js';
import { htmlNamespace, mathNamespace, partsOfName, svgNamespace } from './names.js';
import {
  CDATASection,
  Comment,
  DocumentFragment,
  DocumentType,
  Node,
  numberOf,
  ProcessingInstruction,
  Text,
  write,
} from './nodes.js';
import { selectAll } from './selectors.js';
import { cellMembers, rowMembers, sectionMembers, tableMembers } from './table-members.js';
import {
  cdataKind,
  commentKind,
  doctypeKind,
  documentKind,
  elementKind,
  fragmentKind,
  getAttribute,
  instructionKind,
  kindWord,
  removeAttribute,
  setAttribute,
  templateContent,
  textKind,
  textOf,
} from './tree.js';
import { URL } from './url.js';
import { createWrappersBy, wrap } from './wrappers.js';

type ElementClass = new () => Element;

const classes: Record<string, ElementClass> = { HTMLElement };
const classOfTag = new Map<string, ElementClass>();

const ofProperty = { enumerable: true, configurable: true };

/** Property and accessors of an entry. No function in a function more than it takes: each is copied at each restore. */
function reflection(entry: string): readonly [string, PropertyDescriptor] {
  const [, property = '', attributeName, type = ''] = /^(\w+)(?:\(([\w-]+)\))?(?::(.+))?$/.exec(entry) ?? [];
  const attribute = attributeName ?? property.toLowerCase();
  const set = function (this: unknown, value: unknown): void {
    write(numberOf(this), attribute, value);
  };
  if (type === '') {
    const get = function (this: unknown): string {
      return getAttribute(numberOf(this), attribute) ?? '';
    };
    return [property, { get, set, ...ofProperty }];
  }
  if (type === 'url') {
    const get = function (this: unknown): string {
      return resolvedUrl(numberOf(this), attribute);
    };
    return [property, { get, set, ...ofProperty }];
  }
  if (type === 'flag') return [property, flagReflection(attribute)];
  const number = /^number=(.+)$/.exec(type);
  if (number !== null) {
    const otherwise = Number(number[1]);
    const get = function (this: unknown): number {
      const value = Number.parseFloat(getAttribute(numberOf(this), attribute) ?? '');
      return Number.isNaN(value) ? otherwise : value;
    };
    return [property, { get, set, ...ofProperty }];
  }
  const words = type.split(',');
  const get = function (this: unknown): string | undefined {
    const value = (getAttribute(numberOf(this), attribute) ?? '').toLowerCase();
    return words.includes(value) ? value : words[0];
  };
  return [property, { get, set, ...ofProperty }];
}

function flagReflection(attribute: string): PropertyDescriptor {
  return {
    get(this: unknown): boolean {
      return getAttribute(numberOf(this), attribute) !== null;
    },
    set(this: unknown, value: unknown): void {
      if (value) setAttribute(numberOf(this), attribute, '');
      else removeAttribute(numberOf(this), attribute);
    },
    ...ofProperty,
  };
}

function makeClasses(): void {
  // Classes that have the same entry share its accessors.
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
      const [property, descriptor] = reflections.get(entry) ?? reflection(entry);
      reflections.set(entry, [property, descriptor]);
      Object.defineProperty(target, property, descriptor);
    }
  }
  for (const [name, tags] of Object.entries(tagsOfClasses)) {
    const made = classes[name];
    if (made !== undefined) for (const each of tags.split(' ')) classOfTag.set(each, made);
  }
}

function reflectOrNull(property: string, attribute: string): void {
  Object.defineProperty(Element.prototype, property, {
    get(this: unknown) {
      return getAttribute(numberOf(this), attribute);
    },
    set(this: unknown, value: unknown) {
      if (value === null || value === undefined) removeAttribute(numberOf(this), attribute);
      else write(numberOf(this), attribute, value);
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
    get relList(): DOMTokenList {
      return tokenList(numberOf(this), 'rel');
    },
    get text(): string {
      return textOf(numberOf(this));
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

function meterNumber(node: number, attribute: string, otherwise: number): number {
  const value = Number.parseFloat(getAttribute(node, attribute) ?? '');
  return Number.isNaN(value) ? otherwise : value;
}

function meterLimit(node: number, attribute: string): number {
  return Math.max(meterNumber(node, 'min', 0), meterNumber(node, attribute, 1));
}

function addSpecialMembers(): void {
  extend('HTMLAnchorElement', linkMembers());
  extend('HTMLAreaElement', linkMembers());
  extend('HTMLBaseElement', {
    get href(): string {
      return resolvedUrl(numberOf(this), 'href');
    },
  });
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
    get relList(): DOMTokenList {
      return tokenList(numberOf(this), 'rel');
    },
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
      return Number.parseFloat(getAttribute(numberOf(this), 'value') ?? '0') || 0;
    },
    get position(): number {
      const value = getAttribute(numberOf(this), 'value');
      const max = Number.parseFloat(getAttribute(numberOf(this), 'max') ?? '1') || 1;
      return value === null ? -1 : (Number.parseFloat(value) || 0) / max;
    },
  });
  extend('HTMLMeterElement', {
    get max(): number {
      return meterLimit(numberOf(this), 'max');
    },
    get low(): number {
      return meterNumber(numberOf(this), 'low', meterNumber(numberOf(this), 'min', 0));
    },
    get high(): number {
      return meterNumber(numberOf(this), 'high', meterLimit(numberOf(this), 'max'));
    },
    get value(): number {
      const [least, most] = [meterNumber(numberOf(this), 'min', 0), meterLimit(numberOf(this), 'max')];
      return Math.min(most, Math.max(least, meterNumber(numberOf(this), 'value', 0)));
    },
    get optimum(): number {
      const [least, most] = [meterNumber(numberOf(this), 'min', 0), meterLimit(numberOf(this), 'max')];
      return meterNumber(numberOf(this), 'optimum', (least + most) / 2);
    },
  });
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
  for (const control of [
    'Button',
    'FieldSet',
    'Input',
    'Object',
    'Output',
    'Select',
    'TextArea',
    'Meter',
    'Progress',
  ]) {
    extend(`HTML${control}Element`, controlMembers);
  }
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
reflectOrNull('role', 'role');
for (const name of ariaAttributes.split(' ')) reflectOrNull(`aria${name}`, `aria-${name.toLowerCase()}`);
addSpecialMembers();
createWrappersBy(createWrapper);

/** All classes by name, for the global object. */
export const elementClasses: Readonly<Record<string, unknown>> = classes;

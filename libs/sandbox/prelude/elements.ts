/** The classes of HTML's elements: mostly attributes under other names, written down as tables. */
import { resolvedUrl } from './addresses.js';
import { HTMLDocument, XMLDocument } from './document.js';
import { factsOf } from './documents.js';
import { Element, HTMLElement, MathMLElement, SVGElement, SVGSVGElement } from './element.js';
import { optionsOf } from './element-state.js';
import { reflected, tagsOfClasses } from './element-tables.js';
import {
  controlMembers,
  controlOf,
  formMembers,
  formOf,
  inputMembers,
  listedControls,
  optionMembers,
  selectMembers,
  textAreaMembers,
} from './form-members.js';
import type { DOMTokenList, HTMLCollection } from './lists.js';
import { liveCollection, namedCollection, oncePerNode, tokenList } from './lists.js';
import { NodeMap } from './node-map.js';
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
  tag,
  Text,
  write,
} from './nodes.js';
import { selectAll } from './selectors.js';
import { positionOf } from './sibling-positions.js';
import {
  cdataKind,
  childElementsOf,
  commentKind,
  doctypeKind,
  documentKind,
  elementKind,
  findName,
  fragmentKind,
  getAttribute,
  instructionKind,
  kindWord,
  parentElementOf,
  removeAttribute,
  setAttribute,
  templateContent,
  textKind,
  textOf,
  versionOf,
} from './tree.js';
import { URL } from './url.js';
import { createWrappersBy, wrap } from './wrappers.js';

type ElementClass = new () => Element;

const classes: Record<string, ElementClass> = { HTMLElement };
const classOfTag = new Map<string, ElementClass>();

function reflect(target: object, entry: string): void {
  const [, property = '', attributeName, type = ''] = /^(\w+)(?:\(([\w-]+)\))?(?::(.+))?$/.exec(entry) ?? [];
  const attribute = attributeName ?? property.toLowerCase();
  const define = (get: (node: number) => unknown, set: (node: number, value: unknown) => void): void => {
    Object.defineProperty(target, property, {
      get(this: unknown) {
        return get(numberOf(this));
      },
      set(this: unknown, value: unknown) {
        set(numberOf(this), value);
      },
      enumerable: true,
      configurable: true,
    });
  };
  const writeText = (node: number, value: unknown): void => write(node, attribute, value);
  if (type === '') return define((node) => getAttribute(node, attribute) ?? '', writeText);
  if (type === 'url') return define((node) => resolvedUrl(node, attribute), writeText);
  if (type === 'flag') {
    return define(
      (node) => getAttribute(node, attribute) !== null,
      (node, value) => (value ? setAttribute(node, attribute, '') : removeAttribute(node, attribute)),
    );
  }
  const number = /^number=(.+)$/.exec(type);
  if (number !== null) {
    const otherwise = Number(number[1]);
    return define((node) => {
      const value = Number.parseFloat(getAttribute(node, attribute) ?? '');
      return Number.isNaN(value) ? otherwise : value;
    }, writeText);
  }
  const words = type.split(',');
  define((node) => {
    const value = (getAttribute(node, attribute) ?? '').toLowerCase();
    return words.includes(value) ? value : words[0];
  }, writeText);
}

function makeClasses(): void {
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
    for (const entry of entries.split(' ')) if (entry !== '') reflect(target, entry);
  }
  for (const [name, tags] of Object.entries(tagsOfClasses)) {
    const made = classes[name];
    if (made !== undefined) for (const each of tags.split(' ')) classOfTag.set(each, made);
  }
}

/** Adds members to a class of the table. */
function extend(name: string, members: object): void {
  const target = classes[name]?.prototype as object;
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(members))) {
    Object.defineProperty(target, key, { ...descriptor, enumerable: true });
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

// Forms ---------------------------------------------------------------------------------------------------------------

/** The children of one of two tags. A name that nothing bears has the id -1, which would be any. */
function childrenWith(node: number, tag_: string, other: string = tag_): number[] {
  const first = findName(tag_);
  const second = other === tag_ ? first : findName(other);
  if (first < 0 && second < 0) return [];
  return childElementsOf(node, first < 0 ? second : first, second);
}

function rowsOf(table: number): number[] {
  const heads: number[] = [];
  const bodies: number[] = [];
  const feet: number[] = [];
  for (const child of childElementsOf(table)) {
    const name = tag(child);
    if (name === 'tr') bodies.push(child);
    else if (name === 'tbody') bodies.push(...childrenWith(child, 'tr'));
    else if (name === 'thead') heads.push(...childrenWith(child, 'tr'));
    else if (name === 'tfoot') feet.push(...childrenWith(child, 'tr'));
  }
  return [...heads, ...bodies, ...feet];
}

let indexedTable = -1;
let indexedVersion = -1;
let rowIndexes = new NodeMap<number>();

/** Where a row stands in its table, counted once for all rows of a table. */
function rowIndexIn(table: number, row: number): number {
  if (table !== indexedTable || indexedVersion !== versionOf()) {
    indexedTable = table;
    indexedVersion = versionOf();
    rowIndexes = new NodeMap();
    for (const [at, each] of rowsOf(table).entries()) rowIndexes.set(each, at);
  }
  return rowIndexes.get(row) ?? -1;
}

function tableOf(node: number): number {
  for (let up = parentElementOf(node); up >= 0; up = parentElementOf(up)) if (tag(up) === 'table') return up;
  return -1;
}

const tableRows = oncePerNode(namedCollection, rowsOf);
const tableBodies = oncePerNode(namedCollection, (node) => childrenWith(node, 'tbody'));
const sectionRows = oncePerNode(namedCollection, (node) => childrenWith(node, 'tr'));
const rowCells = oncePerNode(namedCollection, (node) => childrenWith(node, 'td', 'th'));

const tableMembers = {
  get rows(): HTMLCollection {
    return tableRows(numberOf(this));
  },
  get tBodies(): HTMLCollection {
    return tableBodies(numberOf(this));
  },
  get tHead(): object | null {
    return wrap(childrenWith(numberOf(this), 'thead')[0] ?? -1);
  },
  get tFoot(): object | null {
    return wrap(childrenWith(numberOf(this), 'tfoot')[0] ?? -1);
  },
  get caption(): object | null {
    return wrap(childrenWith(numberOf(this), 'caption')[0] ?? -1);
  },
};

const sectionMembers = {
  get rows(): HTMLCollection {
    return sectionRows(numberOf(this));
  },
};

const rowMembers = {
  get cells(): HTMLCollection {
    return rowCells(numberOf(this));
  },
  get rowIndex(): number {
    const table = tableOf(numberOf(this));
    return table < 0 ? -1 : rowIndexIn(table, numberOf(this));
  },
  get sectionRowIndex(): number {
    return parentElementOf(numberOf(this)) < 0 ? -1 : positionOf(numberOf(this), false, true) - 1;
  },
};

const cellMembers = {
  get cellIndex(): number {
    const parent = parentElementOf(numberOf(this));
    return parent < 0 ? -1 : childrenWith(parent, 'td', 'th').indexOf(numberOf(this));
  },
};

// The rest ------------------------------------------------------------------------------------------------------------

const textMembers = {
  get text(): string {
    return textOf(numberOf(this));
  },
  set text(value: unknown) {
    (this as unknown as HTMLElement).textContent = String(value);
  },
};

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
  extend('HTMLOutputElement', {
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
    get elements(): HTMLCollection {
      return namedCollection(numberOf(this), (node) => selectAll(node, listedControls));
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
  return Node.of(node, nodeClass);
}

makeClasses();
addSpecialMembers();
createWrappersBy(createWrapper);

/** All classes by name, for the global object. */
export const elementClasses: Readonly<Record<string, unknown>> = classes;

/** The functions of XPath 1.0. */
import { Attr } from './attributes.js';
import { keyOfAttributeNS, partsOf, xmlNamespace } from './names.js';
import { asciiLowerCase } from './row-lists.js';
import { byId } from './queries.js';
import { getAttribute } from './attribute-values.js';
import { nameText } from './name-table.js';
import { elementKind, instructionKind, isElement, kind, parentElementOf, tagOf } from './tree.js';
import { rootOf } from './tree-walks.js';
import type { Item, Value } from './xpath-values.js';
import { asBoolean, asNumber, asText, textOfItem } from './xpath-values.js';

export interface Context {
  readonly item: Item;
  readonly position: number;
  readonly size: number;
}

type Evaluate = (context: Context) => Value;

export interface XPathFunction {
  readonly least: number;
  readonly most: number;
  readonly gives: 'nodes' | 'text' | 'number' | 'boolean';
  call(context: Context, args: readonly Evaluate[]): Value;
}

const blanks = /[ \t\r\n]+/;

function named(item: Item | undefined, part: 'qualified' | 'local' | 'namespace'): string {
  if (item === undefined) return '';
  if (item instanceof Attr) {
    if (part === 'qualified') return item.name;
    return (part === 'local' ? item.localName : item.namespaceURI) ?? '';
  }
  if (kind(item) === elementKind) return partsOf(item)[part] ?? '';
  return kind(item) === instructionKind && part !== 'namespace' ? nameText(tagOf(item)) : '';
}

/** Of the first node that is given, or of the one in question. */
function nameFunction(part: 'qualified' | 'local' | 'namespace'): XPathFunction {
  return {
    least: 0,
    most: 1,
    gives: 'text',
    call(context, [given]) {
      if (given === undefined) return named(context.item, part);
      const value = given(context);
      if (typeof value !== 'object') throw new TypeError('The function is given something that is no set of nodes.');
      return named(value[0], part);
    },
  };
}

function textFunction(least: number, most: number, call: (...texts: string[]) => Value): XPathFunction {
  const sample = call('', '', '');
  return {
    least,
    most,
    gives: typeof sample === 'boolean' ? 'boolean' : typeof sample === 'number' ? 'number' : 'text',
    call: (context, args) => call(...args.map((each) => asText(each(context)))),
  };
}

/** Of the text given, or of the node in question. */
function ownTextFunction(call: (text: string) => Value): XPathFunction {
  return {
    least: 0,
    most: 1,
    gives: typeof call('') === 'number' ? 'number' : 'text',
    call: (context, [given]) => call(given === undefined ? textOfItem(context.item) : asText(given(context))),
  };
}

function numberFunction(call: (value: number) => number): XPathFunction {
  return {
    least: 1,
    most: 1,
    gives: 'number',
    call: (context, [given]) => call(given === undefined ? Number.NaN : asNumber(given(context))),
  };
}

function nodesFrom(value: Value | undefined): Item[] {
  if (typeof value !== 'object') throw new TypeError('The function is given something that is no set of nodes.');
  return value;
}

/** Half rounds up, and what is just below zero stays there. */
function round(value: number): number {
  return Number.isFinite(value) ? Math.floor(value + 0.5) : value;
}

function elementOf(item: Item): number {
  if (item instanceof Attr) return Attr.ownerOf(item);
  return isElement(item) ? item : parentElementOf(item);
}

function isInLanguage(item: Item, wanted: string): boolean {
  for (let up = elementOf(item); up >= 0; up = parentElementOf(up)) {
    const key = keyOfAttributeNS(up, xmlNamespace, 'lang');
    if (key === null) continue;
    const language = asciiLowerCase(getAttribute(up, key) ?? '');
    return language === asciiLowerCase(wanted) || language.startsWith(`${asciiLowerCase(wanted)}-`);
  }
  return false;
}

function translate(text: string, from: string, to: string): string {
  const [sources, targets] = [Array.from(from), Array.from(to)];
  return Array.from(text, (mark) => {
    const at = sources.indexOf(mark);
    return at < 0 ? mark : (targets[at] ?? '');
  }).join('');
}

function substring(text: string, from: number, length: number): string {
  const marks = Array.from(text);
  const start = round(from);
  const end = start + round(length);
  return marks.filter((_mark, at) => at + 1 >= start && at + 1 < end).join('');
}

function partBeside(text: string, mark: string, isBefore: boolean): string {
  const at = text.indexOf(mark);
  if (at < 0) return '';
  return isBefore ? text.slice(0, at) : text.slice(at + mark.length);
}

export const functions: Readonly<Record<string, XPathFunction>> = {
  last: { least: 0, most: 0, gives: 'number', call: (context) => context.size },
  position: { least: 0, most: 0, gives: 'number', call: (context) => context.position },
  count: { least: 1, most: 1, gives: 'number', call: (context, [given]) => nodesFrom(given?.(context)).length },
  id: {
    least: 1,
    most: 1,
    gives: 'nodes',
    call(context, [given]) {
      const value = given?.(context) ?? '';
      const texts = typeof value === 'object' ? value.map(textOfItem) : [asText(value)];
      const { item } = context;
      const root = rootOf(item instanceof Attr ? Attr.ownerOf(item) : item);
      const ids = texts.flatMap((text) => text.split(blanks)).filter((id) => id !== '');
      const found = new Set(ids.map((id) => byId(root, id)).filter((node) => node >= 0));
      return [...found];
    },
  },
  'local-name': nameFunction('local'),
  'namespace-uri': nameFunction('namespace'),
  name: nameFunction('qualified'),
  string: ownTextFunction((text) => text),
  concat: textFunction(2, Number.POSITIVE_INFINITY, (...texts) => texts.join('')),
  'starts-with': textFunction(2, 2, (text = '', mark = '') => text.startsWith(mark)),
  contains: textFunction(2, 2, (text = '', mark = '') => text.includes(mark)),
  'substring-before': textFunction(2, 2, (text = '', mark = '') => partBeside(text, mark, true)),
  'substring-after': textFunction(2, 2, (text = '', mark = '') => partBeside(text, mark, false)),
  substring: {
    least: 2,
    most: 3,
    gives: 'text',
    call(context, [text, from, length]) {
      const count = length === undefined ? Number.POSITIVE_INFINITY : asNumber(length(context));
      return substring(asText(text?.(context) ?? ''), asNumber(from?.(context) ?? 1), count);
    },
  },
  'string-length': ownTextFunction((text) => Array.from(text).length),
  'normalize-space': ownTextFunction((text) =>
    text
      .split(blanks)
      .filter((word) => word !== '')
      .join(' '),
  ),
  translate: textFunction(3, 3, (text = '', from = '', to = '') => translate(text, from, to)),
  boolean: { least: 1, most: 1, gives: 'boolean', call: (context, [given]) => asBoolean(given?.(context) ?? false) },
  not: { least: 1, most: 1, gives: 'boolean', call: (context, [given]) => !asBoolean(given?.(context) ?? false) },
  true: { least: 0, most: 0, gives: 'boolean', call: () => true },
  false: { least: 0, most: 0, gives: 'boolean', call: () => false },
  lang: {
    least: 1,
    most: 1,
    gives: 'boolean',
    call: (context, [given]) => isInLanguage(context.item, asText(given?.(context) ?? '')),
  },
  number: {
    least: 0,
    most: 1,
    gives: 'number',
    call: (context, [given]) => asNumber(given === undefined ? textOfItem(context.item) : given(context)),
  },
  sum: {
    least: 1,
    most: 1,
    gives: 'number',
    call: (context, [given]) =>
      nodesFrom(given?.(context)).reduce<number>((sum, item) => sum + asNumber(textOfItem(item)), 0),
  },
  floor: numberFunction(Math.floor),
  ceiling: numberFunction(Math.ceil),
  round: numberFunction(round),
};

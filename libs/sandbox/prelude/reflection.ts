/**
 * Attributes as properties (HTML, "Reflecting content attributes in IDL attributes"), and the language of the table that
 * says which (`element-tables.ts`).
 *
 * An entry is `property(attribute):kind`; the attribute is left out where it is the property in lower case. Kinds:
 *
 *   (none)          text as it is written            url       an address, resolved
 *   null            the same, set to null: empty     address   the same, the document's own where empty or missing
 *   flag            there or not                     tokens    a `DOMTokenList`
 *   long=0          a whole number, else 0           double=0  any finite number, else 0
 *   unsigned=0      0 and more, else 0               magnitude=1   a number above 0, else 1
 *   natural         0 and more, else -1; a negative one cannot be set
 *   positive=20     1 and more, else 20; 0 cannot be set
 *   fallback=20     1 and more, else 20, which is what is set for 0
 *   clamped=1,0,9   0 to 9, what is beyond comes to the next of these, else 1
 *   one,two         the known word, in whichever case it is written, else nothing
 *     one?          … which stands for a missing attribute
 *     one!          … which stands for a word that is not known
 *     other>one     … which is another word for one; `>one` is the empty word
 *     ~one,two      … null where the attribute is missing, which null takes away
 */
import { documentUrl, resolvedUrl } from './addresses.js';
import { domError } from './dom-exception.js';
import { tokenList } from './lists.js';
import { numberOf, tag, write } from './nodes.js';
import { asciiLowerCase } from './row-lists.js';
import { getAttribute, removeAttribute, setAttribute } from './attribute-values.js';
import { parentElementOf } from './tree.js';

/** What an attribute is as a property. Entries share it: each function is copied at each restore. */
interface Kind {
  read(node: number, attribute: string): unknown;
  write(node: number, attribute: string, value: unknown): void;
}

// Numbers -------------------------------------------------------------------------------------------------------------

const most = 2_147_483_647;

/** By the rules for parsing integers; null where they fail. */
function integerIn(text: string | null): number | null {
  const found = text === null ? null : /^[\t\n\f\r ]*([+-]?\d+)/.exec(text);
  // No negative zero.
  return found === null ? null : Number(found[1]) + 0;
}

/** By the rules for parsing floating-point number values. */
export function doubleOf(node: number, attribute: string, otherwise: number): number {
  const found = /^[\t\n\f\r ]*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)/.exec(
    getAttribute(node, attribute) ?? '',
  );
  const value = found === null ? Number.NaN : Number(found[1]);
  return Number.isFinite(value) ? value : otherwise;
}

export function writeDouble(node: number, attribute: string, value: unknown): void {
  const number = Number(value);
  if (!Number.isFinite(number)) throw new TypeError('The provided double value is non-finite.');
  setAttribute(node, attribute, String(number));
}

function refuseNumber(value: number): never {
  throw domError('IndexSizeError', `The value provided (${value}) is outside of what the attribute may be.`);
}

function readWithin(least: number, otherwise: number): Kind['read'] {
  return (node, attribute) => {
    const value = integerIn(getAttribute(node, attribute));
    return value === null || value < least || value > most ? otherwise : value;
  };
}

/** The numbers of Web IDL: beyond 32 bits they begin anew. */
const toLong = (value: unknown): number => (value as number) | 0;
const toUnsigned = (value: unknown): number => (value as number) >>> 0;

function writeUnsigned(otherwise: number): Kind['write'] {
  return (node, attribute, value) => {
    const number = toUnsigned(value);
    setAttribute(node, attribute, String(number > most ? otherwise : number));
  };
}

function numberKind(name: string, [otherwise = 0, least = 0, greatest = 0]: readonly number[]): Kind | null {
  switch (name) {
    case 'long':
      return {
        read: readWithin(-most - 1, otherwise),
        write: (node, attribute, value) => setAttribute(node, attribute, String(toLong(value))),
      };
    case 'natural':
      return {
        read: readWithin(0, -1),
        write(node, attribute, value) {
          const number = toLong(value);
          setAttribute(node, attribute, String(number < 0 ? refuseNumber(number) : number));
        },
      };
    case 'unsigned':
      return { read: readWithin(0, otherwise), write: writeUnsigned(otherwise) };
    case 'positive':
    case 'fallback':
      return {
        read: readWithin(1, otherwise),
        write(node, attribute, value) {
          let number = toUnsigned(value);
          if (number === 0 && name === 'positive') refuseNumber(number);
          if (number === 0 || number > most) number = otherwise;
          setAttribute(node, attribute, String(number));
        },
      };
    case 'clamped':
      return {
        read(node, attribute) {
          const value = integerIn(getAttribute(node, attribute));
          return value === null || value < 0 ? otherwise : Math.min(greatest, Math.max(least, value));
        },
        write: writeUnsigned(otherwise),
      };
    case 'double':
      return { read: (node, attribute) => doubleOf(node, attribute, otherwise), write: writeDouble };
    case 'magnitude':
      return {
        read(node, attribute) {
          const value = doubleOf(node, attribute, otherwise);
          return value > 0 ? value : otherwise;
        },
        write(node, attribute, value) {
          if (!(Number(value) <= 0)) writeDouble(node, attribute, value);
        },
      };
    default:
      return null;
  }
}

// Words ---------------------------------------------------------------------------------------------------------------

function wordKind(text: string): Kind {
  const isNullable = text.startsWith('~');
  // One text of all words, and a table of the few that stand for others: each is copied at each restore.
  let words = ',';
  let others: Map<string, string> | null = null;
  let missing: string | null = isNullable ? null : '';
  let unknown = '';
  for (const each of (isNullable ? text.slice(1) : text).split(',')) {
    const [, word = '', marks = '', other] = /^([^?!>]*)([?!]*)(?:>(.*))?$/.exec(each) ?? [];
    if (other === undefined) words += `${word},`;
    else (others ??= new Map<string, string>()).set(word, other);
    if (marks.includes('?')) missing = word;
    if (marks.includes('!')) unknown = word;
  }
  return {
    read(node, attribute) {
      const written = getAttribute(node, attribute);
      if (written === null) return missing;
      const word = asciiLowerCase(written);
      if (!word.includes(',') && words.includes(`,${word},`)) return word;
      return others?.get(word) ?? unknown;
    },
    write: isNullable ? writeOrRemove : write,
  };
}

export function writeOrRemove(node: number, attribute: string, value: unknown): void {
  if (value === null || value === undefined) removeAttribute(node, attribute);
  else write(node, attribute, value);
}

// The rest ------------------------------------------------------------------------------------------------------------

const kinds: Readonly<Record<string, Kind>> = {
  null: {
    read: (node, attribute) => getAttribute(node, attribute) ?? '',
    write: (node, attribute, value) => write(node, attribute, value === null ? '' : value),
  },
  url: { read: resolvedUrl, write },
  address: {
    read: (node, attribute) =>
      (getAttribute(node, attribute) ?? '') === '' ? documentUrl() : resolvedUrl(node, attribute),
    write,
  },
  flag: {
    read: (node, attribute) => getAttribute(node, attribute) !== null,
    write(node, attribute, value) {
      if (value) setAttribute(node, attribute, '');
      else removeAttribute(node, attribute);
    },
  },
  tokens: { read: tokenList, write },
};

/** By what the table says; entries of the same kind share it. */
export function kindReader(): (text: string) => Kind {
  const known = new Map(Object.entries(kinds));
  return (text) => {
    let kind = known.get(text);
    if (kind === undefined) {
      const [name = '', numbers = ''] = text.split('=');
      kind = numberKind(name, numbers.split(',').map(Number)) ?? wordKind(text);
      known.set(text, kind);
    }
    return kind;
  };
}

/** As every attribute of an interface is. */
export const ofProperty = { enumerable: true, configurable: true };

/** Property and accessors of an entry. No function in a function more than it takes: each is copied at each restore. */
export function reflection(entry: string, kindOf: (text: string) => Kind): readonly [string, PropertyDescriptor] {
  const [, property = '', attributeName, type = ''] = /^(\w+)(?:\(([\w-]+)\))?(?::(.+))?$/.exec(entry) ?? [];
  const attribute = attributeName ?? property.toLowerCase();
  return [property, type === '' ? textProperty(attribute) : kindProperty(attribute, kindOf(type))];
}

function textProperty(attribute: string): PropertyDescriptor {
  return {
    get(this: unknown): string {
      return getAttribute(numberOf(this), attribute) ?? '';
    },
    set(this: unknown, value: unknown): void {
      write(numberOf(this), attribute, value);
    },
    ...ofProperty,
  };
}

export function kindProperty(attribute: string, kind: Kind): PropertyDescriptor {
  return {
    get(this: unknown): unknown {
      return kind.read(numberOf(this), attribute);
    },
    set(this: unknown, value: unknown): void {
      kind.write(numberOf(this), attribute, value);
    },
    ...ofProperty,
  };
}

/** Text or null, and null takes the attribute away. */
export const textOrNull: Kind = { read: getAttribute, write: writeOrRemove };

// What elements of every kind have, and no kind above fits --------------------------------------------------------------

/** The first of an element and those around it whose attribute is one of two words decides; true where none does. */
function inherited(node: number, attribute: string, yes: string, no: string): boolean {
  for (let up = node; up >= 0; up = parentElementOf(up)) {
    const written = getAttribute(up, attribute);
    const word = written === null ? null : asciiLowerCase(written);
    if (word === yes || word === '') return true;
    if (word === no) return false;
  }
  return true;
}

export const globalMembers = {
  get hidden(): unknown {
    const written = getAttribute(numberOf(this), 'hidden');
    return written !== null && (asciiLowerCase(written) === 'until-found' ? 'until-found' : true);
  },
  set hidden(value: unknown) {
    const isUntilFound = typeof value === 'string' && asciiLowerCase(value) === 'until-found';
    if (value) setAttribute(numberOf(this), 'hidden', isUntilFound ? 'until-found' : '');
    else removeAttribute(numberOf(this), 'hidden');
  },
  get translate(): boolean {
    return inherited(numberOf(this), 'translate', 'yes', 'no');
  },
  set translate(value: unknown) {
    setAttribute(numberOf(this), 'translate', value ? 'yes' : 'no');
  },
  get spellcheck(): boolean {
    return inherited(numberOf(this), 'spellcheck', 'true', 'false');
  },
  set spellcheck(value: unknown) {
    setAttribute(numberOf(this), 'spellcheck', String(Boolean(value)));
  },
  get draggable(): boolean {
    const node = numberOf(this);
    const written = asciiLowerCase(getAttribute(node, 'draggable') ?? '');
    if (written === 'true' || written === 'false') return written === 'true';
    return tag(node) === 'img' || (tag(node) === 'a' && getAttribute(node, 'href') !== null);
  },
  set draggable(value: unknown) {
    setAttribute(numberOf(this), 'draggable', String(Boolean(value)));
  },
  get contentEditable(): string {
    return editability(numberOf(this));
  },
  set contentEditable(value: unknown) {
    const word = asciiLowerCase(String(value));
    if (word === 'inherit') removeAttribute(numberOf(this), 'contenteditable');
    else if (/^(?:true|false|plaintext-only)$/.test(word)) setAttribute(numberOf(this), 'contenteditable', word);
    else throw domError('SyntaxError', `'${String(value)}' is no way to be editable.`);
  },
  get isContentEditable(): boolean {
    for (let up = numberOf(this); up >= 0; up = parentElementOf(up)) {
      const word = editability(up);
      if (word !== 'inherit') return word !== 'false';
    }
    return false;
  },
};

function editability(node: number): string {
  const written = getAttribute(node, 'contenteditable');
  const word = written === '' ? 'true' : asciiLowerCase(written ?? '');
  return /^(?:true|false|plaintext-only)$/.test(word) ? word : 'inherit';
}

const focused = ',a,area,button,frame,iframe,input,object,select,textarea,svg a,';

/** HTML's, SVG's and MathML's elements share it. */
export const focusMembers = {
  get tabIndex(): number {
    const node = numberOf(this);
    const value = integerIn(getAttribute(node, 'tabindex'));
    if (value !== null && value >= -most - 1 && value <= most) return value;
    const parent = tag(node) === 'summary' ? parentElementOf(node) : -1;
    return focused.includes(`,${tag(node)},`) || (parent >= 0 && tag(parent) === 'details') ? 0 : -1;
  },
  set tabIndex(value: unknown) {
    setAttribute(numberOf(this), 'tabindex', String(toLong(value)));
  },
};

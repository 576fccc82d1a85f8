/**
 * CSS Selectors 4 over the tree's integers. A selector is read once into compounds; the rightmost one picks its
 * candidates from the page's indexes, and the rest is checked from right to left.
 */
import {
  asciiLowerCase,
  attributeByName,
  childElementsOf,
  compareOrder,
  dataOf,
  elementKind,
  firstChild,
  following,
  getAttribute,
  indexedByClass,
  indexedById,
  indexedByTag,
  internName,
  isElement,
  isOfIndexedClass,
  isQuirks,
  kind,
  nameText,
  nextElement,
  nextSibling,
  parentElementOf,
  parentOf,
  previousElement,
  rootOf,
  tagOf,
  textKind,
  versionOf,
} from './tree.js';

/** What `:scope` and, inside `:has()`, the element in question stand for. */
interface Place {
  readonly scope: number;
  readonly anchor: number;
}

type Test = (node: number, place: Place) => boolean;

interface Compound {
  /** Name ids that the tag may have: of HTML, SVG and MathML. Empty for any. */
  readonly tags: number[];
  readonly ids: string[];
  readonly classes: string[];
  readonly tests: Test[];
  isAnchor: boolean;
}

type Combinator = ' ' | '>' | '+' | '~';

interface Complex {
  readonly compounds: Compound[];
  /** `combinators[n]` stands between compounds n and n + 1. */
  readonly combinators: Combinator[];
}

export class SelectorError extends Error {}

const cache = new Map<string, Complex[]>();

/** Attributes whose values HTML compares without regard to case. */
const caselessAttributes =
  ' accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink ';

/** States that nothing on a page at rest is in. */
const neverTrue =
  ' hover active focus focus-visible focus-within visited local-link fullscreen modal picture-in-picture playing paused seeking buffering stalled muted volume-locked current past future user-invalid user-valid popover-open autofill -webkit-autofill target-within host host-context ';

const nameStart = /[A-Za-z_\u0080-\uffff\\-]/;
const nameEnd = /[^A-Za-z0-9_\u0080-\uffff-]/g;
const blank = /[\t\n\f\r ]/;

class Reader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  peek(): string {
    return this.text.charAt(this.at);
  }

  fail(): never {
    throw new SelectorError(`'${this.text}' is not a valid selector.`);
  }

  skipBlanks(): boolean {
    const from = this.at;
    while (this.at < this.text.length && blank.test(this.peek())) this.at++;
    return this.at > from;
  }

  take(mark: string): boolean {
    if (!this.text.startsWith(mark, this.at)) return false;
    this.at += mark.length;
    return true;
  }

  expect(mark: string): void {
    if (!this.take(mark)) this.fail();
  }

  escape(): string {
    const hex = /^[0-9a-fA-F]{1,6}/.exec(this.text.slice(this.at, this.at + 6));
    if (hex !== null) {
      this.at += hex[0].length;
      if (blank.test(this.peek())) this.at++;
      const code = Number.parseInt(hex[0], 16);
      return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)
        ? '\ufffd'
        : String.fromCodePoint(code);
    }
    const code = this.text.codePointAt(this.at);
    if (code === undefined) this.fail();
    const mark = String.fromCodePoint(code);
    this.at += mark.length;
    return mark;
  }

  /** An identifier; a name after `#` may start with a digit. */
  name(isIdentifier: boolean): string {
    if (isIdentifier && !nameStart.test(this.peek())) this.fail();
    if (isIdentifier && /^-?\d|^-$/.test(this.text.slice(this.at, this.at + 2))) this.fail();
    let name = '';
    for (;;) {
      nameEnd.lastIndex = this.at;
      const end = nameEnd.exec(this.text)?.index ?? this.text.length;
      name += this.text.slice(this.at, end);
      this.at = end;
      if (this.peek() !== '\\') break;
      this.at++;
      name += this.escape();
    }
    if (name === '') this.fail();
    return name;
  }

  string(): string {
    const quote = this.peek();
    this.at++;
    let text = '';
    for (;;) {
      const mark = this.peek();
      if (mark === '' || mark === '\n') this.fail();
      this.at++;
      if (mark === quote) return text;
      if (mark !== '\\') text += mark;
      else if (this.peek() === '\n') this.at++;
      else text += this.escape();
    }
  }

  /** The text up to the bracket that closes an argument, which is left standing. */
  argument(): string {
    const from = this.at;
    let depth = 0;
    for (; this.at < this.text.length; this.at++) {
      const mark = this.peek();
      if (mark === '\\') this.at++;
      else if (mark === '"' || mark === "'") {
        this.string();
        this.at--;
      } else if (mark === '(' || mark === '[') depth++;
      else if (mark === ')' || mark === ']') {
        if (depth === 0) break;
        depth--;
      }
    }
    return this.text.slice(from, this.at);
  }
}

// Attributes ----------------------------------------------------------------------------------------------------------

function isForeign(node: number): boolean {
  return nameText(tagOf(node)).includes(' ');
}

function attributeTest(reader: Reader): Test {
  reader.skipBlanks();
  if (reader.take('*|') || (reader.peek() === '|' && !reader.text.startsWith('|=', reader.at) && reader.take('|'))) {
    // Namespaces of attributes are not told apart: the name as written in the markup counts.
  }
  let written = reader.name(true);
  if (reader.peek() === '|' && reader.text.charAt(reader.at + 1) !== '=') {
    reader.at++;
    written = `${written}:${reader.name(true)}`;
  }
  const lower = asciiLowerCase(written);
  const lowerId = internName(lower);
  const writtenId = internName(written);
  const valueOf = (node: number): string | null =>
    attributeByName(node, lowerId === writtenId || !isForeign(node) ? lowerId : writtenId);
  reader.skipBlanks();
  if (reader.take(']')) return (node) => valueOf(node) !== null;
  const operator = /^[~|^$*]?=/.exec(reader.text.slice(reader.at, reader.at + 2))?.[0];
  if (operator === undefined) reader.fail();
  reader.at += operator.length;
  reader.skipBlanks();
  const mark = reader.peek();
  const value = mark === '"' || mark === "'" ? reader.string() : reader.name(true);
  reader.skipBlanks();
  let flag = '';
  if (/[isIS]/.test(reader.peek())) {
    flag = reader.peek().toLowerCase();
    reader.at++;
    reader.skipBlanks();
  }
  reader.expect(']');
  const compare = comparison(operator, flag === 'i' ? value.toLowerCase() : value);
  if (flag === 'i') {
    return (node) => {
      const found = valueOf(node);
      return found !== null && compare(found.toLowerCase());
    };
  }
  if (flag === '' && caselessAttributes.includes(` ${lower} `)) {
    const compareCaseless = comparison(operator, value.toLowerCase());
    return (node) => {
      const found = valueOf(node);
      if (found === null) return false;
      return isForeign(node) ? compare(found) : compareCaseless(found.toLowerCase());
    };
  }
  return (node) => {
    const found = valueOf(node);
    return found !== null && compare(found);
  };
}

function comparison(operator: string, value: string): (found: string) => boolean {
  switch (operator) {
    case '=':
      return (found) => found === value;
    case '~=':
      return (found) => value !== '' && !blank.test(value) && hasToken(found, value);
    case '|=':
      return (found) => found === value || found.startsWith(`${value}-`);
    case '^=':
      return (found) => value !== '' && found.startsWith(value);
    case '$=':
      return (found) => value !== '' && found.endsWith(value);
    default:
      return (found) => value !== '' && found.includes(value);
  }
}

const otherBlanks = /[\t\n\f\r]/g;

/** Whether a list separated by blanks holds a token. */
export function hasToken(list: string, token: string): boolean {
  if (list === token) return true;
  if (list.length <= token.length) return false;
  return ` ${list.replace(otherBlanks, ' ')} `.includes(` ${token} `);
}

function hasClass(node: number, name: string): boolean {
  const indexed = isOfIndexedClass(node, name);
  if (indexed !== null) return indexed;
  const list = getAttribute(node, 'class');
  if (list === null) return false;
  return isQuirks() ? hasToken(list.toLowerCase(), name.toLowerCase()) : hasToken(list, name);
}

function hasId(node: number, id: string): boolean {
  const found = getAttribute(node, 'id');
  return found !== null && (found === id || (isQuirks() && found.toLowerCase() === id.toLowerCase()));
}

// Position among siblings ---------------------------------------------------------------------------------------------

let positionsVersion = -1;
let childPositions: Map<number, number> = new Map();
let childCounts: Map<number, number> = new Map();
let typePositions: Map<number, number> = new Map();
let typeCounts: Map<string, number> = new Map();
let countedParents: Set<number> = new Set();

/** Counts the children of a parent once, and remembers it until the tree changes. */
function countChildren(parent: number): void {
  if (positionsVersion !== versionOf()) {
    positionsVersion = versionOf();
    childPositions = new Map();
    childCounts = new Map();
    typePositions = new Map();
    typeCounts = new Map();
    countedParents = new Set();
  }
  if (countedParents.has(parent)) return;
  countedParents.add(parent);
  const ofType = new Map<number, number>();
  let position = 0;
  for (let child = firstChild(parent); child >= 0; child = nextSibling(child)) {
    if (!isElement(child)) continue;
    childPositions.set(child, ++position);
    const tag = tagOf(child);
    const count = (ofType.get(tag) ?? 0) + 1;
    ofType.set(tag, count);
    typePositions.set(child, count);
  }
  childCounts.set(parent, position);
  for (const [tag, count] of ofType) typeCounts.set(`${parent} ${tag}`, count);
}

function positionOf(node: number, isFromEnd: boolean, isOfType: boolean): number {
  const parent = parentOf(node);
  if (parent < 0) return 1;
  countChildren(parent);
  if (isOfType) {
    const position = typePositions.get(node) ?? 1;
    return isFromEnd ? (typeCounts.get(`${parent} ${tagOf(node)}`) ?? 1) - position + 1 : position;
  }
  const position = childPositions.get(node) ?? 1;
  return isFromEnd ? (childCounts.get(parent) ?? 1) - position + 1 : position;
}

const nthPattern = /^\s*(?:(even)|(odd)|([+-]?\d*)n(?:\s*([+-])\s*(\d+))?|([+-]?\d+))\s*(?:\bof\b|$)/i;

function nthTest(name: string, argument: string): Test {
  const match = nthPattern.exec(argument);
  if (match === null) throw new SelectorError(`':${name}(${argument})' is not a valid selector.`);
  const [whole, even, odd, step, sign, offset, single] = match;
  let a = 0;
  let b = 0;
  if (even !== undefined || odd !== undefined) {
    a = 2;
    b = odd === undefined ? 0 : 1;
  } else if (single !== undefined) b = Number(single);
  else {
    a = step === undefined || step === '' || step === '+' ? 1 : step === '-' ? -1 : Number(step);
    b = offset === undefined ? 0 : Number(`${sign ?? '+'}${offset}`);
  }
  const fits = (position: number): boolean => {
    const steps = position - b;
    return a === 0 ? steps === 0 : steps % a === 0 && steps / a >= 0;
  };
  const isFromEnd = name.includes('last');
  const isOfType = name.endsWith('type');
  if (!/of\s*$/i.test(whole)) return (node) => fits(positionOf(node, isFromEnd, isOfType));
  if (isOfType) throw new SelectorError(`':${name}(${argument})' is not a valid selector.`);
  const list = parseSelector(argument.slice(whole.length));
  const step_ = isFromEnd ? nextElement : previousElement;
  return (node, place) => {
    if (!matchesAny(list, node, place)) return false;
    let position = 1;
    for (let each = step_(node); each >= 0; each = step_(each)) if (matchesAny(list, each, place)) position++;
    return fits(position);
  };
}

// Pseudo-classes ------------------------------------------------------------------------------------------------------

function isTag(node: number, tags: string): boolean {
  return tags.includes(` ${nameText(tagOf(node))} `);
}

const canBeDisabled = ' button input select textarea option optgroup fieldset ';

export function isDisabled(node: number): boolean {
  if (!isTag(node, canBeDisabled)) return false;
  if (getAttribute(node, 'disabled') !== null) return true;
  const parent = parentElementOf(node);
  if (isTag(node, ' option '))
    return parent >= 0 && isTag(parent, ' optgroup ') && getAttribute(parent, 'disabled') !== null;
  if (isTag(node, ' optgroup ')) return false;
  for (let child = node, up = parent; up >= 0; child = up, up = parentElementOf(up)) {
    if (!isTag(up, ' fieldset ') || getAttribute(up, 'disabled') === null) continue;
    const firstLegend = childElementsOf(up).find((each) => isTag(each, ' legend '));
    if (firstLegend !== child) return true;
  }
  return false;
}

/** The option that a drop-down shows without one being marked. */
function isChecked(node: number): boolean {
  if (isTag(node, ' input ')) {
    const type = getAttribute(node, 'type')?.toLowerCase();
    return (type === 'checkbox' || type === 'radio') && getAttribute(node, 'checked') !== null;
  }
  return isTag(node, ' option ') && isSelectedOption(node);
}

export function optionsOf(select: number): number[] {
  const options: number[] = [];
  for (let each = following(select, select); each >= 0; each = following(each, select)) {
    if (isElement(each) && isTag(each, ' option ')) options.push(each);
  }
  return options;
}

export function selectedOptionsOf(select: number): number[] {
  const options = optionsOf(select);
  const marked = options.filter((option) => getAttribute(option, 'selected') !== null);
  if (getAttribute(select, 'multiple') !== null) return marked;
  if (marked.length > 0) return marked.slice(-1);
  if (Number(getAttribute(select, 'size') ?? 1) > 1) return [];
  const shown = options.find((option) => !isDisabled(option));
  return shown === undefined ? [] : [shown];
}

export function isSelectedOption(option: number): boolean {
  for (let up = parentElementOf(option); up >= 0; up = parentElementOf(up)) {
    if (isTag(up, ' select ')) return selectedOptionsOf(up).includes(option);
  }
  return getAttribute(option, 'selected') !== null;
}

const writableTypes = ' text search url tel email password date month week time datetime-local number ';

function isEditable(node: number): boolean {
  if (isTag(node, ' textarea ') || isTag(node, ' input ')) {
    const type = getAttribute(node, 'type')?.toLowerCase() ?? 'text';
    const isText = isTag(node, ' textarea ') || writableTypes.includes(` ${type} `);
    return isText && getAttribute(node, 'readonly') === null && !isDisabled(node);
  }
  for (let up = node; up >= 0; up = parentElementOf(up)) {
    const editable = getAttribute(up, 'contenteditable');
    if (editable !== null) return editable.toLowerCase() !== 'false';
  }
  return false;
}

function isEmpty(node: number): boolean {
  for (let child = firstChild(node); child >= 0; child = nextSibling(child)) {
    const childKind = kind(child);
    if (childKind === elementKind || (childKind === textKind && dataOf(child) !== '')) return false;
  }
  return true;
}

function languageOf(node: number): string {
  for (let up = node; up >= 0; up = parentElementOf(up)) {
    const language = getAttribute(up, 'lang') ?? getAttribute(up, 'xml:lang');
    if (language !== null) return language.toLowerCase();
  }
  return '';
}

function directionOf(node: number): string {
  for (let up = node; up >= 0; up = parentElementOf(up)) {
    const direction = getAttribute(up, 'dir')?.toLowerCase();
    if (direction === 'ltr' || direction === 'rtl') return direction;
  }
  return 'ltr';
}

let readTarget: () => string = () => '';

/** The fragment of the page's address, for `:target`. */
export function setTarget(read: () => string): void {
  readTarget = read;
}

const plainTests: Readonly<Record<string, Test>> = {
  root: (node) => parentElementOf(node) < 0 && parentOf(node) >= 0 && kind(parentOf(node)) === 9,
  empty: isEmpty,
  'first-child': (node) => previousElement(node) < 0,
  'last-child': (node) => nextElement(node) < 0,
  'only-child': (node) => previousElement(node) < 0 && nextElement(node) < 0,
  'first-of-type': (node) => positionOf(node, false, true) === 1,
  'last-of-type': (node) => positionOf(node, true, true) === 1,
  'only-of-type': (node) => positionOf(node, false, true) === 1 && positionOf(node, true, true) === 1,
  scope: (node, place) => node === place.scope,
  checked: isChecked,
  disabled: isDisabled,
  enabled: (node) => isTag(node, canBeDisabled) && !isDisabled(node),
  required: (node) => isTag(node, ' input select textarea ') && getAttribute(node, 'required') !== null,
  optional: (node) => isTag(node, ' input select textarea ') && getAttribute(node, 'required') === null,
  'read-write': isEditable,
  'read-only': (node) => !isEditable(node),
  link: (node) => isTag(node, ' a area ') && getAttribute(node, 'href') !== null,
  'any-link': (node) => isTag(node, ' a area ') && getAttribute(node, 'href') !== null,
  'placeholder-shown': (node) =>
    isTag(node, ' input textarea ') && !!getAttribute(node, 'placeholder') && !getAttribute(node, 'value'),
  default: (node) =>
    (isTag(node, ' input ') && getAttribute(node, 'checked') !== null) ||
    (isTag(node, ' option ') && getAttribute(node, 'selected') !== null),
  indeterminate: (node) => isTag(node, ' progress ') && getAttribute(node, 'value') === null,
  target: (node) => {
    const id = getAttribute(node, 'id');
    return id !== null && id !== '' && id === readTarget();
  },
  defined: (node) => !nameText(tagOf(node)).includes('-') || isForeign(node),
  open: (node) => isTag(node, ' details dialog ') && getAttribute(node, 'open') !== null,
  valid: (node) => isTag(node, ' input select textarea form fieldset '),
  invalid: () => false,
  'in-range': (node) => isTag(node, ' input ') && getAttribute(node, 'min') !== null,
  'out-of-range': () => false,
};

function pseudoTest(reader: Reader): Test {
  if (reader.take(':')) {
    // A pseudo-element is valid and matches no element.
    reader.name(true);
    if (reader.take('(')) {
      reader.argument();
      reader.expect(')');
    }
    return () => false;
  }
  const name = reader.name(true).toLowerCase();
  if (!reader.take('(')) {
    const test = Object.hasOwn(plainTests, name) ? plainTests[name] : undefined;
    if (test !== undefined) return test;
    if (neverTrue.includes(` ${name} `) || /^(before|after|first-line|first-letter)$/.test(name)) return () => false;
    reader.fail();
  }
  const argument = reader.argument();
  reader.expect(')');
  switch (name) {
    case 'is':
    case 'where':
    case 'matches':
    case '-webkit-any': {
      const list = forgivingList(argument);
      return (node, place) => matchesAny(list, node, place);
    }
    case 'not': {
      const list = parseSelector(argument);
      return (node, place) => !matchesAny(list, node, place);
    }
    case 'has':
      return hasTest(argument);
    case 'nth-child':
    case 'nth-last-child':
    case 'nth-of-type':
    case 'nth-last-of-type':
      return nthTest(name, argument);
    case 'lang': {
      const wanted = argument.split(',').map((each) =>
        each
          .trim()
          .replace(/^["']|["']$/g, '')
          .toLowerCase(),
      );
      return (node) => {
        const language = languageOf(node);
        return wanted.some((each) =>
          each === '*' ? language !== '' : language === each || language.startsWith(`${each.replace(/^\*-/, '')}-`),
        );
      };
    }
    case 'dir': {
      const direction = argument.trim().toLowerCase();
      return (node) => directionOf(node) === direction;
    }
    case 'host':
    case 'host-context':
    case 'state':
    case 'active-view-transition-type':
      return () => false;
    default:
      return reader.fail();
  }
}

/** In `:is()` and `:where()` what cannot be read is left out. */
function forgivingList(text: string): Complex[] {
  try {
    return parseSelector(text);
  } catch {
    const list: Complex[] = [];
    const reader = new Reader(text);
    let from = 0;
    const add = (part: string): void => {
      try {
        list.push(...parseSelector(part));
      } catch {
        // Left out, as the standard says.
      }
    };
    let depth = 0;
    for (; reader.at < text.length; reader.at++) {
      const mark = reader.peek();
      if (mark === '(' || mark === '[') depth++;
      else if (mark === ')' || mark === ']') depth--;
      else if (mark === ',' && depth === 0) {
        add(text.slice(from, reader.at));
        from = reader.at + 1;
      }
    }
    add(text.slice(from));
    return list;
  }
}

function hasTest(argument: string): Test {
  const reader = new Reader(argument);
  const list: Complex[] = [];
  do {
    reader.skipBlanks();
    const mark = reader.peek();
    const lead: Combinator = mark === '>' || mark === '+' || mark === '~' ? mark : ' ';
    if (lead !== ' ') reader.at++;
    const complex = readComplex(reader);
    const anchor: Compound = { tags: [], ids: [], classes: [], tests: [], isAnchor: true };
    list.push({ compounds: [anchor, ...complex.compounds], combinators: [lead, ...complex.combinators] });
  } while (reader.take(','));
  if (reader.at < argument.length) reader.fail();
  return (node, place) => {
    const inner: Place = { scope: place.scope, anchor: node };
    return list.some((complex) => hasMatch(complex, node, inner));
  };
}

function hasMatch(complex: Complex, anchor: number, place: Place): boolean {
  const [lead] = complex.combinators;
  if (lead === ' ' || lead === '>') return findWithin(anchor, complex, place) >= 0;
  for (let sibling = nextElement(anchor); sibling >= 0; sibling = nextElement(sibling)) {
    if (matchesComplex(complex, complex.compounds.length - 1, sibling, place)) return true;
    if (complex.compounds.length > 2 && findWithin(sibling, complex, place) >= 0) return true;
    if (lead === '+' && complex.compounds.length <= 2) return false;
  }
  return false;
}

// Reading -------------------------------------------------------------------------------------------------------------

function readCompound(reader: Reader): Compound {
  const compound: Compound = { tags: [], ids: [], classes: [], tests: [], isAnchor: false };
  const from = reader.at;
  let written = '';
  if (reader.take('*')) written = '*';
  else if (nameStart.test(reader.peek())) written = reader.name(true);
  if (reader.peek() === '|' && reader.text.charAt(reader.at + 1) !== '=') {
    reader.at++;
    written = reader.take('*') ? '*' : reader.name(true);
  }
  if (written !== '' && written !== '*') {
    compound.tags.push(
      internName(asciiLowerCase(written)),
      internName(`svg ${written}`),
      internName(`math ${written}`),
    );
  }
  for (;;) {
    if (reader.take('#')) compound.ids.push(reader.name(false));
    else if (reader.take('.')) compound.classes.push(reader.name(true));
    else if (reader.take('[')) compound.tests.push(attributeTest(reader));
    else if (reader.take(':')) compound.tests.push(pseudoTest(reader));
    else break;
  }
  if (reader.at === from) reader.fail();
  return compound;
}

function readComplex(reader: Reader): Complex {
  reader.skipBlanks();
  const complex: Complex = { compounds: [readCompound(reader)], combinators: [] };
  for (;;) {
    const hadBlanks = reader.skipBlanks();
    const mark = reader.peek();
    if (mark === '>' || mark === '+' || mark === '~') {
      reader.at++;
      reader.skipBlanks();
      complex.combinators.push(mark);
    } else if (hadBlanks && mark !== '' && mark !== ',' && mark !== ')') complex.combinators.push(' ');
    else return complex;
    complex.compounds.push(readCompound(reader));
  }
}

/** Throws `SelectorError`. */
export function parseSelector(text: string): Complex[] {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const reader = new Reader(text);
  const list: Complex[] = [];
  do list.push(readComplex(reader));
  while (reader.take(','));
  if (reader.at < text.length) reader.fail();
  cache.set(text, list);
  return list;
}

// Matching ------------------------------------------------------------------------------------------------------------

function matchesCompound(compound: Compound, node: number, place: Place): boolean {
  if (compound.isAnchor) return node === place.anchor;
  const { tags, ids, classes, tests } = compound;
  if (tags.length > 0) {
    const tag = tagOf(node);
    if (tag !== tags[0] && tag !== tags[1] && tag !== tags[2]) return false;
  }
  for (let at = 0; at < ids.length; at++) if (!hasId(node, ids[at] ?? '')) return false;
  for (let at = 0; at < classes.length; at++) if (!hasClass(node, classes[at] ?? '')) return false;
  for (let at = 0; at < tests.length; at++) if (tests[at]?.(node, place) !== true) return false;
  return true;
}

/** Whether a node fits the compound at `at`, and what stands before it fits the compounds before. */
function matchesComplex(complex: Complex, at: number, node: number, place: Place): boolean {
  const compound = complex.compounds[at];
  if (compound === undefined || !matchesCompound(compound, node, place)) return false;
  if (at === 0) return true;
  switch (complex.combinators[at - 1]) {
    case ' ':
      for (let up = parentElementOf(node); up >= 0; up = parentElementOf(up)) {
        if (matchesComplex(complex, at - 1, up, place)) return true;
      }
      return false;
    case '>': {
      const up = parentElementOf(node);
      return up >= 0 && matchesComplex(complex, at - 1, up, place);
    }
    case '+': {
      const before = previousElement(node);
      return before >= 0 && matchesComplex(complex, at - 1, before, place);
    }
    default:
      for (let before = previousElement(node); before >= 0; before = previousElement(before)) {
        if (matchesComplex(complex, at - 1, before, place)) return true;
      }
      return false;
  }
}

function matchesAny(list: Complex[], node: number, place: Place): boolean {
  for (let at = 0; at < list.length; at++) {
    const complex = list[at];
    if (complex !== undefined && matchesComplex(complex, complex.compounds.length - 1, node, place)) return true;
  }
  return false;
}

/** Elements inside `root` among which all that fit the compound are, null for all there are. */
function candidates(root: number, compound: Compound): ArrayLike<number> | null {
  const [id] = compound.ids;
  if (id !== undefined) return indexedById(root, id);
  let best: ArrayLike<number> | null = null;
  for (const name of compound.classes) {
    const rows = indexedByClass(root, name);
    if (rows !== null && (best === null || rows.length < best.length)) best = rows;
  }
  if (best !== null || compound.tags.length === 0) return best;
  const lists: ArrayLike<number>[] = [];
  for (const tag of compound.tags) {
    const rows = indexedByTag(root, tag);
    if (rows === null) return null;
    if (rows.length > 0) lists.push(rows);
  }
  if (lists.length <= 1) return lists[0] ?? [];
  return lists.flatMap((rows) => Array.from(rows)).sort((left, right) => left - right);
}

/** Whether being a candidate is all that the selector asks for. */
function isSettledByIndex(complex: Complex): boolean {
  const [compound] = complex.compounds;
  if (complex.compounds.length !== 1 || compound === undefined || compound.tests.length > 0) return false;
  const asked = compound.ids.length + compound.classes.length + (compound.tags.length > 0 ? 1 : 0);
  return asked === 1;
}

function eachMatch(root: number, complex: Complex, place: Place, visit: (node: number) => boolean): void {
  const last = complex.compounds.length - 1;
  const compound = complex.compounds[last];
  if (compound === undefined) return;
  const rows = candidates(root, compound);
  if (rows !== null) {
    const isSettled = isSettledByIndex(complex);
    for (let at = 0; at < rows.length; at++) {
      const node = rows[at] ?? -1;
      if ((isSettled || matchesComplex(complex, last, node, place)) && visit(node)) return;
    }
    return;
  }
  for (let node = following(root, root); node >= 0; node = following(node, root)) {
    if (isElement(node) && matchesComplex(complex, last, node, place) && visit(node)) return;
  }
}

function findWithin(root: number, complex: Complex, place: Place): number {
  let found = -1;
  eachMatch(root, complex, place, (node) => {
    found = node;
    return true;
  });
  return found;
}

function placeOf(root: number): Place {
  if (isElement(root)) return { scope: root, anchor: -1 };
  let top = firstChild(root);
  while (top >= 0 && !isElement(top)) top = nextSibling(top);
  return { scope: top, anchor: -1 };
}

/** The first element inside `root` that fits, -1 without. */
export function selectFirst(root: number, selector: string): number {
  const place = placeOf(root);
  let first = -1;
  for (const complex of parseSelector(selector)) {
    const found = findWithin(root, complex, place);
    if (found >= 0 && (first < 0 || compareOrder(found, first) < 0)) first = found;
  }
  return first;
}

/** All elements inside `root` that fit, in document order. */
export function selectAll(root: number, selector: string): number[] {
  const place = placeOf(root);
  const list = parseSelector(selector);
  const found: number[] = [];
  for (const complex of list) {
    eachMatch(root, complex, place, (node) => {
      found.push(node);
      return false;
    });
  }
  if (list.length === 1) return found;
  return [...new Set(found)].sort(compareOrder);
}

export function matchesSelector(node: number, selector: string, scope: number): boolean {
  return matchesAny(parseSelector(selector), node, { scope, anchor: -1 });
}

export function closestMatch(node: number, selector: string): number {
  const list = parseSelector(selector);
  const place: Place = { scope: node, anchor: -1 };
  for (let up = node; up >= 0; up = parentElementOf(up)) if (matchesAny(list, up, place)) return up;
  return -1;
}

/** CSS Selectors 4 over the tree's integers: a selector is read once into compounds (`selector-matching.ts` matches them). */
import { attributeTest } from './attribute-selectors.js';
import { directionOf, languageOf } from './element-state.js';
import { htmlNamespace, partsOf, partsOfName } from './names.js';
import { neverTrue, plainTests } from './simple-pseudo-classes.js';
import type { Place, Test } from './simple-pseudo-classes.js';
import { Reader, SelectorError } from './selector-reader.js';
import { positionOf } from './sibling-positions.js';
import { asciiLowerCase } from './row-lists.js';
import { internName, nameCount, spacedNames } from './name-table.js';
import { firstChild, isElement, isXml, nextSibling, parentElementOf } from './tree.js';
import { compareOrder, nextElement, previousElement } from './tree-walks.js';
import type { Compound, Combinator, Complex } from './selector-matching.js';
import { hasMatch, matchesAny, candidates, isSettledByIndex, addMatches, findWithin } from './selector-matching.js';

const cache = new Map<string, Complex[]>();
/** A name with a namespace is another that a tag may have: selectors are read again. */
let knownSpacedNames = 0;

// Position among siblings ---------------------------------------------------------------------------------------------

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
    const anchor: Compound = { tags: [], ids: [], classes: [], marks: null, asked: 0, tests: [], isAnchor: true };
    list.push({ compounds: [anchor, ...complex.compounds], combinators: [lead, ...complex.combinators] });
  } while (reader.take(','));
  if (reader.at < argument.length) reader.fail();
  return (node, place) => {
    const inner: Place = { scope: place.scope, anchor: node };
    return list.some((complex) => hasMatch(complex, node, inner));
  };
}

// Reading -------------------------------------------------------------------------------------------------------------

/** Tags of SVG that HTML writes with capitals; a selector finds them however it is written, as in Chromium. */
const svgTags =
  ' altGlyph altGlyphDef altGlyphItem animateColor animateMotion animateTransform clipPath feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence foreignObject glyphRef linearGradient radialGradient textPath ';
const lowerSvgTags = svgTags.toLowerCase();

function svgTag(written: string, lower: string): string {
  const at = lowerSvgTags.indexOf(` ${lower} `);
  return at < 0 ? written : svgTags.slice(at + 1, at + 1 + lower.length);
}

function addTags(tags: number[], written: string): void {
  const lower = asciiLowerCase(written);
  tags.push(
    internName(isXml() ? written : lower),
    internName(`svg ${isXml() ? written : svgTag(written, lower)}`),
    internName(`math ${written}`),
  );
  if (spacedNames.count === 0) return;
  const count = nameCount();
  for (let id = 0; id < count; id++) {
    const { local, namespace } = partsOfName(id);
    const isHtml = namespace === htmlNamespace;
    if (local !== written && !(isHtml && !isXml() && local === lower)) continue;
    if (!tags.includes(id)) tags.push(id);
  }
}

const marks = { hash: 0x23, dot: 0x2e, bracket: 0x5b, colon: 0x3a, bar: 0x7c } as const;

function readCompound(reader: Reader): Compound {
  const compound: Compound = { tags: [], ids: [], classes: [], marks: null, asked: 0, tests: [], isAnchor: false };
  const from = reader.at;
  let written = '';
  let isOfNone = false;
  if (reader.take('*')) written = '*';
  else if (reader.isAtName()) written = reader.name(true);
  if (reader.unit() === marks.bar && reader.text.charAt(reader.at + 1) !== '=') {
    // Nothing declares prefixes here: any namespace, or none.
    if (written !== '' && written !== '*') reader.fail();
    isOfNone = written === '';
    reader.at++;
    written = reader.take('*') ? '*' : reader.name(true);
  }
  if (isOfNone) compound.tests.push((node) => partsOf(node).namespace === null);
  if (written !== '' && written !== '*') addTags(compound.tags, written);
  for (;;) {
    const unit = reader.unit();
    if (unit !== marks.hash && unit !== marks.dot && unit !== marks.bracket && unit !== marks.colon) break;
    reader.at++;
    if (unit === marks.hash) compound.ids.push(reader.name(true));
    else if (unit === marks.dot) compound.classes.push(reader.name(true));
    else if (unit === marks.bracket) compound.tests.push(attributeTest(reader));
    else compound.tests.push(pseudoTest(reader));
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
  if (spacedNames.count !== knownSpacedNames) {
    cache.clear();
    knownSpacedNames = spacedNames.count;
  }
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

function placeOf(root: number): Place {
  if (isElement(root)) return { scope: root, anchor: -1 };
  let top = firstChild(root);
  while (top >= 0 && !isElement(top)) top = nextSibling(top);
  return { scope: top, anchor: -1 };
}

/** The first element inside `root` that fits, -1 without. */
export function selectFirst(root: number, selector: string): number {
  const place = placeOf(root);
  const list = parseSelector(selector);
  const only = list[0];
  if (list.length === 1 && only !== undefined) return findWithin(root, only, place);
  let first = -1;
  for (const complex of list) {
    const found = findWithin(root, complex, place);
    if (found >= 0 && (first < 0 || compareOrder(found, first) < 0)) first = found;
  }
  return first;
}

/** All elements inside `root` that fit, in document order. */
export function selectAll(root: number, selector: string): number[] {
  const list = parseSelector(selector);
  const place = placeOf(root);
  const found: number[] = [];
  for (const complex of list) addMatches(root, complex, place, found);
  if (list.length === 1) return found;
  return found.sort(compareOrder).filter((node, at) => node !== found[at - 1]);
}

/** As `selectAll`; where an index has the answer, a view of it. */
export function select(root: number, selector: string): ArrayLike<number> {
  const list = parseSelector(selector);
  const only = list.length === 1 ? list[0] : undefined;
  const compound = only?.compounds[0];
  const rows = only && compound && isSettledByIndex(only) ? candidates(root, compound) : null;
  return rows ?? selectAll(root, selector);
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

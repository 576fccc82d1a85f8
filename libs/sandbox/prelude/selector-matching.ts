/** Selectors that were read, matched from right to left; candidates for the rightmost compound come from the page's indexes. */
import { hasToken } from './attribute-selectors.js';
import type { Place, Test } from './simple-pseudo-classes.js';
import { getAttribute } from './attribute-values.js';
import { indexedByClass, indexedById, indexedByTag, isOfClass, marksOfClass } from './page-indexes.js';
import {
  classIndex,
  containsNode,
  endOf,
  following,
  inside,
  isElement,
  isQuirks,
  parentElementOf,
  tagOf,
} from './tree.js';
import { nextElement, previousElement, rootOf } from './tree-walks.js';

export interface Compound {
  /** Name ids that the tag may have: of HTML, SVG and MathML. Empty for any. */
  readonly tags: number[];
  readonly ids: string[];
  readonly classes: string[];
  /** Of each class, once many nodes were asked about. */
  marks: Uint8Array[] | null;
  /** How many were. */
  asked: number;
  readonly tests: Test[];
  isAnchor: boolean;
}

export type Combinator = ' ' | '>' | '+' | '~';

export interface Complex {
  readonly compounds: Compound[];
  /** `combinators[n]` stands between compounds n and n + 1. */
  readonly combinators: Combinator[];
}

function hasClass(node: number, name: string): boolean {
  const list = getAttribute(node, 'class');
  if (list === null) return false;
  return isQuirks() ? hasToken(list.toLowerCase(), name.toLowerCase()) : hasToken(list, name);
}

function hasId(node: number, id: string): boolean {
  const found = getAttribute(node, 'id');
  return found !== null && (found === id || (isQuirks() && found.toLowerCase() === id.toLowerCase()));
}

export function hasMatch(complex: Complex, anchor: number, place: Place): boolean {
  const [lead] = complex.combinators;
  if (lead === ' ' || lead === '>') return findWithin(anchor, complex, place) >= 0;
  for (let sibling = nextElement(anchor); sibling >= 0; sibling = nextElement(sibling)) {
    if (matchesComplex(complex, complex.compounds.length - 1, sibling, place)) return true;
    if (complex.compounds.length > 2 && findWithin(sibling, complex, place) >= 0) return true;
    if (lead === '+' && complex.compounds.length <= 2) return false;
  }
  return false;
}

const askedBeforeMarks = 16;

function matchesCompound(compound: Compound, node: number, place: Place): boolean {
  if (compound.isAnchor) return node === place.anchor;
  const { tags, ids, classes, tests } = compound;
  if (tags.length > 0) {
    const tag = tagOf(node);
    if (tag !== tags[0] && tag !== tags[1] && tag !== tags[2] && (tags.length < 4 || !tags.includes(tag))) return false;
  }
  for (let at = 0; at < ids.length; at++) if (!hasId(node, ids[at] ?? '')) return false;
  if (classes.length > 0) {
    if (node < classIndex.limit) {
      // Marking all nodes of a class takes as long as asking about some of them.
      if (compound.marks === null && compound.asked < askedBeforeMarks) {
        compound.asked++;
        for (let at = 0; at < classes.length; at++) if (!isOfClass(node, classes[at] ?? '')) return false;
      } else {
        const known = (compound.marks ??= classes.map(marksOfClass));
        for (let at = 0; at < known.length; at++) if (known[at]?.[node] !== 1) return false;
      }
    } else for (let at = 0; at < classes.length; at++) if (!hasClass(node, classes[at] ?? '')) return false;
  }
  for (let at = 0; at < tests.length; at++) if (tests[at]?.(node, place) !== true) return false;
  return true;
}

/** Whether a node fits the compound at `at`, and what stands before it fits the compounds before. */
function matchesComplex(complex: Complex, at: number, node: number, place: Place): boolean {
  const compound = complex.compounds[at];
  if (compound === undefined || !matchesCompound(compound, node, place)) return false;
  if (at === 0) return true;
  switch (complex.combinators[at - 1]) {
    case ' ': {
      const before = complex.compounds[at - 1];
      for (let up = parentElementOf(node); up >= 0; up = parentElementOf(up)) {
        if (at > 1 ? matchesComplex(complex, at - 1, up, place) : before && matchesCompound(before, up, place))
          return true;
      }
      return false;
    }
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

export function matchesAny(list: Complex[], node: number, place: Place): boolean {
  for (let at = 0; at < list.length; at++) {
    const complex = list[at];
    if (complex !== undefined && matchesComplex(complex, complex.compounds.length - 1, node, place)) return true;
  }
  return false;
}

/** Elements inside `root` among which all that fit the compound are, null for all there are. */
export function candidates(root: number, compound: Compound): ArrayLike<number> | null {
  const id = compound.ids[0];
  if (id !== undefined) return indexedById(root, id);
  let best: ArrayLike<number> | null = null;
  for (let at = 0; at < compound.classes.length; at++) {
    const rows = indexedByClass(root, compound.classes[at] ?? '');
    if (rows !== null && (best === null || rows.length < best.length)) best = rows;
  }
  if (best !== null || compound.tags.length === 0) return best;
  const lists: ArrayLike<number>[] = [];
  for (let at = 0; at < compound.tags.length; at++) {
    const rows = indexedByTag(root, compound.tags[at] ?? -1);
    if (rows === null) return null;
    if (rows.length > 0) lists.push(rows);
  }
  if (lists.length <= 1) return lists[0] ?? [];
  return lists.flatMap((rows) => Array.from(rows)).sort((left, right) => left - right);
}

/** Whether being a candidate is all that the selector asks for. */
export function isSettledByIndex(complex: Complex): boolean {
  const compound = complex.compounds[0];
  if (complex.compounds.length !== 1 || compound === undefined || compound.tests.length > 0) return false;
  const asked = compound.ids.length + compound.classes.length + (compound.tags.length > 0 ? 1 : 0);
  return asked === 1;
}

/** Where a selector names an ancestor by an id that one element has, all that fits is inside that element. */
function narrowedRoot(root: number, complex: Complex): number {
  for (let at = complex.compounds.length - 2; at >= 0; at--) {
    const combinator = complex.combinators[at];
    if (combinator !== ' ' && combinator !== '>') return root;
    const id = complex.compounds[at]?.ids[0];
    if (id === undefined) continue;
    const rows = indexedById(rootOf(root), id);
    const only = rows?.length === 1 ? (rows[0] ?? -1) : -1;
    if (only >= 0) return containsNode(root, only) ? only : root;
  }
  return root;
}

function eachMatch(root: number, complex: Complex, place: Place, visit: (node: number) => boolean): void {
  const last = complex.compounds.length - 1;
  const compound = complex.compounds[last];
  if (compound === undefined) return;
  const rows = candidates(last === 0 ? root : narrowedRoot(root, complex), compound);
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

/** From so many candidates on it pays to find those who may hold them first. */
const manyCandidates = 16;

/**
 * For a selector of descendants alone (`a b c`): the outermost elements that match all of it but the last compound. Null
 * where the indexes are not valid.
 */
function holdersOf(root: number, complex: Complex, place: Place): number[] | null {
  const { compounds, combinators } = complex;
  const top = rootOf(root);
  let holders: number[] | null = null;
  for (let at = 0; at < combinators.length; at++) {
    const compound = compounds[at];
    if (compound === undefined || combinators[at] !== ' ') return null;
    const rows = candidates(top, compound);
    if (rows === null) return null;
    const list: ArrayLike<number> = holders === null ? rows : inside(rows, holders);
    const outermost: number[] = [];
    let end = -1;
    for (let each = 0; each < list.length; each++) {
      const row = list[each] ?? -1;
      if (row < end || !matchesCompound(compound, row, place)) continue;
      outermost.push(row);
      end = endOf(row);
    }
    holders = outermost;
  }
  return holders;
}

/** Adds all elements inside `root` that fit. */
export function addMatches(root: number, complex: Complex, place: Place, found: number[]): void {
  const compound = complex.compounds[complex.compounds.length - 1];
  const rows = complex.compounds.length > 1 && compound !== undefined ? candidates(root, compound) : null;
  const holders = rows !== null && rows.length >= manyCandidates ? holdersOf(root, complex, place) : null;
  if (rows === null || holders === null || compound === undefined) {
    eachMatch(root, complex, place, (node) => {
      found.push(node);
      return false;
    });
    return;
  }
  const held = inside(rows, holders);
  for (let at = 0; at < held.length; at++) {
    const node = held[at] ?? -1;
    if (matchesCompound(compound, node, place)) found.push(node);
  }
}

export function findWithin(root: number, complex: Complex, place: Place): number {
  let found = -1;
  eachMatch(root, complex, place, (node) => {
    found = node;
    return true;
  });
  return found;
}

/** Two recorded pages line by line: what a reader would see of them, and where they differ. */
import { diffArrays } from 'diff';
import { inertPageOf } from '../new/inert-page.js';

export type Piece =
  | { readonly kind: 'added' | 'removed' | 'same'; readonly lines: readonly string[] }
  | { readonly kind: 'folded'; readonly count: number };

/** Lines that stay shown before and after a difference. */
const context = 2;
/** Two pages that have little in common take long to compare, and nobody reads the result. */
const longestMs = 1_500;

/** Null: they differ in too many lines for a comparison to be of use. */
export function differencesOf(before: readonly string[], after: readonly string[]): readonly Piece[] | null {
  const parts = diffArrays([...before], [...after], { timeout: longestMs }) as
    readonly { readonly added: boolean; readonly removed: boolean; readonly value: readonly string[] }[] | undefined;
  if (parts === undefined) return null;
  return parts.flatMap(({ added, removed, value }, index): readonly Piece[] => {
    if (added || removed) return [{ kind: added ? 'added' : 'removed', lines: value }];
    const head = index === 0 ? 0 : context;
    const tail = index === parts.length - 1 ? 0 : context;
    const hidden = value.length - head - tail;
    if (hidden <= 1) return [{ kind: 'same', lines: value }];
    const folded: readonly Piece[] = [
      { kind: 'same', lines: value.slice(0, head) },
      { kind: 'folded', count: hidden },
      { kind: 'same', lines: value.slice(value.length - tail) },
    ];
    return folded.filter((piece) => piece.kind === 'folded' || piece.lines.length > 0);
  });
}

/** In how many places they differ: what was taken away with what stands there now counts once. */
export function placesOf(pieces: readonly Piece[]): number {
  let places = 0;
  let isOpen = false;
  for (const { kind } of pieces) {
    const isDifference = kind === 'added' || kind === 'removed';
    if (isDifference && !isOpen) places += 1;
    isOpen = isDifference;
  }
  return places;
}

const inline = new Set(
  'a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time tt u var'.split(
    ' ',
  ),
);
const unseen = new Set(['script', 'style', 'template', 'noscript', 'head']);

/** The element whose line a text stands in; null where nobody sees it. */
function lineOf(text: Node): Element | null {
  let line: Element | null = null;
  for (let element = text.parentElement; element !== null; element = element.parentElement) {
    if (unseen.has(element.localName)) return null;
    if (line === null && !inline.has(element.localName)) line = element;
  }
  return line;
}

/** The text of a page as lines. */
export function textLinesOf(html: string): readonly string[] {
  const page = inertPageOf(html);
  const walker = page.createTreeWalker(page, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  const lines: string[] = [];
  let [line, at]: [string, Element | null] = ['', null];
  const end = (): void => {
    const folded = line.replace(/\s+/g, ' ').trim();
    if (folded !== '') lines.push(folded);
    line = '';
  };
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node instanceof Element) {
      if (node.localName === 'br') end();
      continue;
    }
    const own = lineOf(node);
    if (own === null) continue;
    if (own !== at) end();
    at = own;
    line += node.nodeValue ?? '';
  }
  end();
  return lines;
}

/** The source with a line for each tag: minified pages are compared, too. */
export function sourceLinesOf(html: string): readonly string[] {
  return html
    .replace(/>\s*</g, '>\n<')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
}

/** What changed on a page, for people: its title, and the words around the first difference, before and after. Pure. */
import { diffArrays } from 'diff';
import { pageText, partsOf } from './page-text.js';

export interface ChangedExcerpt {
  readonly before: string;
  readonly after: string;
}

/** Of a page: more than that is not looked at. */
const comparedCharacters = 20_000;
/**
 * Two pages that have this little in common are two pages. It bounds the time as well, which grows with the square of the
 * differences: by the clock, a busy machine would leave out of a message what an idle one tells.
 */
const mostEdits = 400;
const wordsAround = 8;
const longestExcerpt = 280;
const longestTitle = 200;

/** As written in the page; null: it has none. */
export function pageTitle(html: string): string | null {
  for (const part of partsOf(html)) {
    if (part.kind !== 'hidden' || part.name !== 'title') continue;
    const title = pageText(part.content, longestTitle);
    return title === '' ? null : title;
  }
  return null;
}

const wordsOf = (html: string): string[] => pageText(html, comparedCharacters).split(' ');

function shown(words: readonly string[], from: number, to: number): string {
  const text = words.slice(Math.max(0, from), to).join(' ');
  const cut = text.length > longestExcerpt ? `${text.slice(0, longestExcerpt).toWellFormed()}…` : text;
  return `${from > 0 ? '… ' : ''}${cut}${to < words.length ? ' …' : ''}`;
}

/** null: both say the same, or nothing that can be compared. */
export function changedExcerpt(before: string, after: string): ChangedExcerpt | null {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const changes = diffArrays(old, now, { maxEditLength: mostEdits });
  if (changes === undefined) return null;
  let [oldAt, nowAt] = [0, 0];
  for (const [index, { added, removed, count }] of changes.entries()) {
    if (!added && !removed) {
      oldAt += count;
      nowAt += count;
      continue;
    }
    const next = changes[index + 1];
    const gone = removed ? count : next?.removed === true ? next.count : 0;
    const come = added ? count : next?.added === true ? next.count : 0;
    return {
      before: shown(old, oldAt - wordsAround, oldAt + gone + wordsAround),
      after: shown(now, nowAt - wordsAround, nowAt + come + wordsAround),
    };
  }
  return null;
}

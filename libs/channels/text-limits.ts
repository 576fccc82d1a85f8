/** Texts as receivers take them: a vendor's limit is met by us, because vendors refuse, split or lose what is longer. */

const ellipsis = '…';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

/** Whether a place of a text lies between the two halves of one code point. */
const isMiddleOfPair = (text: string, at: number): boolean =>
  isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1));

/** A unit in which a vendor counts: at least one for each code point, and the sum of its parts for a text. */
export type Measure = (text: string) => number;

export const bytes: Measure = (text) => Buffer.byteLength(text);
/** Code points, which is what vendors call characters. */
export const characters: Measure = (text) => {
  let count = text.length;
  for (let at = 1; at < text.length; at += 1) if (isMiddleOfPair(text, at)) count -= 1;
  return count;
};

/** UTF-16 units, as JavaScript and Java count. */
export const utf16: Measure = (text) => text.length;

/** Characters that a message of the short message service holds in seven bits, and those that take two places. */
const gsm = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
const gsmPairs = new Set('^{}\\[~]|€');

/** Whether every character is of the alphabet of the short message service; one that is not halves what a part holds. */
export function isGsm(text: string): boolean {
  return Array.from(text).every((character) => gsm.has(character) || gsmPairs.has(character));
}

/** Typographic signs that a plain one stands for as well. */
const plainSigns: Readonly<Record<string, string>> = {
  '“': '"',
  '”': '"',
  '„': '"',
  '‘': "'",
  '’': "'",
  '–': '-',
  '—': '-',
  '…': '...',
  '\u00a0': ' ',
};
const gsmPlaces: Measure = (text) =>
  Array.from(text).reduce((sum, character) => sum + (gsmPairs.has(character) ? 2 : 1), 0);

/** A text for the short message service, in no more than so many parts, each of which is paid for. */
export function smsText(text: string, parts: number): { readonly text: string; readonly isGsm: boolean } {
  const spaced = text.replace(/[\t\u200b]+/g, ' ');
  const plain = spaced.replace(/[“”„‘’–—…\u00a0]/g, (sign) => plainSigns[sign] ?? sign);
  const asGsm = isGsm(plain);
  const limit = parts === 1 ? (asGsm ? 160 : 70) : parts * (asGsm ? 153 : 67);
  const cut = asGsm ? shortened(plain, limit, gsmPlaces, undefined, '...') : shortened(spaced, limit, utf16);
  return { text: cut, isGsm: isGsm(cut) };
}

/** How many units of UTF-16 the longest beginning has that counts no more than `most`; the whole text counts more. */
function longestBeginning(text: string, most: number, measure: Measure): number {
  let fits = 0;
  let counted = 0;
  // Each code point counts one at least, and has two units at most.
  let isTooLong = Math.min(text.length, 2 * Math.max(0, most) + 2);
  while (isTooLong - fits > 1) {
    let middle = (fits + isTooLong) >> 1;
    if (isMiddleOfPair(text, middle)) middle += middle - 1 > fits ? -1 : 1;
    if (middle >= isTooLong) break;
    const count = counted + measure(text.slice(fits, middle));
    if (count <= most) [fits, counted] = [middle, count];
    else isTooLong = middle;
  }
  return fits;
}

/** The last place up to `at` where neither an escape is torn apart nor what a user sees as one character. */
function wholeUpTo(text: string, at: number, unbroken: RegExp | undefined): number {
  let [from, to] = [0, text.length];
  if (unbroken !== undefined) {
    for (const { index, 0: found } of text.matchAll(unbroken)) {
      if (index >= at) {
        to = index;
        break;
      }
      if (index + found.length > at) return index;
      from = index + found.length;
    }
  }
  if (at === to) return at;
  // What stands behind the next code point has no say in whether a character ends before it.
  const segment = graphemes.segment(text.slice(from, Math.min(to, at + 2))).containing(at - from);
  return segment === undefined ? at : from + segment.index;
}

/**
 * The text, cut where a user sees a character end, with an ellipsis that counts as well. `unbroken`: what is left out rather
 * than torn apart, such as escapes; global.
 */
export function shortened(text: string, limit: number, measure: Measure, unbroken?: RegExp, ending = ellipsis): string {
  if (text.length <= 2 * limit && measure(text) <= limit) return text;
  const fits = longestBeginning(text, limit - measure(ending), measure);
  return `${text.slice(0, wholeUpTo(text, fits, unbroken))}${ending}`;
}

/** What no message shows or what turns its direction: control characters but tab and line feed, and bidirectional overrides. */
const unwanted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Nothing that anybody sees. */
export function isBlank(text: string): boolean {
  return /^[\s\u200b-\u200f\u2060\ufeff]*$/.test(text);
}

/** Lines of text, never empty: an empty message is refused by some receivers and replaced by others. */
export function messageText(text: string): string {
  const shown = text.toWellFormed().replace(unwanted, '').trim();
  return isBlank(shown) ? '–' : shown;
}

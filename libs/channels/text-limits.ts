/** Texts as receivers take them: a vendor's limit is met by us, because vendors refuse, split or lose what is longer. */

const ellipsis = '…';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A unit in which a vendor counts. */
export type Measure = (text: string) => number;

export const bytes: Measure = (text) => Buffer.byteLength(text);
/** Code points, which is what vendors call characters. */
export const characters: Measure = (text) => Array.from(text).length;

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

/** A place of the text and what stands there: an escape is not torn apart, nor what a user sees as one character. */
function* pieces(text: string, unbroken: RegExp | undefined): Generator<string> {
  if (unbroken === undefined) {
    for (const { segment } of graphemes.segment(text)) yield segment;
    return;
  }
  let at = 0;
  for (const match of text.matchAll(unbroken)) {
    yield* pieces(text.slice(at, match.index), undefined);
    yield match[0];
    at = match.index + match[0].length;
  }
  yield* pieces(text.slice(at), undefined);
}

/**
 * The text, cut where a user sees a character end, with an ellipsis that counts as well. `unbroken`: what is left out rather
 * than torn apart, such as escapes; global.
 */
export function shortened(text: string, limit: number, measure: Measure, unbroken?: RegExp, ending = ellipsis): string {
  if (measure(text) <= limit) return text;
  let left = limit - measure(ending);
  let kept = '';
  for (const piece of pieces(text, unbroken)) {
    left -= measure(piece);
    if (left < 0) break;
    kept += piece;
  }
  return `${kept}${ending}`;
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

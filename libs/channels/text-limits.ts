/** Texts as receivers take them: a vendor's limit is met by us, because vendors refuse, split or lose what is longer. */

const ellipsis = '…';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A unit in which a vendor counts. */
export type Measure = (text: string) => number;

export const bytes: Measure = (text) => Buffer.byteLength(text);
/** Code points, which is what vendors call characters. */
export const characters: Measure = (text) => Array.from(text).length;

/** The text, cut where a user sees a character end, with an ellipsis that counts as well. */
export function shortened(text: string, limit: number, measure: Measure): string {
  if (measure(text) <= limit) return text;
  let left = limit - measure(ellipsis);
  let kept = '';
  for (const { segment } of graphemes.segment(text)) {
    left -= measure(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}${ellipsis}`;
}

/** What no message shows or what turns its direction: control characters but tab and line feed, and bidirectional overrides. */
const unwanted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Lines of text, never empty: an empty message is refused by some receivers and replaced by others. */
export function messageText(text: string): string {
  const shown = text.toWellFormed().replace(unwanted, '').trim();
  return shown === '' ? '–' : shown;
}

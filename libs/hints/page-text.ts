/**
 * What a page of HTML says in text, found in one pass: pages are hostile, and the thread that looks at them has other work.
 * A glance for hints and excerpts, not a parser: what the user's code sees comes from the sandbox. Pure.
 */

/** Elements whose content nobody sees. */
const hiddenElements: ReadonlySet<string> = new Set(['script', 'style', 'template', 'svg', 'noscript', 'title']);
/** Of these, what is not closed reaches to the end of the page, as it does in browsers. */
const rawElements: ReadonlySet<string> = new Set(['script', 'style', 'title']);

/** Of a tag's text: longer ones hold data, no names. */
const longestTag = 4_096;

export type PagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'comment' }
  /** `source`: the tag without its brackets. */
  | { readonly kind: 'open'; readonly name: string; readonly source: string }
  | { readonly kind: 'close'; readonly name: string }
  /** An element that is not seen, whole. */
  | { readonly kind: 'hidden'; readonly name: string; readonly content: string };

/** Letters of other scripts may become longer when lowered; places must stay. */
const lowered = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** The parts of a page in their order. Every search that fails is not repeated, so that the time grows with the length alone. */
export function* partsOf(html: string): Generator<PagePart> {
  const lower = lowered(html);
  const neverClosed = new Set<string>();
  let place = 0;
  while (place < html.length) {
    const start = html.indexOf('<', place);
    if (start < 0) break;
    if (start > place) yield { kind: 'text', text: html.slice(place, start) };
    if (html.startsWith('<!--', start)) {
      const end = html.indexOf('-->', start + 4);
      if (end < 0) return;
      yield { kind: 'comment' };
      place = end + 3;
      continue;
    }
    const name = /^[a-z][a-z0-9-]*/.exec(lower.slice(start + 1, start + 65))?.[0];
    const isTag = name !== undefined || /^[/!?]/.test(html.charAt(start + 1));
    if (!isTag) {
      yield { kind: 'text', text: '<' };
      place = start + 1;
      continue;
    }
    const end = html.indexOf('>', start);
    if (end < 0) return;
    place = end + 1;
    if (name === undefined) {
      const closed = /^\/([a-z][a-z0-9-]*)/.exec(lower.slice(start + 1, start + 65))?.[1];
      if (closed !== undefined) yield { kind: 'close', name: closed };
      continue;
    }
    if (hiddenElements.has(name) && !neverClosed.has(name)) {
      const close = lower.indexOf(`</${name}`, place);
      if (close >= 0) {
        yield { kind: 'hidden', name, content: html.slice(place, close) };
        const after = html.indexOf('>', close);
        if (after < 0) return;
        place = after + 1;
        continue;
      }
      if (rawElements.has(name)) return;
      neverClosed.add(name);
    }
    yield { kind: 'open', name, source: html.slice(start + 1, Math.min(end, start + longestTag)) };
  }
  if (place < html.length) yield { kind: 'text', text: html.slice(place) };
}

const namedCharacters: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  euro: '€',
  pound: '£',
  copy: '©',
  ndash: '–',
  mdash: '—',
  hellip: '…',
};

function characterOf(reference: string, body: string): string {
  const code = /^#x/i.test(body) ? Number.parseInt(body.slice(2), 16) : Number.parseInt(body.slice(1), 10);
  if (!body.startsWith('#')) return namedCharacters[body] ?? reference;
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : reference;
}

/** Its first `most` visible characters, white space joined. */
export function pageText(html: string, most: number): string {
  let text = '';
  for (const part of partsOf(html)) {
    text += part.kind === 'text' ? part.text : ' ';
    // White space is joined at the end: more is gathered than is needed.
    if (text.length > most * 8) break;
  }
  return text
    .slice(0, most * 8)
    .replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi, characterOf)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, most);
}

/** Which encoding a page is in, as the WHATWG standards find it, and its bytes as UTF-8. */
import { isUtf8 } from 'node:buffer';
import type { ContentKind } from '#sandbox/sandbox';

/** Labels of encodings that browsers refuse to read, because they were used to hide scripts. */
const refusedLabels = new Set([
  'csiso2022kr',
  'hz-gb-2312',
  'iso-2022-cn',
  'iso-2022-cn-ext',
  'iso-2022-kr',
  'replacement',
]);

/** The prescan looks at this much of a page. */
const prescanBytes = 1_024;

const whitespace = '\t\n\f\r ';

export type Utf8Text =
  | { readonly ok: true; readonly encoding: string; readonly body: Uint8Array }
  | { readonly ok: false; readonly label: string };

export type FoundEncoding =
  /** `start`: behind the byte order mark. */
  | { readonly ok: true; readonly encoding: string; readonly start: number }
  | { readonly ok: false; readonly label: string };

/** The page's encoding. Not ok: one that is not to be read. */
export function encodingIn(bytes: Uint8Array, kind: ContentKind, charset: string | null): FoundEncoding {
  const marked = encodingOfMark(bytes);
  if (marked !== null) return found(marked, marked === 'utf-8' ? 3 : 2);
  if (kind === 'json') return found('utf-8');
  if (charset !== null) {
    if (isRefused(charset)) return { ok: false, label: charset };
    const named = encodingOf(charset);
    if (named !== null) return found(named);
  }
  const declared =
    kind === 'html' ? prescan(bytes) : kind === 'xml' ? (wideXml(bytes) ?? declaredInXml(bytes) ?? 'utf-8') : null;
  if (declared !== null) return isRefused(declared) ? { ok: false, label: declared } : found(declared);
  return found(isUtf8(bytes) ? 'utf-8' : 'windows-1252');
}

function found(encoding: string, start = 0): FoundEncoding {
  return { ok: true, encoding, start };
}

/** The page's bytes as UTF-8 without a byte order mark. Bytes that are invalid in their encoding become U+FFFD. Not ok: an encoding that is not to be read. */
export function toUtf8(bytes: Uint8Array, kind: ContentKind, charset: string | null): Utf8Text {
  const known = encodingIn(bytes, kind, charset);
  if (!known.ok) return known;
  return decoded(known.start === 0 ? bytes : bytes.subarray(known.start), known.encoding);
}

/** The name of an encoding for one of its labels, or null. */
export function encodingOf(label: string): string | null {
  const trimmed = trimAscii(label);
  if (trimmed === '' || /[^\x21-\x7e]/.test(trimmed)) return null;
  try {
    return new TextDecoder(trimmed).encoding;
  } catch {
    return null;
  }
}

function isRefused(label: string): boolean {
  return refusedLabels.has(trimAscii(label).toLowerCase());
}

function trimAscii(text: string): string {
  return text.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '');
}

function encodingOfMark(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : null;
}

function decoded(bytes: Uint8Array, encoding: string): Utf8Text {
  if (encoding === 'utf-8' && isUtf8(bytes)) return { ok: true, encoding, body: bytes };
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
  return { ok: true, encoding, body: new TextEncoder().encode(text) };
}

/** A declaration inside of the page cannot be in the encodings it may name here: they are not ASCII underneath. */
function asDeclaredInside(label: string): string | null {
  if (isRefused(label)) return 'replacement';
  const encoding = encodingOf(label);
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return 'utf-8';
  return encoding === 'x-user-defined' ? 'windows-1252' : encoding;
}

/** `<?xml` in 16-bit units without a mark. */
function wideXml(bytes: Uint8Array): string | null {
  const [a, b, c, d, e, f] = bytes;
  if (a === 0x3c && b === 0 && c === 0x3f && d === 0 && e === 0x78 && f === 0) return 'utf-16le';
  return a === 0 && b === 0x3c && c === 0 && d === 0x3f && e === 0 && f === 0x78 ? 'utf-16be' : null;
}

/** The encoding that an XML declaration names. */
function declaredInXml(bytes: Uint8Array): string | null {
  const head = latin1(bytes.subarray(0, prescanBytes));
  if (!head.startsWith('<?xml')) return null;
  const end = head.indexOf('>');
  const declaration = end === -1 ? head : head.slice(0, end);
  const label = /encoding[\0-\x20]*=[\0-\x20]*(?:"([^"]*)"|'([^']*)')/.exec(declaration);
  const name = label?.[1] ?? label?.[2];
  return name === undefined || /[\0-\x20]/.test(name) ? null : asDeclaredInside(name);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** "Prescan a byte stream to determine its encoding" of the HTML standard. */
export function prescan(bytes: Uint8Array): string | null {
  const wide = wideXml(bytes);
  if (wide !== null) return wide;
  const head = latin1(bytes.subarray(0, prescanBytes));
  let at = 0;
  while (at < head.length) {
    if (head.startsWith('<!--', at)) {
      const end = head.indexOf('-->', at + 2);
      if (end === -1) break;
      at = end + 3;
      continue;
    }
    if (/^<meta[\t\n\f\r /]/i.test(head.slice(at, at + 6))) {
      const meta = readMeta(head, at + 5);
      if (meta.encoding !== null) return meta.encoding;
      at = meta.end;
      continue;
    }
    if (/^<\/?[a-z]/i.test(head.slice(at, at + 3))) {
      while (at < head.length && !whitespace.includes(head[at] ?? '') && head[at] !== '>') at += 1;
      for (let attribute = readAttribute(head, at); ; attribute = readAttribute(head, at)) {
        at = attribute.end;
        if (attribute.name === '') break;
      }
      at += 1;
      continue;
    }
    if (/^<[!/?]/.test(head.slice(at, at + 2))) {
      const end = head.indexOf('>', at);
      if (end === -1) break;
      at = end + 1;
      continue;
    }
    at += 1;
  }
  return declaredInXml(bytes);
}

function readMeta(head: string, from: number): { readonly encoding: string | null; readonly end: number } {
  const seen = new Set<string>();
  let at = from;
  let hasPragma = false;
  let needsPragma: boolean | null = null;
  let encoding: string | null = null;
  for (;;) {
    const attribute = readAttribute(head, at);
    at = attribute.end;
    if (attribute.name === '') break;
    if (seen.has(attribute.name)) continue;
    seen.add(attribute.name);
    if (attribute.name === 'http-equiv') hasPragma = hasPragma || attribute.value === 'content-type';
    else if (attribute.name === 'charset') {
      encoding = asDeclaredInside(attribute.value);
      needsPragma = false;
    } else if (attribute.name === 'content' && needsPragma === null) {
      const label = charsetInContent(attribute.value);
      if (label !== null && encoding === null) {
        encoding = asDeclaredInside(label);
        needsPragma = true;
      }
    }
  }
  if (at >= head.length) return { encoding: null, end: at }; // the tag has no end here, so it does not count
  const counts = needsPragma === false || (needsPragma === true && hasPragma);
  return { encoding: counts ? encoding : null, end: at + 1 };
}

/** "Extracting a character encoding from a meta element": the label after `charset=`. */
function charsetInContent(content: string): string | null {
  const label = /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))/i.exec(
    content,
  );
  return label?.[1] ?? label?.[2] ?? label?.[3] ?? null;
}

interface Attribute {
  /** '' where the tag has no more. */
  readonly name: string;
  readonly value: string;
  readonly end: number;
}

/** "Get an attribute": names and values in lower case. */
function readAttribute(head: string, from: number): Attribute {
  let at = from;
  while (at < head.length && (whitespace.includes(head[at] ?? '') || head[at] === '/')) at += 1;
  if (at >= head.length || head[at] === '>') return { name: '', value: '', end: at };
  let name = '';
  while (at < head.length) {
    const character = head[at] ?? '';
    if ((character === '=' && name !== '') || whitespace.includes(character)) break;
    if (character === '/' || character === '>') return { name: name.toLowerCase(), value: '', end: at };
    name += character;
    at += 1;
  }
  while (at < head.length && whitespace.includes(head[at] ?? '')) at += 1;
  if (head[at] !== '=') return { name: name.toLowerCase(), value: '', end: at };
  at += 1;
  while (at < head.length && whitespace.includes(head[at] ?? '')) at += 1;
  const quote = head[at];
  if (quote === '"' || quote === "'") {
    const end = head.indexOf(quote, at + 1);
    if (end === -1) return { name: '', value: '', end: head.length };
    return { name: name.toLowerCase(), value: head.slice(at + 1, end).toLowerCase(), end: end + 1 };
  }
  const start = at;
  while (at < head.length && !whitespace.includes(head[at] ?? '') && head[at] !== '>') at += 1;
  return { name: name.toLowerCase(), value: head.slice(start, at).toLowerCase(), end: at };
}

/** `TextEncoder`, `TextDecoder`, `atob` and `btoa`. */
import { lazyModule } from './lazy-modules.js';
import { domError } from './dom-exception.js';
import { decodeUtf8, encodeUtf8 } from './utf8.js';

export class TextEncoder {
  get encoding(): string {
    return 'utf-8';
  }
  encode(text: unknown = ''): Uint8Array {
    return new Uint8Array(encodeUtf8(String(text)));
  }
  encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
    let read = 0;
    let written = 0;
    for (const mark of String(text)) {
      const bytes = encodeUtf8(mark);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += mark.length;
    }
    return { read, written };
  }
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Labels of the WHATWG standard for the encodings that are here. */
const labels: Readonly<Record<Encoding, string>> = {
  'utf-8': ' unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8 ',
  'utf-16le': ' csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le ',
  'utf-16be': ' unicodefffe utf-16be ',
  'windows-1252':
    ' ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252 ',
};
/** What Windows put where Latin-1 has control characters; U+0081 and the like stay. */
const windows1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

function encodingOf(label: unknown): Encoding {
  const wanted = String(label)
    .replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '')
    .toLowerCase();
  for (const name of Object.keys(labels) as Encoding[]) if (labels[name].includes(` ${wanted} `)) return name;
  throw new RangeError(
    `The encoding label provided ('${String(label)}') is not supported here. The page itself is decoded already: read page.text.`,
  );
}

function bytesOf(source: unknown): Uint8Array {
  if (source === undefined) return new Uint8Array(0);
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  throw new TypeError('The value to decode is not a buffer.');
}

/** How many bytes at the end begin a character that is not all there. */
function unfinishedUtf8(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    // What cannot become a character is replaced at once, whatever follows.
    return needed > back && !decodeUtf8(bytes.subarray(bytes.length - back)).slice(1) ? back : 0;
  }
  return 0;
}

function decodeUtf16(bytes: Uint8Array, isLittle: boolean): string {
  let text = '';
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    const [first = 0, second = 0] = [bytes[at], bytes[at + 1]];
    text += String.fromCharCode(isLittle ? first | (second << 8) : (first << 8) | second);
  }
  return bytes.length % 2 === 0 ? text.toWellFormed() : `${text.toWellFormed()}\ufffd`;
}

export class TextDecoder {
  readonly #encoding: Encoding;
  readonly #fatal: boolean;
  readonly #ignoreBOM: boolean;
  /** Bytes of a character that goes on in the next piece. */
  #rest: Uint8Array | null = null;
  #isBegun = false;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    this.#encoding = encodingOf(label);
    this.#fatal = Boolean(options.fatal);
    this.#ignoreBOM = Boolean(options.ignoreBOM);
  }
  get encoding(): string {
    return this.#encoding;
  }
  get fatal(): boolean {
    return this.#fatal;
  }
  get ignoreBOM(): boolean {
    return this.#ignoreBOM;
  }

  decode(source?: unknown, options: { stream?: boolean } = {}): string {
    const goesOn = Boolean(options.stream);
    const bytes = this.#withRest(bytesOf(source), goesOn);
    const text = this.#textOf(bytes);
    if (this.#fatal && text.includes('\ufffd') && this.#hasFault(bytes, text)) {
      throw new TypeError('The encoded data was not valid.');
    }
    const begins = !this.#isBegun;
    this.#isBegun = goesOn && (this.#isBegun || text !== '');
    return begins && !this.#ignoreBOM && this.#encoding !== 'windows-1252' && text.startsWith('\ufeff')
      ? text.slice(1)
      : text;
  }

  #withRest(piece: Uint8Array, goesOn: boolean): Uint8Array {
    let bytes = piece;
    if (this.#rest !== null) {
      bytes = new Uint8Array(this.#rest.length + piece.length);
      bytes.set(this.#rest);
      bytes.set(piece, this.#rest.length);
      this.#rest = null;
    }
    if (!goesOn) return bytes;
    const isWide = this.#encoding.startsWith('utf-16');
    const kept = isWide ? bytes.length % 2 : this.#encoding === 'utf-8' ? unfinishedUtf8(bytes) : 0;
    if (kept === 0) return bytes;
    this.#rest = bytes.slice(bytes.length - kept);
    return bytes.subarray(0, bytes.length - kept);
  }

  #textOf(bytes: Uint8Array): string {
    if (this.#encoding === 'utf-8') return decodeUtf8(bytes);
    if (this.#encoding !== 'windows-1252') return decodeUtf16(bytes, this.#encoding === 'utf-16le');
    let text = '';
    for (const byte of bytes)
      text += byte >= 0x80 && byte < 0xa0 ? windows1252[byte - 0x80] : String.fromCharCode(byte);
    return text;
  }

  /** U+FFFD may be written as such: then it is the same bytes again. */
  #hasFault(bytes: Uint8Array, text: string): boolean {
    if (this.#encoding !== 'utf-8') return true;
    const again = encodeUtf8(text);
    return again.length !== bytes.length || again.some((byte, at) => byte !== bytes[at]);
  }

  get [Symbol.toStringTag](): string {
    return 'TextDecoder';
  }
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function btoa(source: unknown): string {
  const text = String(source);
  let encoded = '';
  for (let at = 0; at < text.length; at += 3) {
    const group = [0, 1, 2].map((offset) => text.charCodeAt(at + offset));
    if (group.some((code) => code > 255)) {
      throw domError('InvalidCharacterError', 'The string to be encoded contains characters outside of Latin-1.');
    }
    const [a = 0, b = Number.NaN, c = Number.NaN] = group;
    const bits = (a << 16) | ((b || 0) << 8) | (c || 0);
    encoded += base64.charAt(bits >> 18) + base64.charAt((bits >> 12) & 63);
    encoded += Number.isNaN(b) ? '=' : base64.charAt((bits >> 6) & 63);
    encoded += Number.isNaN(c) ? '=' : base64.charAt(bits & 63);
  }
  return encoded;
}

export function atob(source: unknown): string {
  const text = String(source).replace(/[\t\n\f\r ]/g, '');
  const stripped = text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text;
  if (stripped.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(stripped)) {
    throw domError('InvalidCharacterError', 'The string to be decoded is not correctly encoded.');
  }
  let decoded = '';
  let bits = 0;
  let count = 0;
  for (const mark of stripped) {
    bits = ((bits << 6) | base64.indexOf(mark)) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    decoded += String.fromCharCode((bits >> count) & 255);
  }
  return decoded;
}

const clones = lazyModule('clone');

export const structuredClone = (value: unknown): unknown => clones().cloneOf(value);

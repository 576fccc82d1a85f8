/** `TextEncoder`, `TextDecoder`, `atob`, `btoa` and `structuredClone`. */
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

const encodings: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  'utf-8': 'utf-8',
  'unicode-1-1-utf-8': 'utf-8',
  'utf-16': 'utf-16le',
  'utf-16le': 'utf-16le',
  'utf-16be': 'utf-16be',
  ascii: 'iso-8859-1',
  'us-ascii': 'iso-8859-1',
  latin1: 'iso-8859-1',
  'iso-8859-1': 'iso-8859-1',
};

function bytesOf(source: unknown): Uint8Array {
  if (source === undefined) return new Uint8Array(0);
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  throw new TypeError('The value to decode is not a buffer.');
}

export class TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const encoding = encodings[String(label).trim().toLowerCase()];
    if (encoding === undefined)
      throw new RangeError(`The encoding label provided ('${String(label)}') is not supported.`);
    this.encoding = encoding;
    this.fatal = options.fatal === true;
    this.ignoreBOM = options.ignoreBOM === true;
  }

  decode(source?: unknown): string {
    const bytes = bytesOf(source);
    let text = '';
    if (this.encoding === 'utf-8') text = decodeUtf8(bytes);
    else if (this.encoding === 'iso-8859-1') for (const byte of bytes) text += String.fromCharCode(byte);
    else {
      const isLittle = this.encoding === 'utf-16le';
      for (let at = 0; at + 1 < bytes.length; at += 2) {
        const [first = 0, second = 0] = [bytes[at], bytes[at + 1]];
        text += String.fromCharCode(isLittle ? first | (second << 8) : (first << 8) | second);
      }
    }
    if (this.fatal && text.includes('\ufffd')) throw new TypeError('The encoded data was not valid.');
    return !this.ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
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

export function structuredClone(value: unknown): unknown {
  const seen = new Map<object, unknown>();
  const copy = (source: unknown): unknown => {
    if (typeof source === 'function' || typeof source === 'symbol') {
      throw domError('DataCloneError', `${String(source)} could not be cloned.`);
    }
    if (typeof source !== 'object' || source === null) return source;
    const known = seen.get(source);
    if (known !== undefined) return known;
    const remember = <Made extends object>(made: Made): Made => {
      seen.set(source, made);
      return made;
    };
    if (Array.isArray(source)) {
      const made = remember(new Array<unknown>(source.length));
      for (const key of Object.keys(source)) made[Number(key)] = copy(source[Number(key)]);
      return made;
    }
    if (source instanceof Date) return remember(new Date(source.getTime()));
    if (source instanceof RegExp) return remember(new RegExp(source.source, source.flags));
    if (source instanceof Map) {
      const made = remember(new Map<unknown, unknown>());
      for (const [key, held] of source) made.set(copy(key), copy(held));
      return made;
    }
    if (source instanceof Set) {
      const made = remember(new Set<unknown>());
      for (const held of source) made.add(copy(held));
      return made;
    }
    if (source instanceof Error) {
      const made = remember(new Error(source.message));
      made.name = source.name;
      return made;
    }
    if (source instanceof ArrayBuffer) return remember(source.slice(0));
    if (ArrayBuffer.isView(source)) return remember((source as Uint8Array).slice());
    if (typeof (source as { nodeType?: unknown }).nodeType === 'number') {
      throw domError('DataCloneError', 'A node could not be cloned.');
    }
    const made = remember<Record<string, unknown>>({});
    for (const key of Object.keys(source)) made[key] = copy((source as Record<string, unknown>)[key]);
    return made;
  };
  return copy(value);
}

/** Percent-encoding and hosts, after the WHATWG URL standard. */
import { decodeUtf8, encodeBytes } from './utf8.js';

export function percentEncode(text: string, isLeft: (mark: string) => boolean): string {
  let encoded = '';
  for (const mark of text) {
    if (isLeft(mark)) encoded += mark;
    else for (const byte of encodeBytes(mark)) encoded += `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`;
  }
  return encoded;
}

export function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  const bytes: number[] = [];
  const source = encodeBytes(text);
  for (let at = 0; at < source.length; at++) {
    const byte = source[at] ?? 0;
    const hex = byte === 0x25 ? String.fromCharCode(source[at + 1] ?? 0, source[at + 2] ?? 0) : '';
    if (/^[0-9a-fA-F]{2}$/.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      at += 2;
    } else bytes.push(byte);
  }
  return decodeUtf8(bytes);
}

const isPlain = (mark: string): boolean => mark >= '!' && mark <= '~';
const leftIn =
  (encoded: string) =>
  (mark: string): boolean =>
    isPlain(mark) && !encoded.includes(mark);
export const leftInFragment = leftIn(' "<>`');
export const leftInQuery = leftIn(' "#<>');
export const leftInSpecialQuery = leftIn(' "#<>\'');
export const leftInPath = leftIn(' "#<>?`{}^');
export const leftInUserinfo = leftIn(' "#<>?`{}/:;=@[\\]^|');
export const leftInOpaque = (mark: string): boolean => mark >= ' ' && mark <= '~';

function adapt(value: number, count: number, isFirst: boolean): number {
  let rest = isFirst ? Math.floor(value / 700) : value >> 1;
  rest += Math.floor(rest / count);
  let k = 0;
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
  return k + Math.floor((36 * rest) / (rest + 38));
}

/** What is no character, or stands where bytes were none. */
const neverInHost = /[\ufffd\ufdd0-\ufdef\ufffe\uffff]/;
/** Invisible marks. */
const ignoredInHost = /\u00ad|\u034f|[\u180b-\u180d]|\u200b|\u2060|\u2064|[\ufe00-\ufe0f]|\ufeff/g;

function punycode(label: string): string {
  const points = Array.from(label, (mark) => mark.codePointAt(0) ?? 0);
  const basic = points.filter((point) => point < 128);
  let output = String.fromCharCode(...basic);
  let handled = basic.length;
  if (handled > 0) output += '-';
  let current = 128;
  let delta = 0;
  let bias = 72;
  const digit = (value: number): string => String.fromCharCode(value < 26 ? value + 97 : value + 22);
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= current));
    delta += (next - current) * (handled + 1);
    current = next;
    for (const point of points) {
      if (point < current) delta++;
      if (point !== current) continue;
      let rest = delta;
      for (let k = 36; ; k += 36) {
        const threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (rest < threshold) break;
        output += digit(threshold + ((rest - threshold) % (36 - threshold)));
        rest = Math.floor((rest - threshold) / (36 - threshold));
      }
      output += digit(rest);
      bias = adapt(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled++;
    }
    delta++;
    current++;
  }
  return `xn--${output}`;
}

function ipv4Part(part: string): number {
  if (part === '') return Number.NaN;
  if (/^0[xX][0-9a-fA-F]*$/.test(part)) return part.length === 2 ? 0 : Number.parseInt(part.slice(2), 16);
  if (/^0[0-7]*$/.test(part)) return Number.parseInt(part, 8);
  return /^[1-9]\d*$/.test(part) ? Number(part) : Number.NaN;
}

/** An address for a host that ends in a number, null for a name; undefined for a number that is no address. */
function ipv4Host(host: string): string | null | undefined {
  const parts = host.split('.');
  if (parts.at(-1) === '' && parts.length > 1) parts.pop();
  const last = parts.at(-1) ?? '';
  if (!/^\d+$/.test(last) && Number.isNaN(ipv4Part(last))) return null;
  if (parts.length > 4) return undefined;
  const numbers = parts.map(ipv4Part);
  if (numbers.some(Number.isNaN)) return undefined;
  const lowest = numbers.pop() ?? 0;
  if (numbers.some((number) => number > 255) || lowest >= 256 ** (4 - numbers.length)) return undefined;
  let address = lowest;
  numbers.forEach((number, at) => (address += number * 256 ** (3 - at)));
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

function ipv6Host(text: string): string | undefined {
  let source = text;
  const dotted = /(?:^|:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(source);
  if (dotted !== null) {
    const bytes = dotted.slice(1, 5).map(Number);
    if (bytes.some((byte) => byte > 255)) return undefined;
    const [a = 0, b = 0, c = 0, d = 0] = bytes;
    const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
    source = source.slice(0, source.length - dotted[0].length) + (dotted[0].startsWith(':') ? ':' : '') + tail;
  }
  const halves = source.split('::');
  if (halves.length > 2) return undefined;
  const groupsOf = (half: string | undefined): string[] => (half === undefined || half === '' ? [] : half.split(':'));
  const head = groupsOf(halves[0]);
  const tail = groupsOf(halves[1]);
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: halves.length === 2 ? missing : 0 }, () => '0'), ...tail];
  if (groups.some((group) => !/^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  const numbers = groups.map((group) => Number.parseInt(group, 16));
  let bestAt = -1;
  let bestLength = 1;
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (numbers[at + length] === 0) length++;
    if (length > bestLength) [bestAt, bestLength] = [at, length];
  }
  const written = numbers.map((number) => number.toString(16));
  if (bestAt < 0) return `[${written.join(':')}]`;
  return `[${written.slice(0, bestAt).join(':')}::${written.slice(bestAt + bestLength).join(':')}]`;
}

export function parseHost(text: string, isSpecial: boolean): string | undefined {
  if (text.startsWith('[')) return text.endsWith(']') ? ipv6Host(text.slice(1, -1)) : undefined;
  if (!isSpecial) return /[\0\t\n\r #/:<>?@[\\\]^|]/.test(text) ? undefined : percentEncode(text, leftInOpaque);
  const decoded = percentDecode(text)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u3002\uff0e\uff61]/g, '.')
    .replace(ignoredInHost, '');
  if (neverInHost.test(decoded)) return undefined;
  const ascii = decoded
    .split('.')
    .map((label) => (/[^\0-\x7f]/.test(label) ? punycode(label) : label))
    .join('.');
  if (ascii === '' || /[\0-\x20#%/:<>?@[\\\]^|\x7f]/.test(ascii)) return undefined;
  const address = ipv4Host(ascii);
  return address === null ? ascii : address;
}

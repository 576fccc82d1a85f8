/** Ids: a prefix that names the kind, an underscore, and a 26-character lower-case ULID. */
import { hash as digest, randomBytes } from 'node:crypto';

/** Crockford's base 32 in lower case, as the ULID specification orders it. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export const idPrefixes = ['ntf', 'act', 'exe', 'dlv', 'snp', 'key', 'org', 'usr', 'req', 'evt'] as const;
export type IdPrefix = (typeof idPrefixes)[number];

/** For patterns in the API document, which generators and their tests go by. */
export const ulidPattern = '[0-7][0-9a-hjkmnp-tv-z]{25}';
const idShape = new RegExp(`^(${idPrefixes.join('|')})_${ulidPattern}$`);

export function isId(value: string, prefix: IdPrefix): boolean {
  return value.startsWith(`${prefix}_`) && idShape.test(value);
}

/** Every ten bits as two characters: an id is put together from thirteen of them. */
const pairs = Array.from({ length: 1_024 }, (_, bits) => `${alphabet[bits >>> 5]}${alphabet[bits & 31]}`);

/** Encodes a time (48 bits, milliseconds) and 80 bits as a ULID. */
export function encodeUlid(epochMs: number, bits80: Uint8Array): string {
  const high = Math.floor(epochMs / 2 ** 30);
  const low = epochMs % 2 ** 30;
  let ulid = `${pairs[high >>> 10]}${pairs[high & 1_023]}${pairs[low >>> 20]}${pairs[(low >>> 10) & 1_023]}${pairs[low & 1_023]}`;
  for (let i = 0; i < 10; i += 5) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = bits80.subarray(i, i + 5);
    ulid += `${pairs[(a << 2) | (b >>> 6)]}${pairs[((b & 63) << 4) | (c >>> 4)]}`;
    ulid += `${pairs[((c & 15) << 6) | (d >>> 2)]}${pairs[((d & 3) << 8) | e]}`;
  }
  return ulid;
}

/** The time inside an id, milliseconds; what `encodeUlid` was given. */
export function timeOfId(id: string): number {
  const from = id.indexOf('_') + 1;
  return base32Number(id.slice(from, from + 10));
}

const digits = new Uint8Array(128);
for (let value = 0; value < alphabet.length; value += 1) digits[alphabet.charCodeAt(value)] = value;

/** What digits of an id say, up to ten of them. */
export function base32Number(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at += 1) value = value * 32 + (digits[text.charCodeAt(at)] ?? 0);
  return value;
}

/** So many digits that say the number. */
export function base32Text(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = `${alphabet[rest % 32]}${text}`;
  return text;
}

/** What `encodeUlid` was given. */
export function ulidBits(ulid: string): { readonly epochMs: number; readonly bits80: Uint8Array } {
  const bits80 = new Uint8Array(10);
  for (let part = 0; part < 2; part += 1) {
    // Eight digits are forty bits: five bytes.
    let bits = base32Number(ulid.slice(10 + part * 8, 18 + part * 8));
    for (let at = part * 5 + 4; at >= part * 5; at -= 1) {
      bits80[at] = bits % 256;
      bits = Math.floor(bits / 256);
    }
  }
  return { epochMs: base32Number(ulid.slice(0, 10)), bits80 };
}

/** An id that any process computes alike from the same parts: ULID(48 bits of `epochMs`, 80 bits of SHA-256(parts joined by |)). */
export function derivedId(prefix: IdPrefix, epochMs: number, ...parts: readonly string[]): string {
  return `${prefix}_${encodeUlid(epochMs, digest('sha256', parts.join('|'), 'buffer').subarray(0, 10))}`;
}

export interface Ids {
  /** A new id; later calls sort after earlier ones, within a millisecond too. */
  next(prefix: IdPrefix): string;
}

export const IDS = Symbol('Ids');

/** So many random parts are drawn at a time: the call costs more than the bytes. */
const drawnAtOnce = 256;

function createDraw(): () => Uint8Array {
  let drawn: Uint8Array = new Uint8Array(0);
  let next = 0;
  return () => {
    if (next === drawn.length) {
      drawn = randomBytes(10 * drawnAtOnce);
      next = 0;
    }
    next += 10;
    return drawn.subarray(next - 10, next);
  };
}

/** Monotonic ULIDs: within one millisecond the random part counts up. */
export function createIds(now: () => number = Date.now): Ids {
  const draw = createDraw();
  let lastMs = -1;
  let bits = draw();
  return {
    next(prefix) {
      const epochMs = Math.max(now(), lastMs);
      if (epochMs > lastMs) {
        lastMs = epochMs;
        bits = draw();
        bits[0] = (bits[0] ?? 0) & 0x7f; // room to count up without overflow
      } else {
        for (let i = 9; i >= 0; i -= 1) {
          bits[i] = ((bits[i] ?? 0) + 1) & 0xff;
          if (bits[i] !== 0) break;
        }
      }
      return `${prefix}_${encodeUlid(epochMs, bits)}`;
    },
  };
}

/** UUIDv5-shaped id of an event, so that the same command writes the same event id wherever it is tried again. */
export function derivedEventId(...parts: readonly string[]): string {
  const hex = digest('sha1', `meerkat.event|${parts.join('|')}`, 'hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The text of API keys: how one is made, recognised and hashed; and how a session token is hashed. Pure; randomness and pepper come from the caller. */
import { createHmac, hkdfSync } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const publicIdLength = 8;
const secretLength = 40;
const checksumLength = 6;

const shape = new RegExp(`^mk_([0-9A-Za-z]{${publicIdLength}})_[0-9A-Za-z]{${secretLength + checksumLength}}$`);

/** The largest multiple of 62 that a byte holds: bytes from there on are thrown away, or some letters came more often. */
const unbiasedBelow = 256 - (256 % alphabet.length);

function randomText(length: number, random: (size: number) => Uint8Array): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length - text.length)) {
      if (byte < unbiasedBelow) text += alphabet[byte % alphabet.length] ?? '';
    }
  }
  return text;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < checksumLength; i += 1) {
    digits = (alphabet[rest % alphabet.length] ?? '0') + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}

/** Makes a key: `mk_`, a public id of 8 characters, `_`, 40 secret characters (238 bits), 6 of checksum. */
export function createApiKey(random: (size: number) => Uint8Array): string {
  const text = `mk_${randomText(publicIdLength, random)}_${randomText(secretLength, random)}`;
  return text + checksum(text);
}

/** The public id inside a well-formed key; null for anything else, so that mistyped keys cost no look-up. */
export function parseApiKey(text: string): { readonly publicId: string } | null {
  const publicId = shape.exec(text)?.[1];
  if (publicId === undefined) return null;
  return checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength) ? { publicId } : null;
}

/** What is kept of a key: HMAC-SHA-256 with the instance's pepper, base64url. */
export function hashApiKey(key: string, pepper: string | Uint8Array): string {
  return createHmac('sha256', pepper).update(key).digest('base64url');
}

/** What is kept of a session's token, and the id of its document. Marked, so that it never equals a key's hash. */
export function hashSessionToken(token: string, pepper: string | Uint8Array): string {
  return createHmac('sha256', pepper).update(`session|${token}`).digest('base64url');
}

/** Injects the pepper (a Buffer). */
export const KEY_PEPPER = Symbol('KeyPepper');

/** Injects what links of accounts are signed with: of the secret key of now, so that a former one makes none. */
export const LINK_PEPPER = Symbol('LinkPepper');

/** The instance's pepper: made from its secret key, yet of no use for opening what that key seals. */
export function pepperOf(secretKey: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secretKey, '', 'meerkat.pepper', 32));
}

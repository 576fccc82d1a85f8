/** AES-256-GCM: a random nonce, the tag and the body in one text; what it belongs to is associated data. */
import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

const ivBytes = 12;
const tagBytes = 16;

/** Random bytes are drawn many at a time: a system call each would cost more than the cipher. */
let drawn = Buffer.alloc(0);
function nextIv(): Buffer {
  if (drawn.length < ivBytes) drawn = randomBytes(512 * ivBytes);
  const iv = drawn.subarray(0, ivBytes);
  drawn = drawn.subarray(ivBytes);
  return iv;
}

export function encrypt(key: KeyObject, plain: Uint8Array | string, associated: string): string {
  const iv = nextIv();
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(associated));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
}

/** Throws where it was sealed with another key, for something else, or changed. */
export function decrypt(key: KeyObject, sealed: string, associated: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes))
    .setAAD(Buffer.from(associated))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
}

/** Signed links: what a link in a message stands for, which nobody can make but this installation. The same on every try. */
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/** What the holder of a link may do. */
export type LinkPurpose = 'acknowledge' | 'unsubscribe';

export interface LinkSigner {
  /** No field holds a line break. */
  sign(purpose: LinkPurpose, fields: readonly string[]): string;
  /** The fields of a link of this installation and purpose; null for any other text. */
  read(purpose: LinkPurpose, token: string): readonly string[] | null;
  /** A name for text that is not to be read from it: the same text has the same name. */
  nameOf(text: string): string;
}

export const LINK_SIGNER = Symbol('LinkSigner');

const signatureBytes = 16;
const longestToken = 1_000;

/** `firstKey`: of the installation; names that are stored are given with it. */
export function createLinkSigner(secretKey: Uint8Array, firstKey = secretKey): LinkSigner {
  const linkKey = (secret: Uint8Array): KeyObject =>
    createSecretKey(createHmac('sha256', secret).update('signed links').digest());
  const [key, nameKey] = [linkKey(secretKey), linkKey(firstKey)];
  const signatureOf = (purpose: string, content: string, by = key): Buffer =>
    createHmac('sha256', by).update(`${purpose}\n${content}`).digest().subarray(0, signatureBytes);
  return {
    sign(purpose, fields) {
      const content = Buffer.from(fields.join('\n')).toString('base64url');
      return `${content}.${signatureOf(purpose, content).toString('base64url')}`;
    },
    read(purpose, token) {
      if (token.length > longestToken) return null;
      const [content, signature, ...more] = token.split('.');
      if (content === undefined || signature === undefined || more.length > 0) return null;
      const given = Buffer.from(signature, 'base64url');
      const right = signatureOf(purpose, content);
      // The text itself too: another spelling of the same bytes is another link.
      const isRight =
        given.length === right.length && timingSafeEqual(given, right) && signature === right.toString('base64url');
      return isRight ? Buffer.from(content, 'base64url').toString('utf8').split('\n') : null;
    },
    nameOf(text) {
      return signatureOf('name', text, nameKey).toString('base64url');
    },
  };
}

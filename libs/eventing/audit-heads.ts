/**
 * Signed heads: once a day, where the chain of each organisation stands, by a key that the events do not hold. Somebody who cuts
 * off the newest events would have to take away each head that tells of them, from the log and from backups too.
 */
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { SharedState, StateCollection } from '#shared-state/shared-state';

export const auditHead = z.object({
  organizationId: z.string(),
  /** UTC. */
  day: z.string(),
  at: z.string(),
  sequence: z.int(),
  hash: z.string(),
  mac: z.string(),
});
export type AuditHead = z.infer<typeof auditHead>;

export interface SignedHead extends AuditHead {
  readonly isGenuine: boolean;
}

export interface HeadSigner {
  sign(head: Omit<AuditHead, 'mac'>): AuditHead;
  check(head: AuditHead): SignedHead;
}

/** Signs with the first of the keys; a head may be of any of them. */
export function createHeadSigner(secretKey: Uint8Array, ...former: readonly Uint8Array[]): HeadSigner {
  const headKey = (secret: Uint8Array): KeyObject =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'meerkat audit head', 32)));
  const current = headKey(secretKey);
  const all = [current, ...former.map(headKey)];
  const macOf = (key: KeyObject, { organizationId, day, at, sequence, hash }: Omit<AuditHead, 'mac'>): string =>
    createHmac('sha256', key)
      .update(JSON.stringify(['audit head', organizationId, day, at, sequence, hash]))
      .digest('base64url');
  return {
    sign: (head) => ({ ...head, mac: macOf(current, head) }),
    check(head) {
      const found = Buffer.from(head.mac);
      const isBy = (key: KeyObject): boolean => {
        const wanted = Buffer.from(macOf(key, head));
        return wanted.length === found.length && timingSafeEqual(wanted, found);
      };
      return { ...head, isGenuine: all.some(isBy) };
    },
  };
}

/** Beside the views, where every process finds them; the embedded product keeps a file of them as well. */
export const auditHeadsCollection: StateCollection<AuditHead> = { name: 'audit_heads', indexedBy: null };

export const HEAD_SIGNER = Symbol('HeadSigner');
/** Adds a line to the file of heads in the data folder; null where there is none. */
export const HEAD_LINES = Symbol('HeadLines');
export type KeepHeadLine = ((line: string) => Promise<void>) | null;

const mostHeads = 100_000;

export async function headsOf(
  sharedState: Pick<SharedState, 'list'>,
  signer: HeadSigner,
  organizationId: string,
): Promise<readonly SignedHead[]> {
  const heads = await sharedState.list(auditHeadsCollection, mostHeads);
  return heads.filter((head) => head.organizationId === organizationId).map((head) => signer.check(head));
}

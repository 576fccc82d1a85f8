/**
 * What is signed of the audit, by keys that the events do not hold. Entries, as they are shown: who writes to the view could
 * else leave a hash and change what stands beside it. And heads: once a day, where the chain of each organisation stands.
 * Somebody who cuts off the newest events would have to take away each head that tells of them, from the log and from backups
 * too.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { AuditDocument } from '#contracts/audit';
import { isSameMac } from '#event-store/event-chain';
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

export interface AuditSigner {
  sign(head: Omit<AuditHead, 'mac'>): AuditHead;
  check(head: AuditHead): SignedHead;
  signEntry(entry: AuditDocument): AuditDocument;
  isOwnEntry(entry: AuditDocument): boolean;
}

/** All of it but what the MAC says, in one order whatever kept it. */
function textOfEntry(entry: AuditDocument): string {
  const { id, organizationId, sequence, at, type, actor, resource, requestId, revision, data, changes } = entry;
  const { purged, previousHash, hash, stream, streamRevision, position } = entry;
  return JSON.stringify([
    ['audit entry', id, organizationId, sequence, at, type, actor, resource, requestId, revision],
    [data, changes ?? null, purged ?? false],
    [previousHash, hash, stream, streamRevision, position],
  ]);
}

/** Signs with the first of the keys; what was signed before may be by any of them. */
export function createAuditSigner(secretKey: Uint8Array, ...former: readonly Uint8Array[]): AuditSigner {
  const keysFor = (use: string) => {
    const keyOf = (secret: Uint8Array): KeyObject =>
      createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', use, 32)));
    const current = keyOf(secretKey);
    const all = [current, ...former.map(keyOf)];
    const macOf = (key: KeyObject, text: string): string => createHmac('sha256', key).update(text).digest('base64url');
    return {
      macOf: (text: string): string => macOf(current, text),
      isOwn(text: string, mac: string): boolean {
        return all.some((key) => isSameMac(macOf(key, text), mac));
      },
    };
  };
  const [heads, entries] = [keysFor('meerkat audit head'), keysFor('meerkat audit entry')];
  const textOfHead = ({ organizationId, day, at, sequence, hash }: Omit<AuditHead, 'mac'>): string =>
    JSON.stringify(['audit head', organizationId, day, at, sequence, hash]);
  return {
    sign: (head) => ({ ...head, mac: heads.macOf(textOfHead(head)) }),
    check: (head) => ({ ...head, isGenuine: heads.isOwn(textOfHead(head), head.mac) }),
    signEntry: (entry) => ({ ...entry, mac: entries.macOf(textOfEntry(entry)) }),
    isOwnEntry: (entry) => entry.mac !== undefined && entries.isOwn(textOfEntry(entry), entry.mac),
  };
}

/** Beside the views, where every process finds them; the embedded product keeps a file of them as well. */
export const auditHeadsCollection: StateCollection<AuditHead> = { name: 'audit_heads', indexedBy: null };

export const AUDIT_SIGNER = Symbol('AuditSigner');
/** Sentences on the end of the log that this process started with, where nobody can tell whether it is the whole of it. */
export const LOG_DOUBTS = Symbol('LogDoubts');
/** Adds a line to the file of heads in the data folder; null where there is none. */
export const HEAD_LINES = Symbol('HeadLines');
export type KeepHeadLine = ((line: string) => Promise<void>) | null;

const mostHeads = 100_000;

export async function headsOf(
  sharedState: Pick<SharedState, 'list'>,
  signer: AuditSigner,
  organizationId: string,
): Promise<readonly SignedHead[]> {
  const heads = await sharedState.list(auditHeadsCollection, mostHeads);
  return heads.filter((head) => head.organizationId === organizationId).map((head) => signer.check(head));
}

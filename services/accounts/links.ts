/**
 * What stands in links of invitations and of password resets: which member, until when, and a keyed checksum over it and the
 * member's epoch. Nothing is stored of it, so any process makes and checks one, the command line too. Each is good once: taking
 * an invitation, or changing the password, moves what it was made for. Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isId } from '#runtime/ids';

export interface Link {
  /** `printed-reset`: for a new password, printed for who has the command line. */
  readonly kind: 'invitation' | 'password-reset' | 'printed-reset';
  readonly organizationId: string;
  readonly memberId: string;
  readonly expiresAtMs: number;
  /** Of the member when it was made. */
  readonly epoch: number;
}

export const invitationLifetimeMs = 7 * 24 * 3_600_000;
export const resetLifetimeMs = 3_600_000;

function macOf(body: string, kind: Link['kind'], pepper: Uint8Array): string {
  return createHmac('sha256', pepper).update(`link|${kind}|${body}`).digest('base64url');
}

export function linkToken({ kind, organizationId, memberId, expiresAtMs, epoch }: Link, pepper: Uint8Array): string {
  const ids = [organizationId, memberId].map((id) => id.slice(id.indexOf('_') + 1));
  const body = [...ids, expiresAtMs.toString(36), epoch.toString(36)].join('.');
  return `${body}.${macOf(body, kind, pepper)}`;
}

/** What a token of this kind says; null where nobody made it like that, or its time is over. */
export function readLinkToken(token: string, kind: Link['kind'], pepper: Uint8Array, nowMs: number): Link | null {
  const end = token.lastIndexOf('.');
  if (end < 0) return null;
  const body = token.slice(0, end);
  const [given, expected] = [Buffer.from(token.slice(end + 1)), Buffer.from(macOf(body, kind, pepper))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const [organization = '', member = '', expiry = '', epoch = ''] = body.split('.');
  const [organizationId, memberId] = [`org_${organization}`, `usr_${member}`];
  const expiresAtMs = Number.parseInt(expiry, 36);
  if (!isId(organizationId, 'org') || !isId(memberId, 'usr') || !(expiresAtMs > nowMs)) return null;
  return { kind, organizationId, memberId, expiresAtMs, epoch: Number.parseInt(epoch, 36) };
}

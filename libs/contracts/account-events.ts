/** What is stored of organisations, their members, API keys and sessions. */
import { z } from 'zod';
import {
  keyDocument,
  plan,
  rateLimit,
  role,
  sessionDocument,
  type KeyDocument,
  type SessionDocument,
} from './account.js';
import { idSchema, storedTimestamp } from './common.js';
import { defineEvent, type EventOf } from './event.js';

type FirstKey = Omit<KeyDocument, 'createdAt' | 'createdBy' | 'revokedAt' | 'successorId' | 'allowedCidrs'> &
  Partial<Pick<KeyDocument, 'allowedCidrs'>>;

type LaterOfSession = 'idleExpiresAt' | 'epoch' | 'provider';
type FirstSession = Omit<SessionDocument, 'createdAt' | 'successorId' | LaterOfSession> &
  Partial<Pick<SessionDocument, LaterOfSession>>;

const member = z.object({ id: idSchema('usr'), organizationId: idSchema('org') });
const memberIdentity = member.extend({ email: z.object({ $sealed: z.string() }), emailHash: z.string(), role });
type FirstMember = z.infer<typeof memberIdentity> & { readonly passwordHash: string; readonly operator?: boolean };

export const accountEvents = [
  /** The salt of the one-time setup token: the token is made of it and the pepper, and is stored nowhere. */
  defineEvent('installation.opened', { version: 1, schema: z.object({ salt: z.string() }) }),
  /** From here on these are the ids of the one organisation and its owner, also where another process completes the setup. */
  defineEvent('installation.claimed', {
    version: 1,
    schema: z.object({ organizationId: idSchema('org'), ownerId: idSchema('usr') }),
  }),
  /** OWNER_API_KEY became this key; the one chosen before is to be revoked. */
  defineEvent('installation.owner_key_chosen', {
    version: 1,
    schema: z.object({ keyId: idSchema('key'), hash: z.string() }),
  }),
  /** `setupKeyId`: the key that completes the setup; null where none was asked for. */
  defineEvent('organization.created', {
    version: 1,
    schema: z.object({
      id: idSchema('org'),
      name: z.string(),
      plan,
      setupKeyId: idSchema('key').nullable(),
    }),
  }),
  /** The whole of what can be changed. */
  defineEvent('organization.changed', {
    version: 1,
    schema: z.object({ id: idSchema('org'), name: z.string(), plan, rateLimit: rateLimit.nullable() }),
  }),
  /** The address is sealed; `emailHash` is a keyed hash by which a member is found. */
  defineEvent('member.added', {
    version: 1,
    schema: memberIdentity.extend({ passwordHash: z.string(), operator: z.boolean().default(true) }),
    // The first members were those of a setup, who look after the instance.
    complete: (data: FirstMember) => ({ ...data, operator: data.operator ?? true }),
  }),
  /** Again for the same member: the earlier invitation is no longer good. */
  defineEvent('member.invited', { version: 1, schema: memberIdentity.extend({ expiresAt: storedTimestamp }) }),
  /** `passwordHash` null: a provider vouches for the member. */
  defineEvent('member.joined', { version: 1, schema: member.extend({ passwordHash: z.string().nullable() }) }),
  defineEvent('member.changed', { version: 1, schema: member.extend({ role, operator: z.boolean() }) }),
  defineEvent('member.removed', { version: 1, schema: member }),
  /** Every session that was open before has ended. */
  defineEvent('member.password_changed', {
    version: 1,
    schema: member.extend({ passwordHash: z.string(), by: z.enum(['member', 'reset', 'printed_link']) }),
  }),
  /** A link was sent by which a new password can be set. */
  defineEvent('member.reset_requested', { version: 1, schema: member.extend({ expiresAt: storedTimestamp }) }),
  /** The secret of the codes is sealed, recovery codes stand as keyed hashes. */
  defineEvent('member.second_factor_begun', {
    version: 1,
    schema: member.extend({ secret: z.object({ $sealed: z.string() }), recoveryHashes: z.array(z.string()) }),
  }),
  defineEvent('member.second_factor_confirmed', { version: 1, schema: member }),
  defineEvent('member.second_factor_removed', { version: 1, schema: member }),
  defineEvent('member.recovery_code_used', { version: 1, schema: member.extend({ hash: z.string() }) }),
  /** `subjectHash`: a keyed hash of the provider's issuer and of who the member is there. */
  defineEvent('member.linked', {
    version: 1,
    schema: member.extend({ provider: z.string(), subjectHash: z.string() }),
  }),
  defineEvent('key.created', {
    version: 1,
    schema: z.object({
      key: keyDocument.omit({ createdAt: true, createdBy: true, revokedAt: true, successorId: true }),
      createdBy: z.string(),
    }),
    // The first keys had no ranges, and none named who stands behind it.
    complete: ({ key, createdBy }: { key: FirstKey; createdBy: string }) => ({
      key: { ...key, allowedCidrs: key.allowedCidrs ?? [] },
      createdBy,
    }),
  }),
  defineEvent('key.revoked', { version: 1, schema: z.object({ id: idSchema('key'), publicId: z.string() }) }),
  /** Another key takes its place; until `endsAt` both are good. */
  defineEvent('key.rotated', {
    version: 1,
    schema: z.object({
      id: idSchema('key'),
      publicId: z.string(),
      successorId: idSchema('key'),
      endsAt: storedTimestamp,
    }),
  }),
  /** Its copy was shown to a person who gave their password. */
  defineEvent('key.revealed', { version: 1, schema: z.object({ id: idSchema('key'), publicId: z.string() }) }),
  /** `id`: the keyed hash of the token. */
  defineEvent('session.opened', {
    version: 1,
    schema: sessionDocument.omit({ createdAt: true, successorId: true }),
    // The first sessions ended by time alone.
    complete: (data: FirstSession) => ({ idleExpiresAt: null, epoch: 0, provider: null, ...data }),
  }),
  /** Another token takes its place; requests under way are let in until `endsAt`. */
  defineEvent('session.superseded', {
    version: 1,
    schema: z.object({ id: z.string(), successorId: z.string(), endsAt: storedTimestamp }),
  }),
  defineEvent('session.closed', { version: 1, schema: z.object({ id: z.string() }) }),
] as const;
export type AccountEvent = EventOf<(typeof accountEvents)[number]>;

/** Organisations, their owner and their API keys. */
import { z } from 'zod';
import { idSchema, storedTimestamp } from './common.js';
import type { ViewDefinition } from '#read-store/read-store';

export const plan = z.enum(['free', 'pro', 'enterprise']);
export type Plan = z.infer<typeof plan>;

export const scope = z.enum(['read', 'write', 'execute', 'admin']);
export type Scope = z.infer<typeof scope>;

export const role = z.enum(['owner', 'admin', 'editor', 'viewer']);
export type Role = z.infer<typeof role>;

export const accountEmail = z
  .string()
  .max(254)
  .regex(/^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,190}$/, { error: 'must be an e-mail address' });

/** The body of `POST /api/setup`. */
export const setupInput = z.strictObject({
  setupToken: z.string().min(1).max(200),
  organization: z.string().min(1).max(200),
  email: accountEmail,
  password: z.string().min(12, { error: 'must have at least 12 characters' }).max(1_000),
});
export type SetupInput = z.infer<typeof setupInput>;

/** What the gateway must know of a key to let a request in (view `keys`, by public id). */
export const keyDocument = z.object({
  id: idSchema('key'),
  publicId: z.string(),
  organizationId: idSchema('org'),
  name: z.string(),
  scopes: z.array(scope),
  /** HMAC-SHA-256 of the whole key with the instance's pepper, base64url. */
  hash: z.string(),
  createdAt: storedTimestamp,
  expiresAt: storedTimestamp.nullable(),
  revokedAt: storedTimestamp.nullable(),
});
export type KeyDocument = z.infer<typeof keyDocument>;

export const keysView: ViewDefinition = {
  name: 'keys',
  fields: ['organizationId', 'createdAt'],
  indexes: [['organizationId', 'createdAt']],
};

export const organizationDocument = z.object({
  id: idSchema('org'),
  name: z.string(),
  plan,
  createdAt: storedTimestamp,
});
export type OrganizationDocument = z.infer<typeof organizationDocument>;

export const organizationsView: ViewDefinition = {
  name: 'organizations',
  fields: ['createdAt'],
  indexes: [['createdAt']],
};

export const accountEvents = {
  'organization.created': z.object({ id: idSchema('org'), name: z.string(), plan }),
  /** The address is sealed; `emailHash` is a keyed hash by which a member is found. */
  'member.added': z.object({
    id: idSchema('usr'),
    organizationId: idSchema('org'),
    email: z.object({ $sealed: z.string() }),
    emailHash: z.string(),
    passwordHash: z.string(),
    role,
  }),
  'key.created': z.object({ key: keyDocument.omit({ createdAt: true, revokedAt: true }), createdBy: z.string() }),
  'key.revoked': z.object({ id: idSchema('key'), publicId: z.string() }),
};
export type AccountEvent = {
  [Type in keyof typeof accountEvents]: { readonly type: Type; readonly data: z.infer<(typeof accountEvents)[Type]> };
}[keyof typeof accountEvents];

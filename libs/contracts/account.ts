/** Organisations, their members, API keys and sessions. */
import { z } from 'zod';
import { idSchema, plainLine, storedTimestamp, timestamp } from './common.js';
import { defineEvent, type EventOf } from './event.js';
import type { ViewDefinition } from '#read-store/read-store';

export const plan = z.enum(['free', 'pro', 'enterprise']);
export type Plan = z.infer<typeof plan>;

export const scope = z.enum(['read', 'write', 'execute', 'admin']);
export type Scope = z.infer<typeof scope>;

export const role = z.enum(['owner', 'admin', 'editor', 'viewer']);
export type Role = z.infer<typeof role>;

/** A display name: something to see, and nothing that moves a terminal's or a log's cursor. */
const label = z
  .string()
  .min(1)
  .max(200)
  .regex(plainLine.noControls, { error: 'must not hold control characters' })
  .refine((text) => text.isWellFormed(), { error: 'must be whole characters' })
  .regex(plainLine.noTurns, { error: 'must not have marks that change the direction of text' })
  .regex(/^$|\S/, { error: 'must not be blank' });

export const accountEmail = z
  .string()
  .max(254)
  .regex(
    /^[!#-'*+\-./0-9=?A-Z^-~\u00a1-\u061b\u061d-\u1fff\u2030-\u205e\u2070-\ud7ff]{1,64}@[!#-'*+\-./0-9=?A-Z^-~\u00a1-\u061b\u061d-\u1fff\u2030-\u205e\u2070-\ud7ff]{1,190}$/,
    { error: 'must be an e-mail address' },
  );

/** A password that is set. */
export const newPassword = z.string().min(12, { error: 'must have at least 12 characters' }).max(1_000);

/** The body of `POST /api/setup`, and the payload of `account.setup`. */
export const setupInput = z
  .strictObject({
    setupToken: z.string().min(1).max(200).describe('As printed at the start.'),
    organization: label.describe('Its name.'),
    email: accountEmail.describe('Of the owner.'),
    password: newPassword.describe('At least 12 characters.'),
  })
  .meta({ id: 'SetupInput' });
export type SetupInput = z.infer<typeof setupInput>;

/** `10.0.0.0/8`, `2001:db8::/32`; one address stands for itself. */
const addressRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: 'must be an address or a range such as 10.0.0.0/8',
});

/** What the gateway must know of a key to let a request in (view `keys`, by public id). */
export const keyDocument = z.object({
  id: idSchema('key').describe('Of the key.'),
  publicId: z.string().describe('The eight characters behind `mk_`.'),
  organizationId: idSchema('org'),
  name: z.string().describe('What it is for.'),
  scopes: z.array(scope).describe('What it may do.'),
  /** HMAC-SHA-256 of the whole key with the instance's pepper, base64url. */
  hash: z.string(),
  createdAt: storedTimestamp.describe('When it was made.'),
  expiresAt: storedTimestamp.nullable().describe('null: never.'),
  /** Where it may be used from; none: from everywhere. */
  allowedCidrs: z.array(z.string()).default([]).describe('Where it may be used from; none: from everywhere.'),
  revokedAt: storedTimestamp.nullable().describe('null: it is not.'),
});
export type KeyDocument = z.infer<typeof keyDocument>;

export const keysView: ViewDefinition<KeyDocument> = {
  name: 'keys',
  fields: ['organizationId', 'createdAt', 'revokedAt'],
  indexes: [['organizationId', 'revokedAt', 'createdAt']],
};

/** An API key as the API shows it. */
export const apiKey = keyDocument.omit({ hash: true });
export type ApiKey = z.infer<typeof apiKey>;

/** The body of `POST /api/keys`, and the payload of `account.create_key`. */
export const keyInput = z.strictObject({
  name: label.describe('What it is for.'),
  scopes: z
    .array(scope)
    .min(1)
    .max(scope.options.length)
    .refine((scopes) => new Set(scopes).size === scopes.length, { error: 'must name each scope once' })
    .meta({ uniqueItems: true })
    .describe('What it may do.'),
  expiresAt: timestamp.nullable().default(null).describe('null: never.'),
  allowedCidrs: z
    .array(addressRange)
    .max(50)
    .default([])
    .describe('Addresses and ranges that the key may be used from; none: from everywhere.'),
});
export type KeyInput = z.infer<typeof keyInput>;

/** The answer to `account.create_key`: the only one that holds the key in clear. */
export const createdKey = apiKey.extend({ key: z.string().describe('The key. It is shown this once.') });
export type CreatedKey = z.infer<typeof createdKey>;

/** The payload of `account.show_key`, which answers `apiKey` (not_found for a revoked one). */
export const showKeyInput = z.strictObject({ keyId: idSchema('key') });

/** The payload of `account.revoke_key`, which answers `{ id, deleted: true }` once no request gets in with the key. */
export const revokeKeyInput = z.strictObject({ keyId: idSchema('key') });

export const organizationDocument = z
  .object({
    id: idSchema('org').describe('Of the organisation.'),
    name: z.string().describe('What people call it.'),
    plan: plan.describe('Its budget of requests goes by it.'),
    createdAt: storedTimestamp.describe('When it was made.'),
  })
  .meta({ id: 'Organization' });
export type OrganizationDocument = z.infer<typeof organizationDocument>;

export const organizationsView: ViewDefinition<OrganizationDocument> = {
  name: 'organizations',
  fields: ['createdAt'],
  indexes: [['createdAt']],
};

/** A member as the service keeps it (view `members`): the address sealed, found by its keyed hash. */
export const memberDocument = z.object({
  id: idSchema('usr'),
  organizationId: idSchema('org'),
  email: z.object({ $sealed: z.string() }),
  emailHash: z.string(),
  role,
  createdAt: storedTimestamp,
});
export type MemberDocument = z.infer<typeof memberDocument>;

export const membersView: ViewDefinition = {
  name: 'members',
  fields: ['organizationId', 'emailHash', 'createdAt'],
  indexes: [['emailHash'], ['organizationId', 'createdAt']],
};

/** Who is signed in, in clear: for that person's own eyes. */
export const account = z
  .object({
    id: idSchema('usr').describe('Of the member.'),
    email: z.string().describe('Their address.'),
    role: role.describe('What they may.'),
  })
  .meta({ id: 'Account' });

/** The answer to `account.setup`. */
export const setupAnswer = z.object({
  organization: organizationDocument.describe('What was made.'),
  account: account.describe('Its owner.'),
  apiKey: z.string().describe('A first key with the scope admin. It is shown this once.'),
});
export type SetupAnswer = z.infer<typeof setupAnswer>;

/** The body of `POST /api/sessions`. No rule for the password: what was never set is simply wrong. */
export const sessionInput = z.strictObject({
  email: z.string().max(1_000).describe('As the account has it.'),
  password: z.string().max(1_000).describe('Of the account.'),
});

/** The payload of `account.open_session`. `address`: the client's, by which wrong tries are counted. */
export const openSessionInput = sessionInput.extend({ address: z.string().max(200) });
export type OpenSessionInput = z.infer<typeof openSessionInput>;

/** A session as the API shows it. */
export const session = z
  .object({
    account: account.describe('Who is signed in.'),
    organization: organizationDocument.describe('Where.'),
    role: role.describe('What they may.'),
    expiresAt: storedTimestamp.describe('When it ends.'),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof session>;

/** The answer to `account.open_session`: `token` is the cookie's value and stands nowhere else. */
export const openedSession = session.extend({ token: z.string() });
export type OpenedSession = z.infer<typeof openedSession>;

/** The payload of `account.show_session` (answers `session`) and `account.close_session` (answers `{ closed: true }`). */
export const sessionToken = z.strictObject({ token: z.string().max(200) });

/** What the gateway must know of a session to let a request in (view `sessions`, by `hashSessionToken`). A closed one is gone. */
export const sessionDocument = z.object({
  id: z.string(),
  userId: idSchema('usr'),
  organizationId: idSchema('org'),
  role,
  createdAt: storedTimestamp,
  expiresAt: storedTimestamp,
});
export type SessionDocument = z.infer<typeof sessionDocument>;

export const sessionsView: ViewDefinition = {
  name: 'sessions',
  fields: ['userId', 'expiresAt'],
  indexes: [['userId', 'expiresAt']],
};

type FirstKey = Omit<KeyDocument, 'createdAt' | 'revokedAt' | 'allowedCidrs'> &
  Partial<Pick<KeyDocument, 'allowedCidrs'>>;

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
  /** The address is sealed; `emailHash` is a keyed hash by which a member is found. */
  defineEvent('member.added', {
    version: 1,
    schema: z.object({
      id: idSchema('usr'),
      organizationId: idSchema('org'),
      email: z.object({ $sealed: z.string() }),
      emailHash: z.string(),
      passwordHash: z.string(),
      role,
    }),
  }),
  defineEvent('key.created', {
    version: 1,
    schema: z.object({
      key: keyDocument.omit({ createdAt: true, revokedAt: true }),
      createdBy: z.string(),
    }),
    // The first keys had no ranges.
    complete: ({ key, createdBy }: { key: FirstKey; createdBy: string }) => ({
      key: { ...key, allowedCidrs: key.allowedCidrs ?? [] },
      createdBy,
    }),
  }),
  defineEvent('key.revoked', { version: 1, schema: z.object({ id: idSchema('key'), publicId: z.string() }) }),
  /** `id`: the keyed hash of the token. */
  defineEvent('session.opened', { version: 1, schema: sessionDocument.omit({ createdAt: true }) }),
  defineEvent('session.closed', { version: 1, schema: z.object({ id: z.string() }) }),
] as const;
export type AccountEvent = EventOf<(typeof accountEvents)[number]>;

/** Organisations, API keys and sessions. Their members: `member.ts`; what is stored of all of them: `account-events.ts`. */
import { z } from 'zod';
import { idSchema, plainLine, storedTimestamp, timestamp } from './common.js';
import { plainLetters } from './plain-letters.js';
import type { ViewDefinition } from '#read-store/read-store';

export const plan = z.enum(['free', 'pro', 'enterprise']);
export type Plan = z.infer<typeof plan>;

/** `operator`: of the whole instance, beside what a member of an organisation may. */
export const scope = z.enum(['read', 'write', 'execute', 'admin', 'operator']);
export type Scope = z.infer<typeof scope>;

export const role = z.enum(['owner', 'admin', 'editor', 'viewer']);
export type Role = z.infer<typeof role>;

/** A display name: something to see, and nothing that moves a terminal's or a log's cursor. */
export const label = z
  .string()
  .min(1)
  .max(200)
  .regex(plainLine.noControls, { error: 'must not hold control characters' })
  .refine((text) => text.isWellFormed(), { error: 'must be whole characters' })
  .regex(plainLine.noTurns, { error: 'must not have marks that change the direction of text' })
  .regex(/^$|\S/, { error: 'must not be blank' });

/**
 * Whether no letter of an address stands for another: full-width ones, ligatures and `ſ` are folded into the plain letters
 * where addresses are compared (NFKC), and `İ` into two. With them one address would look like another's and count as it.
 */
export const isPlainAddress = (email: string): boolean =>
  email.normalize('NFKC') === email && email.toLowerCase().length === email.length;

// The pattern takes letter by letter what is plain, so that the API document says it too.
const addressLetters = String.raw`!#-'*+\-./0-9=?A-Z^-~${plainLetters}`;

export const accountEmail = z
  .string()
  .max(254)
  .refine(isPlainAddress, {
    error: 'must be in plain letters: write s for ſ, K for the Kelvin sign, I for İ, and no letter of full width',
    abort: true,
  })
  .regex(new RegExp(`^[${addressLetters}]{1,64}@[${addressLetters}]{1,190}$`), { error: 'must be an e-mail address' });

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
  /** Of a key with the scope operator: the member who stands behind it, and must be an operator for it to be good. Absent: no member. */
  operatorId: idSchema('usr').exactOptional(),
  /** HMAC-SHA-256 of the whole key with the instance's pepper, base64url. */
  hash: z.string(),
  createdAt: storedTimestamp.describe('When it was made.'),
  createdBy: z
    .string()
    .nullable()
    .default(null)
    .describe('Who made it: `user:` and a member, `key:` and another key, or `system:`. null: it is not known.'),
  expiresAt: storedTimestamp.nullable().describe('null: never.'),
  /** Where it may be used from; none: from everywhere. */
  allowedCidrs: z.array(z.string()).default([]).describe('Where it may be used from; none: from everywhere.'),
  revokedAt: storedTimestamp.nullable().describe('null: it is not.'),
  /** Of the key that takes its place; null: of none. */
  successorId: z.string().nullable().default(null),
});
export type KeyDocument = z.infer<typeof keyDocument>;

export const keysView: ViewDefinition<KeyDocument> = {
  name: 'keys',
  fields: ['organizationId', 'createdAt', 'revokedAt'],
  indexes: [['organizationId', 'revokedAt', 'createdAt']],
};

/** An API key as the API shows it. */
export const apiKey = keyDocument.omit({ hash: true, successorId: true, operatorId: true });
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
export const createdKey = apiKey.extend({
  key: z.string().describe('The key. Only `reveal` shows it again, and not where KEYS_SHOW_ONCE is set.'),
});
export type CreatedKey = z.infer<typeof createdKey>;

/** The payload of `account.show_key`, which answers `apiKey` (not_found for a revoked one). */
export const showKeyInput = z.strictObject({ keyId: idSchema('key') });

/** The payload of `account.revoke_key`, which answers `{ id, deleted: true }` once no request gets in with the key. */
export const revokeKeyInput = z.strictObject({ keyId: idSchema('key') });

/** Requests an hour. */
export const rateLimit = z.int().min(1).max(1_000_000_000);

/** The body of `POST /api/keys/{id}/rotate`. */
export const keyRotation = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(30 * 86_400)
    .default(86_400)
    .describe('How long the old key stays good beside the new one; 0: it ends at once.'),
});

/** The payload of `account.rotate_key`, which answers `createdKey`. `isOperator`: whether who asks may have a key with that scope. */
export const rotateKeyInput = keyRotation.extend({ keyId: idSchema('key'), isOperator: z.boolean() });
export type RotateKeyInput = z.infer<typeof rotateKeyInput>;

/** The payload of `account.reveal_key`, which answers `{ key }`. `address`: the client's, by which wrong tries are counted. */
export const revealKeyInput = z.strictObject({
  keyId: idSchema('key'),
  password: z.string().max(1_000),
  address: z.string().max(200),
});
export type RevealKeyInput = z.infer<typeof revealKeyInput>;

export const organizationDocument = z
  .object({
    id: idSchema('org').describe('Of the organisation.'),
    name: z.string().describe('What people call it.'),
    plan: plan.describe('Its budget of requests goes by it.'),
    /** Views that were built before there were overrides hold none. */
    rateLimit: rateLimit
      .nullable()
      .default(null)
      .describe('Requests an hour in place of what the plan gives; null: as the plan.'),
    createdAt: storedTimestamp.describe('When it was made.'),
  })
  .meta({ id: 'Organization' });
export type OrganizationDocument = z.infer<typeof organizationDocument>;

export const organizationsView: ViewDefinition<OrganizationDocument> = {
  name: 'organizations',
  fields: ['createdAt'],
  indexes: [['createdAt']],
};

/** Who is signed in, in clear: for that person's own eyes. */
export const account = z
  .object({
    id: idSchema('usr').describe('Of the member.'),
    email: z.string().describe('Their address.'),
    role: role.describe('What they may.'),
    operator: z.boolean().describe('Whether they look after the whole instance.'),
    secondFactor: z.enum(['off', 'pending', 'on']).describe('Whether signing in needs a code.'),
  })
  .meta({ id: 'Account' });

/** The answer to `account.setup`. */
export const setupAnswer = z.object({
  organization: organizationDocument.describe('What was made.'),
  account: account.describe('Its owner.'),
  apiKey: z.string().describe('A first key with the scope admin. It is shown this once.'),
});
export type SetupAnswer = z.infer<typeof setupAnswer>;

/** A password that is tried. No rule for it: what was never set is simply wrong. */
export const givenPassword = z.string().max(1_000);

/** The body of `POST /api/sessions`. */
export const sessionInput = z.strictObject({
  email: z.string().max(1_000).describe('As the account has it.'),
  password: givenPassword.describe('Of the account.'),
  code: z.string().max(100).optional().describe('Of the app, or a recovery code, where a second factor is on.'),
  organizationId: z
    .string()
    .max(100)
    .optional()
    .describe('Where the same address and password belong to members of several organisations.'),
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
    expiresAt: storedTimestamp.describe('When it ends, however much it is used.'),
    idleExpiresAt: storedTimestamp
      .nullable()
      .describe('When it ends if it is not used before; use moves it. null: only `expiresAt` ends it.'),
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
  /** When it was opened: what counts is the member's role now. */
  role,
  createdAt: storedTimestamp,
  expiresAt: storedTimestamp,
  /** It ends then without use; null: of a version that did not know. */
  idleExpiresAt: storedTimestamp.nullable().default(null),
  /** A session of an earlier epoch than its member's has ended. */
  epoch: z.int().default(0),
  /** The provider that vouched for the member; null: a password did. */
  provider: z.string().nullable().default(null),
  /** Of the session that goes on in its place, and this one ends; null: none does. */
  successorId: z.string().nullable().default(null),
});
export type SessionDocument = z.infer<typeof sessionDocument>;

export const sessionsView: ViewDefinition = {
  name: 'sessions',
  fields: ['userId', 'expiresAt'],
  indexes: [['userId', 'expiresAt']],
};

/** Actions: how a user is told. Per type the schema of `config`, what of it is sealed, and what of it is masked in answers. */
import { z } from 'zod';
import { httpHeaders, idSchema, jsonObject } from './common.js';

/** One plain mailbox: no display name, no list, no line break (a comma or CRLF would reach somebody else). */
export const mailAddress = z
  .string()
  .max(254)
  .regex(
    /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
    {
      error: 'must be one e-mail address such as name@example.com',
    },
  );
const mailAddresses = z.union([mailAddress, z.array(mailAddress).min(1).max(50)], {
  error: 'must be an e-mail address or a list of 1 to 50',
});

export const emailConfig = z.strictObject({
  to: mailAddresses,
  // a line break in a subject would be another header
  subject: z
    .string()
    .min(1)
    .max(500)
    .regex(/^[^\u0000-\u001f\u007f]*$/, { error: 'must be one line of text' }),
  cc: mailAddresses.optional(),
  bcc: mailAddresses.optional(),
  replyTo: mailAddress.optional(),
  body: z.string().max(65_536).optional(),
  format: z.enum(['text', 'html']).optional(),
});
export type EmailConfig = z.infer<typeof emailConfig>;

/** Where a webhook goes; a user name and password inside are allowed, the password is a secret. */
const webhookAddress = z
  .string()
  .min(1)
  .max(2_048)
  .refine((value) => URL.canParse(value) && /^https?:\/\//i.test(value), {
    error: 'must be an absolute address such as https://example.com/hook',
  });

export const webhookConfig = z.strictObject({
  url: webhookAddress,
  method: z.enum(['POST', 'PUT', 'PATCH']).optional(),
  headers: httpHeaders.optional(),
  /** A template; without it the Standard Webhooks body is sent. */
  body: z.string().max(65_536).optional(),
  /** `whsec_` and base64 of 24 to 64 bytes; made where absent. */
  secret: z
    .string()
    .regex(/^(whsec_[A-Za-z0-9+/]{32,88}={0,2}|\*{8})$/, { error: 'must be whsec_ and the base64 of 24 to 64 bytes' })
    .meta({ writeOnly: true })
    .optional(),
  timeoutSeconds: z.int().min(1).max(60).optional(),
});
export type WebhookConfig = z.infer<typeof webhookConfig>;

export const customConfig = z.strictObject({
  code: z.string().min(1).max(65_536),
  secrets: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, { error: 'must be a name' }),
      z.string().max(8_192).meta({ writeOnly: true }),
    )
    .refine((secrets) => Object.keys(secrets).length <= 50, { error: 'must have at most 50 entries' })
    .optional(),
});
export type CustomConfig = z.infer<typeof customConfig>;

/** One entry per type: a channel that is not here does not exist. */
export const actionTypes = {
  email: { config: emailConfig, sealed: ['to', 'to[]', 'cc', 'cc[]', 'bcc', 'bcc[]', 'replyTo'] },
  webhook: { config: webhookConfig, sealed: ['url', 'secret', 'headers.*'] },
  custom: { config: customConfig, sealed: ['secrets.*'] },
} as const;
export type ActionType = keyof typeof actionTypes;
export const actionType = z.enum(['email', 'webhook', 'custom']);

export const notificationKind = z.enum(['triggered', 'recovered', 'error']);
export type NotificationKind = z.infer<typeof notificationKind>;

const common = {
  id: idSchema('act').optional(),
  enabled: z.boolean().default(true),
  expireAfterSeconds: z.int().min(60).max(604_800).default(86_400),
  on: z.array(notificationKind).max(3).default(['triggered']),
};

/** As a user writes it. */
export const actionInput = z.discriminatedUnion('type', [
  z.strictObject({ ...common, type: z.literal('email'), config: emailConfig }),
  z.strictObject({ ...common, type: z.literal('webhook'), config: webhookConfig }),
  z.strictObject({ ...common, type: z.literal('custom'), config: customConfig }),
]);
export type ActionInput = z.infer<typeof actionInput>;

/** As stored and sent between services: sealed values inside `config`. */
export const storedAction = z.object({
  id: idSchema('act'),
  type: actionType,
  config: jsonObject,
  enabled: z.boolean(),
  expireAfterSeconds: z.int(),
  on: z.array(notificationKind),
});
export type StoredAction = z.infer<typeof storedAction>;

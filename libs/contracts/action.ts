/** Actions: how a user is notified. What their types are and what each takes follows from the declarations of the channels. */
import { z } from 'zod';
import { declarations, type ActionType } from '#channels/declarations';
import { idSchema, jsonObject, membersOf } from './common.js';

export type { ActionType };
export const actionType = z.enum(declarations.map(({ type }) => type));

export const notificationKind = z.enum(['triggered', 'recovered', 'error']);
export type NotificationKind = z.infer<typeof notificationKind>;

/** Of one task. */
export const mostActions = 20;

const common = {
  id: idSchema('act').optional().describe('Of the action; those that are sent back keep it.'),
  enabled: z.boolean().default(true).describe('Whether it sends.'),
  expireAfterSeconds: z
    .int()
    .min(60)
    .max(604_800)
    .default(86_400)
    .describe('A message that could not be delivered for so long is given up.'),
  on: z.array(notificationKind).max(3).default(['triggered', 'error']).describe('The kinds of message that it sends.'),
  digestSeconds: z
    .int()
    .min(0)
    .max(86_400)
    .default(0)
    .describe('From the first message on, what comes within that time goes out as one. 0: each by itself.'),
  afterSeconds: z
    .int()
    .min(0)
    .max(604_800)
    .default(0)
    .describe('Sends only if the condition (or the error) still holds then and nobody has acknowledged. 0: at once.'),
  retryUnknown: z
    .boolean()
    .default(true)
    .describe(
      'Whether a try of which nobody knows if it arrived, as after a crash, is made again under the same id. false: the delivery is `unknown` until a person sends it again.',
    ),
};

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function inputOf({ type, config }: { readonly type: ActionType; readonly config: z.ZodObject }) {
  const typed = { type: z.literal(type).describe('The channel.'), config: config.describe('Settings of the channel.') };
  return z.strictObject({ ...common, ...typed }).meta({ id: `${capital(type)}ActionInput` });
}

/** Of a contact. */
export const contactName = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, { error: 'must be 1 to 64 of a-z 0-9 -' })
  .meta({ pattern: '^[a-z0-9-]{1,64}$' });

/** In place of a type and its settings. */
const byContact = z
  .strictObject({
    ...common,
    // Absent: it is what tells this form from the others.
    type: z.undefined().optional().describe('Left out: it is that of the contact.'),
    contact: contactName.describe('A contact of the organisation, in place of a type and its config.'),
  })
  .meta({ id: 'ContactActionInput' });

const [first, ...others] = declarations;

/** As a user writes it. */
export const actionInput = z
  .discriminatedUnion('type', [inputOf(first), ...others.map(inputOf), byContact])
  .meta({ id: 'ActionInput' });
export type ActionInput = z.infer<typeof actionInput>;

/** As stored and sent between services: sealed values inside `config`. */
export const storedAction = z.object({
  id: idSchema('act'),
  type: actionType,
  config: jsonObject,
  enabled: z.boolean(),
  expireAfterSeconds: z.int(),
  on: z.array(notificationKind),
  /** These three are left out where they have their default. */
  digestSeconds: z.int().exactOptional(),
  afterSeconds: z.int().exactOptional(),
  retryUnknown: z.boolean().exactOptional(),
  /** Its type is that of the contact when it was saved; what is sent follows the contact as it is when it is decided. */
  contact: z.string().exactOptional(),
});
export type StoredAction = z.infer<typeof storedAction>;

/** What an action has where nothing else is stored. */
export const actionDefaults = { digestSeconds: 0, afterSeconds: 0, retryUnknown: true } as const;

/** Without what has its default: two actions that say the same are stored the same. */
export function toStoredAction(action: StoredAction): StoredAction {
  const plain = new Map<string, unknown>(Object.entries(actionDefaults));
  return membersOf(
    storedAction,
    Object.fromEntries(
      Object.entries(action).filter(([name, value]) => !plain.has(name) || plain.get(name) !== value),
    ) as StoredAction,
  );
}

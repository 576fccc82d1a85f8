/** Schemas that several nouns share: ids, times, the vocabulary of lists. */
import { z } from 'zod';
import { separatorFault } from '#runtime/address-credentials';
import { isId, ulidPattern, type IdPrefix } from '#runtime/ids';
import type { Json, JsonObject } from '#runtime/json';

export function idSchema(prefix: IdPrefix) {
  return z
    .string()
    .refine((value) => isId(value, prefix), { error: `must be an id that begins with ${prefix}_` })
    .meta({ pattern: `^${prefix}_${ulidPattern}$` });
}

/**
 * Text on one line that turns nothing around: no control characters (Cc), no line or paragraph separator, and no marks that
 * change the direction of text (Bidi_Control). As ranges, because not every engine that reads the schema knows the names.
 */
export const plainLine = {
  noControls: /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/,
  /** Characters without a width are nothing to see either. */
  notBlank: /[^\s\u00ad\u200b-\u200d\u2060\u3164]/,
  noTurns: /^[^\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/,
} as const;

/** What a schema names of a value that fits it already, in the order of the schema: without the cost of checking it again. */
export function membersOf<Schema extends z.ZodObject>(schema: Schema, value: z.output<Schema>): z.output<Schema> {
  const given: Readonly<Record<string, unknown>> = value;
  const named: Record<string, unknown> = {};
  for (const name in schema.shape) if (name in given) named[name] = given[name];
  return named as z.output<Schema>;
}

/** Any RFC 3339 time that a user may write. */
export const timestamp = z.iso.datetime({ offset: true });

/** The one form that is stored and answered: UTC, milliseconds, `Z`. Not validated again when read back: it was written by us. */
export const storedTimestamp = z.string().meta({ format: 'date-time' });

export const json: z.ZodType<Json> = z.json();
export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json);

/** An http(s) address without credentials inside. */
export const webAddress = z
  .string()
  .min(1)
  .max(2_048)
  .superRefine((value, context) => {
    const parsed = URL.canParse(value) ? new URL(value) : null;
    const unreadable = parsed === null && separatorFault(value, 'page') !== null;
    if (unreadable || (parsed !== null && parsed.username + parsed.password !== '')) {
      const message = 'must not hold a user name or password; fetch.auth takes them';
      context.addIssue({ code: 'custom', message });
    } else if (parsed === null || !/^https?:$/.test(parsed.protocol) || !/^https?:\/\//i.test(value)) {
      context.addIssue({ code: 'custom', message: 'must be an absolute address such as https://example.com/page' });
    }
  });

/** Names of headers whose values are secrets (API contract, section 4). */
export function isSecretHeader(name: string): boolean {
  return /^(authorization|proxy-authorization|cookie)$/i.test(name) || /token|secret|key|password/i.test(name);
}

/** Metadata of a stored event, where a document keeps it to emit again what came of it. */
export const eventMetadata = z.object({
  organizationId: z.string(),
  actor: z.string(),
  requestId: z.string(),
  causationId: z.string().nullable(),
  at: storedTimestamp,
});

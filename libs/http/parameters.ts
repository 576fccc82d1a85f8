/** Query parameters: parts that several lists share, strict in what they take. */
import { z } from 'zod';
import { reject } from '#runtime/errors';

/** A whole number written in plain digits: no sign, no exponent, no spaces, no leading zero. */
export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .regex(/^(0|[1-9][0-9]{0,15})$/, { error: `must be a whole number from ${min} to ${max}` })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: `must be a whole number from ${min} to ${max}` })
    .meta({ parameter: { type: 'integer', minimum: min, maximum: max } });
}

export const pageParameters = {
  page: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1),
  limit: wholeNumber(1, 100).default(20),
};

/** `after`: the cursor of the list before, or empty to begin. It takes the place of `page`. */
export const afterParameter = z
  .string()
  .max(500)
  .optional()
  .meta({ description: 'Cursor of the last answer, or empty to begin; takes the place of `page`.', example: '' });

/** A time as a bound of a list, in the one form that is stored. */
export const timeParameter = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-11-01T08:00:00Z' })
  .transform((value) => new Date(value).toISOString())
  .meta({ parameter: { type: 'string', format: 'date-time' } });

/** Refuses a parameter that is given more than once: which of the two is meant is anybody's guess. */
export function singleParameters(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const single: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) {
      throw reject('repeated_parameter', `${name.slice(0, 100)} is given more than once.`, [
        { field: name.slice(0, 100), rule: 'repeated', message: 'is given more than once' },
      ]);
    }
    if (name === '__proto__') throw reject('unknown_parameter', '__proto__ is not a field.');
    single[name] = value;
  }
  return single;
}

/** How many documents to pass over; a page past any end stays a number that every store takes. */
export function offsetOf({ page, limit }: { readonly page: number; readonly limit: number }): number {
  return Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
}

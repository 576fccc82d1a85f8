/** Arbitrary values that a zod schema takes: the kinds that events use, and no other. */
import fc from 'fast-check';
import { z } from 'zod';
import { idPrefixes, derivedId } from '#runtime/ids';

/** Strings that a rule of the schema takes, where any text is not enough. */
const texts: readonly fc.Arbitrary<string>[] = [
  fc.string({ maxLength: 20, unit: 'grapheme' }),
  ...idPrefixes.map((prefix) => fc.nat().map((epochMs) => derivedId(prefix, epochMs, 'arbitrary'))),
];

const json = fc.jsonValue({ maxDepth: 3 }).map((value): unknown => JSON.parse(JSON.stringify(value)));

/** Of all texts those that the schema takes: an id of the wrong kind is not among them. */
function textOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  const taken = texts.filter((text) =>
    fc.sample(text, { numRuns: 3, seed: 1 }).some((one) => schema.safeParse(one).success),
  );
  if (taken.length === 0) throw new Error('no text is known that this schema takes');
  return fc.oneof(...taken).filter((text) => schema.safeParse(text).success);
}

function numberOf(schema: z.ZodNumber): fc.Arbitrary<number> {
  const min = Math.max(schema.minValue ?? -Infinity, Number.MIN_SAFE_INTEGER);
  const max = Math.min(schema.maxValue ?? Infinity, Number.MAX_SAFE_INTEGER);
  if (schema.isInt) return fc.integer({ min, max });
  return fc.double({ min, max, noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value));
}

export function arbitraryOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodObject) {
    const shape: Readonly<Record<string, z.ZodType>> = schema.shape;
    const entries = Object.entries(shape);
    const required = entries.filter(([, field]) => !field.safeParse(undefined).success).map(([name]) => name);
    const fields = entries.map(([name, field]) => [name, arbitraryOf(field)] as const);
    return fc.record(Object.fromEntries(fields), { requiredKeys: required, noNullPrototype: true });
  }
  if (schema instanceof z.ZodString) return textOf(schema);
  if (schema instanceof z.ZodNumber) return numberOf(schema);
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodNull) return fc.constant(null);
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values);
  if (schema instanceof z.ZodArray) return fc.array(arbitraryOf(schema.element), { maxLength: 3 });
  // Only JSON stands in records and lazy schemas of events.
  if (schema instanceof z.ZodRecord) {
    return fc.dictionary(
      fc.string().filter((name) => name !== '__proto__'),
      arbitraryOf(schema.valueType),
      {
        maxKeys: 3,
        noNullPrototype: true,
      },
    );
  }
  if (schema instanceof z.ZodLazy) return json;
  if (schema instanceof z.ZodNullable) return fc.option(arbitraryOf(schema.unwrap()));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault)
    return arbitraryOf(schema.unwrap());
  if (schema instanceof z.ZodUnion) return fc.oneof(...schema.options.map(arbitraryOf));
  throw new Error(`no arbitrary for the schema kind ${schema._zod.def.type}`);
}

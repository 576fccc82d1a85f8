/** Which names a schema takes at a place of an input, for who wrote another one. */
import { z } from 'zod';
import { nearestName } from '#runtime/nearest-name';

/** A list of more names than this is looked up in the documentation instead. */
const mostNames = 15;

const hasUnwrap = (schema: z.core.$ZodType): schema is z.core.$ZodType & { unwrap(): z.core.$ZodType } =>
  'unwrap' in schema && !(schema instanceof z.ZodArray);

const memberOf = (value: unknown, name: PropertyKey): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** Whether the words that tell options of a union apart are those of the input. */
function fits(option: z.core.$ZodType, value: unknown): boolean {
  if (!(option instanceof z.ZodObject)) return true;
  const shape = option.shape as Readonly<Record<string, z.core.$ZodType>>;
  return Object.entries(shape).every(
    ([name, field]) => !(field instanceof z.ZodLiteral) || field.safeParse(memberOf(value, name)).success,
  );
}

/** What a schema is beneath optional, default, union and the like. */
function formsOf(schema: z.core.$ZodType, value: unknown): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) {
    return schema.options.filter((option) => fits(option, value)).flatMap((option) => formsOf(option, value));
  }
  if (schema instanceof z.ZodPipe) return formsOf(schema.in, value);
  return hasUnwrap(schema) ? formsOf(schema.unwrap(), value) : [schema];
}

function inside(schema: z.core.$ZodType, name: PropertyKey): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodArray) return [schema.element];
  if (schema instanceof z.ZodRecord) return [schema.valueType];
  if (!(schema instanceof z.ZodObject)) return [];
  const field = (schema.shape as Readonly<Record<string, z.core.$ZodType>>)[String(name)];
  return field === undefined ? [] : [field];
}

function fieldsAt(schema: z.core.$ZodType, input: unknown, path: readonly PropertyKey[]): readonly string[] {
  let [forms, value] = [formsOf(schema, input), input];
  for (const name of path) {
    value = memberOf(value, name);
    forms = forms.flatMap((form) => inside(form, name)).flatMap((form) => formsOf(form, value));
  }
  return [...new Set(forms.flatMap((form) => (form instanceof z.ZodObject ? Object.keys(form.shape) : [])))];
}

/** Said behind "is not a field": the name that may be meant, or those that there are; nothing where they are many. */
export function insteadOf(schema: z.core.$ZodType, input: unknown, path: readonly PropertyKey[]): string {
  const known = fieldsAt(schema, input, path.slice(0, -1));
  const nearest = nearestName(String(path.at(-1)), known);
  if (nearest !== null) return `; perhaps ${nearest} is meant`;
  return known.length === 0 || known.length > mostNames ? '' : `; there are ${known.join(', ')}`;
}

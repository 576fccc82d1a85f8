/** From the schemas that validate to those of the OpenAPI document: one component for each concept. */
import { z } from 'zod';

export type Schema = { [name: string]: unknown };

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every schema that is a reference, with what `change` makes of it and of what stands beside it, everywhere inside. */
function mapRefs(value: unknown, change: (ref: string) => Schema): unknown {
  if (Array.isArray(value)) return value.map((entry: unknown) => mapRefs(entry, change));
  if (!isSchema(value)) return value;
  const { $ref, ...beside } = value;
  const mapped = Object.fromEntries(Object.entries(beside).map(([name, inner]) => [name, mapRefs(inner, change)]));
  return typeof $ref === 'string' ? { ...change($ref), ...mapped } : mapped;
}

/** What a schema's own words for OpenAPI say in place of what zod makes of it. */
function override(
  { zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Schema },
  io: 'input' | 'output',
): void {
  // A secret is shown as a mask: it is there.
  if (io === 'output') delete jsonSchema['writeOnly'];
  // The format says it, in a line that can be read.
  if (jsonSchema['format'] === 'date-time') delete jsonSchema['pattern'];
  // Clients would send it with every request, and generators take it for code.
  if (isSchema(jsonSchema['default'])) delete jsonSchema['default'];
  const meta = z.globalRegistry.get(zodSchema);
  const { parameter } = meta ?? {};
  // A default behind a transformation is a value of the output; of these parameters both look alike.
  if (zodSchema instanceof z.ZodDefault && typeof zodSchema.def.defaultValue === 'number') {
    jsonSchema['default'] = zodSchema.def.defaultValue;
  }
  if (isSchema(parameter)) {
    for (const name of ['pattern', 'parameter', 'type', 'format']) delete jsonSchema[name];
    Object.assign(jsonSchema, parameter);
  }
}

/** In a merge patch any member may be null: back to its default. */
function nullable(properties: unknown): Schema {
  if (!isSchema(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const { description, ...rest } = isSchema(schema) ? schema : {};
      return [name, { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] }];
    }),
  );
}

export function plainSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const made = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: (made) => override(made, io) });
  return Object.fromEntries(Object.entries(made).filter(([name]) => name !== '$schema' && name !== '~standard'));
}

/** Any JSON value calls itself: generators get it as what it is, anything. */
export const anyJson = 'JsonValue';

function isRecursive(name: string, definition: unknown): boolean {
  return JSON.stringify(definition).includes(`"#/$defs/${name}"`);
}

/** The root of a schema with an id is a reference to itself among the definitions. */
function rootOf({ $ref, ...own }: Schema, $defs: unknown): Schema {
  const id = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : null;
  const found = id !== null && isSchema($defs) ? $defs[id] : own;
  return isSchema(found) ? found : own;
}

/** A member of one of several forms, in a patch that does not say which: what all agree on. */
function agreed(schemas: readonly Schema[]): Schema {
  const [first = {}, ...others] = schemas;
  if (others.every((other) => JSON.stringify(other) === JSON.stringify(first))) return first;
  const words = schemas.map((schema) => schema['const']);
  if (words.every((word) => typeof word === 'string'))
    return { type: 'string', enum: words, description: 'One of these.' };
  return { type: 'object', description: 'Members to change; null takes one away.' };
}

/** A merge patch of an object, or of one of several that differ by their type. */
function patchSchema(patchOf: z.ZodType): Schema {
  const { $defs, ...own } = plainSchema(patchOf, 'input');
  const root = rootOf(own, $defs);
  const { oneOf } = root;
  const forms = (Array.isArray(oneOf) ? oneOf : [root]).filter(isSchema).map((form) => rootOf(form, $defs));
  const members = forms.flatMap(({ properties }) => Object.entries(isSchema(properties) ? properties : {}));
  const byName = Map.groupBy(members, ([name]) => name);
  const properties = [...byName].map(([name, all]): [string, unknown] => [
    name,
    agreed(all.map(([, schema]) => schema).filter(isSchema)),
  ]);
  return { type: 'object', properties: nullable(Object.fromEntries(properties)), additionalProperties: false, $defs };
}

/** Schemas under names, one for each concept: a schema with an `id` is a component, whatever it is a part of. */
export class Components {
  readonly schemas: Record<string, unknown> = {};
  /** Under which name the schema of an id stands: what is sent and what is answered may differ by defaults. */
  readonly #names = new Map<string, string>();

  #nameOf(id: string, io: 'input' | 'output'): string {
    const known = this.#names.get(`${io} ${id}`);
    if (known !== undefined) return known;
    const schema = schemaOfId(id);
    const sameBothWays = JSON.stringify(plainSchema(schema, 'input')) === JSON.stringify(plainSchema(schema, 'output'));
    const name = io === 'input' && !sameBothWays && !id.endsWith('Input') ? `${id}Input` : id;
    this.#names.set(`${io} ${id}`, name);
    return name;
  }

  /** `name`: of a schema that has no id. */
  add(name: string, schema: z.ZodType, io: 'input' | 'output'): Schema {
    const { patchOf, checkedLater } = z.globalRegistry.get(schema) ?? {};
    if (checkedLater instanceof z.ZodType) return this.add(name, checkedLater, io);
    const { $defs, ...own } = patchOf instanceof z.ZodType ? patchSchema(patchOf) : plainSchema(schema, io);
    const definitions = Object.entries(isSchema($defs) ? $defs : {});
    const recursive = new Set(definitions.filter(([id, one]) => isRecursive(id, one)).map(([id]) => id));
    const here = `#/components/schemas/${name}`;
    const moved = (ref: string): Schema => {
      if (ref === '#') return { $ref: here };
      const id = ref.slice('#/$defs/'.length);
      if (recursive.has(id)) return { $ref: `#/components/schemas/${anyJson}` };
      return { $ref: `#/components/schemas/${isUnnamed(id) ? `${name}${id}` : this.#nameOf(id, io)}` };
    };
    for (const [id, definition] of definitions) {
      if (recursive.has(id)) continue;
      const component = isUnnamed(id) ? `${name}${id}` : this.#nameOf(id, io);
      const { id: _id, ...said } = mapRefs(definition, moved) as Schema;
      this.schemas[component] ??= said;
    }
    const mapped = mapRefs(own, moved) as Schema;
    // Nothing but a reference to a concept: there is no need for a second name.
    if (typeof mapped['$ref'] === 'string' && Object.keys(mapped).length === 1) return mapped;
    this.schemas[name] ??= mapped;
    return { $ref: here };
  }
}

function isUnnamed(id: string): boolean {
  return id.startsWith('__schema');
}

function schemaOfId(id: string): z.ZodType {
  const found = z.globalRegistry._idmap.get(id);
  if (found === undefined) throw new Error(`no schema has the id ${id}`);
  return found as z.ZodType;
}

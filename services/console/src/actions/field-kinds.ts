/** How a field of a JSON Schema is asked for, and its value as text and back. Pure. */

/** The part of JSON Schema that the settings of actions use. */
export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly writeOnly?: boolean;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: boolean | FieldSchema;
  readonly required?: readonly string[];
  readonly anyOf?: readonly FieldSchema[];
  readonly oneOf?: readonly FieldSchema[];
}

export type Settings = Readonly<Record<string, unknown>>;

export type Kind = 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'list' | 'map' | 'json';

const longerThan = 500;

/** How a field is asked for. What a form has no control for is asked for as JSON. */
export function kindOf(schema: FieldSchema): Kind {
  if (schema.enum !== undefined) return 'choice';
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) {
    const kinds = options.map(kindOf);
    // `to`: one address or several.
    if (kinds.includes('list') && kinds.some((kind) => kind === 'text' || kind === 'long')) return 'list';
    return kinds.find((kind) => kind !== 'json') ?? 'json';
  }
  switch (Array.isArray(schema.type) ? schema.type.find((type) => type !== 'null') : schema.type) {
    case 'string':
      return (schema.maxLength ?? 0) > longerThan ? 'long' : 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return schema.items?.type === 'string' ? 'list' : 'json';
    case 'object':
      return typeof schema.additionalProperties === 'object' && schema.additionalProperties.type === 'string'
        ? 'map'
        : 'json';
    default:
      return 'json';
  }
}

/** Text of a field as its value; undefined leaves the field out. */
export function valueOfText(kind: Kind, text: string): unknown {
  if (text === '') return undefined;
  switch (kind) {
    case 'number':
      return Number(text);
    case 'list':
      return text
        .split(/[\n,]/)
        .map((one) => one.trim())
        .filter((one) => one !== '');
    case 'map':
      return Object.fromEntries(
        text.split('\n').flatMap((line) => {
          const at = line.indexOf(':');
          return at <= 0 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
        }),
      );
    case 'json':
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return text;
      }
    default:
      return text;
  }
}

const textOfScalar = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export function textOfValue(kind: Kind, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (kind === 'list') return Array.isArray(value) ? value.join('\n') : textOfScalar(value);
  if (kind === 'map' && typeof value === 'object') {
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${String(one)}`)
      .join('\n');
  }
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : textOfScalar(value);
}

/** Reads YAML as values, by the parser that prettier brings: mappings, sequences, scalars, anchors and merges, one document. */
import { parsers } from 'prettier/plugins/yaml';
import { z } from 'zod';

export type Yaml = string | number | boolean | null | Yaml[] | { [key: string]: Yaml };

interface Node {
  readonly type: string;
  readonly value?: string | undefined;
  readonly anchor?: { readonly value: string } | null | undefined;
  readonly tag?: unknown;
  readonly children?: readonly (Node | null)[] | undefined;
}

const node: z.ZodType<Node> = z.lazy(() =>
  z.object({
    type: z.string(),
    value: z.string().optional(),
    anchor: z.object({ value: z.string() }).nullish(),
    tag: z.unknown().optional(),
    children: z.array(node.nullable()).optional(),
  }),
);

const words: Readonly<Record<string, Yaml>> = { true: true, false: false, null: null, '~': null, '': null };

function plain(text: string): Yaml {
  if (Object.hasOwn(words, text)) return words[text] ?? null;
  return /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/.test(text) ? Number(text) : text;
}

function isMapping(value: Yaml): value is { [key: string]: Yaml } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const parts = ({ children = [] }: Node): readonly Node[] => children.filter((child) => child !== null);

/** Throws where it is not YAML, or YAML beyond what is named above. */
export function readYaml(text: string): Yaml {
  const anchors = new Map<string, Yaml>();

  const pair = (item: Node): readonly [Yaml, Yaml] => {
    const [key, value] = parts(item);
    return [key === undefined ? null : only(key), value === undefined ? null : only(value)];
  };

  const mapping = (items: readonly Node[]): Yaml => {
    const merged: { [key: string]: Yaml } = {};
    const own: { [key: string]: Yaml } = {};
    for (const item of items) {
      const [key, value] = pair(item);
      if (key === '<<') {
        if (!isMapping(value)) throw new Error('what is merged must be one mapping');
        Object.assign(merged, value);
      } else {
        if (typeof key !== 'string') throw new Error(`a key must be a text, not ${JSON.stringify(key)}`);
        if (Object.hasOwn(own, key)) throw new Error(`${key} stands twice in one mapping`);
        own[key] = value;
      }
    }
    return { ...merged, ...own };
  };

  const valueOf = (found: Node): Yaml => {
    switch (found.type) {
      case 'plain':
        return plain(found.value ?? '');
      case 'quoteSingle':
      case 'quoteDouble':
      case 'blockLiteral':
      case 'blockFolded':
        return found.value ?? '';
      case 'null':
        return null;
      case 'alias': {
        const known = anchors.get(found.value ?? '');
        if (known === undefined) throw new Error(`nothing is called &${found.value ?? ''} before this`);
        return structuredClone(known);
      }
      case 'mapping':
      case 'flowMapping':
        return mapping(parts(found));
      case 'sequence':
      case 'flowSequence':
        return parts(found).map((item) => only(item));
      default:
        throw new Error(`${found.type} is not read here`);
    }
  };

  const read = (found: Node): Yaml => {
    if (found.tag !== null && found.tag !== undefined) throw new Error('tags are not read here');
    const value = valueOf(found);
    if (found.anchor) anchors.set(found.anchor.value, value);
    return value;
  };

  const only = (holder: Node): Yaml => {
    const [content, ...more] = parts(holder);
    if (more.length > 0) throw new Error(`${holder.type} holds more than one value`);
    return content === undefined ? null : read(content);
  };

  const parsed: unknown = parsers.yaml.parse(text, {} as Parameters<typeof parsers.yaml.parse>[1]);
  const [document, ...others] = parts(node.parse(parsed));
  if (document === undefined || others.length > 0) throw new Error('it must be one document');
  const body = parts(document).find(({ type }) => type === 'documentBody');
  return body === undefined ? null : only(body);
}

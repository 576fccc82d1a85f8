import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { declarations } from './declarations.js';

const guide = readFileSync(new URL('../../docs/channels.md', import.meta.url), 'utf8');
const example = z.strictObject({ type: z.string(), config: z.record(z.string(), z.unknown()) });
/** Of a secret that was rotated; the service sets them. */
const unnamed = new Set(['previousSecret', 'previousSecretUntil']);

describe.each(declarations.map((declaration) => [declaration.type, declaration] as const))(
  'the guide to channels on %s',
  (type, { config }) => {
    const [, section = ''] = new RegExp(`^## ${type}$([^]*?)(?=^## |$(?![^]))`, 'm').exec(guide) ?? [];

    it('has a row in the table of all', () => {
      expect(guide).toContain(`| [\`${type}\`](#${type}) `);
    });

    it('names every setting', () => {
      const { properties = {} } = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' });
      const names = Object.keys(properties).filter((name) => !unnamed.has(name));
      expect(names.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
    });

    it('has an example that is taken as it stands', () => {
      const [, block = '{}'] = /```json\n([^]*?)\n```/.exec(section) ?? [];
      const shown = example.parse(JSON.parse(block));
      expect(shown.type).toBe(type);
      expect(config.safeParse(shown.config)).toMatchObject({ success: true });
    });
  },
);

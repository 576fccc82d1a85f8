/** The cookbook of the guide: each recipe answers on its page what is printed below it, with either parser. */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defaultSandboxLimits, type ContentKind, type Sandbox } from './sandbox.js';

const guide = readFileSync(new URL('../../docs/guide/cookbook.md', import.meta.url), 'utf8');

const json = z.record(z.string(), z.json());
const before = z.strictObject({
  values: json.optional(),
  state: json.optional(),
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  finalUrl: z.string().optional(),
});
const answer = z.strictObject({
  outcome: z.boolean().optional(),
  error: z.string().optional(),
  values: json,
  state: json.optional(),
});

interface Recipe {
  readonly title: string;
  readonly code: string;
  readonly kind: ContentKind;
  readonly page: string;
  readonly before: z.infer<typeof before>;
  readonly answer: z.infer<typeof answer>;
}

const kinds: Readonly<Record<string, ContentKind>> = { html: 'html', xml: 'xml', 'json page': 'json', text: 'text' };

function recipeIn(section: string): Recipe {
  const title = section.slice(0, section.indexOf('\n'));
  const blocks = new Map(
    [...section.matchAll(/```(.+)\n([\s\S]*?)\n```/g)].map(([, name = '', text = '']) => [name, text]),
  );
  const [kind, page] = [...blocks].find(([name]) => name in kinds) ?? [];
  const code = blocks.get('js');
  const expected = blocks.get('json answer');
  if (code === undefined || kind === undefined || page === undefined || expected === undefined) {
    throw new Error(`${title}: a recipe has code, a page and an answer`);
  }
  return {
    title,
    code,
    kind: kinds[kind] ?? 'text',
    page,
    before: before.parse(JSON.parse(blocks.get('json before') ?? '{}')),
    answer: answer.parse(JSON.parse(expected)),
  };
}

const recipes = guide.split(/^### /m).slice(1).map(recipeIn);

export function describeCookbook(parser: string, create: () => Sandbox): void {
  describe('the cookbook', () => {
    it('has forty recipes and more, each under a title of its own', () => {
      expect(recipes.length).toBeGreaterThanOrEqual(40);
      expect(new Set(recipes.map(({ title }) => title)).size).toBe(recipes.length);
    });
  });

  describe(`a recipe read by ${parser}`, () => {
    const sandbox = create();
    afterAll(() => sandbox.close());

    it.each(recipes)('answers as printed: $title', async ({ code, kind, page, before: past, answer: expected }) => {
      const checked = await sandbox.check(code);
      if (!checked.ok) throw new Error(checked.message);
      const { values = {}, state = {}, status = 200, headers = {}, finalUrl = 'https://page.example/' } = past;
      const found = await sandbox.evaluate({
        code,
        form: checked.form,
        page: { url: 'https://page.example/', finalUrl, status, headers, contentKind: kind, body: Buffer.from(page) },
        previous:
          past.values === undefined ? null : { outcome: false, values, text: null, at: '2026-11-24T08:00:00.000Z' },
        state,
        seed: 'exe_1',
        nowMs: Date.parse('2026-11-24T09:00:00.000Z'),
        limits: defaultSandboxLimits,
      });
      expect({
        ...(found.ok ? { outcome: found.outcome } : { error: found.failure.reason }),
        values: found.values,
        ...(expected.state === undefined || !found.ok ? {} : { state: found.state }),
      }).toEqual(expected);
    });
  });
}

/** What Chromium answers, the sandbox answers: snippets of real use over pages that look like real ones. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { defaultSandboxLimits } from '../../libs/sandbox/sandbox.js';
import type { ContentKind, Sandbox } from '../../libs/sandbox/sandbox.js';
import { createQuickJsSandbox } from '../../libs/sandbox/quickjs.js';
import { expressionFor, readPages } from './snippets/pages.mjs';

const types: Readonly<Record<ContentKind, string>> = {
  html: 'text/html',
  xml: 'application/xml',
  json: 'application/json',
  text: 'text/plain',
};

const readJson = (url: URL): unknown => JSON.parse(readFileSync(url, 'utf8'));
const differences = readJson(new URL('./snippets/differences.json', import.meta.url)) as Record<
  string,
  Record<string, string>
>;

const pages = readPages();

let sandbox: Sandbox;
beforeAll(() => {
  sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
});
afterAll(() => sandbox.close());

describe.each(pages)('snippets on $name', ({ name, kind, url, body, snippets, answersUrl }) => {
  const answers = readJson(answersUrl) as Record<string, unknown>;
  const reasons = differences[name] ?? {};
  const answerTo = async (snippet: string): Promise<unknown> => {
    const result = await sandbox.evaluate({
      code: `(async () => ${expressionFor(snippet)})().then((text) => { page.report('answer', text); return true; })`,
      form: 'script',
      page: {
        url,
        finalUrl: url,
        status: 200,
        headers: { 'content-type': types[kind] },
        contentKind: kind,
        body: new TextEncoder().encode(body),
      },
      previous: null,
      state: {},
      seed: '1',
      nowMs: 0,
      limits: defaultSandboxLimits,
    });
    if (!result.ok) throw new Error(`${result.failure.reason}: ${result.failure.message}`);
    const { answer } = result.values;
    return typeof answer === 'string' ? JSON.parse(answer) : null;
  };

  it.each(snippets.filter((snippet) => reasons[snippet] === undefined))(
    'answer as Chromium does: %s',
    async (snippet) => {
      expect(await answerTo(snippet)).toEqual(answers[snippet]);
    },
  );

  it('list as different only snippets of this page that do differ', async () => {
    for (const snippet of Object.keys(reasons)) {
      expect(snippets).toContain(snippet);
      expect(await answerTo(snippet)).not.toEqual(answers[snippet]);
    }
  });
});

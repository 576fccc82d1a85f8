/** Every sentence of the console as the product runs it: on a page that says yes, on one that says no, and on one without what is asked for. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { serveHttps, testCertificate, type Loopback } from '#outbound/loopback.contract';
import { printCondition, type Condition } from '../../services/console/src/new/condition.js';
import { fetchOf, printSentence, type Sentence } from '../../services/console/src/new/sentence.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { answering, startPageSite, type PageSite } from './kit/page-site.js';

const tried = z.object({
  data: z.object({
    outcome: z.boolean().nullable(),
    values: z.record(z.string(), z.unknown()),
    error: z.object({ reason: z.string(), message: z.string(), hint: z.string().optional() }).nullable(),
  }),
});
type Tried = z.infer<typeof tried>['data'];

let installation: Installation;
let site: PageSite;
let secure: Loopback;

beforeAll(async () => {
  site = await startPageSite();
  secure = await serveHttps((_request, response) => response.setHeader('content-type', 'text/html').end('<p>here'));
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), secure.close()]);
});

async function tryOn(
  sentence: Sentence,
  body: string,
  type = 'text/html; charset=utf-8',
  status = 200,
): Promise<Tried> {
  site.serve('/page', answering(status, body, { 'content-type': type }));
  const json = {
    name: 'Sentence',
    url: site.address('/page'),
    evaluationFunction: printSentence(sentence),
    fetch: { mode: 'http', ...fetchOf(sentence) },
  };
  const reply = await installation.api.send('/api/notifications/test', { json });
  return tried.parse(reply.body).data;
}

const number = (compare: 'below' | 'above' | 'atMost' | 'atLeast' | 'exactly', limit: number): Sentence => ({
  kind: 'number',
  selector: '.price',
  locale: 'de',
  compare,
  limit,
});
const price = (written: string): string => `<p class="price">${written} €</p>`;
const missing = '<p>nothing of the kind</p>';
const list = (count: number): string => `<ul>${'<li class="item">x</li>'.repeat(count)}</ul>`;
const says = { kind: 'says', selector: '#stock', text: 'in stock' } as const;

describe('a sentence about one page', () => {
  it.each<readonly [string, Sentence, string, string]>([
    ['a number below', number('below', 1_400), price('1.299,00'), price('1.400,00')],
    ['a number above', number('above', 1_400), price('1.400,01'), price('1.400,00')],
    ['a number at most', number('atMost', 1_400), price('1.400,00'), price('1.400,01')],
    ['a number at least', number('atLeast', 1_400), price('1.400,00'), price('1.399,99')],
    ['a number exactly', number('exactly', 1_400), price('1.400,00'), price('1.400,01')],
    ['a text', { ...says, isNegated: false }, '<p id="stock">Now In\n Stock!</p>', '<p id="stock">sold out</p>'],
    ['a text no longer', { ...says, isNegated: true }, '<p id="stock">sold out</p>', '<p id="stock">in stock</p>'],
    [
      'a pattern',
      { kind: 'matches', selector: 'h1', pattern: String.raw`^Version \d+\.\d+$` },
      '<h1>version 1.2</h1>',
      '<h1>Version one</h1>',
    ],
  ])('holds, does not hold, and is an error where the element is gone: %s', async (_, sentence, yes, no) => {
    expect(await tryOn(sentence, yes)).toMatchObject({ outcome: true, error: null });
    expect(await tryOn(sentence, no)).toMatchObject({ outcome: false, error: null });
    const gone = await tryOn(sentence, missing);
    expect(gone.outcome).toBeNull();
    expect(gone.error?.reason).toMatch(/^(number_not_found|threw)$/);
    const words = `${gone.error?.message} ${gone.error?.hint}`;
    expect(words).toContain('selector' in sentence ? sentence.selector : '');
  });

  it.each<readonly [string, Sentence, string, string]>([
    ['an element appears', { kind: 'appears', selector: '.sale', isGone: false }, '<b class="sale">', missing],
    ['an element is gone', { kind: 'appears', selector: '.sale', isGone: true }, missing, '<b class="sale">'],
    ['more than so many', { kind: 'count', selector: '.item', isMore: true, count: 2 }, list(3), list(2)],
    ['fewer than so many', { kind: 'count', selector: '.item', isMore: false, count: 2 }, list(1), list(2)],
    ['all but one', { kind: 'count', selector: 'li:not(.ad)', isMore: true, count: 0 }, '<li>', '<li class="ad">'],
    ['of two places', { kind: 'count', selector: 'h1, h2', isMore: true, count: 1 }, '<h1>a</h1><h2>b</h2>', '<h1>a'],
    ['the whole page', { kind: 'pageSays', text: 'it\'s "here"', isNegated: false }, `<p>It's "here"`, missing],
    ['the page no longer', { kind: 'pageSays', text: 'sold out', isNegated: true }, missing, '<p>Sold out</p>'],
  ])('holds and does not hold, whatever else is there: %s', async (_, sentence, yes, no) => {
    expect(await tryOn(sentence, yes)).toMatchObject({ outcome: true, error: null });
    expect(await tryOn(sentence, no)).toMatchObject({ outcome: false, error: null });
  });

  it('about JSON goes by the path, and a path that is not there is an error', async () => {
    const sentence = { kind: 'json', path: 'data.0.price', compare: 'below', limit: 5 } as const;
    const json = 'application/json';
    expect(await tryOn(sentence, '{"data":[{"price":4.5}]}', json)).toMatchObject({ outcome: true, error: null });
    expect(await tryOn(sentence, '{"data":[{"price":5}]}', json)).toMatchObject({ outcome: false, error: null });
    const gone = await tryOn(sentence, '{"data":[]}', json);
    expect([gone.outcome, gone.error?.reason]).toEqual([null, 'threw']);
  });

  it('about the status holds for the one it names, and every status is an answer to it', async () => {
    const sentence = { kind: 'status', status: 404 } as const;
    expect(await tryOn(sentence, missing, 'text/html', 404)).toMatchObject({ outcome: true, error: null });
    expect(await tryOn(sentence, missing, 'text/html', 200)).toMatchObject({ outcome: false, error: null });
    expect(await tryOn(sentence, missing, 'text/html', 503)).toMatchObject({ outcome: false, error: null });
  });

  it('about the certificate counts its days, and a page without one is an error', async () => {
    const tryDays = async (days: number): Promise<Tried> => {
      const json = {
        name: 'Certificate',
        url: secure.origin,
        evaluationFunction: printSentence({ kind: 'certificate', days }),
        fetch: { tls: { ca: testCertificate } },
      };
      return tried.parse((await installation.api.send('/api/notifications/test', { json })).body).data;
    };
    expect(await tryDays(14)).toMatchObject({ outcome: false, error: null });
    expect(await tryDays(100_000)).toMatchObject({ outcome: true, error: null });
    const plain = await tryOn({ kind: 'certificate', days: 14 }, missing);
    expect([plain.outcome, plain.error?.reason]).toEqual([null, 'threw']);
  });
});

describe('a sentence about a page and the one before it', () => {
  /** The outcome of one run after the other. */
  async function outcomesOn(
    name: string,
    condition: Condition,
    bodies: readonly string[],
  ): Promise<readonly unknown[]> {
    site.serve(`/${name}`, answering(200, missing));
    const { id } = await installation.api.create({
      name,
      url: site.address(`/${name}`),
      evaluationFunction: printCondition(condition),
      schedule: { type: 'manual' },
    });
    const outcomes: unknown[] = [];
    for (const body of bodies) {
      site.serve(`/${name}`, answering(200, body, { 'content-type': 'text/html; charset=utf-8' }));
      const run = await installation.api.execute(id, 30);
      outcomes.push(run.error === null ? run.outcome : run.error.reason);
    }
    return outcomes;
  }
  const changes = (by: number, isPercent: boolean): Sentence => ({
    kind: 'numberChanges',
    selector: '.price',
    locale: 'de',
    by,
    isPercent,
  });

  it('holds where a number moved by more than so many units or per cent, in either direction', async () => {
    const bodies = [price('100,00'), price('104,00'), price('110,00'), price('100,00'), missing];
    expect(await outcomesOn('units', changes(5, false), bodies)).toEqual([
      false,
      false,
      true,
      true,
      'number_not_found',
    ]);
    expect(await outcomesOn('percent', changes(5, true), bodies)).toEqual([
      false,
      false,
      true,
      true,
      'number_not_found',
    ]);
  });

  it('holds where a list has a new item, never for the first look, and an empty list is an error', async () => {
    const items = (...names: readonly string[]): string =>
      `<ul>${names.map((name) => `<li>${name}</li>`).join('')}</ul>`;
    const bodies = [items('a', 'b'), items('a', 'b'), items('c', 'a', 'b'), items('b', 'a'), missing];
    const sentence = { kind: 'newItem', selector: 'li' } as const;
    expect(await outcomesOn('items', sentence, bodies)).toEqual([false, false, true, false, 'threw']);
  });

  it('holds where new text says it, and not for text that was there', async () => {
    const bodies = ['<pre>old\nsale</pre>', '<pre>old\nsale</pre>', '<pre>old\nsale\nnew Sale</pre>', missing];
    const sentence = { kind: 'newText', selector: 'pre', text: 'sale' } as const;
    expect(await outcomesOn('text', sentence, bodies)).toEqual([false, false, true, 'threw']);
  });

  it('reports the text where anything counts as a change, whitespace folded', async () => {
    const bodies = ['<p id="t">a  b</p>', '<p id="t">a\nb</p>', missing];
    expect(await outcomesOn('changes', { kind: 'changes', selector: '#t' }, bodies)).toEqual([true, true, 'threw']);
  });

  it('joined with another is asked whatever the other answers, so that what it remembers is whole', async () => {
    const items = (stock: string, ...names: readonly string[]): string =>
      `<p id="stock">${stock}</p><ul>${names.map((name) => `<li>${name}</li>`).join('')}</ul>`;
    const bodies = [
      items('sold out', 'a'),
      items('sold out', 'b', 'a'),
      items('in stock', 'b', 'a'),
      items('in stock', 'c', 'b'),
      '<p id="stock">in stock</p>',
    ];
    const parts = [
      { ...says, isNegated: false },
      { kind: 'newItem', selector: 'li' },
    ] as const;
    expect(await outcomesOn('all', { kind: 'all', parts }, bodies)).toEqual([false, false, false, true, 'threw']);
    expect(await outcomesOn('any', { kind: 'any', parts }, bodies)).toEqual([false, true, true, true, 'threw']);
  });
});

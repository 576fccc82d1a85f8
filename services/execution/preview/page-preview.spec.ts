import { afterAll, describe, expect, it } from '@jest/globals';
import { mostListedElements, pagePreview, type ListedElement } from '#contracts/page-preview';
import type { LoadedPage } from '#page-loader/page-loader';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { defaultSandboxLimits } from '#sandbox/sandbox';
import { failedPreview, listedPreview } from './page-preview.js';

const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
const limits = defaultSandboxLimits;
afterAll(() => sandbox.close());

let pages = 0;

function loaded(html: string, more: Partial<LoadedPage> = {}): LoadedPage {
  pages += 1;
  return {
    ok: true,
    url: 'https://example.com/',
    finalUrl: 'https://example.com/kettle',
    status: 200,
    headers: {},
    contentKind: 'html',
    encoding: 'UTF-8',
    body: Buffer.from(html),
    contentHash: `sha256:${pages}`,
    attempts: 1,
    fetchMs: 2,
    ...more,
  };
}

const listed = (html: string) => listedPreview({ sandbox, limits }, loaded(html), null);

async function selectorsOf(html: string): Promise<readonly string[]> {
  return (await listed(html)).elements.map(({ selector }) => selector);
}

/** How many elements each selector matches in the document, by the engine that runs have. */
async function matchesOf(html: string, elements: readonly ListedElement[]): Promise<unknown> {
  const selectors = JSON.stringify(elements.map(({ selector }) => selector));
  const code = `page.report('counts', ${selectors}.map((one) => document.querySelectorAll(one).length)); return true;`;
  const given = { form: 'body', previous: null, state: {}, seed: '', nowMs: 0, limits } as const;
  const { values } = await sandbox.evaluate({ code, page: loaded(html), ...given });
  return values['counts'];
}

const shop = (price: string, before = '') => `<!doctype html><html><head><title>Red kettle</title></head><body>
  <header><a href="/">Home</a></header>${before}
  <main><h1>Red kettle</h1>
    <div class="sc-bdVaJa css-1q2w3e product is-active"><span class="price">${price}</span>
    <button data-testid="buy" id=":r1:">Buy</button></div>
    <ul><li>One</li><li>Two <b>bold</b></li></ul>
    <label for="amount">Amount</label><input id="amount" name="amount" type="number">
    <input name="q" placeholder="Search"><img src="a.png" alt="A kettle">
    <div hidden>secret <p>not shown</p></div><script>var hidden = 1</script>
  </main></body></html>`;

describe('the elements of a page', () => {
  it('are those with text of their own, controls and images, with role and name', async () => {
    const preview = await listed(shop('39 €'));
    expect(pagePreview.parse({ ...preview, screenshot: null })).toMatchObject({
      page: { finalUrl: 'https://example.com/kettle', status: 200, title: 'Red kettle' },
      document: shop('39 €'),
      error: null,
    });
    expect(preview.elements.map(({ selector, text, role, name }) => [selector, text, role, name])).toEqual([
      ['header > a:nth-of-type(1)', 'Home', 'link', 'Home'],
      ['h1', 'Red kettle', 'heading', 'Red kettle'],
      ['.price', '39 €', null, null],
      ['[data-testid="buy"]', 'Buy', 'button', 'Buy'],
      ['main > ul:nth-of-type(1) > li:nth-of-type(1)', 'One', 'listitem', null],
      ['main > ul:nth-of-type(1) > li:nth-of-type(2)', 'Two bold', 'listitem', null],
      ['main > ul:nth-of-type(1) > li:nth-of-type(2) > b:nth-of-type(1)', 'bold', null, null],
      ['main > label:nth-of-type(1)', 'Amount', null, null],
      ['#amount', '', 'spinbutton', 'Amount'],
      ['input[name="q"]', '', 'textbox', 'Search'],
      ['img[alt="A kettle"]', '', 'img', 'A kettle'],
    ]);
    expect(preview.elements.every(({ box }) => box === null)).toBe(true);
  });

  it('have the same selectors the next time, whatever the watched text is and whatever came before it', async () => {
    const first = await selectorsOf(shop('39 €'));
    expect(await selectorsOf(shop('39 €'))).toEqual(first);
    expect(await selectorsOf(shop('1.299,00 € today only'))).toEqual(first);
    expect(await selectorsOf(shop('39 €', '<div><p>Sale!</p></div>'))).toEqual(expect.arrayContaining([...first]));
  });

  it.each([
    ['ids that stand twice', '<p id="a">1</p><p id="a">2</p>'],
    ['an id that a selector must escape', '<p id="1st">1</p><p id="a.b">2</p><p id="ä">3</p><p id="-">4</p>'],
    ['values with quotes, backslashes and brackets', `<img alt='a"b\\]'><img alt="x"><img alt='a"b\\]]'>`],
    ['a line break in a value', '<img alt="a\nb"><input placeholder="a\tb">'],
    ['names in upper case without a doctype', '<p class="Price">1</p><p class="price">2</p><p id="X1y">a</p>'],
    [
      'elements of SVG',
      '<svg role="img" aria-label="a"><linearGradient id="g"/><text>x</text></svg><svg aria-label="a"/>',
    ],
    ['a custom element', '<my-price.x><b>1</b></my-price.x><my-price.x><b>2</b></my-price.x>'],
    ['templates and tables', '<template><p>no</p></template><table><tr><td>1<td>2<tr><td>3</table>'],
    ['text in the body', 'a<b>c</b>d'],
    ['hostile classes', '<p class="a\\:b {} */ // <x>">1</p><p class="__proto__ constructor">2</p>'],
  ])('each match one element alone: %s', async (_what, html) => {
    const { elements, error } = await listed(html);
    expect(error).toBeNull();
    expect(elements).not.toEqual([]);
    expect(await matchesOf(html, elements)).toEqual(elements.map(() => 1));
  });

  it('are named by nothing that a build or a script has made, nor by what comes and goes', async () => {
    const made = ['css-1q2w3e', 'sc-bdVaJa', 'card_a1B2c', 'item-20261124', 'is-active', 'md:flex', 'mt-4', 'ember42'];
    for (const name of made) {
      expect([name, await selectorsOf(`<main><p class="${name}">1</p></main>`)]).toEqual([
        name,
        ['main > p:nth-of-type(1)'],
      ]);
    }
    const ids = await selectorsOf(made.map((name) => `<p id="${name}">1</p>`).join(''));
    expect(ids.filter((selector) => selector.startsWith('#'))).toEqual(['#is-active', '#mt-4']);
    expect(await selectorsOf('<p class="total">1</p>')).toEqual(['.total']);
  });

  it('are no more than a thousand, and each text no longer than 200 characters', async () => {
    const { elements, error } = await listed(`<p>${'word '.repeat(60)}</p>`.repeat(1_200));
    expect(error).toBeNull();
    expect(elements).toHaveLength(mostListedElements);
    expect(elements[0]?.text).toHaveLength(200);
  });

  it('are none where the page is no markup', async () => {
    const page = loaded('{"price": 3}', { contentKind: 'json' });
    expect(await listedPreview({ sandbox, limits }, page, null)).toEqual({
      page: { finalUrl: 'https://example.com/kettle', status: 200, title: '' },
      document: '{"price": 3}',
      elements: [],
      error: null,
    });
  });

  it('lie where a browser left their places, which the document then no longer shows', async () => {
    const page = loaded('<p data-box-7="1,2,30.5,4">a</p><p data-not-shown="">b</p><p> data-box-7="x"</p>');
    const { elements, document } = await listedPreview({ sandbox, limits }, page, 'data-box-7');
    expect(elements).toEqual([
      {
        selector: 'body > p:nth-of-type(1)',
        text: 'a',
        role: 'paragraph',
        name: null,
        box: { x: 1, y: 2, width: 30.5, height: 4 },
      },
    ]);
    expect(document).toBe('<p>a</p><p data-not-shown="">b</p><p> data-box-7="x"</p>');
  });
});

describe('a page that cannot be shown', () => {
  it('answers why, and what to do', () => {
    const failure = { ok: false, reason: 'dns_failed', message: 'No such host.', status: null } as const;
    expect(failedPreview({ ...failure, finalUrl: 'https://x.example/', attempts: 1, fetchMs: 1 })).toEqual({
      page: null,
      document: null,
      screenshot: null,
      elements: [],
      error: { reason: 'dns_failed', message: 'No such host.', hint: expect.stringContaining('spelt') },
    });
  });

  it('says so where it takes too much to be parsed', async () => {
    const { page, elements, error } = await listed('<div>'.repeat(2_000));
    expect([page?.status, elements, error?.reason]).toEqual([200, [], 'page_too_complex']);
  });
});

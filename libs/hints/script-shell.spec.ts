import { describe, expect, it } from '@jest/globals';
import { isScriptShell } from './script-shell.js';

const script = '<script type="module" src="/assets/index-4f3a.js"></script>';

describe('a page that scripts fill', () => {
  it.each([
    [
      'of Vite and React',
      `<!doctype html><html><head><title>Shop</title>${script}</head><body><div id="root"></div></body></html>`,
    ],
    ['of Angular', `<!doctype html><title>Shop</title><body><app-root></app-root>${script}`],
    [
      'of Vue',
      `<body><noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled.</strong></noscript><div id=app></div>${script}`,
    ],
    ['of Nuxt', `<body><div id="__nuxt"><!-- spinner --></div><script>window.__NUXT__={}</script>`],
    [
      'with a spinner',
      `<body><noscript>You need to enable JavaScript to run this app.</noscript><main><p>Loading …</p></main>${script}`,
    ],
  ])('is a shell %s', (_, html) => expect(isScriptShell(html)).toBe(true));

  it.each([
    ['has its content in the mount', `<body><div id="root"><h1>Kettle</h1><p class="price">39,90 €</p></div>${script}`],
    [
      'says something beside an empty mount',
      `<body><div id="app"></div><p>${'Kettles and more. '.repeat(20)}</p>${script}`,
    ],
    ['has no scripts', '<body><div id="root"></div>'],
    ['is short and whole', `<body><p>in stock</p>${script}`],
    ['is large', `<body><div id="root"></div>${script}${'<i></i>'.repeat(60_000)}`],
  ])('is none where it %s', (_, html) => expect(isScriptShell(html)).toBe(false));

  it('is told in time whatever the page', () => {
    const hostile = [
      '<div id="root"'.repeat(20_000),
      '<noscript>'.repeat(20_000),
      '<!--'.repeat(60_000),
      '<script '.repeat(30_000),
    ];
    for (const html of hostile) expect(isScriptShell(`<script></script>${html}`)).toBe(false);
  });
});

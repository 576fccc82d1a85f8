/** Every page of the console by the keyboard alone, on a narrow phone and on a desk: each control is come to, and seen. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { leave, openAsOwner, openSeat, type Seat } from './kit/browser.js';
import { closeConsole, everyAddress, openConsole } from './kit/console.js';
import type { Installation } from './kit/installation.js';
import { html } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import type { World } from './kit/watch.js';

let world: World;
let installation: Installation;
let browser: Browser;
let seat: Seat;
let addresses: readonly string[];

beforeAll(async () => {
  ({ world, installation, browser } = await openConsole());
  world.site.serve('/page', html('in stock'));
  const actions = [
    { type: 'webhook', config: { url: world.hooks.address('/hook') } },
    { type: 'ntfy', config: { topic: 'shop', token: 'tk_stored' } },
  ];
  const { id } = await installation.api.create({
    ...byHand(world.site.address('/page')),
    evaluationFunction: "return document.querySelector('p') !== null;",
    tags: ['shop'],
    actions,
  });
  await installation.api.execute(id, 30);
  const json = { name: 'ops', type: 'webhook', config: { url: world.hooks.address('/ops') } };
  await installation.api.send('/api/contacts', { json });
  await installation.api.send('/api/keys', { json: { name: 'Terraform', scopes: ['read'] } });
  addresses = await everyAddress(installation, id);
});

afterEach(() => leave(seat));

afterAll(() => closeConsole({ world, installation, browser }));

/** More Tabs than the longest page has controls. */
const mostSteps = 250;

/**
 * Marks what has the focus; says what is wrong with how it is seen, '' for nothing, null where the round is over. A field
 * such as one for a time takes several Tabs itself.
 */
const look = `(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  await frame();
  const here = document.activeElement;
  // Between the end of the page and its beginning nothing has the focus.
  if (here === null || here === document.body) return '';
  if (here.dataset.walked === 'here') return '';
  if (here.dataset.walked === 'yes') return null;
  for (const before of document.querySelectorAll('[data-walked=here]')) before.dataset.walked = 'yes';
  here.dataset.walked = 'here';
  const name = here.outerHTML.slice(0, 140);
  const { outlineStyle, outlineWidth } = getComputedStyle(here.closest('.cm-editor') ?? here);
  const faults = [];
  if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) faults.push('its focus is not seen');
  // A link may go over several lines.
  const { left, top, width, height } = here.getClientRects()[0];
  if (left < -1 || left + width > innerWidth + 1) faults.push('it is beside the screen');
  const shown = document.elementFromPoint(left + width / 2, top + Math.min(height, 40) / 2);
  if (shown === null || !(here.contains(shown) || shown.contains(here))) faults.push('it is behind ' + (shown?.outerHTML.slice(0, 80) ?? 'the edge'));
  return faults.length === 0 ? '' : name + ': ' + faults.join(', ');
})()`;

/** Controls that were not come to, though they are shown and on. */
const missed = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"], [contenteditable="true"]')]
  .filter((one) => one.tabIndex >= 0 && !one.disabled && one.type !== 'hidden' && one.checkVisibility({ visibilityProperty: true }))
  .filter((one) => one.closest('[inert], [aria-hidden="true"]') === null && one.dataset.walked === undefined)
  .map((one) => one.outerHTML.slice(0, 140) + ': Tab does not come to it')`;

async function walk(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (let step = 0; step < mostSteps; step += 1) {
    // Tab indents in the editor of code, which says below it how it is left.
    if (await page.locator('.cm-content:focus').isVisible()) await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    const said = await page.evaluate<string | null>(look);
    if (said === null) break;
    if (said !== '') found.push(said);
  }
  return [...found, ...(await page.evaluate<string[]>(missed))];
}

describe.each([
  ['a phone of 360 px', { width: 360, height: 740 }],
  ['a desk', { width: 1_440, height: 900 }],
] as const)('on %s', (_where, viewport) => {
  it('Tab comes to each control of every page, which is in sight then, and marked', async () => {
    seat = await openSeat(browser, { viewport });
    const { page } = seat;
    await openAsOwner(seat, installation, '/settings/you');
    const found: string[] = [];
    for (const address of addresses) {
      await page.goto(new URL(address, installation.url).href);
      await page.locator('main h1').first().waitFor();
      await page.locator('.skeleton, .page-skeleton').first().waitFor({ state: 'detached' });
      found.push(...(await walk(page)).map((fault) => `${address}: ${fault}`));
    }
    expect(found).toEqual([]);
  }, 240_000);
});

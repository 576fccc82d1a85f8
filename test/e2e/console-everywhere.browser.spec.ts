/** Every page of the console, in both themes, on a desk and on a phone: for everybody, and whatever names stand on it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
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

const names = [
  '<img src=x onerror="document.title=1">"><script>document.title="owned"</script>',
  'x'.repeat(200),
  'عربي عبري שלום mixed with English',
  '🦦'.repeat(40),
  "'; DROP TABLE tasks; -- {{ 7*7 }} ${7*7} %s",
];

beforeAll(async () => {
  ({ world, installation, browser } = await openConsole());
  world.site.serve('/page', html('in stock'));
  const made = [];
  for (const name of names) {
    const task = await installation.api.create({
      ...byHand(world.site.address('/page')),
      name,
      description: name,
      tags: ['a-tag', 'another.tag', 'x'.repeat(50)],
      actions: [{ type: 'webhook', config: { url: world.hooks.address('/hook') } }],
    });
    made.push(task.id);
    await installation.api.execute(task.id, 30);
  }
  const [id = ''] = made;
  const json = { name: 'ops', type: 'webhook', config: { url: world.hooks.address('/ops') } };
  await installation.api.send('/api/contacts', { json });
  addresses = await everyAddress(installation, id);
});

afterEach(() => leave(seat));

afterAll(() => closeConsole({ world, installation, browser }));

/** Everything that a page waits for is there. */
async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.locator('.skeleton, .page-skeleton').first().waitFor({ state: 'detached' });
}

describe.each([
  ['a desk, light', { colorScheme: 'light', viewport: { width: 1_440, height: 900 } }],
  ['a desk, dark', { colorScheme: 'dark', viewport: { width: 1_440, height: 900 } }],
  ['a phone, light', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
  ['a phone, dark, in German', { colorScheme: 'dark', viewport: { width: 360, height: 740 } }],
] as const)('on %s', (where, options) => {
  it('every page is for everybody by WCAG 2.2 AA, no wider than the screen, and makes nothing of names but text', async () => {
    seat = await openSeat(browser, options);
    const { page } = seat;
    await openAsOwner(seat, installation, '/settings/you');
    if (where.includes('German')) {
      await page.getByLabel('Language').selectOption('de');
      await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
    }
    const found: string[] = [];
    for (const address of addresses) {
      await page.goto(new URL(address, installation.url).href);
      await settled(page);
      found.push(...(await violations(page)).map((violation) => `${address}: ${violation}`));
      const wider = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      if (wider > 0) found.push(`${address}: ${wider} px wider than the screen`);
      expect(await page.title()).not.toMatch(/^(1|owned)/);
    }
    expect(found).toEqual([]);
  }, 240_000);
});

describe('a name', () => {
  it('that holds markup, 200 characters or emoji is shown as it is, in the list and on its page', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/tasks');
    for (const name of names) await page.getByRole('link', { name, exact: true }).waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    await page.getByRole('link', { name: names[0] ?? '', exact: true }).click();
    await page.getByRole('heading', { name: names[0] ?? '', exact: true }).waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
  });

  it('that turns text around is refused in words, at its field', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/new');
    await page.getByLabel('Address of the page').fill(world.site.address('/page'));
    await page.getByRole('button', { name: 'Load', exact: true }).click();
    await page.locator('.page-view').getByText('in stock').click();
    await page.getByLabel('Name', { exact: true }).fill('price\u202Eecirp');
    await page.getByRole('button', { name: 'Save and start' }).click();
    await page.getByRole('alert').first().waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('price\u202Eecirp');
    await page.getByRole('button', { name: 'Discard' }).click();
  });
});

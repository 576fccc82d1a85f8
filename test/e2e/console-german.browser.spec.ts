/** The console in German: what the server refuses is said in German too, as far as there are words for it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { closeConsole, openConsole } from './kit/console.js';
import type { Installation } from './kit/installation.js';
import { html } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import type { World } from './kit/watch.js';

let world: World;
let installation: Installation;
let browser: Browser;
let seat: Seat;

beforeAll(async () => {
  ({ world, installation, browser } = await openConsole());
  world.site.serve('/page', html('in stock'));
});

afterEach(() => leave(seat));

afterAll(() => closeConsole({ world, installation, browser }));

const go = (page: Page, path: string): Promise<unknown> => page.goto(new URL(path, installation.url).href);

async function openInGerman(): Promise<Page> {
  seat = await openSeat(browser);
  const { page } = seat;
  await openAsOwner(seat, installation, '/settings/you');
  await page.getByLabel('Language').selectOption('de');
  await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
  return page;
}

describe('a refusal', () => {
  it('is told in German, with the fields and values of the server, at the form and at its field', async () => {
    const page = await openInGerman();
    await go(page, '/settings/keys');
    await page.getByLabel('Name', { exact: true }).fill('Terraform');
    await page.getByLabel('Von').fill('10.0.0.0/99');
    await page.getByRole('button', { name: 'Schlüssel anlegen' }).click();
    const said = 'muss eine Adresse oder ein Bereich sein, etwa 10.0.0.0/8';
    await page.getByRole('alert').getByText(`allowedCidrs[0] ${said}.`).waitFor();
    await page.locator('.field .fault').getByText(said).waitFor();
    expect(await violations(page)).toEqual([]);
    await go(page, '/tasks/ntf_01kbq8t1v4e7k2m9x3r5w6y8za');
    await page.getByRole('alert').getByText('Diese Aufgabe gibt es nicht.').waitFor();
  });

  it('is told in German where it comes as a warning of a task', async () => {
    const { id } = await installation.api.create({ ...byHand(world.site.address('/page')), actions: [] });
    const page = await openInGerman();
    await go(page, `/tasks/${id}`);
    await page.getByText('Keine Aktion ist eingeschaltet').waitFor();
  });

  it('that the console knows no words for is told in those of the server', async () => {
    const page = await openInGerman();
    await go(page, '/settings/keys');
    const error = { code: 'VALIDATION_ERROR', reason: 'of_tomorrow', message: 'The moon is full.', details: [] };
    await page.route('**/api/keys', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 400, json: { success: false, error } })
        : route.continue(),
    );
    await page.getByLabel('Name', { exact: true }).fill('Terraform');
    await page.getByRole('button', { name: 'Schlüssel anlegen' }).click();
    await page.getByRole('alert').getByText('The moon is full.').waitFor();
  });

  it('is told in the words of the server where the German ones cannot be loaded', async () => {
    const page = await openInGerman();
    await page.route(/wording-de/, (route) => route.fulfill({ status: 404, body: '' }));
    await go(page, '/tasks/ntf_01kbq8t1v4e7k2m9x3r5w6y8za');
    await page.getByRole('alert').getByText('There is no such notification.').waitFor();
  });

  it('brings no German words to a reader of English', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await openAsOwner(seat, installation, '/tasks/ntf_01kbq8t1v4e7k2m9x3r5w6y8za');
    await page.getByRole('alert').getByText('There is no such notification.').waitFor();
    expect(asked.filter((url) => /wording-de|\/de-/.test(url))).toEqual([]);
  });
});

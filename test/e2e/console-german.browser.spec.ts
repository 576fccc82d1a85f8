/** The console in German: what the server refuses is said in German too, as far as there are words for it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { closeConsole, openConsole } from './kit/console.js';
import type { Installation } from './kit/installation.js';
import { html } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';
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

describe('a run that failed', () => {
  it('is told in German with what to do, on its own page and where it is explained', async () => {
    const { id } = await installation.api.create({ ...byHand(world.site.address('/nowhere')), actions: [] });
    const run = await installation.api.execute(id);
    const page = await openInGerman();
    await go(page, `/executions/${run.id}`);
    const failure = page.getByRole('alert').filter({ hasText: 'Der Server hat mit 404' });
    await failure.getByText('Als Seite gilt, was einen Status aus fetch.acceptStatus hat').waitFor();
    expect(await violations(page)).toEqual([]);
    await go(page, `/tasks/${id}`);
    const chain = page.locator('.chain');
    await chain.getByText('Der Server hat mit 404').waitFor();
    await chain.getByText('Erst ein gescheiterter Lauf; ab 3 in Folge').waitFor();
    expect(await chain.locator('[lang=en]').count()).toBe(0);
  });

  it('keeps what the code itself threw in its own words, marked as such, beside the German advice', async () => {
    const watch = { ...byHand(world.site.address('/page')), actions: [] };
    const { id } = await installation.api.create({
      ...watch,
      evaluationFunction: "return document.querySelector('#none').textContent === 'a';",
    });
    const run = await installation.api.execute(id);
    const page = await openInGerman();
    await go(page, `/executions/${run.id}`);
    const failure = page.getByRole('alert');
    await failure.getByText('fand nichts: kein Element passt auf').waitFor();
    expect(await failure.locator('[lang=en]').textContent()).toMatch(/^TypeError: /);
  });

  it('is told in German where a page is loaded for a new task', async () => {
    const page = await openInGerman();
    await go(page, '/new');
    await page.getByRole('textbox').first().fill(world.site.address('/nowhere'));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Der Server hat mit 404').waitFor();
    await page.getByRole('alert').getByText('Als Seite gilt').waitFor();
  });
});

describe('a message that did not arrive', () => {
  it('says in German why, and what each try was answered', async () => {
    world.hooks.reply('/gone', 410);
    const actions = [{ type: 'webhook', config: { url: world.hooks.address('/gone') } }];
    const { id } = await installation.api.create({ ...byHand(world.site.address('/page')), actions });
    await installation.api.execute(id, 30, { force: true });
    const delivery = await until('the message was refused', async () =>
      (await installation.api.deliveries(id)).find(({ state }) => state === 'failed'),
    );
    const page = await openInGerman();
    await go(page, `/deliveries/${delivery.id}`);
    await page.getByText('Den Empfänger gibt es nicht mehr; die Aktion wurde ausgeschaltet.').waitFor();
    await page.getByRole('cell').getByText('Der Empfänger hat mit 410 geantwortet: es gibt ihn nicht mehr').waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

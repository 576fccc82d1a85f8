/** Making and changing in the console: the first task without a line of code, an edit that somebody else was faster with, a key. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchChromium, leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { createInstallation } from './kit/create-installation.js';
import { byHand } from './kit/settings.js';
import { startWorld, Watch, type World } from './kit/watch.js';

let world: World;
let watch: Watch;
let browser: Browser;
let seat: Seat;

const shop = (price: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Aeron chair</title><h1>Aeron chair</h1><p class="product-price">${price} €</p><p id="stock">In stock: 14</p>`;

beforeAll(async () => {
  world = await startWorld();
  const asRoot = process.getuid?.() === 0 ? { BROWSER_NO_SANDBOX: 'true' } : {};
  const settings = { BROWSER: process.env['CHROMIUM'] ?? 'auto', ...asRoot };
  watch = new Watch(await createInstallation({ smtpUrl: world.mails.url, settings }), world, 'console-edit');
  await watch.installation.start();
  browser = await launchChromium();
});

afterEach(() => leave(seat));

afterAll(async () => {
  await browser.close();
  await watch.installation.remove();
  await world.close();
});

async function tasks(): Promise<readonly { readonly id: string; readonly evaluationFunction: string }[]> {
  const { body } = await watch.installation.api.send('/api/notifications');
  return (body as { readonly data: readonly { readonly id: string; readonly evaluationFunction: string }[] }).data;
}

describe('a first task', () => {
  it('is made from an address and a click, tried before it is saved, and runs', async () => {
    world.site.serve('/aeron', (_request, response) =>
      response.setHeader('content-type', 'text/html').end(shop('1.299,00')),
    );
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, '/new');
    await page.getByLabel('Address of the page').fill(world.site.address('/aeron'));
    await page.getByRole('button', { name: 'Load', exact: true }).click();
    await page.locator('.page-view').getByText('1.299,00').click();
    await page.getByLabel('Limit').fill('1400');
    await page.getByText('tried just now').waitFor();
    await page.getByText('It is met already').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Aeron chair');
    await page.getByRole('button', { name: 'Save and start' }).click();
    await page.getByRole('heading', { name: 'Aeron chair' }).waitFor();
    await page.getByText('Met', { exact: true }).first().waitFor();
    const [made, ...others] = await tasks();
    await page
      .locator('nav .count')
      .getByText(String(1 + others.length), { exact: true })
      .waitFor();
    expect(made?.evaluationFunction).toBe(
      "const value = page.number(document.querySelector('.product-price'), 'de');\npage.report('value', value);\nreturn value < 1400;",
    );
  });

  it('is picked wider, narrower, as all that are alike, and by a second way', async () => {
    const news = ['One', 'Two', 'Three'].map((one) => `<li class="entry"><a href="/${one}">${one} thing</a></li>`);
    const body = `<!doctype html><title>News</title><ul class="news">${news.join('')}</ul><p id="stock" class="availability">In stock</p>`;
    world.site.serve('/news', (_request, response) => response.setHeader('content-type', 'text/html').end(body));
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, '/new');
    await page.getByLabel('Address of the page').fill(world.site.address('/news'));
    await page.getByRole('button', { name: 'Load', exact: true }).click();
    const view = page.locator('.page-view');
    const chosen = page.locator('.chosen-selector');
    await view.getByText('Two thing').click();
    await page.getByText('1 match').waitFor();
    const first = await chosen.innerText();
    await page.getByRole('button', { name: 'wider' }).click();
    await page.getByText('by place').or(page.getByText('by class')).first().waitFor();
    expect(await chosen.innerText()).not.toBe(first);
    await page.getByRole('button', { name: 'narrower' }).click();
    await chosen.getByText('a', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'more like this' }).click();
    await page.getByText('3 matches').waitFor();
    expect(await page.getByLabel('What is looked at').inputValue()).toBe('newItem');
    await page.getByRole('button', { name: 'also, not this' }).click();
    await view.getByText('Two thing').click();
    await page.getByText('2 matches').waitFor();
    await page.getByRole('button', { name: 'also, not this' }).click();
    await view.getByText('In stock').click();
    await chosen.getByText('#stock').waitFor();
    await page.getByText('A second way to it, by class').waitFor();
    await page.getByRole('button', { name: 'use it instead' }).click();
    await chosen.getByText('.availability').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  it('is kept as it was typed over a reload, until it is saved or discarded', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, '/new');
    await page.getByLabel('Name', { exact: true }).fill('Half a thought');
    await page.reload();
    await page.getByLabel('Name', { exact: true }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a thought');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.waitForURL(/\/tasks$/);
  });

  it('keeps what is typed into its actions, but no secret of theirs', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, '/new');
    const channel = page.getByLabel('Channel');
    await channel.selectOption('ntfy');
    await page.getByLabel('topic').fill('shop-prices');
    await page.getByLabel('token').fill('tk_canary');
    await page.getByLabel('title').fill('The price fell');
    await page.waitForFunction(() => Object.values(localStorage).some((text) => String(text).includes('fell')));
    expect(await page.evaluate(() => Object.values(localStorage).join())).not.toContain('canary');
    await page.reload();
    await page.getByLabel('topic').waitFor();
    expect(await page.getByLabel('topic').inputValue()).toBe('shop-prices');
    expect(await page.getByLabel('token').inputValue()).toBe('');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.waitForURL(/\/tasks$/);
  });
});

describe('an edit', () => {
  it('shows both versions where somebody else saved meanwhile, and keeps what was typed', async () => {
    const [task] = await tasks();
    if (task === undefined) throw new Error('there is no task');
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, `/tasks/${task.id}/schedule`);
    const muted = page.getByLabel('Muted: run and decide, but send nothing');
    await muted.check();
    await page.getByText('Kept as a draft').waitFor();
    const json = { policy: { confirmations: 3 } };
    const theirs = await watch.installation.api.send(`/api/notifications/${task.id}`, { method: 'PATCH', json });
    expect(theirs.status).toBe(200);
    await page.keyboard.press('Control+s');
    await page.getByRole('alert').getByText('Somebody saved meanwhile').waitFor();
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByText(/Saved as revision/).waitFor();
    const { body } = await watch.installation.api.send(`/api/notifications/${task.id}`);
    expect(body).toMatchObject({ data: { policy: { muted: true } } });
  });

  it('of the code is tried on the page, and a fault is shown at its line', async () => {
    const [task] = await tasks();
    if (task === undefined) throw new Error('there is no task');
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, `/tasks/${task.id}/condition`);
    await page.getByRole('textbox', { name: 'Code of the condition' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type("const a = 1;\nreturn document.querySelector('.nope').textContent === a;");
    await page.getByRole('button', { name: 'Try on the page now' }).click();
    await page.getByText('threw', { exact: true }).waitFor();
    await page.locator('.cm-lint-marker-error').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
  });
});

describe('a condition', () => {
  const stored = async (id: string): Promise<unknown> =>
    ((await watch.installation.api.send(`/api/notifications/${id}`)).body as { readonly data: unknown }).data;

  it('of a task that stands is picked on its page, joined with another by "and", tried and saved', async () => {
    world.site.serve('/aeron', (_request, response) =>
      response.setHeader('content-type', 'text/html').end(shop('1.299,00')),
    );
    const { id } = await watch.installation.api.create({
      ...byHand(world.site.address('/aeron')),
      evaluationFunction: "return document.querySelector('h2') !== null;",
    });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, `/tasks/${id}/condition`);
    await page.getByRole('button', { name: 'Pick on the page' }).click();
    await page.locator('.page-view').getByText('In stock: 14').click();
    await page.locator('.chosen-selector').getByText('#stock').waitFor();
    expect(await page.getByLabel('Selector').inputValue()).toBe('#stock');
    await page.getByRole('button', { name: 'and …' }).click();
    const second = page.getByRole('group', { name: 'Part 2 of the condition' });
    await second.getByLabel('Text', { exact: true }).fill('aeron');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Try on the page now' }).click();
    await page.getByText('tried just now').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText(/Saved as revision/).waitFor();
    const { outcome } = await watch.installation.api.execute(id, 30);
    expect(outcome).toBe(true);
    await page.reload();
    await second.getByLabel('Text', { exact: true }).waitFor();
    await second.getByRole('button', { name: 'Remove part 2' }).click();
    await page.keyboard.press('Control+s');
    await page.getByText(/Saved as revision/).waitFor();
    expect(await stored(id)).toMatchObject({ evaluationFunction: "return document.querySelector('#stock') !== null;" });
  });

  it('by hand is left as it is where something is picked, whose selector is there to be copied', async () => {
    const { id } = await watch.installation.api.create({
      ...byHand(world.site.address('/aeron')),
      evaluationFunction: 'return 1 + 1 === 2; // by hand',
      fetch: { headers: { authorization: 'Bearer secret' } },
    });
    await watch.installation.api.execute(id, 30);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, `/tasks/${id}/condition`);
    await page.getByRole('button', { name: 'Pick on the page' }).click();
    await page.getByText('This is the page of the last run').waitFor();
    await page.getByRole('button', { name: 'Elements' }).click();
    await page.getByLabel('Find an element by its text').fill('1.299');
    await page.keyboard.press('Enter');
    expect(await page.getByLabel('Selector of what you clicked, for the code').inputValue()).toBe('.product-price');
    expect(await violations(page)).toEqual([]);
    expect(await page.getByText('Kept as a draft').count()).toBe(0);
  });

  it('waits behind a wall that a click takes away first, as a step of the browser', async () => {
    const wall = `<!doctype html><title>Wall</title><div id="wall">Cookies? <button id="accept" onclick="wall.remove(); price.hidden = false">Accept</button></div><p id="price" class="amount" hidden>39 €</p>`;
    world.site.serve('/wall', (_request, response) =>
      response.setHeader('content-type', 'text/html; charset=utf-8').end(wall),
    );
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, '/new');
    await page.getByLabel('How it is loaded').selectOption('http');
    await page.getByLabel('Address of the page').fill(world.site.address('/wall'));
    await page.getByRole('button', { name: 'Load', exact: true }).click();
    await page.getByRole('button', { name: 'click here first' }).click();
    await page.locator('.page-view').getByText('Accept').click();
    await page.getByText('Before the page is read:').waitFor();
    await page.locator('.picture .box').first().waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Page', exact: true }).click();
    await page.locator('.page-view').getByText('39 €').click();
    await page.getByLabel('Limit').fill('40');
    await page.getByText('It is met already').waitFor({ timeout: 60_000 });
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save and start' }).click();
    await page.getByRole('heading', { name: 'Wall' }).waitFor();
    const made = (await tasks()).find(({ evaluationFunction }) => evaluationFunction.includes('< 40'));
    expect(await stored(made?.id ?? '')).toMatchObject({
      fetch: { mode: 'browser', browser: { steps: [{ do: 'click', selector: '#accept' }] } },
    });
  }, 180_000);
});

describe('a part of the console whose connection breaks', () => {
  it('is loaded once more', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await page.route(/sign-in-page/, (route) => route.abort('connectionreset'), { times: 1 });
    await openAsOwner(seat, watch.installation, '/tasks');
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
  });
});

describe('a browser that takes itself to be offline', () => {
  it('reaches a server of the same house all the same', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, '/tasks');
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await page.evaluate("dispatchEvent(new Event('offline'))");
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('link', { name: 'Stock', exact: true }).first().waitFor();
  });
});

describe('a part of the console that the server has no more, as after an upgrade', () => {
  it('says so in its place, and a reload goes on there with what was typed before', async () => {
    const task = await watch.installation.api.create({
      ...byHand(world.site.address('/aeron')),
      evaluationFunction:
        "const value = page.number(document.querySelector('.product-price'));\npage.report('value', value);\nreturn value < 40;",
    });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, `/tasks/${task.id}/condition`);
    await page.getByLabel('Limit').fill('77');
    await page.getByText('Kept as a draft').waitFor();
    await page.route(/schedule-tab/, (route) => route.fulfill({ status: 404, body: '' }));
    await page.getByRole('link', { name: 'Schedule' }).click();
    await page.getByRole('alert').getByText('This part could not be loaded.').waitFor();
    await page.getByRole('link', { name: 'Condition' }).click();
    expect(await page.getByLabel('Limit').inputValue()).toBe('77');
    await page.getByRole('link', { name: 'Schedule' }).click();
    expect(await violations(page)).toEqual([]);
    await page.unroute(/schedule-tab/);
    await page.getByRole('button', { name: 'Reload the page' }).click();
    await page.getByLabel('Muted: run and decide, but send nothing').waitFor();
    await page.getByRole('link', { name: 'Condition' }).click();
    expect(await page.getByLabel('Limit').inputValue()).toBe('77');
    await page.getByRole('button', { name: 'Discard' }).click();
  });
});

describe('an API key', () => {
  it('is made, works, is copied again by the password, and is refused once it is revoked', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, '/settings/keys');
    await page.getByLabel('Name', { exact: true }).fill('Terraform');
    await page.getByRole('button', { name: 'Make the key' }).click();
    const shown = page.getByLabel('API key', { exact: true });
    await shown.waitFor();
    const key = await shown.inputValue();
    expect((await watch.installation.api.send('/api/notifications', { key })).status).toBe(200);
    const row = page.getByRole('row').filter({ hasText: 'Terraform' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByLabel('Type Terraform to confirm').fill('Terraform');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The key is revoked').waitFor();
    expect((await watch.installation.api.send('/api/notifications', { key })).status).toBe(401);
  });
});

/** One task in the console: an edit judged by the past and beside the live one, its times, its actions, and the way back. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { closeConsole, openConsole } from './kit/console.js';
import { ownerEmail, ownerPassword, type Installation } from './kit/installation.js';
import { answering } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import type { World } from './kit/watch.js';

let world: World;
let installation: Installation;
let browser: Browser;
let seat: Seat;

beforeAll(async () => {
  ({ world, installation, browser } = await openConsole());
});

afterEach(() => leave(seat));

afterAll(() => closeConsole({ world, installation, browser }));

const priced = (price: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Shop</title><p id="price">${price}</p>`;

/** A task about a price below 40, with a run on each of the prices. */
async function pricedTask(path: string, prices: readonly string[]): Promise<string> {
  const { id } = await installation.api.create({
    ...byHand(world.site.address(path)),
    evaluationFunction:
      "const value = page.number(document.querySelector('#price'), 'en');\npage.report('value', value);\nreturn value < 40;",
    actions: [{ type: 'webhook', config: { url: world.hooks.address(path) } }],
  });
  for (const price of prices) {
    world.site.serve(path, answering(200, priced(price)));
    await installation.api.execute(id, 30);
  }
  return id;
}

describe('an edit of a condition', () => {
  it('is judged by the recorded pages, run as a shadow beside the live one, and made live', async () => {
    const id = await pricedTask('/judged', ['1,250.5', '45', '1,300']);
    seat = await openSeat(browser);
    const { page } = seat;
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${new URL(response.url()).pathname}`);
    });
    await openAsOwner(seat, installation, `/tasks/${id}/condition`);
    await page.getByLabel('Limit').fill('50');
    await page.getByRole('button', { name: 'Judge' }).click();
    await page.getByText('3 recorded pages').waitFor();
    await page.locator('.difference').getByText('Only the edit notifies').waitFor();
    expect(await page.locator('.difference').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run as shadow' }).click();
    const shadow = page.getByRole('region', { name: 'Shadow' });
    await shadow.waitFor();
    world.site.serve('/judged', answering(200, priced('45')));
    await installation.api.execute(id, 30);
    await page.reload();
    await shadow.getByText('The same in 0 of 1').waitFor();
    await shadow.getByText('the condition is not true → the condition became true').waitFor();
    expect(world.hooks.received('/judged')).toEqual([]);
    expect(await violations(page)).toEqual([]);
    await shadow.getByRole('button', { name: 'Make it live' }).click();
    await page.getByText(/Saved as revision/).waitFor();
    await shadow.waitFor({ state: 'detached' });
    expect(await installation.api.execute(id, 30)).toMatchObject({ outcome: true });
    // What there is not is not asked for either.
    expect(refused.filter((one) => one.endsWith('/shadow'))).toEqual([]);
  });
});

describe('a moment at which nothing ran', () => {
  it('is explained by why, with the run before it below', async () => {
    const id = await pricedTask('/still', ['45']);
    const json = { status: 'paused' };
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}`);
    const why = page.getByRole('region', { name: 'Why it did or did not notify' });
    await why.getByText('the task had been paused', { exact: false }).waitFor();
    await why.getByText(/^Before that: The run of .* did not notify/).waitFor();
    await why.getByText('Run by hand').waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

describe('a number that a task found', () => {
  it('is written as the browser of its reader writes numbers', async () => {
    const id = await pricedTask('/german', ['1,250.5']);
    seat = await openSeat(browser, { locale: 'de-DE' });
    const { page } = seat;
    await page.goto(new URL(`/tasks/${id}`, installation.url).href);
    await page.getByLabel('Ihre E-Mail-Adresse').fill(ownerEmail);
    await page.getByLabel('Passwort').fill(ownerPassword);
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await page.locator('.happenings').getByText('1.250,5').waitFor();
    await page.locator('.chain').getByText('1.250,5').waitFor();
    await page.goto(new URL('/executions', installation.url).href);
    await page.getByRole('cell', { name: '1.250,5' }).first().waitFor();
    await page.getByLabel('Stand').selectOption({ label: 'gelungen' });
    await page.waitForURL(/status=succeeded/);
    expect(await violations(page)).toEqual([]);
  });
});

describe('schedule and policy of a task', () => {
  it('are sentences, with the next ten runs, and are judged by the recorded pages before they are saved', async () => {
    const id = await pricedTask('/planned', ['45', '30', '45', '30']);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/schedule`);
    const next = page.getByRole('region', { name: 'The next ten runs' });
    await next.getByText('It never runs by itself.').waitFor();
    await page.getByLabel('Look', { exact: true }).selectOption('cron');
    await page.getByRole('textbox', { name: 'by cron' }).fill('0 9 * * 1-5');
    await next.getByRole('listitem').nth(9).waitFor();
    expect(await next.getByText(/09:00:00/).count()).toBe(10);
    await page.getByRole('textbox', { name: 'by cron' }).fill('0 99 * * *');
    await next.getByRole('alert').waitFor();
    await page.getByRole('textbox', { name: 'by cron' }).fill('0 9 * * 1-5');
    await page.getByLabel('Confirmations', { exact: true }).fill('2');
    await page.getByRole('button', { name: 'Judge' }).click();
    await page.getByText('4 recorded pages').waitFor();
    await page.locator('.difference').getByText('Only the live one notified').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Control+s');
    await page.getByText(/Saved as revision/).waitFor();
    expect((await installation.api.send(`/api/notifications/${id}`)).body).toMatchObject({
      data: { schedule: { type: 'cron', cron: '0 9 * * 1-5' }, policy: { confirmations: 2 } },
    });
  });
});

describe('an action of a task', () => {
  it('is made by the fields of its channel, refused where they say so, shown and tried before anything is sent for real', async () => {
    const id = await pricedTask('/acting', []);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/actions`);
    await page.getByLabel('Channel').selectOption({ label: 'Microsoft Teams' });
    await page.getByLabel('Channel').selectOption({ label: 'Webhook' });
    await page.getByLabel('url').fill('nowhere');
    await page.getByRole('button', { name: 'Add action' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('url').inputValue()).toBe('nowhere');
    await page.getByLabel('url').fill(world.hooks.address('/second'));
    await page.getByRole('button', { name: 'Add action' }).click();
    await page.getByText('Action added').waitFor();
    const secret = page.getByLabel('The new secret, shown this once');
    expect(await secret.inputValue()).toMatch(/^whsec_/);
    const card = page.getByRole('region', { name: /^Webhook / }).nth(1);
    await card.getByRole('button', { name: 'Preview' }).click();
    await card.locator('.notice').getByText('Stock').first().waitFor();
    expect(world.hooks.received('/second')).toEqual([]);
    await card.getByRole('button', { name: 'Send a test' }).click();
    await card.getByText('delivered').waitFor();
    expect(world.hooks.received('/second')).toHaveLength(1);
    expect(await violations(page)).toEqual([]);
    await card.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Action removed').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await card.waitFor();
  });
});

describe('a new action', () => {
  it('may go by every channel that the API names, however many there are', async () => {
    const id = await pricedTask('/channels', []);
    const { body } = await installation.api.send('/api/action-types?limit=100');
    const named = (body as { readonly data: readonly { readonly type: string }[] }).data.map(({ type }) => type);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/actions`);
    const channel = page.getByLabel('Channel', { exact: true });
    await channel.locator('option[value="email"]').waitFor({ state: 'attached' });
    const options = await channel.locator('option').all();
    const offered = await Promise.all(options.map((one) => one.getAttribute('value')));
    expect(offered).toEqual(expect.arrayContaining(named));
  });
});

describe('an action that somebody else changed meanwhile', () => {
  it('is shown in both versions before one of them goes, and what was typed is kept', async () => {
    const id = await pricedTask('/both', []);
    const [action] = (await installation.api.task(id)).actions;
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/actions`);
    const card = page.getByRole('region', { name: /^Webhook / });
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('url').fill(world.hooks.address('/mine'));
    const renamed = await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { name: 'New' } });
    expect(renamed.status).toBe(200);
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Action saved').waitFor();
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('url').fill(world.hooks.address('/again'));
    const json = { config: { url: world.hooks.address('/theirs') } };
    const path = `/api/notifications/${id}/actions/${String(action?.id)}`;
    expect((await installation.api.send(path, { method: 'PATCH', json })).status).toBe(200);
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Somebody changed this action meanwhile').waitFor();
    await card.locator('.removed', { hasText: '/theirs' }).waitFor();
    expect(await card.getByLabel('url').inputValue()).toBe(world.hooks.address('/again'));
    expect(await violations(page)).toEqual([]);
    await card.getByRole('button', { name: 'Keep mine' }).click();
    await card.getByText('Somebody changed this action meanwhile').waitFor({ state: 'detached' });
    expect((await installation.api.send(path)).body).toMatchObject({
      data: { config: { url: world.hooks.address('/again') } },
    });
  });
});

describe('the history of a task', () => {
  it('shows what each edit changed and by whom, and any of it comes back', async () => {
    const id = await pricedTask('/edited', []);
    const json = { name: 'Edited', policy: { confirmations: 3 } };
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/history`);
    const edit = page.getByRole('row').filter({ hasText: 'policy.confirmations' }).first();
    await edit.locator('del', { hasText: 'Stock' }).waitFor();
    await edit.locator('ins', { hasText: 'Edited' }).waitFor();
    await edit.getByText('key “').waitFor();
    await page.getByRole('row').last().getByRole('button', { name: 'Go back to this' }).click();
    await page.getByText(/Back as it was; this is revision/).waitFor();
    await page.getByRole('heading', { name: 'Stock' }).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

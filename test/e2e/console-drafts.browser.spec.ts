/** Forms of the console: what is typed is there again after a reload, a refusal or a lost connection, but for its secrets. */
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

const kept = (page: Page): Promise<string> => page.evaluate(() => Object.values(localStorage).join());
const go = (page: Page, path: string): Promise<unknown> => page.goto(new URL(path, installation.url).href);

async function aTask(actions: readonly object[] = []): Promise<string> {
  return (await installation.api.create({ ...byHand(world.site.address('/page')), actions: [...actions] })).id;
}

async function dataAt(path: string): Promise<unknown> {
  return ((await installation.api.send(path)).body as { readonly data: unknown }).data;
}

describe('an action that is being added', () => {
  it('is there again after a reload, but for its secrets, and after a save that did not come through', async () => {
    const [one, other] = [await aTask(), await aTask()];
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${one}/actions`);
    await page.getByLabel('Channel').selectOption('ntfy');
    await page.getByLabel('topic').fill('shop-prices');
    await page.getByLabel('token').fill('tk_canary');
    await page.getByLabel('when it is over').check();
    expect(await kept(page)).toContain('shop-prices');
    expect(await kept(page)).not.toContain('canary');
    expect(await violations(page)).toEqual([]);

    await page.reload();
    await page.getByLabel('topic').waitFor();
    expect(await page.getByLabel('topic').inputValue()).toBe('shop-prices');
    expect(await page.getByLabel('token').inputValue()).toBe('');
    expect(await page.getByLabel('when it is over').isChecked()).toBe(true);

    await go(page, `/tasks/${other}/actions`);
    await page.getByLabel('Channel').waitFor();
    expect(await page.getByLabel('Channel').inputValue()).toBe('');
    await page.getByLabel('Channel').selectOption('ntfy');
    await page.getByLabel('topic').fill('another-topic');

    await go(page, `/tasks/${one}/actions`);
    await page.getByLabel('token').fill('tk_canary');
    await page.route('**/actions', (route) => route.abort());
    await page.getByRole('button', { name: 'Add action' }).click();
    await page.getByRole('alert').getByText('The server could not be reached').waitFor();
    expect(await page.getByLabel('token').inputValue()).toBe('tk_canary');
    await page.unroute('**/actions');
    await page.getByRole('button', { name: 'Add action' }).click();
    await page.getByText('Action added').waitFor();
    expect(await kept(page)).not.toContain('shop-prices');
    expect(await kept(page)).toContain('another-topic');
    expect(await dataAt(`/api/notifications/${one}`)).toMatchObject({
      actions: [{ type: 'ntfy', config: { topic: 'shop-prices', token: '********' } }],
    });
    await page.reload();
    await page.getByRole('heading', { name: 'New action' }).waitFor();
    expect(await page.getByRole('button', { name: 'Add action' }).count()).toBe(0);
  });
});

describe('an edit of an action', () => {
  it('is there again after a reload, keeps the secret that is stored, and is gone once it is saved or cancelled', async () => {
    const id = await aTask([{ type: 'ntfy', config: { topic: 'old', token: 'tk_stored' } }]);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/actions`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('topic').fill('new');
    await page.getByLabel('token').fill('tk_canary');
    expect(await kept(page)).not.toContain('canary');
    await page.reload();
    await page.getByLabel('topic').waitFor();
    expect(await page.getByLabel('topic').inputValue()).toBe('new');
    expect(await page.getByLabel('token').inputValue()).toBe('********');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Action saved').waitFor();
    expect(await dataAt(`/api/notifications/${id}`)).toMatchObject({
      actions: [{ config: { topic: 'new', token: '********' } }],
    });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('topic').fill('newer');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect(await page.getByLabel('topic').count()).toBe(0);
  });
});

describe('an address of a page', () => {
  it('is kept without a password that is typed into it, in a new task and in an edit', async () => {
    const id = await aTask();
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/condition`);
    await page.getByText('Name, page and tags').click();
    await page.getByLabel('Address of the page').fill('https://me:canary@shop.example/edited');
    await page.getByText('Kept as a draft').waitFor();
    expect(await kept(page)).toContain('https://me@shop.example/edited');
    await go(page, '/new');
    await page.getByLabel('Address of the page').fill('https://me:canary@shop.example/new');
    await page.route('**/api/pages/preview', (route) => route.abort());
    await page.getByRole('button', { name: 'Load', exact: true }).click();
    await page.getByRole('alert').waitFor();
    expect(await kept(page)).toContain('https://me@shop.example/new');
    expect(await kept(page)).not.toContain('canary');
  });
});

describe('a key that is being made', () => {
  it('is there again after a reload, until it is made', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/settings/keys');
    await page.getByLabel('Name', { exact: true }).fill('Terraform');
    await page.getByLabel('From').fill('10.0.0.0/99');
    await page.getByLabel('admin').check();
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByRole('alert').waitFor();
    await page.reload();
    await page.getByLabel('Name', { exact: true }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Terraform');
    expect(await page.getByLabel('admin').isChecked()).toBe(true);
    expect(await page.getByLabel('From').inputValue()).toBe('10.0.0.0/99');
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('From').fill('');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    await page.reload();
    await page.getByRole('cell', { name: 'Terraform' }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('');
    expect(await page.getByLabel('admin').isChecked()).toBe(false);
  });
});

describe('a contact', () => {
  it('that is being made or edited is there again after a reload, but for its secrets', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/settings/contacts');
    await page.getByRole('button', { name: 'New contact' }).click();
    await page.getByLabel('Name', { exact: true }).fill('ops');
    await page.getByLabel('Channel').selectOption('ntfy');
    await page.getByLabel('topic').fill('shop-prices');
    await page.getByLabel('token').fill('tk_canary');
    expect(await kept(page)).not.toContain('canary');
    await page.reload();
    await page.getByLabel('topic').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('ops');
    expect(await page.getByLabel('topic').inputValue()).toBe('shop-prices');
    await page.getByLabel('token').fill('tk_stored');
    await page.getByRole('button', { name: 'Make the contact' }).click();
    await page.getByText('The contact ops is made').waitFor();
    expect(await kept(page)).not.toContain('shop-prices');

    const card = page.getByRole('region', { name: 'ops' });
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('topic').fill('mine');
    await card.getByLabel('token').fill('tk_canary');
    expect(await kept(page)).not.toContain('canary');
    const json = { config: { topic: 'theirs' } };
    await installation.api.send('/api/contacts/ops', { method: 'PATCH', json });
    await page.reload();
    await card.getByText('Somebody changed this contact since you began').waitFor();
    expect(await card.getByLabel('topic').inputValue()).toBe('mine');
    expect(await card.getByLabel('token').inputValue()).toBe('********');
    expect(await violations(page)).toEqual([]);
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The contact is saved').waitFor();
    expect(await dataAt('/api/contacts/ops')).toMatchObject({ config: { topic: 'mine', token: '********' } });
    expect(await kept(page)).not.toContain('mine');
  });
});

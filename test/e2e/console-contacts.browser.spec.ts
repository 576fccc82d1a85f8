/** Contacts in the console: made once, used by actions, changed in one place, and kept while they are in use. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { closeConsole, openConsole } from './kit/console.js';
import { verified } from './kit/hook-sink.js';
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
});

afterEach(() => leave(seat));

afterAll(() => closeConsole({ world, installation, browser }));

describe('a contact', () => {
  it('is made, used by an action, given another address and secret, and removed once nothing goes by it', async () => {
    world.site.serve('/page', html('sold out'));
    const { id } = await installation.api.create(byHand(world.site.address('/page')));
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/settings/contacts');
    await page.getByText('No contacts yet').waitFor();
    await page.getByRole('button', { name: 'New contact' }).click();
    await page.getByLabel('Name', { exact: true }).fill('ops');
    await page.getByLabel('Channel').selectOption('webhook');
    await page.getByLabel('url').fill('not an address');
    await page.getByRole('button', { name: 'Make the contact' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('ops');
    await page.getByLabel('url').fill(world.hooks.address('/old'));
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make the contact' }).click();
    const made = page.getByLabel('The secret, shown this once');
    await made.waitFor();
    expect(await made.inputValue()).toMatch(/^whsec_/);

    await page.goto(new URL(`/tasks/${id}/actions`, installation.url).href);
    await page.getByLabel('Channel').selectOption({ label: 'ops (Webhook)' });
    await page.getByText('It goes to the contact ops').waitFor();
    await page.getByRole('button', { name: 'Add action' }).click();
    await page.getByRole('heading', { name: 'ops' }).waitFor();

    await page.goto(new URL('/settings/contacts', installation.url).href);
    const card = page.getByRole('region', { name: 'ops' });
    await card.getByRole('button', { name: 'Where used' }).click();
    await card.getByRole('link', { name: 'Stock' }).waitFor();
    await card.getByRole('button', { name: 'Remove' }).click();
    await card.getByRole('alert').getByRole('link', { name: id }).waitFor();
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('url').fill(world.hooks.address('/new'));
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The contact is saved').waitFor();
    await card.getByRole('button', { name: 'New secret' }).click();
    const renewed = card.getByLabel('The secret, shown this once');
    await renewed.waitFor();
    const secret = await renewed.inputValue();
    expect(await violations(page)).toEqual([]);

    world.site.serve('/page', html('in stock'));
    await installation.api.execute(id, 30);
    const [hook] = await until('the message comes at the new address', () => {
      const hooks = world.hooks.received('/new');
      return hooks.length > 0 ? hooks : null;
    });
    if (hook === undefined) throw new Error('nothing came');
    expect(verified(hook, secret).type).toBe('notification.triggered');
    expect(world.hooks.received('/old')).toEqual([]);

    await page.goto(new URL(`/tasks/${id}/actions`, installation.url).href);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Action removed').waitFor();
    await page.goto(new URL('/settings/contacts', installation.url).href);
    await page.getByRole('region', { name: 'ops' }).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('The contact ops is removed').waitFor();
    expect((await installation.api.send('/api/contacts/ops')).status).toBe(404);
  });
});

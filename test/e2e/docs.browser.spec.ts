/** The reader of the API document in a browser: who looks for a field finds the operations that take or give it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Locator } from 'playwright-core';
import { lasting } from '#runtime/probe.kit';
import { launchChromium, openSeat, type Seat } from './kit/browser.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';

let installation: Installation;
let browser: Browser;
let seat: Seat;

beforeAll(async () => {
  [installation, browser] = await Promise.all([createInstallation(), launchChromium()]);
  await installation.start();
});

afterEach(async () => {
  await seat.page.context().close();
  if (seat.faults.length > 0) throw new Error(`the browser complained:\n${seat.faults.join('\n')}`);
});

afterAll(async () => {
  await browser.close();
  await installation.remove();
});

/** The browser resolves the whole document before it shows any of it. */
const readerMs = 90_000;

const nav = (): Locator => seat.page.locator('openapi-explorer nav').getByText('Schedules', { exact: true });

/** The reader, once it shows the document. */
async function openReader(): Promise<Locator> {
  seat = await openSeat(browser);
  await seat.page.goto(new URL('/docs', installation.url).href);
  await nav().waitFor({ timeout: readerMs });
  return seat.page.locator('openapi-explorer');
}

describe('a field of a request in /docs', () => {
  it('has its type, also where a text has to fit several patterns', async () => {
    const reader = await openReader();
    await reader.getByPlaceholder('Filter').fill('createNotification');
    await reader.locator('nav').getByText('Create a notification task', { exact: true }).first().click();
    const row = reader.locator('schema-table .tr').filter({ has: seat.page.getByText('name', { exact: true }) });
    await row.first().waitFor();
    expect(await row.first().locator('.key-type').innerText()).toMatch(/^string/);
  });
});

describe('the reader in /docs', () => {
  it('shows the document also where the server takes longer for it than any patience of its own', async () => {
    seat = await openSeat(browser);
    let isAsked = false;
    await seat.page.route('**/api/openapi.json', async (route) => {
      isAsked = true;
      await lasting(6_000);
      await route.continue();
    });
    await seat.page.goto(new URL('/docs', installation.url).href);
    await nav().waitFor({ timeout: readerMs });
    expect(isAsked).toBe(true);
  });

  it('says so where the document cannot be loaded', async () => {
    seat = await openSeat(browser);
    await seat.page.route('**/api/openapi.json', (route) => route.fulfill({ status: 503, body: '' }));
    await seat.page.goto(new URL('/docs', installation.url).href);
    await seat.page.getByRole('alert').getByText('the server answered 503').waitFor();
  });
});

describe('the search of /docs', () => {
  it.each([
    ['a setting deep in a request', 'recoveryConfirmations', 'Create a notification task'],
    ['a field that only answers have', 'attempts', 'Get a delivery with every attempt'],
    ['a parameter of the address', 'includeSkipped', 'List executions of a notification task'],
  ])('finds %s by its filter', async (_, field, operation) => {
    const reader = await openReader();
    await reader.getByPlaceholder('Filter').fill(field);
    await reader.locator('nav').getByText(operation, { exact: true }).first().waitFor();
    await reader.locator('nav').getByText('Sign out', { exact: true }).waitFor({ state: 'detached' });
  });

  it('finds a setting deep in a request by its dialog, without a box to tick', async () => {
    const reader = await openReader();
    await reader.getByRole('button', { name: 'Search' }).click();
    const dialog = reader.locator('#advanced-search-modal');
    await dialog.getByPlaceholder('search text...').pressSequentially('recoveryConfirmations');
    await dialog.getByText('/api/notifications', { exact: true }).first().waitFor();
    expect(await dialog.getByText('/api/keys', { exact: true }).count()).toBe(0);
  });
});

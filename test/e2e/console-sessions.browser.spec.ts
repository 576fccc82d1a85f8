/** Coming in and staying in: from the setup link to a running task by the keyboard alone, a second factor, a provider, and what ends in the middle. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { launchChromium, leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { freePort } from '../servers/process.ts';
import { createInstallation } from './kit/create-installation.js';
import { ownerEmail, ownerPassword, type Installation } from './kit/installation.js';
import { startOpenIdProvider, type OpenIdProvider } from './kit/openid-provider.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { addPerson, codeOf, personPassword } from './kit/people.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

let installation: Installation;
let provider: OpenIdProvider;
let site: PageSite;
let browser: Browser;
let seat: Seat;

beforeAll(async () => {
  [provider, site] = await Promise.all([startOpenIdProvider(), startPageSite()]);
  site.serve('/page', html('in stock'));
  installation = await createInstallation({
    settings: {
      // Where people have it open, it comes back after a restart.
      PORT: String(await freePort()),
      OIDC_CORP_ISSUER: provider.issuer,
      OIDC_CORP_CLIENT_ID: provider.clientId,
      OIDC_CORP_CLIENT_SECRET: provider.clientSecret,
      OIDC_CORP_NAME: 'Corp',
    },
  });
  await installation.start();
  provider.serve(installation.url);
  browser = await launchChromium();
});

afterEach(() => leave(seat));

afterAll(async () => {
  await browser.close();
  await installation.remove();
  await Promise.all([provider.close(), site.close()]);
});

const open = (page: Page, path: string): Promise<unknown> => page.goto(new URL(path, installation.url).href);

describe('an organisation with nothing in it', () => {
  it('begins with the field for an address, and every list says that it is empty', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/new');
    await open(page, '/tasks');
    await page.waitForURL(/\/new$/);
    await open(page, '/executions');
    await page.getByText('No runs.').waitFor();
    await open(page, '/deliveries');
    await page.getByText('No messages yet.').waitFor();
    await open(page, '/settings/contacts');
    await page.getByText('No contacts yet').waitFor();
    await open(page, '/settings/retention');
    await page.getByText('0 days on record in full').waitFor();
  });
});

describe('a forgotten password', () => {
  it('is asked about with an address alone, and it is said what happens where there is no mail server', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await open(page, '/sign-in');
    const forgotten = page.getByRole('button', { name: 'Password forgotten?' });
    await forgotten.click();
    await page.getByText('Type your e-mail address first.').waitFor();
    await page.keyboard.type(ownerEmail);
    expect(await page.getByLabel('Your e-mail address').inputValue()).toBe(ownerEmail);
    await forgotten.click();
    const answer = page.getByRole('status');
    await answer.getByText('meerkat accounts reset-password', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

describe('the link for a new password', () => {
  it('names the account, and says that it was used in place of a form', async () => {
    const { email } = await addPerson(installation, 'viewer');
    const { out } = await installation.command(['accounts', 'reset-password', email]);
    const address = /https?:\S+\/password-resets\/\S+/.exec(out)?.[0] ?? '';
    seat = await openSeat(browser);
    const { page } = seat;
    await page.goto(address);
    await page.getByText(`For ${email} in `).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('New password').fill('another horse battery staple');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText('The password is changed.').waitFor();
    await page.goto(address);
    await page.getByText('This link was used, was replaced by another, or is too old.').waitFor();
    expect(await page.getByRole('button', { name: 'Set the password' }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Your e-mail address').waitFor();
  });
});

describe('a viewer', () => {
  it('of an organisation without tasks is told so, and is not led to make one', async () => {
    const { email } = await addPerson(installation, 'viewer');
    seat = await openSeat(browser);
    const { page } = seat;
    await open(page, '/tasks');
    await page.getByLabel('Your e-mail address').fill(email);
    await page.getByLabel('Password').fill(personPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('No tasks yet.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/tasks');
    expect(await violations(page)).toEqual([]);
  });
});

describe('a provider of sign-ins', () => {
  it('is a button, and leads back to the page that was asked for', async () => {
    provider.people.set('owner', { email: ownerEmail });
    seat = await openSeat(browser);
    const { page } = seat;
    await open(page, '/settings/usage');
    await page.getByRole('link', { name: 'Sign in with Corp' }).click();
    await page.locator('input[name=login]').fill('owner');
    await page.locator('input[name=password]').fill('any');
    await page.locator('[type=submit]').click();
    await page.locator('[type=submit]').click();
    await page.getByRole('heading', { name: 'Limits and usage' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings/usage');
  });

  it('that knows somebody who is no member leads back with the reason', async () => {
    provider.people.set('stranger', { email: 'stranger@example.com' });
    seat = await openSeat(browser);
    const { page } = seat;
    await open(page, '/tasks');
    await page.getByRole('link', { name: 'Sign in with Corp' }).click();
    await page.locator('input[name=login]').fill('stranger');
    await page.locator('input[name=password]').fill('any');
    await page.locator('[type=submit]').click();
    await page.locator('[type=submit]').click();
    await page
      .getByText(/member/)
      .first()
      .waitFor();
  });
});

describe('a second factor', () => {
  it('is turned on by a code of an app, asked for at sign-in, and turned off again', async () => {
    const { email } = await addPerson(installation, 'editor');
    const password = personPassword;
    seat = await openSeat(browser);
    const { page } = seat;
    const signIn = async (): Promise<void> => {
      await page.getByLabel('Your e-mail address').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await open(page, '/settings/you');
    await signIn();
    const factor = page.getByRole('region', { name: 'Two-factor' });
    await factor.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('dialog').getByLabel('Password').fill(password);
    await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click();
    await factor.getByRole('img', { name: 'QR code of the secret' }).waitFor();
    const secret = await factor.getByRole('textbox', { name: 'Secret' }).inputValue();
    const recovery = (await factor.locator('.recovery-codes').innerText()).trim().split(/\s+/);
    expect(await violations(page)).toEqual([]);
    await factor.getByLabel('Code of your app').fill(codeOf(secret));
    await factor.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Two-factor is on').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/sign-in/);
    await signIn();
    await page.getByLabel('Code of your app').fill('000000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The password or the code is wrong, or the code was used before').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Code of your app').fill('');
    await page.getByLabel('Code of your app').fill(recovery[0] ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(({ pathname }) => pathname !== '/sign-in');
    await open(page, '/settings/you');
    await factor.getByText('9 recovery codes left').waitFor();
    await factor.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('dialog').getByLabel('Password').fill(password);
    await page
      .getByRole('dialog')
      .getByLabel('Code of your app')
      .fill(recovery[1] ?? '');
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Two-factor is off').waitFor();
  });
});

describe('a session that ends in the middle', () => {
  it('leads to sign-in and back, and what was typed is still there', async () => {
    const { id } = await installation.api.create({ ...byHand(site.address('/page')), name: 'Kept' });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/schedule`);
    await page.getByLabel('Muted: run and decide, but send nothing').check();
    await page.getByText('Kept as a draft').waitFor();
    await page.context().clearCookies();
    await page.keyboard.press('Control+s');
    await page.waitForURL(/sign-in/);
    await page.getByLabel('Your e-mail address').fill(ownerEmail);
    await page.getByLabel('Password').fill(ownerPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(new RegExp(`/tasks/${id}/schedule`));
    expect(await page.getByLabel('Muted: run and decide, but send nothing').isChecked()).toBe(true);
    await page.keyboard.press('Control+s');
    await page.getByText(/Saved as revision/).waitFor();
    const { body } = await installation.api.send(`/api/notifications/${id}`);
    expect(body).toMatchObject({ data: { policy: { muted: true } } });
  });
});

describe('a server that restarts', () => {
  it('is said to be away, loses nothing that was typed, and is live again once it is back', async () => {
    const { id } = await installation.api.create({ ...byHand(site.address('/page')), name: 'Restarted' });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/schedule`);
    await page.getByLabel('Confirmations', { exact: true }).fill('3');
    await installation.kill('SIGTERM');
    await page.getByText(/Not connected since/).waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('The server could not be reached').first().waitFor();
    expect(await page.getByLabel('Confirmations', { exact: true }).inputValue()).toBe('3');
    await installation.start();
    await page.getByText(/Not connected since/).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+s');
    await page.getByText(/Saved as revision/).waitFor();
    await installation.api.execute(id, 30);
    await page.getByRole('link', { name: 'What happened' }).click();
    await page.getByText('Met', { exact: true }).first().waitFor();
    // Streams and requests to a server that is away are refused; the browser says so of each.
    seat = { ...seat, faults: seat.faults.filter((fault) => !/net::ERR_|Failed to fetch/.test(fault)) };
  });
});

describe('the setup link', () => {
  it('leads to a running task by the keyboard alone', async () => {
    const fresh = await createInstallation({ settings: { OWNER_EMAIL: '', OWNER_PASSWORD: '', OWNER_API_KEY: '' } });
    try {
      await fresh.start();
      const printed = (): string =>
        fresh.lines.flatMap((line) => /(http:\S+\/setup#token=\S+)/.exec(line)?.[1] ?? []).at(-1) ?? '';
      const link = await until('the link is printed', printed);
      seat = await openSeat(browser);
      const { page } = seat;
      const { keyboard } = page;
      /** Tab by tab, as somebody without a mouse would. */
      const tabTo = async (target: Locator): Promise<void> => {
        for (let steps = 0; steps < 80; steps += 1) {
          await keyboard.press('Tab');
          if ((await target.and(page.locator(':focus')).count()) > 0) return;
        }
        throw new Error('it is not reached by Tab');
      };
      await page.goto(link);
      await page.getByLabel('Name of your organisation').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByLabel('Name of your organisation').focus();
      await keyboard.type('Example Ltd');
      await tabTo(page.getByLabel('Your e-mail address'));
      await keyboard.type(ownerEmail);
      await tabTo(page.getByLabel('Password'));
      await keyboard.type(ownerPassword);
      await keyboard.press('Enter');
      await page.getByText('Meerkat is set up').waitFor();
      await tabTo(page.getByRole('link', { name: 'Watch a first page' }));
      await keyboard.press('Enter');
      await page.getByLabel('Address of the page').waitFor();
      await keyboard.type(site.address('/page'));
      await keyboard.press('Enter');
      await page.locator('.page-view').getByText('in stock').waitFor();
      await tabTo(page.getByRole('button', { name: 'Elements' }));
      await keyboard.press('Enter');
      await tabTo(page.getByLabel('Find an element by its text'));
      await keyboard.type('in stock');
      await keyboard.press('Enter');
      await page.getByText('tried just now').waitFor();
      await keyboard.press('Control+s');
      await page.getByRole('heading', { name: 'Shop' }).waitFor();
      await page.getByText('Met', { exact: true }).first().waitFor();
    } finally {
      await fresh.remove();
    }
  });
});

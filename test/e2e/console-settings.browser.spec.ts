/** Settings and audit in the console: keys, people, the record of changes, and the configuration as a file. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { createInstallation } from './kit/create-installation.js';
import { ownerPassword, type Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { addPerson, personPassword } from './kit/people.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

let installation: Installation;
let site: PageSite;
let browser: Browser;
let seat: Seat;

beforeAll(async () => {
  site = await startPageSite();
  site.serve('/page', html('in stock'));
  installation = await createInstallation();
  await installation.start();
  browser = await launchChromium();
});

afterEach(() => leave(seat));

afterAll(async () => {
  await browser.close();
  await installation.remove();
  await site.close();
});

describe('an API key that stands', () => {
  it('is shown again by the password alone, and rotated into one that works', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/settings/keys');
    await page.getByLabel('Name', { exact: true }).fill('CI');
    const may = page.getByRole('group', { name: 'May' });
    await may.getByLabel('operator').waitFor();
    const ticked = await Promise.all((await may.getByRole('checkbox').all()).map((box) => box.isChecked()));
    expect(ticked).toEqual([true, false, false, false, false]);
    await page.getByRole('button', { name: 'Make the key' }).click();
    const shown = page.getByLabel('API key', { exact: true });
    await shown.waitFor();
    const first = await shown.inputValue();
    await page.reload();
    await page.getByRole('row').filter({ hasText: 'CI' }).getByRole('button', { name: 'Copy' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password').fill('not the password');
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.locator('.field .fault').getByText('is not the password of this account').waitFor();
    expect(await dialog.getByText('is not the password of this account').count()).toBe(1);
    expect(await dialog.getByLabel('Password').and(page.locator(':focus')).count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await dialog.getByLabel('Password').fill(ownerPassword);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await shown.waitFor();
    expect(await shown.inputValue()).toBe(first);
    await page.getByRole('row').filter({ hasText: 'CI' }).first().getByRole('button', { name: 'Rotate' }).click();
    const rotated = await until('another key is shown', async () => {
      const value = await shown.inputValue();
      return value === first ? null : value;
    });
    expect((await installation.api.send('/api/notifications', { key: rotated })).status).toBe(200);
  });
});

describe('somebody who is invited', () => {
  it('joins by the link, is given another role, and is removed by name', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/settings/members');
    await page.getByRole('columnheader', { name: 'E-mail address', exact: true }).waitFor();
    await page.getByLabel('E-mail address').fill('ben@example.com');
    await page.getByLabel('Role', { exact: true }).selectOption('viewer');
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = page.getByLabel(/^Link for ben@example.com/);
    await link.waitFor();
    const invited = await openSeat(browser);
    const address = await link.inputValue();
    await invited.page.goto(address);
    await invited.page.getByText('as ben@example.com. Choose a password to join.').waitFor();
    await invited.page.getByLabel('Password').fill(personPassword);
    await invited.page.getByRole('button', { name: 'Join' }).click();
    await invited.page.getByText('No tasks yet.').waitFor();
    await leave(invited);
    const late = await openSeat(browser);
    await late.page.goto(address);
    await late.page.getByText('This link was used, was replaced by another, or is too old.').waitFor();
    expect(await late.page.getByRole('button', { name: 'Join' }).count()).toBe(0);
    expect(await violations(late.page)).toEqual([]);
    await late.page.getByRole('link', { name: 'Sign in' }).click();
    await late.page.getByLabel('Your e-mail address').waitFor();
    await leave(late);
    await page.reload();
    const role = page.getByLabel('Role of ben@example.com');
    await role.selectOption('editor');
    await page.reload();
    await role.waitFor();
    expect(await role.inputValue()).toBe('editor');
    await page.getByRole('row').filter({ hasText: 'ben@example.com' }).getByRole('button', { name: 'Remove' }).click();
    const confirm = page.getByRole('dialog');
    expect(await confirm.getByRole('button', { name: 'Remove' }).isDisabled()).toBe(true);
    await confirm.getByLabel('Type ben@example.com to confirm').fill('ben@example.com');
    await confirm.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Removed', { exact: true }).waitFor();
    await role.waitFor({ state: 'detached' });
  });
});

/** By the form that every address leads to first. */
async function openAs(role: string, path: string): Promise<Page> {
  const { email } = await addPerson(installation, role);
  seat = await openSeat(browser);
  const { page } = seat;
  await page.goto(new URL(path, installation.url).href);
  await page.getByLabel('Your e-mail address').fill(email);
  await page.getByLabel('Password').fill(personPassword);
  await page.getByRole('button', { name: 'Sign in' }).click();
  return page;
}

describe('a new API key', () => {
  it('is not offered the scope operator by who is none', async () => {
    const page = await openAs('admin', '/settings/keys');
    const may = page.getByRole('group', { name: 'May' });
    await may.getByLabel('admin').waitFor();
    expect(await may.getByRole('checkbox').count()).toBe(4);
  });
});

describe('what a role may not open', () => {
  it.each(['/audit', '/settings/members', '/settings/keys'])(
    'is said to an editor to be for admins: %s',
    async (path) => {
      const page = await openAs('editor', path);
      await page.getByText('Only an owner or an admin may open this page. Your role is editor.').waitFor();
      expect(new URL(page.url()).pathname).toBe(path);
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
      expect(await violations(page)).toEqual([]);
    },
  );

  it('stands neither in the menu nor among the commands of an editor', async () => {
    const page = await openAs('editor', '/executions');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    const menu = page.getByRole('navigation', { name: 'Main' });
    await menu.getByRole('link', { name: 'Settings' }).waitFor();
    expect(await menu.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Contacts' }).waitFor();
    expect(await page.getByRole('option').allTextContents()).toEqual([
      'New task',
      'Tasks',
      'Runs',
      'Deliveries',
      'Contacts',
      'Your account',
    ]);
  });

  it('is said to a viewer where a task would be made', async () => {
    const page = await openAs('viewer', '/new');
    await page.getByText('Only an owner, an admin or an editor may make tasks. Your role is viewer.').waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

describe('the audit', () => {
  it('is narrowed by what stands in its address, and says whether it is whole', async () => {
    await installation.api.create({ ...byHand(site.address('/page')), name: 'Audited' });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/audit');
    await page.getByLabel('Event').selectOption('task.created');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/type=task\.created/);
    const rows = page.getByRole('row').filter({ has: page.getByRole('cell') });
    await rows.filter({ hasNotText: 'task.created' }).first().waitFor({ state: 'detached' });
    await rows.first().locator('summary').click();
    await rows.first().getByRole('link', { name: 'Audited' }).waitFor();
    await rows.first().locator('details').getByText('Audited').waitFor();
    await page.getByRole('button', { name: 'Verify the record' }).click();
    await page.getByText(/^Whole: \d+ events/).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('takes the names that it shows, and a time, as what is looked for', async () => {
    const { name } = await installation.api.create({ ...byHand(site.address('/page')), name: 'Looked for' });
    const unseen = await installation.api.create({ ...byHand(site.address('/page')), name: 'Of no entry' });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/audit');
    const rows = page.getByRole('row').filter({ has: page.getByRole('cell') });
    const made = rows.filter({ hasText: 'task.created' }).filter({ hasText: name });
    const maker = (await made.first().getByRole('cell').nth(2).textContent()) ?? '';
    await page.getByLabel('Actor').fill(maker);
    await page.getByLabel('Resource').fill(name);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/actor=(?:key%3Akey|user%3Ausr)_.+resource=ntf_/);
    await rows.filter({ hasNotText: name }).first().waitFor({ state: 'detached' });
    expect(await page.getByLabel('Actor').inputValue()).toBe(maker);
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('Nothing found.').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Resource').fill(unseen.name.toUpperCase());
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(new RegExp(`resource=${unseen.id}`));
  });

  it('takes what it shows of somebody who is no member, and a member or key as what was changed', async () => {
    const gone = await addPerson(installation, 'admin');
    await gone.send('/api/keys', { json: { name: 'Left behind', scopes: ['read'] } });
    await installation.api.send(`/api/members/${gone.id}`, { method: 'DELETE' });
    const { id, email } = await addPerson(installation, 'viewer');
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/audit');
    const rows = page.getByRole('row').filter({ has: page.getByRole('cell') });
    const ask = async (label: string, typed: string, answer: RegExp): Promise<void> => {
      await page.getByLabel(label, { exact: true }).fill(typed);
      await page.getByRole('button', { name: 'Filter' }).click();
      await page.waitForURL(answer);
    };
    const shown = `not a member: user:${gone.id}`;
    await rows.filter({ hasText: 'key.created' }).filter({ hasText: shown }).first().waitFor();
    await ask('Actor', shown, new RegExp(`actor=user%3A${gone.id}`));
    await rows.filter({ hasText: 'key.created' }).filter({ hasText: 'key “Left behind”' }).waitFor();
    await ask('Actor', '', /audit$/);
    await ask('Resource', 'Left behind', /resource=key_/);
    await rows.filter({ hasNotText: 'key.created' }).first().waitFor({ state: 'detached' });
    // While the list is asked for it has no row at all.
    await rows.filter({ hasText: 'key.created' }).waitFor();
    expect(await rows.count()).toBe(1);
    await ask('Resource', email.toUpperCase(), new RegExp(`resource=${id}`));
    await rows.filter({ hasText: 'member.invited' }).waitFor();
    expect(await page.getByLabel('Resource').inputValue()).toBe(email);
    expect(await violations(page)).toEqual([]);
  });

  it('does not ask for a task that was purged', async () => {
    const { id } = await installation.api.create({ ...byHand(site.address('/page')), name: 'Purged' });
    await until('the task is purged', async () => {
      const path = `/api/notifications/${id}?purge=true`;
      return (await installation.api.send(path, { method: 'DELETE' })).status === 200 ? true : null;
    });
    seat = await openSeat(browser);
    const { page } = seat;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await openAsOwner(seat, installation, '/audit');
    await page.getByRole('row').filter({ hasText: 'task.purged' }).filter({ hasText: id }).waitFor();
    // The one that is there is asked for together with the newest, which came before any other would be.
    await page.getByRole('link', { name: 'Looked for' }).first().waitFor();
    expect(asked).toContain('/api/notifications');
    expect(asked).not.toContain(`/api/notifications/${id}`);
  });
});

describe('the configuration', () => {
  it('is taken out as a file, and put in after its plan was shown', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/settings/transfer');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    const exported = await readFile(await download.path(), 'utf8');
    expect(download.suggestedFilename()).toBe('meerkat.yaml');
    expect(exported).toMatch(/^version: 1$/m);
    const file = page.getByLabel('File', { exact: true });
    await file.setInputFiles({ name: 'meerkat.yaml', mimeType: 'application/yaml', buffer: Buffer.from(exported) });
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByText('0 new').waitFor();
    await page.getByText('0 changed').waitFor();
    const task = { ...byHand(site.address('/page')), name: 'From a file', externalKey: 'from-a-file' };
    const content = JSON.stringify({ version: 1, notifications: [task] });
    await file.setInputFiles({ name: 'tasks.json', mimeType: 'application/json', buffer: Buffer.from(content) });
    expect(await page.getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByText('1 new').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('1 made, 0 changed, 0 archived').waitFor();
    await page.getByRole('link', { name: 'Tasks' }).first().click();
    await page.getByRole('link', { name: 'From a file' }).waitFor();
  });
});

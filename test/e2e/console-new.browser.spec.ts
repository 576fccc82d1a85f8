/** The first minutes in the console, where the page is not as easy as most: filled by scripts, JSON, or a task like another one. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { closeConsole, openConsole } from './kit/console.js';
import type { Installation } from './kit/installation.js';
import { answering, html } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import type { World } from './kit/watch.js';

let world: World;
let installation: Installation;
let browser: Browser;
let seat: Seat;

beforeAll(async () => {
  const asRoot = process.getuid?.() === 0 ? { BROWSER_NO_SANDBOX: 'true' } : {};
  const settings = { BROWSER: process.env['CHROMIUM'] ?? 'auto', ...asRoot };
  ({ world, installation, browser } = await openConsole(settings));
  world.site.serve('/page', html('in stock'));
});

afterEach(() => leave(seat));

afterAll(() => closeConsole({ world, installation, browser }));

describe('a page that says nothing before its scripts have run', () => {
  it('is rendered at once, and it is said why', async () => {
    const shell = `<!doctype html><title>App</title><div id="root"></div><script>root.innerHTML = '<p class="amount">39 €</p>'</script>`;
    world.site.serve('/app', answering(200, shell, { 'content-type': 'text/html; charset=utf-8' }));
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/new');
    await page.getByLabel('Address of the page').fill(world.site.address('/app'));
    await page.keyboard.press('Enter');
    await page.getByText('a browser renders it').waitFor({ timeout: 60_000 });
    await page.locator('.picture .box').first().waitFor({ timeout: 60_000 });
    expect(await page.getByLabel('How it is loaded').inputValue()).toBe('browser');
    await page.getByRole('button', { name: 'Page', exact: true }).click();
    await page.locator('.page-view').getByText('39 €').click();
    await page.getByText('tried just now').waitFor({ timeout: 60_000 });
    expect(await violations(page)).toEqual([]);
    // By hand it is had as it is sent.
    await page.getByLabel('How it is loaded').selectOption('http');
    await page.getByText('Nothing here can be clicked on').waitFor();
    expect(await page.getByLabel('How it is loaded').inputValue()).toBe('http');
    await page.getByRole('button', { name: 'Discard' }).click();
  }, 120_000);
});

describe('a page that is JSON', () => {
  it('is shown as it came, and a number in it is watched', async () => {
    world.site.serve('/json', answering(200, '{"stars":41}', { 'content-type': 'application/json' }));
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/new');
    await page.getByLabel('Address of the page').fill(world.site.address('/json'));
    await page.keyboard.press('Enter');
    await page.getByLabel('The page as the code sees it').getByText('{"stars":41}').waitFor();
    await page.getByRole('button', { name: 'the page says something, without picking' }).click();
    await page.getByLabel('What is looked at').selectOption('json');
    await page.getByLabel('Path').fill('stars');
    await page.getByLabel('Limit').fill('42');
    await page.getByText('It is met already').waitFor();
    await page.getByText('The message that would go out by E-mail').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Limit').fill('40');
    await page.getByText('It is not met now').waitFor();
    await page.getByText('The message that goes out by E-mail once the condition is met').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
  });
});

describe('a new task that lacks something', () => {
  it('says at its fields what that is, with the focus on the first, and is saved once nothing is missing', async () => {
    world.site.serve('/json', answering(200, '{"stars":41}', { 'content-type': 'application/json' }));
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/new');
    const save = page.getByRole('button', { name: 'Save and start' });
    const focused = page.locator(':focus');
    const name = page.getByLabel('Name', { exact: true });
    await save.click();
    await page.getByText('Type the address of the page and load it.').waitFor();
    await page.locator('.fault').getByText('There is no condition yet').waitFor();
    await page.locator('.fault').getByText('Give the task a name.').waitFor();
    expect(await focused.getAttribute('aria-label')).toBe('Address of the page');
    expect(await violations(page)).toEqual([]);
    await focused.fill(world.site.address('/json'));
    await page.keyboard.press('Enter');
    await page.getByLabel('The page as the code sees it').getByText('{"stars":41}').waitFor();
    // A page without a title: the name is the host, and whoever wants none of it is asked for another.
    expect(await name.inputValue()).toBe(new URL(world.site.address('/json')).host);
    await name.fill('');
    await page.keyboard.press('Control+s');
    expect(await focused.textContent()).toBe('the page says something, without picking');
    await page.keyboard.press('Enter');
    await save.click();
    expect(await name.and(focused).count()).toBe(1);
    await name.fill('Stars');
    await page.getByText('Give the task a name.').waitFor({ state: 'detached' });
    await save.click();
    await page.getByRole('heading', { name: 'Stars' }).waitFor();
  });
});

describe('a number in a sentence', () => {
  it('is typed digit by digit, from nothing and below zero', async () => {
    const { id } = await installation.api.create({
      ...byHand(world.site.address('/page')),
      evaluationFunction:
        "const value = page.number(document.querySelector('#stock'));\npage.report('value', value);\nreturn value < 40;",
    });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/condition`);
    const limit = page.getByLabel('Limit');
    await limit.focus();
    await page.keyboard.press('End');
    for (const key of ['Backspace', 'Backspace', '-', '7', '.', '5']) await page.keyboard.press(key);
    expect(await limit.inputValue()).toBe('-7.5');
    await page.locator('.cm-content').getByText('value < -7.5').waitFor();
    await page.getByRole('link', { name: 'Schedule and policy' }).click();
    const cooldown = page.getByRole('group', { name: 'Cooldown' });
    await cooldown.getByRole('combobox').selectOption('minutes');
    await cooldown.getByRole('spinbutton').focus();
    await page.keyboard.press('End');
    for (const key of ['Backspace', '6', '0']) await page.keyboard.press(key);
    expect(await cooldown.getByRole('combobox').inputValue()).toBe('minutes');
    await page.keyboard.press('Control+s');
    await page.getByText(/Saved as revision/).waitFor();
    const { body } = await installation.api.send(`/api/notifications/${id}`);
    expect(body).toMatchObject({ data: { policy: { cooldownSeconds: 3_600 } } });
    await page.getByRole('link', { name: 'Condition' }).click();
    await page.getByRole('button', { name: 'Discard' }).click();
  });
});

describe('a task like another one', () => {
  it('looks at its page in the same way, and keeps over a reload what is typed into it', async () => {
    const { id } = await installation.api.create({
      ...byHand(world.site.address('/page')),
      fetch: { mode: 'browser', browser: { steps: [{ do: 'wait', selector: '#stock' }] } },
    });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}`);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Make another like this' }).click();
    const name = page.getByLabel('Name', { exact: true });
    await page.waitForURL(/\/new$/);
    await page.getByText('Before the page is read:').waitFor();
    expect(await page.getByLabel('How it is loaded').inputValue()).toBe('browser');
    await name.fill('Another');
    await page.reload();
    await name.waitFor();
    expect(await name.inputValue()).toBe('Another');
    await page.getByRole('button', { name: 'Discard' }).click();
  });
});

describe('name, page and tags of a task', () => {
  it('are changed by the draft of its condition, and tried on the other page before', async () => {
    const { id } = await installation.api.create({ ...byHand(world.site.address('/page')), tags: ['old'] });
    world.site.serve('/moved', html('sold out'));
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/condition`);
    await page.getByText('Name, page and tags').click();
    await page.getByLabel('Name', { exact: true }).fill('Moved');
    await page.getByLabel('Address of the page').fill(world.site.address('/moved'));
    await page.getByLabel('Tags').fill('new, shop');
    await page.getByRole('button', { name: 'Try on the page now' }).click();
    await page.locator('.verdict').getByText('Not met').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.reload();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Moved');
    await page.keyboard.press('Control+s');
    await page.getByText(/Saved as revision/).waitFor();
    await page.getByRole('heading', { name: 'Moved' }).waitFor();
    const { body } = await installation.api.send(`/api/notifications/${id}`);
    expect(body).toMatchObject({
      data: { name: 'Moved', url: world.site.address('/moved'), tags: ['new', 'shop'] },
    });
  });
});

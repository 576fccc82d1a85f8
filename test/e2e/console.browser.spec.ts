/** The console as a person uses it: from the link in a message to why it came, the list, and the way back. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchChromium, leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { createInstallation } from './kit/create-installation.js';
import { verified } from './kit/hook-sink.js';
import { answering } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { secret, startWorld, Watch, type World } from './kit/watch.js';

let world: World;
let watch: Watch;
let browser: Browser;
let seat: Seat;

beforeAll(async () => {
  world = await startWorld();
  watch = new Watch(await createInstallation({ smtpUrl: world.mails.url }), world, 'console');
  await watch.installation.start();
  await watch.create();
  browser = await launchChromium();
});

afterEach(() => leave(seat));

afterAll(async () => {
  await browser.close();
  await watch.installation.remove();
  await world.close();
});

describe('the link of a message', () => {
  it('leads through sign-in to the run, with what was found, decided and sent', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    const run = await watch.seen(true);
    await watch.told(1);
    const [hook] = watch.hooks();
    if (hook === undefined) throw new Error('nothing came');
    const links = verified(hook, secret).data['links'] as Record<string, string>;
    const { pathname } = new URL(links['execution'] ?? '');
    await openAsOwner(seat, watch.installation, pathname);
    await page.getByRole('heading', { name: 'Run', exact: true }).waitFor();
    const why = page.getByRole('region', { name: 'Why it did or did not notify' });
    await why.getByText('became_true', { exact: true }).waitFor();
    await why.getByText(/^Message by Webhook/).waitFor();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('the same code on the same page gives the same answer').waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const frame = page.frameLocator('iframe');
    await frame.locator('body').waitFor();
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
    expect(await violations(page)).toEqual([]);
    expect(run.page?.status).toBe(200);
  });

  it('shows, of a run that found nothing on the shell of a scripted page, what to do', async () => {
    const { installation } = watch;
    world.site.serve('/shell', answering(200, '<!doctype html><script src="/app.js"></script><div id="root"></div>'));
    const { id } = await installation.api.create({
      ...byHand(world.site.address('/shell')),
      evaluationFunction: "return document.body.textContent.includes('in stock')",
    });
    const run = await installation.api.execute(id, 30);
    expect([run.outcome, run.hint]).toEqual([false, expect.stringContaining('scripts')]);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/executions/${run.id}`);
    await page.getByRole('heading', { name: 'Run', exact: true }).waitFor();
    const found = page.locator('section.card', { has: page.getByRole('heading', { name: 'What the code answered' }) });
    await found.getByText(run.hint ?? '').waitFor();
    const why = page.getByRole('region', { name: 'Why it did or did not notify' });
    await why.locator('.notice', { hasText: run.hint ?? '' }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect((await installation.api.send(`/api/notifications/${id}`, { method: 'DELETE' })).status).toBe(200);
  });

  it('says that a password is wrong and stays where it was', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await page.goto(new URL('/tasks', watch.installation.url).href);
    await page.getByLabel('Your e-mail address').fill('owner@example.com');
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    expect(await violations(page)).toEqual([]);
  });

  it('never leads elsewhere after sign-in', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await page.goto(new URL('/sign-in?to=//evil.example/x', watch.installation.url).href);
    await page.getByLabel('Your e-mail address').fill('owner@example.com');
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    expect(new URL(page.url()).origin).toBe(new URL(watch.installation.url).origin);
  });
});

describe('the list of tasks', () => {
  it('shows a task with its state, is narrowed by state and search, and keeps both in the address', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, '/tasks');
    await page.getByRole('link', { name: 'Stock' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: /^Paused/ }).click();
    await page.waitForURL(/status=paused/);
    await page.getByText('No task matches').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('searchbox').fill('nothing like it');
    await page.waitForURL(/q=nothing/);
    await page.getByText('No task matches').waitFor();
  });

  it('pauses a task by the keyboard alone, and takes it back', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, '/tasks');
    await page.getByRole('link', { name: 'Stock' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('p');
    await page.getByText('1 task paused').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('1 task resumed').waitFor();
    const { body } = await watch.installation.api.send(`/api/notifications/${watch.taskId}`);
    expect(body).toMatchObject({ data: { status: 'active' } });
  });
});

describe('the lists of runs, messages and changes', () => {
  it.each([
    ['/executions', 'Runs'],
    ['/deliveries', 'Deliveries'],
    ['/audit?type=task.created', 'Audit'],
  ])('call a task by its name: %s', async (path, label) => {
    await watch.seen(true);
    await watch.told(1);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, path);
    const list = page.getByRole('region', { name: label, exact: true });
    await list.getByRole('link', { name: 'Stock', exact: true }).first().waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

describe('a task', () => {
  it('shows what happened, why, and itself as it was at a moment', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, watch.installation, `/tasks/${watch.taskId}`);
    await page.getByRole('heading', { name: 'Stock' }).waitFor();
    await page.getByRole('button', { name: 'why' }).first().click();
    await page.waitForURL(/at=/);
    await page.getByText('As of').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'back to now' }).click();
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('cell', { name: /task\.created/ }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('is refused in words where there is none', async () => {
    seat = await openSeat(browser);
    await openAsOwner(seat, watch.installation, '/tasks/ntf_00000000000000000000000000');
    await seat.page.getByRole('alert').waitFor();
  });
});

describe('the pages themselves', () => {
  it('carry the strict policy and no inline script or style', async () => {
    seat = await openSeat(browser);
    const answer = await fetch(new URL('/tasks', watch.installation.url), { headers: { accept: 'text/html' } });
    expect(answer.headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'",
    );
    const text = await answer.text();
    expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|https?:\/\//);
  });

  it('are German for who reads German, and dark for who asks for it', async () => {
    seat = await openSeat(browser, { locale: 'de-DE', colorScheme: 'dark' });
    const { page } = seat;
    await page.goto(new URL('/sign-in', watch.installation.url).href);
    await page.getByRole('heading', { name: 'Anmelden' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    expect(await violations(page)).toEqual([]);
  });
});

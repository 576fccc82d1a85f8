/** What the server refuses to do or to take back stays shown in the console with the reason, and may be tried again. */
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

const refusal = {
  status: 503,
  json: {
    success: false,
    error: { code: 'SERVER_ERROR', reason: 'shutting_down', message: 'This process is stopping; try again.' },
  },
};

async function aTask(name: string): Promise<string> {
  const actions = [{ type: 'webhook', config: { url: world.hooks.address('/hook') } }];
  return (await installation.api.create({ ...byHand(world.site.address('/page')), name, actions })).id;
}

/** So long after it was shown, other words have vanished. */
const letAMinutePass = (page: Page): Promise<void> => page.clock.fastForward(60_000);

describe('an undo that is refused', () => {
  it('of the removal of an action says why until it is dismissed, and brings the action back once it is tried again', async () => {
    const id = await aTask('refused');
    seat = await openSeat(browser);
    const { page } = seat;
    await page.clock.install();
    await openAsOwner(seat, installation, `/tasks/${id}/actions`);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Action removed').waitFor();
    await page.route('**/rollback', (route) => route.fulfill(refusal));
    await page.getByRole('button', { name: 'Undo' }).click();
    const failure = page.getByRole('alert').filter({ hasText: 'Not undone: This process is stopping' });
    await failure.waitFor();
    await letAMinutePass(page);
    expect(await failure.isVisible()).toBe(true);
    expect(await violations(page)).toEqual([]);
    await page.unroute('**/rollback');
    await failure.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Send a test' }).waitFor();
    expect(await failure.count()).toBe(0);
  });

  it('is gone once it is dismissed', async () => {
    const id = await aTask('dismissed');
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/actions`);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.route('**/rollback', (route) => route.fulfill(refusal));
    await page.getByRole('button', { name: 'Undo' }).click();
    const failure = page.getByRole('alert').filter({ hasText: 'Not undone' });
    await failure.getByRole('button', { name: 'Dismiss' }).click();
    await failure.waitFor({ state: 'detached' });
  });

  it('of tasks that are paused says why, and resumes them once it is tried again', async () => {
    const id = await aTask('together');
    seat = await openSeat(browser);
    const { page } = seat;
    await page.clock.install();
    await openAsOwner(seat, installation, '/tasks?q=together');
    await page.getByRole('checkbox', { name: 'together' }).click();
    await page.getByRole('region', { name: 'With the chosen tasks' }).getByRole('button', { name: 'Pause' }).click();
    await page.getByText('1 task paused').waitFor();
    await page.route('**/bulk', (route) => route.fulfill(refusal));
    await page.getByRole('button', { name: 'Undo' }).click();
    const failure = page.getByRole('alert').filter({ hasText: 'Not undone: This process is stopping' });
    await failure.waitFor();
    await letAMinutePass(page);
    await page.unroute('**/bulk');
    await failure.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('1 task resumed').waitFor();
    expect((await installation.api.send(`/api/notifications/${id}`)).body).toMatchObject({
      data: { status: 'active' },
    });
  });
});

describe('an undo of the removal of an action', () => {
  it('takes back nothing that somebody else changed since, and says where the way back is', async () => {
    const id = await aTask('changed');
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}/actions`);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Action removed').waitFor();
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { name: 'Theirs' } });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('alert').getByText('somebody changed the task meanwhile').waitFor();
    expect((await installation.api.send(`/api/notifications/${id}`)).body).toMatchObject({
      data: { name: 'Theirs', actions: [] },
    });
  });
});

describe('a deed that is refused', () => {
  it('says why once, until it is dismissed', async () => {
    const id = await aTask('busy');
    seat = await openSeat(browser);
    const { page } = seat;
    await page.clock.install();
    await openAsOwner(seat, installation, `/tasks/${id}`);
    await page.route(/\/execute\b/, (route) => route.fulfill(refusal));
    const failure = page.getByRole('alert').filter({ hasText: 'This process is stopping' });
    for (const _ of ['once', 'again']) {
      await Promise.all([
        page.waitForResponse((response) => response.url().includes('/execute')),
        page.getByRole('button', { name: 'Run now' }).click(),
      ]);
      await failure.waitFor();
      await page.getByRole('button', { name: 'Run now', disabled: false }).waitFor();
    }
    await letAMinutePass(page);
    expect(await failure.count()).toBe(1);
    await failure.getByRole('button', { name: 'Dismiss' }).click();
    await failure.waitFor({ state: 'detached' });
  });

  it('to several tasks says why until it is tried again', async () => {
    const id = await aTask('several');
    seat = await openSeat(browser);
    const { page } = seat;
    await page.clock.install();
    await openAsOwner(seat, installation, '/tasks?q=several');
    await page.getByRole('checkbox', { name: 'several' }).click();
    await page.route('**/bulk', (route) => route.fulfill(refusal));
    await page.getByRole('region', { name: 'With the chosen tasks' }).getByRole('button', { name: 'Pause' }).click();
    const failure = page.getByRole('alert').filter({ hasText: 'This process is stopping' });
    await failure.waitFor();
    await letAMinutePass(page);
    await page.unroute('**/bulk');
    await failure.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('1 task paused').waitFor();
    expect((await installation.api.send(`/api/notifications/${id}`)).body).toMatchObject({
      data: { status: 'paused' },
    });
  });
});

/** Looking back in the console: the page then beside the page now, messages sent again, and what somebody took on. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { DeliveryAnswer, Execution } from './kit/api.js';
import { leave, openAsOwner, openSeat, violations, type Seat } from './kit/browser.js';
import { closeConsole, openConsole } from './kit/console.js';
import type { Installation } from './kit/installation.js';
import { answering, html } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';
import type { World } from './kit/watch.js';

let world: World;
let installation: Installation;
let browser: Browser;
let seat: Seat;

beforeAll(async () => {
  const asRoot = process.getuid?.() === 0 ? { BROWSER_NO_SANDBOX: 'true' } : {};
  const settings = { BROWSER: process.env['CHROMIUM'] ?? 'auto', ...asRoot };
  ({ world, installation, browser } = await openConsole(settings));
});

afterEach(() => leave(seat));

afterAll(() => closeConsole({ world, installation, browser }));

/** A task that runs by hand and sends a webhook to the path of its page. */
async function watched(path: string): Promise<string> {
  world.site.serve(path, html('sold out'));
  const { id } = await installation.api.create({
    ...byHand(world.site.address(path)),
    actions: [{ type: 'webhook', config: { url: world.hooks.address(path) } }],
  });
  return id;
}

function deliveryThatIs(taskId: string, state: string): Promise<DeliveryAnswer> {
  return until(`a delivery is ${state}`, async () =>
    (await installation.api.deliveries(taskId)).find((one) => one.state === state),
  );
}

describe('a recorded page', () => {
  async function ranOn(taskId: string, path: string, body: string): Promise<Execution> {
    world.site.serve(path, answering(200, body));
    return installation.api.execute(taskId, 30);
  }
  const shop = (stock: string): string =>
    `<!doctype html><title>Shop</title><h1>Shop</h1><p>One</p><p>Two</p><p>Three</p><p id="stock">${stock}</p><p>Four</p>`;

  it('stands beside the one before and the one now, with what differs line by line', async () => {
    const id = await watched('/compared');
    await ranOn(id, '/compared', shop('sold out'));
    const between = await ranOn(id, '/compared', shop('three left'));
    await ranOn(id, '/compared', shop('in stock'));
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/executions/${between.id}`);
    await page.getByRole('button', { name: 'Beside the run before' }).click();
    await page.waitForURL(/page=before/);
    await page.getByText('They differ in 1 place').waitFor();
    const differences = page.getByLabel('Differences, line by line');
    expect(await differences.locator('del').innerText()).toContain('sold out');
    expect(await differences.locator('ins').innerText()).toContain('three left');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Beside now' }).click();
    await page.waitForURL(/page=now/);
    await differences.locator('ins').getByText('in stock').waitFor();
    expect(await page.locator('iframe').count()).toBe(2);
    await page.frameLocator('iframe[title="The page now"]').getByText('in stock').waitFor();
    await page.getByRole('button', { name: 'Source' }).click();
    await differences.locator('ins').getByText('<p id="stock">in stock</p>').waitFor();
  });

  it('of a browser has its picture, alone and beside the one before', async () => {
    const settings = byHand(world.site.address('/rendered'));
    world.site.serve('/rendered', html('sold out'));
    const { id } = await installation.api.create({ ...settings, fetch: { mode: 'browser' } });
    await installation.api.execute(id, 60);
    world.site.serve('/rendered', html('in stock'));
    const run = await installation.api.execute(id, 60);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/executions/${run.id}`);
    const picture = page.getByRole('region', { name: 'What the browser showed' }).getByRole('img');
    await picture.waitFor();
    expect(
      await picture.evaluate((image) => (image as unknown as { decode(): Promise<void> }).decode().then(() => true)),
    ).toBe(true);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Beside the run before' }).click();
    const beside = page.getByRole('region', { name: 'The page as it was' });
    await beside.getByRole('img', { name: 'What the browser showed: The page of the run before' }).waitFor();
    await beside.getByRole('img', { name: 'What the browser showed: The page as it was' }).waitFor();
  }, 120_000);

  it('runs nothing and asks for nothing, whatever stands in it, shown or compared', async () => {
    const id = await watched('/hostile');
    const bait = world.hooks.address('/bait');
    const attack = `<script>parent.document.title='owned';fetch('${bait}')</script><img src="${bait}" onerror="top.location='${bait}'"><iframe src="${bait}"></iframe><meta http-equiv="refresh" content="0;url=${bait}"><base href="${bait}/"><link rel="stylesheet" href="${bait}"><form action="${bait}"><button autofocus onfocus="this.click()">x</button></form><svg onload="alert(1)"></svg><a href="javascript:top.close()">out</a><object data="${bait}"></object>`;
    await ranOn(id, '/hostile', `<p id="stock">sold out</p>`);
    const run = await ranOn(id, '/hostile', `<p id="stock">sold out</p>${attack}`);
    seat = await openSeat(browser);
    const { page, faults } = seat;
    await openAsOwner(seat, installation, `/executions/${run.id}?page=before`);
    await page.frameLocator('iframe[title="The page as it was"]').locator('#stock').waitFor();
    await page.getByText(/They differ in/).waitFor();
    for (const frame of await page.locator('iframe').all()) {
      expect(await frame.getAttribute('sandbox')).toBe('');
    }
    expect(await page.title()).not.toContain('owned');
    expect(new URL(page.url()).pathname).toBe(`/executions/${run.id}`);
    expect(world.hooks.received('/bait')).toEqual([]);
    // What the frames refused is what the browser says; the page around them is refused nothing.
    const ofConsole = faults.filter((fault) => !/sandboxed|violates the following Content Security Policy/.test(fault));
    seat = { ...seat, faults: ofConsole };
  });
});

describe('the slider of a task', () => {
  it('shows it as it was at any moment since it was made, by keys that stay where they are, and leads back to now', async () => {
    const id = await watched('/slider');
    await installation.api.execute(id, 30);
    world.site.serve('/slider', html('in stock'));
    const met = await installation.api.execute(id, 30);
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { name: 'Renamed' } });
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}`);
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();
    const slider = page.getByRole('slider');
    await slider.focus();
    await page.keyboard.press('Home');
    await page.waitForURL(/[?&]at=/);
    await page.getByRole('heading', { name: 'Stock' }).waitFor();
    await page.getByText('As of').waitFor();
    await slider.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('End');
    await page.waitForURL(({ search }) => !search.includes('at='));
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();
    await slider.and(page.locator(':focus')).waitFor();
    const strip = page.getByRole('region', { name: 'Value and runs over time' }).locator('.run-strip');
    await strip.focus();
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL(({ searchParams }) => searchParams.get('at') === met.finishedAt);
    await page
      .getByRole('region', { name: 'Why it did or did not notify' })
      .getByText(/^Message by Webhook/)
      .waitFor();
    await strip.and(page.locator(':focus')).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

describe('a message that did not arrive', () => {
  it('shows each try with what was answered, and is sent again by a click', async () => {
    const id = await watched('/refused');
    world.hooks.reply('/refused', 400);
    world.site.serve('/refused', html('in stock'));
    await installation.api.execute(id, 30);
    const failed = await deliveryThatIs(id, 'failed');
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/deliveries?state=failed`);
    await page.getByRole('cell', { name: 'failed' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(new URL(`/deliveries/${failed.id}`, installation.url).href);
    await page.getByRole('heading', { name: /by Webhook$/ }).waitFor();
    await page.locator('.notice').getByText('The receiver answered with an error. http_status').waitFor();
    const attempts = page.getByRole('region', { name: 'Attempts' });
    await attempts.getByText('400', { exact: true }).waitFor();
    await attempts.getByText('as told').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('It is on its way again').waitFor();
    await page.locator('.delivery-state', { hasText: 'delivered' }).waitFor();
    await attempts.getByText('200', { exact: true }).waitFor();
    expect(world.hooks.received('/refused').map((hook) => hook.id)).toEqual([failed.id, failed.id]);
    expect(await violations(page)).toEqual([]);
  });

  it('is sent again with all others of a time', async () => {
    const id = await watched('/down');
    world.hooks.reply('/down', 400);
    world.site.serve('/down', html('in stock'));
    await installation.api.execute(id, 30);
    await deliveryThatIs(id, 'failed');
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/deliveries');
    await page.getByRole('button', { name: 'Send again what did not arrive' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Decided from').waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Send again', exact: true }).click();
    await dialog.getByText('1 message is on its way').waitFor();
    await deliveryThatIs(id, 'delivered');
  });
});

describe('what is open on a task', () => {
  it('is taken on with a note, and everybody sees who did', async () => {
    const id = await watched('/open');
    world.site.serve('/open', html('in stock'));
    await installation.api.execute(id, 30);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}`);
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('For how long').selectOption({ label: 'a day' });
    await dialog.getByLabel('Note for the others').fill('Ben orders one');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Acknowledge' }).click();
    const line = page.locator('.notice', { hasText: 'Acknowledged' });
    await line.getByText('Ben orders one').waitFor();
    await line.getByText('owner@example.com').waitFor();
    const { body } = await installation.api.send(`/api/notifications/${id}`);
    expect(body).toMatchObject({ data: { acknowledged: { note: 'Ben orders one' } } });
  });

  it('is offered only while something is open', async () => {
    const id = await watched('/quiet');
    await installation.api.execute(id, 30);
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks/${id}`);
    await page.getByText('Not met', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0);
  });
});

describe('a task whose receiver is gone', () => {
  it('says on its page which action was disabled and what to do', async () => {
    world.hooks.reply('/gone', 410);
    const id = await watched('/gone');
    world.site.serve('/gone', html('in stock'));
    await installation.api.execute(id);
    await until('its action is disabled', async () => {
      const [action] = (await installation.api.task(id)).actions;
      return action?.enabled === false;
    });
    seat = await openSeat(browser);
    await openAsOwner(seat, installation, `/tasks/${id}`);
    await seat.page.getByText(/The webhook action was disabled at .* enable it again/).waitFor();
    expect(await violations(seat.page)).toEqual([]);
  });
});

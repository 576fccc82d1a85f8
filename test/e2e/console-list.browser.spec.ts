/** The list of tasks as a person works with it: by hand and by keys, live, many at once, on a phone as well. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
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

/** More than the list asks for at once. */
const many = 240;
const nameOf = (index: number): string => `Task ${String(index).padStart(3, '0')}`;

beforeAll(async () => {
  ({ world, installation, browser } = await openConsole());
  world.site.serve('/page', html('sold out'));
  world.site.serve('/down', answering(503));
  for (let index = 1; index <= many; index += 1) {
    await installation.api.create({
      ...byHand(world.site.address('/page')),
      name: nameOf(index),
      tags: index <= 3 ? ['first'] : [],
    });
  }
}, 120_000);

afterEach(() => leave(seat));

afterAll(() => closeConsole({ world, installation, browser }));

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const box = (page: Page, name: string) => page.getByRole('checkbox', { name: `Choose ${name}` });
const bulk = (page: Page) => page.getByRole('region', { name: 'With the chosen tasks' });
const idOf = async (name: string): Promise<string> => {
  const { body } = await installation.api.send(`/api/notifications?q=${encodeURIComponent(name)}`);
  return (body as { readonly data: readonly { readonly id: string }[] }).data[0]?.id ?? '';
};

describe('the keyboard in the list', () => {
  it('follows by Enter what has the focus: a task, a place, an order', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/tasks?sort=name');
    await page.getByRole('link', { name: nameOf(1) }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: nameOf(1) }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: nameOf(1) }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('button', { name: 'Sort: by name' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitemradio', { name: 'by name, backwards' }).click();
    await page.getByRole('link', { name: nameOf(many) }).waitFor();
    await page.getByRole('link', { name: 'Runs', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  });

  it('moves, chooses, opens and goes, also after a box was clicked', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/tasks?sort=name');
    await box(page, nameOf(2)).click();
    await bulk(page).getByText('1 task chosen').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await bulk(page).getByText('2 tasks chosen').waitFor();
    await page.keyboard.press('Escape');
    await bulk(page).waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type(nameOf(7));
    await page.waitForURL(/q=Task/);
    await row(page, nameOf(8)).waitFor({ state: 'detached' });
    await row(page, nameOf(7)).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.waitForURL(/\/condition$/);
    await page.getByRole('heading', { name: nameOf(7) }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/tasks$/);
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.waitForURL(/\/deliveries$/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type(nameOf(9));
    await page.getByRole('option', { name: nameOf(9) }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: nameOf(9) }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

describe('a row of the list', () => {
  it('follows what happens without a reload, and says why a check failed in words', async () => {
    const id = await idOf(nameOf(11));
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/tasks?sort=name');
    await row(page, nameOf(11)).locator('.state', { hasText: 'Unknown' }).waitFor();
    await installation.api.execute(id, 30);
    await row(page, nameOf(11)).locator('.state', { hasText: 'Not met' }).waitFor();
    await row(page, nameOf(11)).getByRole('img', { name: 'last 1 run: 0 met, 1 not met' }).waitFor();
    const url = world.site.address('/down');
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { url } });
    await installation.api.execute(id, 30);
    await row(page, nameOf(11)).getByText('the page answers with an error').waitFor();
    await installation.api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { status: 'paused' } });
    await row(page, nameOf(11)).getByText('Paused').waitFor();
  });
});

describe('tasks that are chosen', () => {
  it('are paused, tagged and archived together, each with a way back', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/tasks?sort=name');
    await box(page, nameOf(21)).click();
    await box(page, nameOf(24)).click({ modifiers: ['Shift'] });
    await bulk(page).getByText('4 tasks chosen').waitFor();
    await bulk(page).getByRole('button', { name: 'Pause' }).click();
    await page.getByText('4 tasks paused').waitFor();
    await row(page, nameOf(22)).getByText('Paused').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('4 tasks resumed').waitFor();
    await row(page, nameOf(22)).getByText('Paused').waitFor({ state: 'detached' });
    await box(page, nameOf(21)).click();
    await bulk(page).getByLabel('Tag').fill('chosen');
    await bulk(page).getByRole('button', { name: 'Add tag' }).click();
    await row(page, nameOf(21)).getByRole('link', { name: 'chosen' }).click();
    await page.waitForURL(/tag=chosen/);
    await row(page, nameOf(22)).waitFor({ state: 'detached' });
    await box(page, nameOf(21)).click();
    await bulk(page).getByRole('button', { name: 'Archive' }).click();
    await page.getByText('1 task archived').waitFor();
    await page.getByText('No task matches').waitFor();
    const archived = page.locator('.toast', { hasText: '1 task archived' });
    await archived.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('1 task restored').waitFor();
    await row(page, nameOf(21)).waitFor();
  });

  it('may be all that match, however many are in sight', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/tasks?q=Task+2&sort=name');
    await box(page, nameOf(200)).click();
    await bulk(page).getByRole('button', { name: 'Choose all 41 that match' }).click();
    await bulk(page).getByText('41 tasks chosen').waitFor();
    await bulk(page).getByLabel('Tag').fill('two-hundred');
    await bulk(page).getByRole('button', { name: 'Add tag' }).click();
    await page.getByText('41 tasks tagged').waitFor();
    const { body } = await installation.api.send('/api/notifications?tag=two-hundred&limit=1');
    expect(body).toMatchObject({ pagination: { total: 41 } });
  });
});

describe('a view of the list', () => {
  it('is kept under a name with its filter, order and columns, by the keyboard alone', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/tasks?tag=first&sort=name');
    await row(page, nameOf(3)).waitFor();
    const views = page.getByRole('dialog', { name: 'Views' });
    const tabTo = async (target: Locator): Promise<void> => {
      for (let steps = 0; steps < 20; steps += 1) {
        if ((await target.and(page.locator(':focus')).count()) > 0) return;
        await page.keyboard.press('Tab');
      }
      throw new Error('it is not reached by Tab');
    };
    /** It takes the focus once it is drawn: a Tab before that goes elsewhere. */
    const openViews = async (): Promise<void> => {
      await page.keyboard.press('Enter');
      await views.locator(':focus').waitFor();
    };
    await page.getByRole('button', { name: 'Views' }).focus();
    await openViews();
    await tabTo(views.getByLabel('Tags'));
    await page.keyboard.press('Space');
    await page.getByRole('columnheader', { name: 'Tags' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await views.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Views' }).and(page.locator(':focus')).waitFor();
    await openViews();
    await tabTo(views.getByLabel('Name of this view'));
    await page.keyboard.type('The first');
    await page.keyboard.press('Enter');
    await views.getByRole('button', { name: 'The first', exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(new URL('/tasks', installation.url).href);
    await page.getByRole('button', { name: 'Views' }).click();
    await views.getByRole('button', { name: 'The first', exact: true }).click();
    await page.waitForURL(/tag=first&sort=name/);
    await page.getByRole('row').nth(4).waitFor({ state: 'detached' });
    await row(page, nameOf(3)).waitFor();
    expect(await page.getByRole('row').count()).toBe(4);
  });

  it('is shown as pressed while the list shows it, also one that holds a condition alone', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/tasks?condition=unknown');
    const list = page.getByRole('group', { name: 'Tasks by state' });
    await list.getByRole('button', { name: 'Unknown' }).waitFor();
    await page.getByRole('button', { name: 'Views', exact: true }).click();
    const views = page.getByRole('dialog', { name: 'Views' });
    await views.getByLabel('Name of this view').fill('Not known yet');
    await views.getByRole('button', { name: 'Save' }).click();
    await views.getByRole('button', { name: 'Not known yet', exact: true, pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Views: Not known yet' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await list.getByRole('button', { pressed: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Unknown ×' }).click();
    await page.waitForURL(/\/tasks$/);
    await list.getByRole('button', { name: 'All', pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Views', exact: true }).click();
    await views.getByRole('button', { name: 'Not known yet', exact: true, pressed: false }).click();
    await page.getByRole('button', { name: 'Views: Not known yet' }).waitFor();
    expect(new URL(page.url()).search).toBe('?condition=unknown');
  });

  it('that shows nothing says by what, in words', async () => {
    seat = await openSeat(browser);
    const { page } = seat;
    await openAsOwner(seat, installation, '/tasks?q=nowhere&status=paused&health=blocked');
    await page.getByRole('button', { name: 'Paused ×' }).click();
    await page.getByRole('button', { name: 'Blocked ×' }).click();
    await page.getByRole('button', { name: 'Search: nowhere' }).click();
    await page.waitForURL(/\/tasks$/);
  });
});

describe('a list that is longer than the screen', () => {
  it.each([
    ['a desk', { width: 1_440, height: 900 }],
    ['a phone', { width: 390, height: 844 }],
  ])('has only what is in sight of it drawn and fetched, on %s', async (_where, viewport) => {
    seat = await openSeat(browser, { viewport });
    const { page } = seat;
    const pages = new Set<string>();
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      // What asks for one row wants the total of a button above the list.
      if (pathname === '/api/notifications' && searchParams.get('limit') !== '1')
        pages.add(searchParams.get('page') ?? '');
    });
    await openAsOwner(seat, installation, '/tasks?sort=name');
    const list = page.getByRole('region', { name: 'Tasks' });
    await list.getByRole('link', { name: nameOf(1) }).waitFor();
    await list.evaluate((region) => (region as unknown as { scrollTo(to: object): void }).scrollTo({ top: 10 ** 6 }));
    await list.getByRole('link', { name: nameOf(many) }).waitFor();
    expect(await list.getByRole('link', { name: nameOf(many) }).isVisible()).toBe(true);
    expect(await page.locator('tr.row').count()).toBeLessThan(60);
    expect([...pages].sort()).toEqual(['1', '3']);
  });
});

describe('a list that is not wide', () => {
  it('shortens names and tags before its edge cuts them', async () => {
    const name = 'A kettle of which the shop has one left in another colour';
    await installation.api.create({
      ...byHand(world.site.address('/page')),
      name,
      tags: ['production', 'price-watch', 'warehouse-north'],
    });
    seat = await openSeat(browser, { viewport: { width: 1_200, height: 800 } });
    const { page } = seat;
    await openAsOwner(seat, installation, `/tasks?q=${encodeURIComponent('another colour')}`);
    await row(page, name).waitFor();
    const list = await page.locator('.task-list').boundingBox();
    const last = await row(page, name).getByRole('link', { name: 'warehouse-north' }).boundingBox();
    const edgeOf = (box: typeof list): number => (box === null ? Number.NaN : box.x + box.width);
    expect(edgeOf(last)).toBeLessThanOrEqual(edgeOf(list));
  });
});

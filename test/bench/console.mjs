// `console`: the console in a real Chromium on very many tasks: bytes of the first load, how long the page takes to show what a key,
// a click or the wheel asks for, and how long its one thread is held meanwhile.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { folderWithManyTasks } from './many-tasks.mjs';
import { startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const manyTasks = 100_000;
const places = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/microsoft-edge'];
const common = { bench: 'console' };

function launch() {
  const executablePath = process.env.CHROMIUM ?? places.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Error('No Chromium is here: install it, or set CHROMIUM.');
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: [...asRoot, '--disable-gpu'] });
}

async function signedIn(context, url) {
  const page = await context.newPage();
  await page.goto(`${url}/tasks`);
  await page.locator('input[type=email]').fill('bench@example.com');
  await page.locator('input[type=password]').fill('correct horse battery staple');
  await page.locator('[type=submit]').click();
  await page.locator('tr.row').first().waitFor();
  return page;
}

/** What goes over the wire until the list is there, with nothing in the cache: by kind, in KB. */
async function firstLoad(browser, url) {
  const context = await browser.newContext();
  await (await signedIn(context, url)).close();
  const page = await context.newPage();
  const wire = await context.newCDPSession(page);
  await wire.send('Network.enable');
  await wire.send('Network.setCacheDisabled', { cacheDisabled: true });
  const kinds = new Map();
  const bytes = { code: 0, fonts: 0 };
  wire.on('Network.responseReceived', ({ requestId, type, response }) => {
    if (!new URL(response.url).pathname.startsWith('/api/')) kinds.set(requestId, type);
  });
  wire.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId);
    if (kind !== undefined) bytes[kind === 'Font' ? 'fonts' : 'code'] += encodedDataLength;
  });
  const beganAt = performance.now();
  await page.goto(`${url}/tasks`);
  await page.locator('tr.row').first().waitFor();
  const shownMs = performance.now() - beganAt;
  // The stream stays open, so the network is never idle: fonts and what is loaded in advance are there by then.
  await delay(2_000);
  await context.close();
  return { ...bytes, shownMs };
}

/** Runs in the page: from each event to the frame that shows what came of it, and each time the thread was held for 50 ms or more. */
function observe() {
  globalThis.measured = { events: [], heldMs: 0 };
  const { measured } = globalThis;
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) {
      if (/^(keydown|pointerdown|click|wheel)$/.test(name)) measured.events.push(duration);
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) measured.heldMs += duration;
  }).observe({ type: 'longtask', buffered: true });
}

async function measured(page, times, act) {
  await page.evaluate(() => Object.assign(globalThis.measured, { events: [], heldMs: 0 }));
  for (let time = 0; time < times; time += 1) {
    await act(time);
    await delay(60);
  }
  await delay(300);
  return page.evaluate(() => globalThis.measured);
}

const interactions = {
  'a key moves to the next row': { times: 40, act: (page) => page.keyboard.press('j') },
  'a box is chosen': {
    times: 20,
    act: (page, time) =>
      page
        .locator('tr.row input[type=checkbox]')
        .nth(time % 10)
        .click(),
  },
  'the list scrolls by the wheel': { times: 60, act: (page) => page.mouse.wheel(0, 2_000) },
  'the list jumps to anywhere': {
    times: 20,
    act: async (page, time) => {
      await page
        .locator('.task-list')
        .evaluate((list, to) => list.scrollTo({ top: list.scrollHeight * to }), (time % 10) / 10);
    },
  },
  'a letter is typed into the search': { times: 8, act: (page, time) => page.keyboard.type('kettle 1'[time] ?? 'x') },
};

export async function* consoleBench() {
  const product = await startProduct(await folderWithManyTasks(manyTasks));
  const browser = await launch();
  try {
    const { code, fonts, shownMs } = await firstLoad(browser, product.url);
    const first = { ...common, unit: 'KB' };
    yield { ...first, case: 'first load of the list, code and styles', value: code / 1_024, target: 200 };
    yield { ...first, case: 'first load of the list, fonts', value: fonts / 1_024 };
    yield { ...common, case: 'first load until rows are there', value: shownMs, unit: 'ms' };
    const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
    const page = await signedIn(context, product.url);
    await page.evaluate(observe);
    await page.locator('.task-list').hover();
    for (const [name, { times, act }] of Object.entries(interactions)) {
      if (name.includes('search')) await page.locator('input[type=search]').click();
      const { events, heldMs } = await measured(page, times, (time) => act(page, time));
      // Events that were shown within 16 ms are not told one by one.
      const worst = events.length === 0 ? 16 : quantile(events, 0.98);
      yield { ...common, case: `10^5 tasks: ${name}, p98`, value: worst, unit: 'ms', target: 100 };
      yield { ...common, case: `10^5 tasks: ${name}, thread held`, value: heldMs, unit: 'ms' };
    }
    await context.close();
  } finally {
    await browser.close();
    await product.stop();
  }
}

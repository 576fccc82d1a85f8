// `npm run screenshots`: the pictures in docs/pictures, taken anew of the built product in a real Chromium, light and dark. Pages and
// receivers stand on this machine; nothing of it is kept.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildIfStale, isOnOwnNode, root } from './launch.mjs';

const apiKey = 'mk_Ab3dEf9h_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd3qYUag';
const owner = { email: 'ann@acme.example', password: 'correct horse battery staple' };
const chromiums = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/microsoft-edge'];

const prices = ['1.499,00', '1.499,00', '1.479,00', '1.449,00', '1.449,00', '1.399,00', '1.299,00', '1.299,00'];
const state = { step: 0 };
const shop = () =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Aeron chair, size B</title><header>ChairHouse</header>
<h1>Aeron chair, size B</h1><p class="product-price">${prices[state.step % prices.length]} €</p><p id="stock">In stock: ${14 - state.step}</p>
<ul class="reviews"><li>Comfortable</li><li>Worth it</li><li>Sturdy</li></ul><button>Add to cart</button></html>`;

/** The web as this installation sees it, and what takes its messages. */
async function startWorld() {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://127.0.0.1');
    if (pathname.startsWith('/hook')) return response.writeHead(204).end();
    if (pathname === '/lamp') return response.writeHead(503).end('down');
    const words = {
      '/termine': `<p id="dates">${state.step > 5 ? '2 dates' : 'no dates'}</p>`,
      '/status': `<p id="status">${state.step % 2 === 0 ? 'operational' : 'degraded'}</p>`,
      '/eurusd': `<p class="rate">${(1.09 + Math.sin(state.step) / 200).toFixed(4)}</p>`,
      '/btc': `<p class="rate">${(71_000 + 900 * Math.cos(state.step)).toFixed(2)}</p>`,
    };
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(words[pathname] ?? shop());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(resolve)) };
}

async function startProduct(dataDir) {
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_FORMAT: 'json',
      OWNER_EMAIL: owner.email,
      OWNER_PASSWORD: owner.password,
      OWNER_API_KEY: apiKey,
      EGRESS_ALLOW: '127.0.0.0/8',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const url = await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
      const found = /ready at (http:\/\/\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`the product ended:\n${output}`)));
  });
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function ask(url, method, path, body) {
  const response = await fetch(new URL(path, url), {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

const number = (selector, locale, compare) =>
  `const value = page.number(document.querySelector('${selector}'), '${locale}');\npage.report('value', value);\nreturn value ${compare};`;
const says = (selector, text) =>
  `const element = document.querySelector('${selector}');\nif (element === null) throw new Error('no element matches ${selector}');\nconst text = element.textContent.replace(/\\s+/g, ' ').trim();\npage.report('value', text);\nreturn text.toLowerCase().includes('${text}');`;

/** Tasks as somebody would have them, each with some runs behind it. Returns the id of the one that is shown. */
async function fill({ url }, world) {
  await ask(url, 'PATCH', '/api/organization', { name: 'Acme' });
  await ask(url, 'POST', '/api/contacts', { name: 'ops', type: 'webhook', config: { url: `${world.url}/hook/ops` } });
  const actions = [{ contact: 'ops' }, { type: 'webhook', config: { url: `${world.url}/hook/shop` } }];
  const tasks = [
    {
      name: 'Competitor price: desk lamp',
      path: '/lamp',
      code: number('.product-price', 'de', '< 80'),
      tags: ['price'],
      policy: {},
    },
    {
      name: 'Competitor price: Aeron chair',
      path: '/aeron',
      code: number('.product-price', 'de', '< 1400'),
      tags: ['price'],
      policy: {},
    },
    {
      name: 'Visa appointment free in Berlin',
      path: '/termine',
      code: says('#dates', '2 dates'),
      tags: ['personal', 'urgent'],
      policy: {},
    },
    {
      name: 'Status page of our host',
      path: '/status',
      code: says('#status', 'degraded'),
      tags: ['ops'],
      policy: { flapWindow: 8 },
    },
    {
      name: 'EUR/USD above 1.15',
      path: '/eurusd',
      code: number('.rate', 'en', '> 1.15'),
      tags: ['finance'],
      policy: {},
    },
    {
      name: 'Bitcoin below 60,000',
      path: '/btc',
      code: number('.rate', 'en', '< 60000'),
      tags: ['finance'],
      policy: {},
    },
    { name: 'GPU back in stock', path: '/gpu', code: number('#stock', 'en', '> 20'), tags: ['stock'], policy: {} },
    {
      name: 'Changelog of the payment API',
      path: '/changelog',
      code: says('h1', 'version 3'),
      tags: ['ops', 'api'],
      policy: {},
    },
  ];
  const made = [];
  for (const { name, path, code, tags, policy } of tasks) {
    const schedule = { type: 'interval', intervalSeconds: 300 };
    const body = { name, url: `${world.url}${path}`, evaluationFunction: code, tags, policy, schedule, actions };
    made.push(await ask(url, 'POST', '/api/notifications', body));
  }
  for (state.step = 0; state.step < 12; state.step += 1) {
    for (const { id } of made) await ask(url, 'POST', `/api/notifications/${id}/execute?wait=20`, {});
  }
  return made[1].id;
}

async function takePictures(browser, { url }, world, taskId, folder) {
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({
      colorScheme,
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      viewport: { width: 1_200, height: 760 },
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    const shoot = async (name, path, ready) => {
      await page.goto(`${url}${path}`);
      await ready?.(page);
      // The stream stays open, so the network is never idle; what is on its way takes the place of skeletons.
      await page.locator('.skeleton, .page-skeleton').first().waitFor({ state: 'detached' });
      await delay(600);
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
    };
    await page.goto(`${url}/tasks`);
    await page.getByLabel('Your e-mail address').fill(owner.email);
    await page.getByLabel('Password').fill(owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('tr.row').first().waitFor();
    await shoot('tasks', '/tasks');
    await shoot('task', `/tasks/${taskId}?range=1h`, (shown) => shown.locator('.happenings li').first().waitFor());
    await shoot('condition', `/tasks/${taskId}/condition`, (shown) =>
      shown.getByRole('button', { name: 'Judge' }).click(),
    );
    await shoot('new-task', '/new', async (shown) => {
      await shown.getByLabel('Address of the page').fill(`${world.url}/aeron`);
      await shown.keyboard.press('Enter');
      await shown.locator('.page-view').getByText('€').click();
      await shown.getByText('tried just now').waitFor();
    });
    await context.close();
  }
}

async function main() {
  await buildIfStale();
  const { chromium } = await import('playwright-core');
  const executablePath = process.env.CHROMIUM ?? chromiums.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Error('No Chromium is here: install it, or set CHROMIUM.');
  const folder = join(root, 'docs', 'pictures');
  const dataDir = await mkdtemp(join(tmpdir(), 'meerkat-screenshots-'));
  await mkdir(folder, { recursive: true });
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const [world, product, browser] = await Promise.all([
    startWorld(),
    startProduct(dataDir),
    chromium.launch({ executablePath, args: [...asRoot, '--disable-gpu'] }),
  ]);
  try {
    await takePictures(browser, product, world, await fill(product, world), folder);
  } finally {
    await browser.close();
    await product.stop();
    await world.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

if (await isOnOwnNode(import.meta.url)) await main();

// `render`: pages that a browser renders, per second of processor time of the whole process tree, beside Playwright alone on the
// same pages in turns; what two at once hold in memory; whether that grows; and what it does to the time of plain checks.
// `--tasks N`: so many pages for the growth (1,000 and more; 150 without).
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { makePage } from './pages.mjs';
import { ask, makeFolder, startAnswering, startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const load = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url));
const atOnce = 2;
const rounds = 3;
const pagesEachRound = 16;
const shopBytes = 10_000;
const fewPages = 150;
const plainTasks = 20;
const renderedTasks = 20;
const latenessSeconds = 20;
const megabyte = 1_048_576;

/** A shop whose prices its script fetches. */
async function startSite(seed) {
  const { html } = makePage('shop', shopBytes, seed);
  const script = `<div id="made"></div><script>
    fetch('/prices').then((a) => a.json()).then((prices) => {
      made.innerHTML = '<h2>made by script</h2>' + prices.map((price) => '<p class="price">' + price + '</p>').join('');
    });</script>`;
  const prices = JSON.stringify(Array.from({ length: 100 }, (_, at) => `${at + seed} €`));
  const server = createServer((request, response) => {
    if (request.url === '/prices') return void response.setHeader('content-type', 'application/json').end(prices);
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html.replace('</body>', `${script}</body>`));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

async function asked(worker, pages) {
  const answer = await worker.ask({ pages });
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

async function* speed(parts, withScreenshots) {
  const kind = withScreenshots ? ' with screenshots' : '';
  const works = await Promise.all(
    ['product', 'bare'].map((work) => startAnswering('render-work.mjs', { ...parts, work: `${work}${kind}`, atOnce })),
  );
  const sums = works.map(() => ({ pages: 0, spentMs: 0 }));
  try {
    for (const work of works) await asked(work, 4);
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, work] of works.entries()) {
        const { pages, spentMs } = await asked(work, pagesEachRound);
        sums[index].pages += pages;
        sums[index].spentMs += spentMs;
      }
    }
  } finally {
    await Promise.all(works.map((work) => work.close()));
  }
  const [own, bare] = sums.map(({ pages, spentMs }) => pages / (spentMs / 1_000));
  const baseline = { name: 'Playwright alone', value: bare };
  const name = `pages${kind}, ratio to Playwright alone`;
  yield { bench: 'render', case: `pages${kind}`, value: own, unit: '/s/core', baseline };
  yield { bench: 'render', case: name, value: own / bare, unit: '', target: 0.8, direction: 'at least' };
}

async function* memory(parts, pages) {
  const work = await startAnswering('render-work.mjs', { ...parts, work: 'product with screenshots', atOnce });
  try {
    const first = await asked(work, 50);
    const before = first.ownBytes;
    const rest = await asked(work, pages - 50);
    const peak = Math.max(first.peakBytes, rest.peakBytes) / megabyte;
    yield { bench: 'render', case: 'browsers of two pages at once, at most', value: peak, unit: 'MB', target: 350 };
    const grown = Math.max(0, rest.peakBytes - first.peakBytes) / megabyte;
    yield { bench: 'render', case: `their growth over ${pages} pages`, value: grown, unit: 'MB' };
    const own = Math.max(0, rest.ownBytes - before) / megabyte;
    yield { bench: 'render', case: `growth of the process itself over ${pages} pages`, value: own, unit: 'MB' };
  } finally {
    await work.close();
  }
}

function taskOf(name, url, fetch) {
  const schedule = { type: 'interval', intervalSeconds: 1 };
  return { name, url, evaluationFunction: 'return document.title === "nothing"', schedule, fetch };
}

/** How late plain checks began, in ms, over a time in which slots came. */
async function latenessOf(product, ids, sinceMs) {
  const all = await Promise.all(
    ids.map((id) => ask(product.url, 'GET', `/api/notifications/${id}/executions?limit=100`)),
  );
  const runs = all.flatMap(({ data }) => data).filter(({ startedAt }) => startedAt !== null);
  return runs
    .filter(({ scheduledFor }) => Date.parse(scheduledFor) >= sinceMs)
    .map(({ scheduledFor, startedAt }) => Date.parse(startedAt) - Date.parse(scheduledFor));
}

async function* lateness({ url, executablePath, hasSandbox }) {
  const env = {
    MIN_INTERVAL_SECONDS: '1',
    EGRESS_ALLOW: '127.0.0.0/8',
    BROWSER: executablePath,
    ...(hasSandbox ? {} : { BROWSER_NO_SANDBOX: 'true' }),
  };
  const product = await startProduct(await makeFolder(), { env });
  const create = async (body) => (await ask(product.url, 'POST', '/api/notifications', body)).data.id;
  const plain = [];
  for (let count = 0; count < plainTasks; count += 1)
    plain.push(await create(taskOf(`Plain ${count}`, url, { mode: 'http' })));
  await setTimeout(3_000);
  let sinceMs = Date.now();
  await setTimeout(latenessSeconds * 1_000);
  const alone = await latenessOf(product, plain, sinceMs);
  const rendered = [];
  const browser = { screenshot: 'always' };
  for (let count = 0; count < renderedTasks; count += 1)
    rendered.push(await create(taskOf(`Rendered ${count}`, url, { mode: 'browser', browser })));
  await setTimeout(5_000);
  sinceMs = Date.now();
  await setTimeout(latenessSeconds * 1_000);
  const beside = await latenessOf(product, plain, sinceMs);
  const done = (await latenessOf(product, rendered, 0)).length;
  await product.kill();
  const baseline = { name: 'without rendering', value: quantile(alone, 0.99) };
  const name = `plain checks late by p99, rendering saturated`;
  yield { bench: 'render', case: name, value: quantile(beside, 0.99), unit: 'ms', baseline };
  yield {
    bench: 'render',
    case: 'the same, p50',
    value: quantile(beside, 0.5),
    unit: 'ms',
    baseline: { name: 'without rendering', value: quantile(alone, 0.5) },
  };
  yield {
    bench: 'render',
    case: `plain checks of ${plainTasks * latenessSeconds} begun`,
    value: beside.length,
    unit: '',
  };
  yield { bench: 'render', case: 'rendered runs begun meanwhile', value: done, unit: '' };
}

export async function* render({ seed, cases, tasks }) {
  const { findBrowser } = await load('libs/page-loader/browser/find-browser');
  const isRoot = process.getuid?.() === 0;
  const place = findBrowser({ browser: process.env.CHROMIUM ?? 'auto', browserNoSandbox: isRoot });
  if (!place.ok) throw new Error(place.why);
  const site = await startSite(seed);
  const { executablePath, hasSandbox } = place;
  const parts = { url: site.url, executablePath, hasSandbox };
  const wants = (name) => cases.length === 0 || cases.some((part) => name.includes(part));
  try {
    if (wants('pages')) yield* speed(parts, false);
    if (wants('screenshots')) yield* speed(parts, true);
    if (wants('memory')) yield* memory(parts, tasks ?? fewPages);
    if (wants('lateness')) yield* lateness(parts);
  } finally {
    site.close();
  }
}

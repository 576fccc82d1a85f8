// One side of `render`: pages in a real browser, by the product's own loader or by Playwright alone, and what they cost.
import { readdirSync, readFileSync } from 'node:fs';

const settings = JSON.parse(process.argv[2]);
const { work, url, executablePath, hasSandbox, atOnce } = settings;
const clockTicks = 100;
const pageBytes = 4_096;
const lookMs = 100;

const load = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url));

/** Every process below this one, itself first. */
function tree() {
  const below = [process.pid];
  for (let at = 0; at < below.length; at += 1) {
    try {
      for (const thread of readdirSync(`/proc/${below[at]}/task`)) {
        const children = readFileSync(`/proc/${below[at]}/task/${thread}/children`, 'utf8');
        below.push(...children.split(' ').filter(Boolean).map(Number));
      }
    } catch {
      // It has ended meanwhile.
    }
  }
  return below;
}

/** Processor time of all that live, and of what has ended below them. */
function spentMs() {
  return tree().reduce((sum, pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return sum + fields.slice(11, 15).reduce((one, ticks) => one + Number(ticks), 0) * (1_000 / clockTicks);
    } catch {
      return sum;
    }
  }, 0);
}

/** Of all browsers: shared pages are counted once, by the share of each process in them where the kernel tells it. */
function browserBytes() {
  return tree()
    .slice(1)
    .reduce((sum, pid) => {
      try {
        const [, kb] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
        if (kb !== undefined) return sum + Number(kb) * 1_024;
        const [, resident, shared] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
        return sum + (resident - shared) * pageBytes;
      } catch {
        return sum;
      }
    }, 0);
}

async function product() {
  const [{ createBrowserPageLoader }, { silentLogger }] = await Promise.all([
    load('libs/page-loader/browser/browser'),
    load('libs/runtime/logger'),
  ]);
  const never = () => Promise.reject(new Error('every page here needs a browser'));
  const loader = createBrowserPageLoader({
    http: { load: never, loadIfChanged: never, close: async () => undefined },
    place: { ok: true, executablePath, hasSandbox },
    door: { egressAllow: ['127.0.0.0/8'], egressProxyUrl: null },
    logger: silentLogger,
    processes: atOnce,
  });
  const request = {
    mode: 'browser',
    render: {
      owner: 'org_1',
      waitFor: 'load',
      waitMs: 0,
      viewport: { width: 1_280, height: 800 },
      steps: [],
      block: ['images', 'media', 'fonts', 'trackers'],
      takesScreenshot: work === 'product with screenshots',
      boxAttribute: null,
    },
    method: 'GET',
    headers: {},
    body: null,
    timeoutMs: 30_000,
    maxBytes: 10_000_000,
    followRedirects: true,
    acceptStatus: ['2xx'],
    userAgent: null,
    proxyUrl: null,
    retry: { attempts: 1, strategy: 'fixed', baseMs: 100 },
  };
  return {
    async visit() {
      const page = await loader.load({ ...request, url });
      if (!page.ok) throw new Error(`${page.reason}: ${page.message}`);
      return Buffer.from(page.body).toString();
    },
    close: () => loader.close(),
  };
}

/** Two browsers, a context for each page, as Playwright's own documentation has it. */
async function bare() {
  const { chromium } = await import('playwright-core');
  const launch = () => chromium.launch({ executablePath, chromiumSandbox: hasSandbox });
  const idle = await Promise.all(Array.from({ length: atOnce }, launch));
  const all = [...idle];
  return {
    async visit() {
      const browser = idle.pop();
      const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
      const page = await context.newPage();
      await page.goto(url, { waitUntil: 'load' });
      const html = await page.content();
      if (work === 'bare with screenshots') await page.screenshot({ fullPage: true });
      await context.close();
      idle.push(browser);
      return html;
    },
    close: () => Promise.all(all.map((browser) => browser.close())),
  };
}

const visitor = await (work.startsWith('product') ? product() : bare());

async function run(pages) {
  let left = pages;
  let peakBytes = 0;
  const timer = setInterval(() => (peakBytes = Math.max(peakBytes, browserBytes())), lookMs);
  const before = spentMs();
  const beganAt = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left > 0) {
        left -= 1;
        const html = await visitor.visit();
        if (!html.includes('made by script')) throw new Error('the page is not what its script makes of it');
      }
    }),
  );
  clearInterval(timer);
  return { pages, spentMs: spentMs() - before, wallMs: performance.now() - beganAt, peakBytes };
}

async function answered(pages) {
  try {
    return { ...(await run(pages)), ownBytes: process.memoryUsage.rss() };
  } catch (error) {
    return { error: String(error) };
  }
}

process.on('message', ({ pages }) => void answered(pages).then((answer) => process.send(answer)));
process.on('disconnect', () => void visitor.close().finally(() => process.exit(0)));
process.send('ready');

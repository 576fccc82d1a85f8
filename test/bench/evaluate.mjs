// `evaluate`: a page parsed and code run on it in a fresh sandbox, by the port that the product uses, on one core.
import { setImmediate } from 'node:timers/promises';
import vm from 'node:vm';
import { makePage, shapes } from './pages.mjs';
import { peer } from './peers.mjs';

const sizes = [
  { title: '10 KB', bytes: 10_000, target: null },
  { title: '100 KB', bytes: 100_000, target: 100 },
  { title: '1 MB', bytes: 1_000_000, target: null },
];
const warmupMs = 2_000;
const measureMs = 3_000;
/** Other pages each time, so that nothing is won by having seen the page before. */
const pagesPerShape = 4;

const encoder = new TextEncoder();

/**
 * How often the work is done, one at a time, in a second of processor time of all threads: what one core does, also where
 * others keep the machine busy.
 */
async function ratePerCore(work) {
  const runFor = async (ms) => {
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    let count = 0;
    while (performance.now() - startedAt < ms) {
      await work(count);
      count += 1;
    }
    const { user, system } = process.cpuUsage(before);
    return count / ((user + system) / 1_000_000);
  };
  await runFor(warmupMs);
  return runFor(measureMs);
}

async function createSandbox() {
  const { createQuickJsSandbox } = await import(new URL('../../dist/libs/sandbox/quickjs.js', import.meta.url));
  const { defaultSandboxLimits } = await import(new URL('../../dist/libs/sandbox/sandbox.js', import.meta.url));
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  return {
    close: () => sandbox.close(),
    async evaluate({ html, code }) {
      const url = 'https://shop.example/';
      const result = await sandbox.evaluate({
        code,
        form: 'body',
        page: { url, finalUrl: url, status: 200, headers: {}, contentKind: 'html', body: encoder.encode(html) },
        previous: null,
        state: {},
        seed: '1',
        nowMs: 0,
        limits: defaultSandboxLimits,
      });
      if (!result.ok) throw new Error(`${result.failure.reason}: ${result.failure.message}`);
      return result.outcome;
    },
  };
}

function evaluateInJsdom({ JSDOM }, { html, code }) {
  const dom = new JSDOM(html, { url: 'https://shop.example/' });
  const { document } = dom.window;
  const outcome = vm.runInNewContext(`(() => {\n${code}\n})()`, { document }, { timeout: 1_000 });
  dom.window.close();
  return outcome;
}

/** The baseline, after it has been seen to find the same on every page; null where the peer is not there. */
async function measureJsdom(jsdom, sandbox, pages) {
  if (jsdom === null) return null;
  for (const page of pages) {
    if ((await sandbox.evaluate(page)) !== evaluateInJsdom(jsdom, page)) {
      throw new Error('the sandbox and jsdom found different things on the same page');
    }
  }
  const value = await ratePerCore(async (count) => {
    evaluateInJsdom(jsdom, pages[count % pages.length]);
    await setImmediate();
  });
  return { name: 'jsdom + node:vm', value };
}

export async function* evaluate({ seed }) {
  const jsdom = await peer('jsdom');
  const sandbox = await createSandbox();
  const cases = sizes.flatMap((size) => shapes.map((shape) => ({ ...size, shape })));
  try {
    for (const { title, bytes, target, shape } of cases) {
      const pages = Array.from({ length: pagesPerShape }, (_, index) => makePage(shape, bytes, seed * 1_000 + index));
      const value = await ratePerCore((count) => sandbox.evaluate(pages[count % pages.length]));
      const baseline = await measureJsdom(jsdom, sandbox, pages);
      const figure = { bench: 'evaluate', case: `${title} ${shape}`, value, unit: '/s/core' };
      yield { ...figure, baseline, target, direction: 'at least' };
    }
  } finally {
    await sandbox.close();
  }
}

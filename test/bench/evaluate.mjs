// `evaluate`: a page parsed and code run on it in a fresh sandbox, by the port that the product uses, on one core; with
// both page parsers where lexbor is built.
import { setImmediate } from 'node:timers/promises';
import vm from 'node:vm';
import { makePage, selectorCodes, shapes } from './pages.mjs';
import { peer } from './peers.mjs';

/** `target` is for parse5 and the shape's own code, `selector` for lexbor where the code is one selector and a comparison. */
const sizes = [
  { title: '10 KB', bytes: 10_000, target: null, selector: 2_000 },
  { title: '100 KB', bytes: 100_000, target: 100, selector: 400 },
  { title: '1 MB', bytes: 1_000_000, target: null, selector: 50 },
];
const fasterAtLeast = 2.5;
const warmupMs = 1_500;
/** Each is measured in turns, so that what else the machine does falls on all alike. */
const rounds = 6;
const roundMs = 500;
/** Other pages each time, so that nothing is won by having seen the page before. */
const pagesPerShape = 4;

const encoder = new TextEncoder();

/**
 * How often each work is done, one at a time, in a second of processor time of all threads: what one core does, also where
 * others keep the machine busy.
 */
async function ratesPerCore(works) {
  const runFor = async (work, ms) => {
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    let count = 0;
    while (performance.now() - startedAt < ms) {
      await work(count);
      count += 1;
    }
    const { user, system } = process.cpuUsage(before);
    return { count, seconds: (user + system) / 1_000_000 };
  };
  const totals = works.map(() => ({ count: 0, seconds: 0 }));
  for (const work of works) await runFor(work, warmupMs);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, work] of works.entries()) {
      const { count, seconds } = await runFor(work, roundMs);
      totals[index].count += count;
      totals[index].seconds += seconds;
    }
  }
  return totals.map(({ count, seconds }) => count / seconds);
}

const load = (file) => import(new URL(`../../dist/libs/sandbox/${file}.js`, import.meta.url));

/** One for each page parser that is there, by its name. */
async function createSandboxes() {
  const [{ createQuickJsSandbox }, { defaultSandboxLimits }, { isLexborBuilt }] = await Promise.all(
    ['quickjs', 'sandbox', 'lexbor-place'].map(load),
  );
  if (!isLexborBuilt()) process.stderr.write('lexbor is not built (npm run build:parser): measuring parse5 alone\n');
  const names = isLexborBuilt() ? ['parse5', 'lexbor'] : ['parse5'];
  return names.map((name) => {
    const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0, pageParser: name });
    const evaluate = async ({ html, code }) => {
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
    };
    return { name, evaluate, close: () => sandbox.close() };
  });
}

function evaluateInJsdom({ JSDOM }, { html, code }) {
  const dom = new JSDOM(html, { url: 'https://shop.example/' });
  const { document } = dom.window;
  const outcome = vm.runInNewContext(`(() => {\n${code}\n})()`, { document }, { timeout: 30_000 });
  dom.window.close();
  return outcome;
}

/** The baseline's work; null where the peer is not there. Throws where it does not find what the sandboxes find. */
async function jsdomWork(jsdom, sandboxes, pages) {
  if (jsdom === null) return null;
  for (const page of pages) {
    const found = [
      ...(await Promise.all(sandboxes.map(({ evaluate }) => evaluate(page)))),
      evaluateInJsdom(jsdom, page),
    ];
    if (new Set(found).size > 1) throw new Error('the sandboxes and jsdom found different things on the same page');
  }
  return async (count) => {
    evaluateInJsdom(jsdom, pages[count % pages.length]);
    await setImmediate();
  };
}

async function* measure({ title, pages, targets }, sandboxes, jsdom) {
  const works = sandboxes.map(
    ({ evaluate }) =>
      (count) =>
        evaluate(pages[count % pages.length]),
  );
  const peerWork = await jsdomWork(jsdom, sandboxes, pages);
  const rates = await ratesPerCore(peerWork === null ? works : [...works, peerWork]);
  const [parse5, lexbor] = rates;
  const baseline = peerWork === null ? null : { name: 'jsdom + node:vm', value: rates.at(-1) };
  const figure = { bench: 'evaluate', unit: '/s/core', direction: 'at least' };
  yield { ...figure, case: `${title}, parse5`, value: parse5, baseline, target: targets.parse5 };
  if (sandboxes.length === 1) return;
  yield { ...figure, case: `${title}, lexbor`, value: lexbor, baseline, target: targets.lexbor };
  yield { ...figure, case: `${title}, lexbor by parse5`, value: lexbor / parse5, unit: '×', target: targets.faster };
}

export async function* evaluate({ seed }) {
  const jsdom = await peer('jsdom');
  const sandboxes = await createSandboxes();
  try {
    for (const { title, bytes, target, selector } of sizes) {
      for (const shape of shapes) {
        const pages = Array.from({ length: pagesPerShape }, (_, index) => makePage(shape, bytes, seed * 1_000 + index));
        const targets = { parse5: target, lexbor: null, faster: null };
        yield* measure({ title: `${title} ${shape}`, pages, targets }, sandboxes, jsdom);
        const simple = pages.map(({ html }) => ({ html, code: selectorCodes[shape] }));
        const simpleTargets = { parse5: null, lexbor: selector, faster: bytes === 100_000 ? fasterAtLeast : null };
        yield* measure(
          { title: `${title} ${shape}, one selector`, pages: simple, targets: simpleTargets },
          sandboxes,
          null,
        );
      }
    }
  } finally {
    for (const sandbox of sandboxes) await sandbox.close();
  }
}

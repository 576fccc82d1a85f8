// `evaluate`: a page parsed and code run on it in a fresh sandbox, by the port that the product uses, on one core; with
// both page parsers where lexbor is built. Then what pages cost that are made to hurt, what the process of its own costs,
// how soon runaway code is stopped, and what an idle sandbox holds.
import { readFile } from 'node:fs/promises';
import { hurtfulPages } from './hurtful-pages.mjs';
import { makePage, selectorCodes, shapes } from './pages.mjs';
import { memoryMbOf, ownProcessorMs, runScript, startAnswering } from './processes.mjs';
import { median } from './report.mjs';

/** `target` is for parse5 and the shape's own code, `selector` for lexbor where the code is one selector and a comparison. */
const sizes = [
  { title: '10 KB', bytes: 10_000, target: null, selector: 2_000 },
  { title: '100 KB', bytes: 100_000, target: 100, selector: 400 },
  { title: '1 MB', bytes: 1_000_000, target: null, selector: 50 },
];
const fasterAtLeast = 2.5;
const warmupMs = 1_500;
/** Before all, and for each parser: for so many pages the rate rises by half while code is compiled, whatever the page. */
const warmupPages = 15_000;
const longestWarmupMs = 20_000;
/** Each is measured in turns, so that what else the machine does falls on all alike. */
const rounds = 6;
const roundMs = 500;
/** The thread finds its next page waiting, as it does in the product where there is much to do. */
const atOnce = 4;
/** Other pages each time, so that nothing is won by having seen the page before. */
const pagesPerShape = 4;

const encoder = new TextEncoder();

/**
 * How often each work is done, `atOnce` at a time, in a second of processor time of all threads: what one core does, also
 * where others keep the machine busy.
 */
async function ratesPerCore(works, pids) {
  const runFor = async (work, ms) => {
    const [until, beforeMs] = [performance.now() + ms, ownProcessorMs(pids)];
    let count = 0;
    const lane = async () => {
      while (performance.now() < until) await work.run(count++);
    };
    await Promise.all(Array.from({ length: work.atOnce }, lane));
    return { count, seconds: (ownProcessorMs(pids) - beforeMs) / 1_000 };
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
const pidsOf = (sandboxes) => sandboxes.flatMap(({ sandbox }) => sandbox.processes.map(({ pid }) => pid));

function jobOf({ html, code }, limits) {
  const url = 'https://shop.example/';
  return {
    code,
    form: 'body',
    page: { url, finalUrl: url, status: 200, headers: {}, contentKind: 'html', body: encoder.encode(html) },
    previous: null,
    state: {},
    seed: '1',
    nowMs: 0,
    limits,
  };
}

function outcomeOf(result) {
  if (!result.ok) throw new Error(`${result.failure.reason}: ${result.failure.message}`);
  return result.outcome;
}

/** One for each page parser that is there, by its name. */
async function createSandboxes() {
  const [{ createQuickJsSandbox }, { defaultSandboxLimits }, { isLexborBuilt }] = await Promise.all(
    ['quickjs', 'sandbox', 'parsers/lexbor-place'].map(load),
  );
  if (!isLexborBuilt()) process.stderr.write('lexbor is not built (npm run build:parser): measuring parse5 alone\n');
  const names = isLexborBuilt() ? ['parse5', 'lexbor'] : ['parse5'];
  return names.map((name) => {
    const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0, pageParser: name });
    const evaluate = async (page) => outcomeOf(await sandbox.evaluate(jobOf(page, defaultSandboxLimits)));
    return { name, sandbox, evaluate, close: () => sandbox.close() };
  });
}

/** The baseline's work; null where the peer is not there. Throws where it does not find what the sandboxes find. */
async function jsdomWork(jsdom, sandboxes, pages) {
  if (jsdom === null) return null;
  await jsdom.ask({ pages });
  for (const [index, page] of pages.entries()) {
    const found = await Promise.all([...sandboxes.map(({ evaluate }) => evaluate(page)), jsdom.ask({ page: index })]);
    if (new Set(found).size > 1) throw new Error('the sandboxes and jsdom found different things on the same page');
  }
  return { run: (count) => jsdom.ask({ page: count % pages.length }), atOnce: 1 };
}

async function* measure({ title, pages, targets }, sandboxes, jsdom) {
  const works = sandboxes.map(({ evaluate }) => ({ run: (count) => evaluate(pages[count % pages.length]), atOnce }));
  const peerWork = await jsdomWork(jsdom, sandboxes, pages);
  // Whoever has been asked has a process, and its time counts from here on.
  for (const { run } of works) await run(0);
  const pids = [...pidsOf(sandboxes), ...(peerWork === null ? [] : [jsdom.pid])];
  const rates = await ratesPerCore(peerWork === null ? works : [...works, peerWork], pids);
  const [parse5, lexbor] = rates;
  const baseline = peerWork === null ? null : { name: 'jsdom + node:vm', value: rates.at(-1) };
  const figure = { bench: 'evaluate', unit: '/s/core', direction: 'at least' };
  yield { ...figure, case: `${title}, parse5`, value: parse5, baseline, target: targets.parse5 };
  if (sandboxes.length === 1) return;
  yield { ...figure, case: `${title}, lexbor`, value: lexbor, baseline, target: targets.lexbor };
  yield { ...figure, case: `${title}, lexbor by parse5`, value: lexbor / parse5, unit: '×', target: targets.faster };
}

/** The same evaluations by the pool of threads in this very process, which is what the evaluator holds. */
async function createPool(pageParser) {
  const [{ WorkerPool }, { encodeJob }, { evaluatorFiles }, { defaultSandboxLimits }] = await Promise.all(
    ['evaluator/worker-pool', 'evaluator/messages', 'evaluator/evaluator-place', 'sandbox'].map(load),
  );
  const { quickjsPath, lexborPath } = evaluatorFiles(pageParser);
  const workerUrl = new URL('../../dist/evaluator/worker.js', import.meta.url);
  const settings = { workers: 1, spareWorkers: 0, idleMs: 60_000, graceMs: 50, parseMs: 2_000 };
  const pool = new WorkerPool({ ...settings, workerUrl, quickjsPath, lexborPath });
  return {
    close: () => pool.close(),
    async evaluate(page) {
      const outcome = await pool.run(encodeJob('evaluate', jobOf(page, defaultSandboxLimits)), {
        cpuMs: defaultSandboxLimits.cpuMs,
        isUrgent: false,
      });
      if (!outcome.ok) throw new Error(outcome.ended);
      return outcomeOf(JSON.parse(outcome.text));
    },
  };
}

const boundaryBytes = 100_000;

async function* measureBoundary(sandboxes, seed) {
  const pages = Array.from({ length: pagesPerShape }, (_, index) => ({
    ...makePage('shop', boundaryBytes, seed * 1_000 + index),
    code: selectorCodes.shop,
  }));
  for (const { name } of sandboxes) {
    // Both new: what a thread has compiled by now would count for one of them alone.
    const pool = await createPool(name);
    const [apartOne] = (await createSandboxes()).filter((sandbox) => sandbox.name === name);
    try {
      for (const several of [1, 8]) {
        const works = [pool, apartOne].map(({ evaluate }) => ({
          run: (count) => evaluate(pages[count % pages.length]),
          atOnce: several,
        }));
        await works[1].run(0);
        // The first time round is for warming up.
        await ratesPerCore(works, pidsOf([apartOne]));
        const [inside, apart] = await ratesPerCore(works, pidsOf([apartOne]));
        yield {
          bench: 'evaluate',
          case: `price of the process, 100 KB, ${name}, ${several} at once`,
          value: (inside / apart - 1) * 100,
          unit: '%',
          baseline: { name: 'threads of this process, evaluations/s/core', value: inside },
          target: 10,
        };
      }
    } finally {
      await Promise.all([pool.close(), apartOne.close()]);
    }
  }
}

const imagedAtOnce = 8;

/** Scripts on a page that was read before: its memory is put back with the page in it. Several wait for the one thread. */
async function* measureImaged(sandboxes, seed) {
  const { defaultSandboxLimits } = await load('sandbox');
  const { html } = makePage('shop', boundaryBytes, seed);
  const job = jobOf({ html, code: selectorCodes.shop }, defaultSandboxLimits);
  const again = { ...job, page: { ...job.page, contentHash: 'sha256:of-this-page' } };
  for (const { name, sandbox } of sandboxes) {
    const works = [again, job].map((of) => ({
      run: async () => outcomeOf(await sandbox.evaluate(of)),
      atOnce: imagedAtOnce,
    }));
    await works[0].run();
    const [imaged, fresh] = await ratesPerCore(works, pidsOf(sandboxes));
    yield {
      bench: 'evaluate',
      case: `several scripts on one page, 100 KB, ${name}`,
      value: imaged,
      unit: '/s/core',
      direction: 'at least',
      baseline: { name: 'the page read each time', value: fresh },
      target: 5_000,
    };
  }
}

const hurtfulLimits = { processorMs: 100, memoryMb: 128 };
/** Each time a process that never saw the page. */
const hurtfulRounds = 3;

/** What a page that is made to hurt costs a parser, no code run on it: the median of each, and how it ended. */
async function costOfHurtful(title, parserName) {
  const costs = [];
  for (let round = 0; round < hurtfulRounds; round += 1) {
    costs.push(await runScript('hurtful-page.mjs', { parserName, title }));
  }
  const of = (what) => median(costs.map((cost) => cost[what]));
  return { end: costs[0].end, processorMs: of('processorMs'), memoryMb: of('memoryMb') };
}

async function* measureHurtful(parserNames) {
  for (const title of Object.keys(hurtfulPages)) {
    let baseline = null;
    for (const name of parserNames) {
      const { end, ...cost } = await costOfHurtful(title, name);
      for (const [what, called, unit] of [
        ['processorMs', 'processor time', 'ms'],
        ['memoryMb', 'memory', 'MB'],
      ]) {
        yield {
          bench: 'evaluate',
          case: `${title}, ${name} (${end}): ${called}`,
          value: cost[what],
          unit,
          baseline: baseline === null ? null : { name: 'parse5', value: baseline[what] },
          target: name === 'lexbor' ? hurtfulLimits[what] : null,
        };
      }
      baseline = cost;
    }
  }
}

const runawayLimitMs = 200;
const runaways = {
  'a loop': 'for (;;);',
  'a built-in that cannot be interrupted': 'return new Array(1e9) + ""',
};

/** How long past its limit code runs that has no end. Other work of the machine counts, so it is the best that is told. */
async function* measureRunaways({ sandbox }) {
  const { defaultSandboxLimits } = await load('sandbox');
  const limits = { ...defaultSandboxLimits, cpuMs: runawayLimitMs };
  for (const [title, code] of Object.entries(runaways)) {
    const over = [];
    for (let round = 0; round < 10; round += 1) {
      await sandbox.evaluate(jobOf({ html: '<p>', code: 'return true' }, limits));
      const startedAt = performance.now();
      await sandbox.evaluate(jobOf({ html: '<p>', code }, limits));
      over.push(performance.now() - startedAt - runawayLimitMs);
    }
    const figure = { bench: 'evaluate', unit: 'ms' };
    yield { ...figure, case: `stopped after its limit, ${title}, best`, value: Math.min(...over), target: 60 };
    yield { ...figure, case: `stopped after its limit, ${title}, median`, value: median(over) };
  }
}

const idleSandboxes = 40;

/** What each instance holds that was restored from the image and waits, measured on many in this process. */
async function idleSandboxMb() {
  const [{ Guests }, { evaluatorFiles }] = await Promise.all(['guest/guest', 'evaluator/evaluator-place'].map(load));
  const guests = new Guests(await WebAssembly.compile(await readFile(evaluatorFiles('parse5').quickjsPath)), () => []);
  await guests.another(64);
  const before = memoryMbOf(process.pid);
  const held = [];
  while (held.length < idleSandboxes) held.push(await guests.another(64));
  return (memoryMbOf(process.pid) - before) / held.length;
}

/** What the evaluator holds with so many threads that wait, each with its sandbox ready, less what it holds with one. */
async function* measureMemory() {
  const [{ createQuickJsSandbox }, { defaultSandboxLimits }] = await Promise.all(['quickjs', 'sandbox'].map(load));
  const page = { ...makePage('shop', boundaryBytes, 1), code: selectorCodes.shop };
  const held = async (workers) => {
    const sandbox = createQuickJsSandbox({ workers, spareWorkers: 0 });
    for (let round = 0; round < 30; round += 1) {
      await Promise.all(
        Array.from({ length: workers }, () => sandbox.evaluate(jobOf(page, defaultSandboxLimits)).then(outcomeOf)),
      );
    }
    const mb = memoryMbOf(sandbox.processes[0].pid);
    await sandbox.close();
    return mb;
  };
  const [one, three] = [await held(1), await held(3)];
  const figure = { bench: 'evaluate', unit: 'MB' };
  yield { ...figure, case: 'each sandbox that waits, ready for a page', value: await idleSandboxMb(), target: 1 };
  yield { ...figure, case: 'evaluator with one thread, 100 KB pages', value: one };
  yield { ...figure, case: 'each thread more, 100 KB pages', value: (three - one) / 2, target: 150 };
}

async function warmUp({ evaluate }, seed) {
  const pages = shapes.map((shape) => makePage(shape, sizes[0].bytes, seed));
  const until = performance.now() + longestWarmupMs;
  for (let count = 0; count < warmupPages && performance.now() < until; count += 1) {
    await evaluate(pages[count % pages.length]);
  }
}

export async function* evaluate({ seed }) {
  // Null where the peer is not there. It does one page at a time.
  const jsdom = await startAnswering('baseline-jsdom.mjs');
  const sandboxes = await createSandboxes();
  try {
    for (const sandbox of sandboxes) await warmUp(sandbox, seed);
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
    yield* measureHurtful(sandboxes.map(({ name }) => name));
    yield* measureImaged(sandboxes, seed);
    yield* measureBoundary(sandboxes, seed);
    yield* measureRunaways(sandboxes[0]);
    yield* measureMemory();
  } finally {
    for (const sandbox of sandboxes) await sandbox.close();
    await jsdom?.close();
  }
}

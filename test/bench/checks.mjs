// `checks`: what a check costs in the running product: one slot that is fired, published, loaded, parsed, evaluated, decided,
// appended, projected. The product has one core, with its threads and its evaluator; pages and questions come from another.
// `--servers`: on servers instead. The event store is the double, which counts reads; BUS_URL and READ_STORE_URL name the others
// (npm run servers -- up).
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEventStoreDouble } from './event-store-double.mjs';
import {
  ask,
  authorized,
  makeFolder,
  startAnswering,
  startProcess,
  startProduct,
  startServices,
} from './processes.mjs';
import { threadProfileFlags } from './profile.mjs';
import { quantile } from './report.mjs';

const shape = 'shop';
const sites = 50;
const atOnce = 50;
/** What is offered is doubled from here on until it is more than the product records. */
const firstOffer = 200;
const mostOffered = 6_400;
/** A server runs for weeks: code that runs often is compiled in the first seconds. */
const settleMs = 4_000;
const stepMs = 4_000;
const warmupMs = 8_000;
/** Of what is offered; below, it is more than can be carried. */
const carriedShare = 0.92;
const loadShare = 0.8;
const askEveryMs = 50;
/** The bytes of pages are not counted: how many are kept is a setting. */
const databases = ['events.db', 'views.db', 'bus.db'];
const [productCore, otherCore] = ['0', '1'];

const sizes = { '10 KB': 10_240, '100 KB': 102_400 };
const kinds = { changed: 'changing', unchanged: 'steady', 304: 'tagged' };

const one = (size, kind, parser, target, more = {}) => ({ size, kind, parser, target, cores: productCore, ...more });
/** `mainMs`, `memoryMb`, `diskKb`: targets of that case beside its rate. */
const allCases = [
  one('10 KB', 'changed', 'lexbor', 900, { mainMs: 0.35, diskKb: 1.2 }),
  one('10 KB', 'changed', 'parse5', 450),
  one('10 KB', 'unchanged', 'lexbor', 2_500, { diskKb: 0.6 }),
  one('10 KB', '304', 'lexbor', 2_500, { diskKb: 0.6 }),
  one('100 KB', 'changed', 'lexbor', 350),
  one('100 KB', 'changed', 'parse5', 130),
  one('10 KB', 'changed', 'lexbor', null, { offered: 1_000, memoryMb: 300, title: '1,000 a second offered' }),
  one('10 KB', 'changed', 'lexbor', null, { cores: `${productCore},${otherCore}`, title: 'two cores' }),
];

const roles = ['gateway', 'accounts', 'tasks', 'scheduling', 'execution', 'rendering', 'delivery'];
/** `layout`: the roles of each process; null: all in one, with bus and views of its own. */
const casesOnServers = [
  one('10 KB', 'unchanged', 'lexbor', 250, { layout: roles, title: 'on servers, each role a process' }),
  one('10 KB', 'unchanged', 'lexbor', 800, { layout: null, title: 'events on a server' }),
  one('10 KB', 'changed', 'lexbor', null, { layout: null, title: 'events on a server' }),
];
const readsTarget = 0.1;

const titled = (found) => {
  const { size, kind, parser, title } = found;
  return { ...found, title: `${size}, ${kind}, ${parser}${title === undefined ? '' : `, ${title}`}` };
};

const offer = (pages, { kind, size }, number) => {
  const site = new URL(pages.url);
  site.hostname = `127.0.0.${1 + (number % sites)}`;
  return {
    name: `Offer ${number}`,
    url: `${site.origin}/${kinds[kind]}/${shape}/${sizes[size]}?${number}`,
    tags: [`shelf-${number % 10}`],
    evaluationFunction: `return page.number(document.querySelector('.price')) < 0`,
    schedule: { type: 'interval', intervalSeconds: 1 },
    actions: [{ type: 'webhook', config: { url: `${site.origin}/hook` } }],
  };
};

async function inTurns(items, work) {
  const left = [...items];
  const done = [];
  while (left.length > 0) done.push(...(await Promise.all(left.splice(0, atOnce).map(work))));
  return done;
}

/** How many runs are recorded, and how many of them did not succeed. */
async function recordedBy({ urls }) {
  const answers = await Promise.all(urls.map(async (url) => (await fetch(new URL('/metrics', url))).text()));
  let [all, failed] = [0, 0];
  for (const [, labels, value] of answers.join('\n').matchAll(/^meerkat_runs_total\{(.*)\} (\d+)$/gm)) {
    all += Number(value);
    if (!labels.includes('status="succeeded"')) failed += Number(value);
  }
  return { all, failed, atMs: performance.now() };
}

async function rateOver(product, ms) {
  const before = await recordedBy(product);
  await delay(ms);
  const after = await recordedBy(product);
  return ((after.all - before.all) / (after.atMs - before.atMs)) * 1_000;
}

/** Creates tasks until they are more than the product can check each second, or as many as `offered`. */
async function fill(product, pages, found) {
  const ids = [];
  const add = async (count) => {
    const numbers = Array.from({ length: count - ids.length }, (_, index) => ids.length + index);
    ids.push(
      ...(await inTurns(numbers, async (number) => {
        const { data } = await ask(product.url, 'POST', '/api/notifications', offer(pages, found, number));
        return data.id;
      })),
    );
  };
  if (found.offered !== undefined) {
    await add(found.offered);
    await delay(settleMs);
    return { ids, carried: await rateOver(product, stepMs) };
  }
  for (let count = firstOffer; ; count *= 2) {
    await add(count);
    await delay(settleMs);
    const carried = await rateOver(product, stepMs);
    if (carried < carriedShare * count || count >= mostOffered) return { ids, carried };
  }
}

/** Asks for lists until it is stopped; the delays in ms. */
function startAsking({ url }) {
  const delays = [];
  let isOver = false;
  const running = (async () => {
    for (let number = 0; !isOver; number += 1) {
      const beganAt = performance.now();
      const answer = await fetch(new URL(`/api/notifications?page=${1 + (number % 10)}`, url), { headers: authorized });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`the list answers ${answer.status}`);
      delays.push(performance.now() - beganAt);
      await delay(askEveryMs);
    }
  })();
  running.catch(() => undefined);
  return async () => {
    isOver = true;
    await running;
    return delays;
  };
}

const bytesIn = (folder) =>
  readdirSync(folder)
    .filter((name) => databases.some((database) => name.startsWith(database)))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

/** Offers what is to be carried, and measures for `seconds` once code is compiled. */
async function measureLoad(product, seconds, reads) {
  await delay(warmupMs);
  const stopAsking = startAsking(product);
  const readsBefore = await reads();
  const [before, cpuBefore, partsBefore] = [await recordedBy(product), product.cpuMs(), product.cpuMsByPart()];
  const memory = [];
  for (let second = 0; second < seconds; second += 1) {
    await delay(1_000);
    memory.push(product.memoryMb());
  }
  const [after, cpuAfter, partsAfter] = [await recordedBy(product), product.cpuMs(), product.cpuMsByPart()];
  const readsAfter = await reads();
  const delays = await stopAsking();
  const checks = after.all - before.all;
  if (after.failed > before.failed + checks / 100) throw new Error(`${after.failed} checks did not succeed`);
  const each = (part) => (partsAfter[part] - partsBefore[part]) / checks;
  return {
    recorded: after.all,
    perSecond: (checks / (after.atMs - before.atMs)) * 1_000,
    perCore: checks / ((cpuAfter - cpuBefore) / 1_000),
    mainMs: each('main'),
    threadsMs: each('threads'),
    childrenMs: each('children'),
    memoryMb: Math.max(...memory),
    reads: (readsAfter - readsBefore) / checks,
    listMs: quantile(delays, 0.99),
  };
}

/** Where the product keeps what it knows: started, and started again on the same. `reads`: of the event store so far, where it counts them. */
async function placeOf({ cores, layout }, dataDir, env) {
  if (layout === undefined) {
    const start = (options) => startProduct(dataDir, { env, cores, ...options });
    return { start, reads: async () => Number.NaN, stop: async () => undefined };
  }
  const double = await startEventStoreDouble(otherCore);
  const own = { ...env, EVENT_STORE_URL: double.url };
  if (layout === null) return { ...double, start: (options) => startProduct(dataDir, { env: own, cores, ...options }) };
  const installation = { INSTALLATION: `bench-${Date.now()}`, SECRET_KEY: randomBytes(32).toString('base64') };
  return { ...double, start: () => startServices({ env: { ...own, ...installation }, layout, cores }) };
}

async function measure(found, seconds) {
  const { parser, title, offered } = found;
  const dataDir = await makeFolder();
  const { PAGE_THREAD = 'auto' } = process.env;
  const env = { MIN_INTERVAL_SECONDS: '1', EGRESS_ALLOW: '127.0.0.0/8', PAGE_PARSER: parser, PAGE_THREAD };
  const pages = await startProcess('test/bench/page-server.mjs', {
    probe: '/',
    cores: otherCore,
    env: { SITES: String(sites) },
  });
  try {
    const place = await placeOf(found, dataDir, env);
    const first = await place.start({});
    const { ids, carried } = await fill(first, pages, found);
    const kept = offered ?? Math.round(Math.min(ids.length, carried) * loadShare);
    await inTurns(ids.slice(kept), (id) => ask(first.url, 'PATCH', `/api/notifications/${id}`, { status: 'paused' }));
    await first.stop();
    const bytesBefore = bytesIn(dataDir);
    const name = `checks-${title.replaceAll(/[^a-z0-9]+/gi, '-')}`;
    const nodeFlags = threadProfileFlags(name);
    const product = await place.start({ nodeFlags, profileAs: `${name}.cpuprofile` });
    const load = await measureLoad(product, seconds, place.reads);
    // Until it is stopped it goes on.
    const { all } = await recordedBy(product);
    await product.stop();
    await place.stop();
    return { ...load, carried, diskKb: (bytesIn(dataDir) - bytesBefore) / all / 1_024 };
  } finally {
    await pages.stop();
  }
}

/** What anybody pays who loads the same page and makes a tree of it. */
async function baselineRate({ size, kind }, seconds) {
  const pages = await startProcess('test/bench/page-server.mjs', { probe: '/', cores: otherCore });
  const url = `${pages.url}/${kinds[kind]}/${shape}/${sizes[size]}`;
  const work = await startAnswering('pipeline-work.mjs', { work: 'baseline', url, shape, atOnce: 16 });
  try {
    await work.ask({ what: 'run', ms: stepMs, atLeast: 0 });
    const { count, seconds: spent } = await work.ask({ what: 'run', ms: (seconds * 1_000) / 4, atLeast: 0 });
    return count / spent;
  } finally {
    await work.close();
    await pages.stop();
  }
}

export async function* checks({ cases, seconds, offered, servers }) {
  if (availableParallelism() < 2) throw new Error('it takes two cores: one for the product, one for the pages');
  // This process asks: not where the product is.
  execFileSync('taskset', ['-cp', otherCore, String(process.pid)], { stdio: 'ignore' });
  const { isLexborBuilt } = await import('../../dist/libs/sandbox/parsers/lexbor-place.js');
  const hasLexbor = isLexborBuilt();
  if (!hasLexbor) process.stderr.write('lexbor is not built (npm run build:parser): measuring parse5 alone\n');
  const possible = (servers ? casesOnServers : allCases).map(titled);
  const named = possible.filter(({ title }) => cases.includes(title));
  const alike = possible.filter(({ title }) => cases.length === 0 || cases.some((text) => title.includes(text)));
  const chosen = named.length > 0 ? named : alike;
  if (chosen.length === 0)
    throw new Error(`no case is called so; they are: ${possible.map(({ title }) => title).join('; ')}`);
  let carriedByOne = null;
  for (const found of chosen) {
    if (found.parser === 'lexbor' && !hasLexbor) continue;
    const isOnServers = found.layout !== undefined;
    const { title, target, mainMs = null, memoryMb = null, diskKb = null } = found;
    const baseline = { name: 'fetch + parse5', value: await baselineRate(found, seconds) };
    const load = await measure({ ...found, ...(offered === undefined ? {} : { offered }) }, seconds);
    const figure = (name, value, unit, wanted = null, direction = 'at most') => ({
      bench: 'checks',
      case: `${title}: ${name}`,
      value,
      unit,
      target: wanted,
      direction,
    });
    yield { ...figure('checks', load.perCore, '/s/core', target, 'at least'), baseline };
    yield figure('recorded meanwhile', load.perSecond, '/s');
    if (!servers && found === possible[0]) carriedByOne = load.carried;
    if (found.cores.includes(',') && carriedByOne !== null) {
      const beside = { name: 'one core', value: carriedByOne };
      yield { ...figure('recorded at most', load.carried, '/s', 1.7 * carriedByOne, 'at least'), baseline: beside };
    } else yield figure('recorded at most', load.carried, '/s');
    yield figure('main thread a check', load.mainMs, 'ms', mainMs);
    yield figure('other threads a check', load.threadsMs, 'ms');
    yield figure('evaluator a check', load.childrenMs, 'ms');
    yield figure('list of tasks meanwhile, p99', load.listMs, 'ms', 100);
    yield figure('resident memory', load.memoryMb, 'MB', memoryMb);
    if (isOnServers) yield figure('reads of the event store a check', load.reads, '', readsTarget);
    else yield figure('on disk a check', load.diskKb, 'KB', diskKb);
  }
}

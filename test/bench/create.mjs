// `create`: POST /api/notifications at 64 connections from another process; each answered id must outlive a kill.
import { ask, authorized, makeFolder, runScript, startProcess, startProduct } from './processes.mjs';
import { profileFolder } from './profile.mjs';
import { quantile } from './report.mjs';

const connections = 64;
const warmupMs = 5_000;
const measureMs = 5_000;
const pageLimit = 100;
const readersAtOnce = 4;

async function sendFor(running, ms, kind, seed) {
  const { ids, latencies, refused } = await runScript('load.mjs', {
    url: running.url,
    path: '/api/notifications',
    headers: authorized,
    connections,
    ms,
    kind,
    seed,
  });
  if (refused.length > 0)
    throw new Error(`refused: ${refused.map(([words, count]) => `${count} × ${words}`).join('\n')}`);
  return { ids, latencies };
}

/** Figures of the second part, when both sides have met the code before; ids of both. */
async function load(running, kind, seed) {
  const warm = await sendFor(running, warmupMs, kind, seed * 2 + 1);
  const cpuBefore = running.cpuMs();
  const { ids, latencies } = await sendFor(running, measureMs, kind, seed * 2);
  return {
    ids: [...warm.ids, ...ids],
    perSecond: latencies.length / (measureMs / 1_000),
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    cpuMs: (running.cpuMs() - cpuBefore) / ids.length,
  };
}

/** All ids that the API lists. */
async function listedIds(url) {
  const idsOf = async (page) => ask(url, 'GET', `/api/notifications?sort=createdAt&limit=${pageLimit}&page=${page}`);
  const { pagination } = await idsOf(1);
  const pages = Array.from({ length: pagination.pages }, (_, index) => index + 1);
  const ids = new Set();
  const reader = async () => {
    for (let page = pages.shift(); page !== undefined; page = pages.shift()) {
      for (const { id } of (await idsOf(page)).data) ids.add(id);
    }
  };
  await Promise.all(Array.from({ length: readersAtOnce }, reader));
  return ids;
}

async function measure(kind, seed) {
  const folder = await makeFolder();
  // A budget for every request of the run: quotas are not what is measured.
  const product = await startProduct(folder, { profileAs: `create-${kind.replace(' ', '-')}.cpuprofile` });
  const measured = await load(product, kind, seed);
  // A profile is written at an orderly end only.
  await (profileFolder === null ? product.kill() : product.stop());
  const again = await startProduct(folder);
  const stored = await listedIds(again.url);
  await again.stop();
  return { ...measured, lost: measured.ids.filter((id) => !stored.has(id)).length };
}

async function measureBaseline(seed) {
  const running = await startProcess('test/bench/baseline-create.mjs', { probe: '/' });
  const measured = await load(running, 'plain', seed);
  await running.kill();
  return measured;
}

const cases = [
  { kind: 'plain', title: 'no action', isTarget: true },
  { kind: 'webhook', title: 'a webhook to seal', isTarget: true },
  { kind: 'own code', title: 'code never seen before', isTarget: false },
];

export async function* create({ seed }) {
  const bare = await measureBaseline(seed);
  const name = 'Fastify with one flushed SQLite commit each';
  for (const { kind, title, isTarget } of cases) {
    const { perSecond, p50Ms, p99Ms, cpuMs, lost, ids } = await measure(kind, seed);
    const figure = (what, value, unit, rest = {}) => ({
      bench: 'create',
      case: `${title}: ${what}`,
      value,
      unit,
      ...rest,
    });
    yield figure(`${connections} connections`, perSecond, '/s', {
      baseline: { name, value: bare.perSecond },
      ...(isTarget ? { target: 2_000, direction: 'at least' } : {}),
    });
    yield figure('p50', p50Ms, 'ms', { baseline: { name, value: bare.p50Ms } });
    yield figure('p99', p99Ms, 'ms', { baseline: { name, value: bare.p99Ms }, ...(isTarget ? { target: 50 } : {}) });
    yield figure('processor time of the server each', cpuMs, 'ms', { baseline: { name, value: bare.cpuMs } });
    yield figure(`of ${ids.length} answered, missing after kill -9`, lost, 'tasks', { target: 0 });
  }
}

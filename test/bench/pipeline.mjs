// `pipeline`: what one check costs from the due run to its durable record: the page loaded over loopback by the product's
// own loader, parsed and evaluated in a fresh sandbox, decided and appended. Several at a time, with both page parsers.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { selectorCodes } from './pages.mjs';
import { makeFolder, ownProcessorMs, startProcess } from './processes.mjs';

const sizes = [
  { title: '10 KB', bytes: 10_000, targets: { parse5: 700, lexbor: 900, unchanged: 5_000 } },
  { title: '100 KB', bytes: 100_000, targets: { parse5: 130, lexbor: 300, unchanged: 2_000 } },
];
/** How the page's server behaves, and how that is called. */
const kinds = { changing: 'changed', steady: 'unchanged', tagged: 'unchanged, 304' };
const shape = 'shop';
/** As the product does by itself on two cores. */
const atOnce = 16;
const warmupMs = 1_500;
/** On a machine that is busy elsewhere the time alone would leave the code cold. */
const warmupChecks = 2_000;
const longestWarmupMs = 20_000;
/** Each is measured in turns, so that what else the machine does falls on all alike. */
const rounds = 4;
const roundMs = 1_000;
const organizationId = 'org_00000000000000000000000001';
const taskIds = Array.from({ length: atOnce }, (_, at) => `ntf_${String(at).padStart(26, '0')}`);
const atStart = '2026-01-01T00:00:00.000Z';

const load = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url));

function taskDocument(id, url) {
  const spec = {
    name: 'Offer',
    description: '',
    url,
    evaluationFunction: selectorCodes[shape],
    codeForm: 'body',
    actions: [],
    schedule: { type: 'manual' },
    policy: { notifyOn: 'became_true', errorThreshold: 3 },
    fetch: {},
    tags: [],
    externalKey: null,
  };
  return { id, organizationId, revision: 0, codeRevision: 0, spec, status: 'active' };
}

/** One check after the other, of the page at `url`, each a due run of its own, by the product's own parts. */
async function createChecker(pageParser, url) {
  const [
    run,
    eventStore,
    readStore,
    loader,
    outbound,
    quickjs,
    sandboxPort,
    leases,
    logger,
    task,
    vault,
    snapshots,
    known,
  ] = await Promise.all(
    [
      'services/execution/run',
      'libs/event-store/sqlite',
      'libs/read-store/sqlite',
      'libs/page-loader/http',
      'libs/outbound/undici',
      'libs/sandbox/quickjs',
      'libs/sandbox/sandbox',
      'libs/leases/sole',
      'libs/runtime/logger',
      'libs/contracts/task',
      'libs/vault/event-vault',
      'libs/snapshots/sqlite',
      'services/execution/known-results',
    ].map(load),
  );
  const folder = await makeFolder();
  const door = outbound.createOutbound({
    egressAllow: ['127.0.0.0/8'],
    egressProxyUrl: null,
    trustedHosts: [],
    userAgent: 'Meerkat/benchmark',
  });
  const events = eventStore.createSqliteEventStore(join(folder, 'events.db'));
  const parts = {
    eventStore: events,
    readStore: readStore.createSqliteReadStore(join(folder, 'views.db')),
    pageLoader: loader.createHttpPageLoader(door, { politeness: { loadsAtOnce: atOnce } }),
    sandbox: quickjs.createQuickJsSandbox({ workers: 1, spareWorkers: 0, pageParser }),
    vault: vault.createEventVault(events, Buffer.alloc(32, 1)),
    clock: { now: () => Date.now() },
    logger: logger.silentLogger,
    limits: sandboxPort.defaultSandboxLimits,
    leases: leases.createSoleLeases(),
    snapshots: snapshots.createSqliteSnapshots(join(folder, 'snapshots.db'), { keepCount: 100, keepDays: 30 }),
    knownResults: new known.KnownResults(),
  };
  const documents = taskIds.map((id) => ({ id, revision: 1, document: taskDocument(id, url) }));
  await parts.readStore.save(task.tasksView, documents, 1);
  const metadata = { organizationId, actor: 'system:execution', requestId: 'req_1', causationId: null, at: atStart };
  let slot = 0;
  return {
    async check() {
      slot += 1;
      const at = new Date(Date.parse(atStart) + slot * 1_000).toISOString();
      const due = {
        runId: `exe_${String(slot).padStart(26, '0')}`,
        taskId: taskIds[slot % atOnce],
        trigger: 'schedule',
      };
      await run.executeRun(parts, { ...due, scheduledFor: at, queuedAt: at, force: false, dryRun: false }, metadata);
    },
    pids: () => parts.sandbox.processes.map(({ pid }) => pid),
    async outcomeOf() {
      const last = await events.readLast(`run-${taskIds[0]}`);
      return last?.data.result.status;
    },
    async close() {
      await Promise.all([parts.sandbox.close(), parts.pageLoader.close(), door.close()]);
      await parts.snapshots.close();
      await parts.readStore.close();
      await events.close();
    },
  };
}

/** What anybody pays who loads a page and makes a tree of it, and nothing more. */
function createBaseline(url) {
  const { parse } = createRequire(import.meta.url)('parse5');
  return async () => void parse(await (await fetch(url)).text());
}

/** Checks in a second of processor time of all threads, for each work in turn. */
async function ratesPerCore(works, pids) {
  const runFor = async (work, ms, atLeast = 0) => {
    // The evaluator process is there from the first check on, and its time counts from then on.
    const [until, known, beforeMs] = [performance.now() + ms, pids(), ownProcessorMs(pids())];
    let count = 0;
    const isOver = (now) => now >= until && (count >= atLeast || now >= until + longestWarmupMs);
    const lane = async () => {
      while (!isOver(performance.now())) {
        await work();
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
    return { count, seconds: (ownProcessorMs(known) - beforeMs) / 1_000 };
  };
  const totals = works.map(() => ({ count: 0, seconds: 0 }));
  for (const work of works) await runFor(work, warmupMs, warmupChecks);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, work] of works.entries()) {
      const { count, seconds } = await runFor(work, roundMs);
      totals[index].count += count;
      totals[index].seconds += seconds;
    }
  }
  return totals.map(({ count, seconds }) => count / seconds);
}

async function* measure({ title, bytes, targets }, kind, names, server) {
  const url = `${server.url}/${kind}/${shape}/${bytes}`;
  const checkers = await Promise.all(names.map((name) => createChecker(name, url)));
  try {
    const pids = () => checkers.flatMap((checker) => checker.pids());
    const rates = await ratesPerCore([...checkers.map(({ check }) => check), createBaseline(url)], pids);
    for (const outcome of await Promise.all(checkers.map(({ outcomeOf }) => outcomeOf()))) {
      if (outcome !== 'succeeded') throw new Error(`the checks did not succeed: ${outcome}`);
    }
    const baseline = { name: 'fetch + parse5', value: rates.at(-1) };
    for (const [index, name] of names.entries()) {
      yield {
        bench: 'pipeline',
        case: kind === 'changing' ? `${title}, ${kinds[kind]}, ${name}` : `${title}, ${kinds[kind]}`,
        value: rates[index],
        unit: '/s/core',
        baseline,
        target: kind === 'changing' ? targets[name] : targets.unchanged,
        direction: 'at least',
      };
    }
  } finally {
    for (const { close } of checkers) await close();
  }
}

export async function* pipeline() {
  const { isLexborBuilt } = await load('libs/sandbox/parsers/lexbor-place');
  if (!isLexborBuilt()) process.stderr.write('lexbor is not built (npm run build:parser): measuring parse5 alone\n');
  const names = isLexborBuilt() ? ['parse5', 'lexbor'] : ['parse5'];
  const server = await startProcess('test/bench/page-server.mjs', { probe: '/' });
  try {
    for (const size of sizes) {
      yield* measure(size, 'changing', names, server);
      // No page is parsed here: which parser it would be makes no difference.
      for (const kind of ['steady', 'tagged']) yield* measure(size, kind, names.slice(0, 1), server);
    }
  } finally {
    await server.stop();
  }
}

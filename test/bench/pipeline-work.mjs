// One work of `pipeline` in a process of its own, so that nobody pays for the garbage or the memory of another: checks by the
// product's own parts with one page parser, or the baseline. Told as its arguments which work, the page's address and how
// many at a time; then asked to run for a while, or what its last check came to.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { selectorCodes } from './pages.mjs';
import { makeFolder, ownProcessorMs, removeFolders } from './processes.mjs';

const { work: name, url, shape, atOnce } = JSON.parse(process.argv[2]);
const longestWarmupMs = 20_000;
const organizationId = 'org_00000000000000000000000001';
const taskIds = Array.from({ length: atOnce }, (_, at) => `ntf_${String(at).padStart(26, '0')}`);
const atStart = '2026-01-01T00:00:00.000Z';

const load = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url));

/** A task as the product would keep it that was given no more than this. */
function taskDocument({ taskInput, taskSpec }, id) {
  const given = { name: 'Offer', url, evaluationFunction: selectorCodes[shape], schedule: { type: 'manual' } };
  const spec = taskSpec.parse({ ...taskInput.parse(given), codeForm: 'body' });
  return { id, organizationId, revision: 0, codeRevision: 0, spec, status: 'active' };
}

/** One check after the other, of the page at `url`, each a due run of its own, by the product's own parts. */
async function createChecker(pageParser) {
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
    fair,
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
      'libs/concurrency/fair-slots',
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
    pageLoader: loader.createHttpPageLoader(door, { originLimits: { maxConcurrentLoads: atOnce } }),
    sandbox: quickjs.createQuickJsSandbox({ workers: 1, spareWorkers: 0, pageParser }),
    vault: vault.createEventVault(events, Buffer.alloc(32, 1)),
    clock: { now: () => Date.now() },
    logger: logger.silentLogger,
    limits: sandboxPort.defaultSandboxLimits,
    leases: leases.createSoleLeases(),
    snapshots: snapshots.createSqliteSnapshots(join(folder, 'snapshots.db'), { keepCount: 100, keepDays: 30 }),
    knownResults: new known.KnownResults(),
    slots: fair.createFairSlots({ slots: 1_000, shares: { organization: 1_000 } }),
  };
  const documents = taskIds.map((id) => ({ id, revision: 1, document: taskDocument(task, id) }));
  await parts.readStore.save(task.tasksView, documents, 1);
  const metadata = { organizationId, actor: 'system:execution', requestId: 'req_1', causationId: null, at: atStart };
  let slot = 0;
  const running = new AbortController().signal;
  return {
    async check() {
      slot += 1;
      const at = new Date(Date.parse(atStart) + slot * 1_000).toISOString();
      const due = {
        runId: `exe_${String(slot).padStart(26, '0')}`,
        taskId: taskIds[slot % atOnce],
        trigger: 'schedule',
      };
      const dueRun = { ...due, scheduledFor: at, queuedAt: at, force: false, dryRun: false };
      await run.executeRun(parts, dueRun, metadata, running);
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
function createBaseline() {
  const { parse } = createRequire(import.meta.url)('parse5');
  return {
    check: async () => void parse(await (await fetch(url)).text()),
    pids: () => [],
    outcomeOf: async () => 'succeeded',
    close: async () => undefined,
  };
}

const work = name === 'baseline' ? createBaseline() : await createChecker(name);

/** How many checks in `ms`, `atLeast` so many if that takes no more than `longestWarmupMs`, and what they took of all threads. */
async function runFor({ ms, atLeast }) {
  // The evaluator process is there from the first check on, and its time counts from then on.
  const [until, known, beforeMs] = [performance.now() + ms, work.pids(), ownProcessorMs(work.pids())];
  let count = 0;
  const isOver = (now) => now >= until && (count >= atLeast || now >= until + longestWarmupMs);
  const lane = async () => {
    while (!isOver(performance.now())) {
      await work.check();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { count, seconds: (ownProcessorMs(known) - beforeMs) / 1_000 };
}

const answerTo = async (asked) => (asked.what === 'run' ? await runFor(asked) : { outcome: await work.outcomeOf() });

process.on('message', (asked) => void answerTo(asked).then((answer) => process.send(answer)));
process.on('disconnect', () => void work.close().then(removeFolders));
process.send('ready');

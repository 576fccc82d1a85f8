// `lateness`: how long after its due time a run begins, and a webhook arrives, at a steady rate of due runs. Where
// EVENT_STORE_URL, BUS_URL and READ_STORE_URL are set (npm run servers -- up), on those servers too, in ever more processes.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { receivedBy } from './deliver.mjs';
import { folderWithManyTasks } from './many-tasks.mjs';
import { ask, makeFolder, startProcess, startProduct, startServices } from './processes.mjs';
import { quantile } from './report.mjs';

const intervalSeconds = 1;
/** Until members of consumer groups have their parts and code that runs often is compiled: a rate is steady after that. */
const warmupMs = 20_000;
const measureMs = 20_000;
const restMs = 10_000;
const roles = ['gateway', 'accounts,tasks,scheduling', 'execution,rendering', 'delivery'];
/** On servers: the roles of each process. The last is that of the end-to-end specs. */
const layouts = {
  'on servers, one process': ['all'],
  'on servers, four processes': roles,
  'on servers, eight processes': [...roles, ...roles],
};

async function executionsOf(url, id) {
  const executions = [];
  for (let cursor = ''; cursor !== null;) {
    const { data, cursor: after } = await ask(
      url,
      'GET',
      `/api/notifications/${id}/executions?limit=100&after=${encodeURIComponent(cursor)}`,
    );
    executions.push(...data);
    cursor = after.next;
  }
  return executions;
}

/** `beginTarget`: of the p99 from due to begun, in ms. */
async function* measure({ tasks, where, start, beginTarget = 1_000 }) {
  const receiver = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const product = await start();
  const ids = [];
  for (let number = 0; number < tasks; number += 1) {
    const { data } = await ask(product.url, 'POST', '/api/notifications', {
      name: `Offer ${number}`,
      url: `${receiver.url}/offers/${number}`,
      evaluationFunction: `return page.number(document.querySelector('.price')) < 100`,
      schedule: { type: 'interval', intervalSeconds },
      actions: [{ type: 'webhook', config: { url: `${receiver.url}/hook` } }],
    });
    ids.push(data.id);
  }
  await setTimeout(warmupMs);
  const [fromMs, cpuBefore] = [Date.now(), product.cpuMs()];
  await setTimeout(measureMs);
  const cpuMs = product.cpuMs() - cpuBefore;
  const untilMs = Date.now();
  const executions = (await Promise.all(ids.map((id) => executionsOf(product.url, id))))
    .flat()
    .filter(({ scheduledFor, startedAt }) => {
      const dueMs = Date.parse(scheduledFor);
      return startedAt !== null && dueMs >= fromMs && dueMs < untilMs;
    });
  const dueById = new Map(executions.map(({ id, scheduledFor }) => [id, Date.parse(scheduledFor)]));
  const received = await receivedBy(receiver);
  await product.stop();
  await receiver.stop();
  const begun = executions.map(({ scheduledFor, startedAt }) => Date.parse(startedAt) - Date.parse(scheduledFor));
  const arrived = received.flatMap(({ atMs, executionId }) =>
    dueById.has(executionId) ? [atMs - dueById.get(executionId)] : [],
  );
  const title = `${where}, ${tasks / intervalSeconds} runs a second`;
  yield { bench: 'lateness', case: `${title}: runs done`, value: executions.length / (measureMs / 1_000), unit: '/s' };
  yield { bench: 'lateness', case: `${title}: due to begun p50`, value: quantile(begun, 0.5), unit: 'ms', target: 250 };
  yield {
    bench: 'lateness',
    case: `${title}: due to begun p99`,
    value: quantile(begun, 0.99),
    unit: 'ms',
    target: beginTarget,
  };
  yield { bench: 'lateness', case: `${title}: due to webhook p50`, value: quantile(arrived, 0.5), unit: 'ms' };
  yield {
    bench: 'lateness',
    case: `${title}: due to webhook p99`,
    value: quantile(arrived, 0.99),
    unit: 'ms',
    ...(where === 'one process' ? {} : { target: 1_000 }),
  };
  yield { bench: 'lateness', case: `${title}: processor time a run`, value: cpuMs / executions.length, unit: 'ms' };
}

/** What JavaScript holds after a collection, in MB: resident memory has caches of the engines and garbage in it too. */
async function heldMb(folder, env) {
  const nodeFlags = ['--heapsnapshot-signal=SIGUSR2'];
  const product = await startProduct(folder, { env, withinMs: 120_000, nodeFlags });
  await setTimeout(restMs);
  process.kill(product.pid, 'SIGUSR2');
  for (;;) {
    await setTimeout(500);
    const name = (await readdir(product.folder)).find((one) => one.endsWith('.heapsnapshot'));
    // It is there from its first byte on, and whole once it reads as JSON.
    const text = name === undefined ? '' : await readFile(join(product.folder, name), 'utf8');
    if (!text.endsWith('}')) continue;
    const { snapshot, nodes } = JSON.parse(text);
    const { length } = snapshot.meta.node_fields;
    const size = snapshot.meta.node_fields.indexOf('self_size');
    let bytes = 0;
    for (let at = size; at < nodes.length; at += length) bytes += nodes[at];
    await product.stop();
    return bytes / 1e6;
  }
}

export async function* lateness() {
  const env = { MIN_INTERVAL_SECONDS: '1' };
  yield* measure({
    tasks: 50,
    where: 'one process',
    start: async () => startProduct(await makeFolder(), { env, profileAs: 'lateness.cpuprofile' }),
  });
  const memoryMb = [];
  for (const [schedules, beginTarget] of Object.entries({ 100_000: 50, 1_000_000: 100 })) {
    const folder = await folderWithManyTasks(Number(schedules));
    const where = `one process with ${Number(schedules).toLocaleString('en-US')} more schedules`;
    memoryMb.push(await heldMb(folder, env));
    const start = () => startProduct(folder, { env, withinMs: 120_000 });
    yield* measure({ tasks: 20, where, beginTarget, start });
  }
  const [fewer, more] = memoryMb;
  yield {
    bench: 'lateness',
    case: 'held in memory for each million schedules',
    value: (more - fewer) / 0.9,
    unit: 'MB',
    target: 20,
  };
  if (process.env.EVENT_STORE_URL === undefined) return;
  for (const [where, layout] of Object.entries(layouts)) {
    yield* measure({ tasks: 20, where, start: () => startServices({ env, layout }) });
  }
}

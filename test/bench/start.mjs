// `start`: from the start of the process to the first 200 from /readyz, and what it holds in memory when nothing happens.
import { setTimeout } from 'node:timers/promises';
import { folderWithManyTasks } from './many-tasks.mjs';
import { ask, makeFolder, startProcess, startProduct } from './processes.mjs';
import { median } from './report.mjs';

const runs = 7;
const idleAfterMs = 5_000;
const storedTasks = 1_000;

const compileCache = await makeFolder();
const baseline = () =>
  startProcess('test/bench/baseline-nest.mjs', { probe: '/', env: { NODE_COMPILE_CACHE: compileCache } });

/** Starts in turns, so that a busy minute of the machine meets all of them alike. Medians, by name. */
async function measureStarts(starters) {
  const times = new Map(Object.keys(starters).map((name) => [name, { startedMs: [], processorMs: [] }]));
  for (let run = 0; run <= runs; run += 1) {
    for (const [name, begin] of Object.entries(starters)) {
      const running = await begin();
      // The first one fills the file cache and the compile cache and is not counted.
      if (run > 0) {
        times.get(name).startedMs.push(running.startedMs);
        times.get(name).processorMs.push(running.cpuMs());
      }
      await running.stop();
    }
  }
  const medians = ({ startedMs, processorMs }) => ({ ms: median(startedMs), processorMs: median(processorMs) });
  return Object.fromEntries([...times].map(([name, values]) => [name, medians(values)]));
}

async function measureIdle(begin) {
  const running = await begin();
  await setTimeout(idleAfterMs);
  const memoryMb = running.memoryMb();
  await running.stop();
  return memoryMb;
}

async function folderWithTasks() {
  const folder = await makeFolder();
  const product = await startProduct(folder);
  const numbers = Array.from({ length: storedTasks }, (_, number) => number);
  while (numbers.length > 0) {
    await Promise.all(
      numbers.splice(0, 50).map((number) =>
        ask(product.url, 'POST', '/api/notifications', {
          name: `Task ${number}`,
          url: `https://shop.example/products/${number}`,
          evaluationFunction: 'return document.title !== ""',
          schedule: { type: 'manual' },
        }),
      ),
    );
  }
  await product.stop();
  return folder;
}

/** From the start of the process, after a kill, to the begin of the first run that is due, in ms. */
async function restartToFirstRunMs(folder) {
  const env = { MIN_INTERVAL_SECONDS: '1' };
  const pages = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const before = await startProduct(folder, { env });
  const { data: task } = await ask(before.url, 'POST', '/api/notifications', {
    name: 'Every second',
    url: `${pages.url}/steady`,
    evaluationFunction: 'return true',
    schedule: { type: 'interval', intervalSeconds: 1 },
  });
  await setTimeout(idleAfterMs);
  await before.kill();
  const beganAt = Date.now();
  const after = await startProduct(folder, { env });
  for (;;) {
    const { data } = await ask(after.url, 'GET', `/api/notifications/${task.id}/executions?limit=50`);
    const begun = data.map(({ startedAt }) => Date.parse(startedAt)).filter((atMs) => atMs > beganAt);
    if (begun.length > 0) {
      await after.stop();
      await pages.stop();
      return Math.min(...begun) - beganAt;
    }
    await setTimeout(20);
  }
}

export async function* start() {
  const withTasks = await folderWithTasks();
  const fresh = async () => startProduct(await makeFolder());
  const times = await measureStarts({
    baseline,
    fresh,
    stored: () => startProduct(withTasks),
    uncached: async () => startProduct(await makeFolder(), { env: { NODE_DISABLE_COMPILE_CACHE: '1' } }),
  });
  const bare = { name: 'Nest on Fastify with one route', value: times.baseline.ms };
  const common = { bench: 'start', unit: 'ms', baseline: bare, target: 800 };
  yield { ...common, case: 'cold start to ready, fresh folder', value: times.fresh.ms };
  yield {
    ...common,
    case: `cold start to ready, ${storedTasks.toLocaleString('en-US')} tasks`,
    value: times.stored.ms,
  };
  yield { ...common, case: 'the same without compile cache, fresh folder', value: times.uncached.ms, target: null };
  // Of all threads: what a start costs, whatever else the machine does at the time.
  yield {
    ...common,
    case: 'processor time of a start, fresh folder',
    value: times.fresh.processorMs,
    baseline: { name: bare.name, value: times.baseline.processorMs },
    target: null,
  };
  const manyTasks = 100_000;
  yield {
    bench: 'start',
    case: `kill -9 with ${manyTasks.toLocaleString('en-US')} tasks to the first due run`,
    value: await restartToFirstRunMs(await folderWithManyTasks(manyTasks)),
    unit: 'ms',
    target: 5_000,
  };
  yield {
    bench: 'start',
    case: `idle memory after ${idleAfterMs / 1000} s`,
    value: await measureIdle(fresh),
    unit: 'MB',
    baseline: { name: bare.name, value: await measureIdle(baseline) },
    target: 150,
  };
}

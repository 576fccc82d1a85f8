// `backup`: a million events copied by `meerkat backup` while the server answers.
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeHistory } from './history.mjs';
import { ask, makeFolder, processorMs, runCommand, startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const wantedTasks = 1_000;
const dayMs = 86_400_000;
/** A start has work of its own, the longer the more events there are: it is over once so little processor time is used. */
const settled = { lookEveryMs: 2_000, mostShare: 0.1, withinMs: 600_000 };
/** A million events are checked before the first answer. */
const startsWithinMs = 300_000;
/** What happened within the last hour would be handed over once more, since there is no bus. */
const past = { backMs: 2 * dayMs, endAfterMs: dayMs };

async function keepAsking(url, signal) {
  const latencies = [];
  while (!signal.aborted) {
    const beganAt = performance.now();
    await ask(url, 'GET', '/api/notifications?limit=20');
    latencies.push(performance.now() - beganAt);
    await setTimeout(5);
  }
  return latencies;
}

async function untilSettled(product) {
  const beganAt = performance.now();
  for (let before = product.cpuMs(); performance.now() - beganAt < settled.withinMs;) {
    await setTimeout(settled.lookEveryMs);
    const now = product.cpuMs();
    if (now - before < settled.mostShare * settled.lookEveryMs) return;
    before = now;
  }
  throw new Error('the server has not come to rest');
}

async function askedWhile(url, work) {
  const ending = new AbortController();
  const asking = keepAsking(url, ending.signal);
  const result = await work();
  ending.abort();
  return { result, latencies: await asking };
}

/** The files as they are, one after the other: no copy of one moment. */
async function bareCopy(from, to) {
  const beganAt = performance.now();
  for (const name of await readdir(from)) if (name.endsWith('.db')) await copyFile(join(from, name), join(to, name));
  return (performance.now() - beganAt) / 1_000;
}

export async function* backupBench({ events = 1_000_000 } = {}) {
  const dataDir = await makeFolder();
  const count = await makeHistory(dataDir, { wantedTasks, wantedEvents: events, ...past });
  await runCommand(['rebuild', 'all', '--json'], { env: { DATA_DIR: dataDir } });
  const baseline = {
    name: 'the files copied, with nobody at work',
    value: await bareCopy(dataDir, await makeFolder()),
  };
  const product = await startProduct(dataDir, { withinMs: startsWithinMs });
  await untilSettled(product);
  const quiet = await askedWhile(product.url, () => setTimeout(5_000));
  const folder = join(await makeFolder(), 'backup');
  const beforeMs = processorMs(process.pid);
  const { result, latencies } = await askedWhile(product.url, async () =>
    JSON.parse(await runCommand(['backup', folder, '--json'], { env: { DATA_DIR: dataDir } })),
  );
  const processorSeconds = (processorMs(process.pid) - beforeMs) / 1_000;
  await product.stop();
  const figure = (title, value, unit, rest = {}) => ({ bench: 'backup', case: title, value, unit, ...rest });
  yield figure(`${count.toLocaleString('en-US')} events, beside a running server`, result.tookMs / 1_000, 's', {
    baseline,
    target: 60,
  });
  yield figure('the same, and its events held against their MACs', result.verifiedMs / 1_000, 's', { target: 60 });
  yield figure('processor time of all meanwhile', processorSeconds, 's');
  yield figure('bytes', result.bytes / 1_000_000, 'MB');
  const without = { name: 'the same without a backup', value: quantile(quiet.latencies, 0.99) };
  yield figure('a page of the list of tasks meanwhile, p50', quantile(latencies, 0.5), 'ms');
  yield figure('a page of the list of tasks meanwhile, p99', quantile(latencies, 0.99), 'ms', {
    baseline: without,
    target: 100,
  });
  const restored = JSON.parse(
    await runCommand(['restore', folder, '--json'], { env: { DATA_DIR: join(await makeFolder(), 'data') } }),
  );
  yield figure('put back into an empty folder', restored.tookMs / 1_000, 's', { target: 900 });
}

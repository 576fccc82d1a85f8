// Very many tasks in a data folder: the events of a few real ones, multiplied.
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { multiply } from './history.mjs';
import { ask, makeFolder, startProcess, startProduct } from './processes.mjs';

const kinds = ['kettle', 'toaster', 'camera', 'laptop', 'phone', 'lamp', 'desk', 'bike', 'helmet', 'tent'];
/** Views of the largest folder are built from its events before the first start answers: half an hour on a slow machine. */
const builtWithinMs = 3_600_000;
const apartMs = 10;
const longAgoMs = 86_400_000;
/** By their number of tasks: what takes so long is made once. */
const made = new Map();

async function make(count) {
  const dataDir = await makeFolder();
  const pages = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const product = await startProduct(dataDir);
  for (const [index, kind] of kinds.entries()) {
    const { data } = await ask(product.url, 'POST', '/api/notifications', {
      name: `Offer 0000000 ${kind}`,
      url: `${pages.url}/steady?shop=${index}&product=0000000`,
      tags: ['offers', `shelf-${index % 5}`, kind],
      evaluationFunction: `return document.querySelector('.price') !== null;`,
      schedule: { type: 'interval', intervalSeconds: 86_400, startAt: '2040-01-01T00:00:00.000Z' },
    });
    if (index === 0) await ask(product.url, 'POST', `/api/notifications/${data.id}/execute?wait=10`, {});
  }
  await product.stop();
  await pages.stop();
  // Long ago, as most tasks of a large folder are: what is younger is published again with its views gone.
  const backMs = longAgoMs + count * apartMs;
  await multiply(dataDir, { wantedEvents: 0, wantedTasks: count - kinds.length, apartMs, backMs });
  for (const name of ['bus.db', 'views.db']) {
    for (const ending of ['', '-wal', '-shm']) await rm(join(dataDir, `${name}${ending}`), { force: true });
  }
  const first = await startProduct(dataDir, { withinMs: builtWithinMs });
  await first.stop();
  return dataDir;
}

/** So many tasks, every tenth of them seen true once; none due before 2040. Returns a folder of them, views built. */
export async function folderWithManyTasks(count) {
  if (!made.has(count)) made.set(count, make(count));
  const folder = await makeFolder();
  await cp(await made.get(count), folder, { recursive: true });
  return folder;
}

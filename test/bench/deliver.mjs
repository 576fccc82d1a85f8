// `deliver`: from tasks run at once to signed webhooks at a receiver on loopback, each attempt two durable events.
import { setTimeout } from 'node:timers/promises';
import { ask, makeFolder, startProcess, startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const tasks = 50;
const actionsPerTask = 20;
const rounds = 2;
const wanted = tasks * actionsPerTask * rounds;
const timeoutMs = 60_000;
const lookEveryMs = 200;

export async function receivedBy(receiver) {
  return (await fetch(new URL('/received', receiver.url))).json();
}

/** Plain requests, as many at a time as the product's connections to one host would be: what loopback itself allows. */
async function measureBaseline(receiver) {
  const body = JSON.stringify({ data: { execution: { id: 'baseline', finishedAt: '' } } });
  let left = wanted;
  const startedAt = performance.now();
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      await (await fetch(new URL('/hook', receiver.url), { method: 'POST', body })).arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 8 }, sender));
  return wanted / ((performance.now() - startedAt) / 1_000);
}

export async function* deliver() {
  const receiver = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const product = await startProduct(await makeFolder(), { profileAs: 'deliver.cpuprofile' });
  const ids = await Promise.all(
    Array.from({ length: tasks }, async (_, number) => {
      const { data } = await ask(product.url, 'POST', '/api/notifications', {
        name: `Offer ${number}`,
        url: `${receiver.url}/steady`,
        evaluationFunction: `return page.number(document.querySelector('.price')) < 100`,
        schedule: { type: 'manual' },
        actions: Array.from({ length: actionsPerTask }, () => ({
          type: 'webhook',
          config: { url: `${receiver.url}/hook` },
        })),
      });
      return data.id;
    }),
  );
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(ids.map((id) => ask(product.url, 'POST', `/api/notifications/${id}/execute`, { force: true })));
  }
  const deadline = performance.now() + timeoutMs;
  let received = await receivedBy(receiver);
  while (received.length < wanted && performance.now() < deadline) {
    await setTimeout(lookEveryMs);
    received = await receivedBy(receiver);
  }
  await product.stop();
  const times = received.map(({ atMs }) => atMs).sort((left, right) => left - right);
  const seconds = (times.at(-1) - times[0]) / 1_000;
  const baseline = { name: 'fetch, 8 at a time, nothing recorded', value: await measureBaseline(receiver) };
  await receiver.stop();
  const distinct = new Set(received.map(({ id }) => id)).size;
  yield {
    bench: 'deliver',
    case: `webhooks, ${tasks} tasks × ${actionsPerTask} actions × ${rounds}`,
    value: received.length / seconds,
    unit: '/s',
    baseline,
  };
  yield {
    bench: 'deliver',
    case: 'run end to arrival p99',
    value: quantile(
      received.map(({ atMs, finishedAt }) => atMs - Date.parse(finishedAt)),
      0.99,
    ),
    unit: 'ms',
  };
  yield { bench: 'deliver', case: `of ${wanted} webhooks, missing`, value: wanted - distinct, unit: '', target: 0 };
  yield { bench: 'deliver', case: 'sent twice', value: received.length - distinct, unit: '', target: 0 };
}

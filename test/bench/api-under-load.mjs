// `api-under-load`: how long the API takes while checks are all that the machine can do.
import { setTimeout } from 'node:timers/promises';
import { ask, authorized, makeFolder, startProcess, startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const tasks = 2_000;
const createdAtOnce = 50;
const warmupMs = 15_000;
const measureMs = 20_000;
const askEveryMs = 20;

async function fill(url, pages) {
  const numbers = Array.from({ length: tasks }, (_, number) => number);
  const ids = [];
  while (numbers.length > 0) {
    const some = await Promise.all(
      numbers.splice(0, createdAtOnce).map((number) =>
        ask(url, 'POST', '/api/notifications', {
          name: `Offer ${number}`,
          url: `${pages.url}/changing/shop/10240?${number}`,
          tags: [`shelf-${number % 10}`],
          evaluationFunction: `return page.number(document.querySelector('.price')) < 0`,
          schedule: { type: 'interval', intervalSeconds: 1 },
        }),
      ),
    );
    ids.push(...some.map(({ data }) => data.id));
  }
  return ids;
}

/** Asks one after the other for the time given; the delays in ms, by what was asked. */
async function askAll(url, paths, ms) {
  const delays = new Map(Object.keys(paths).map((name) => [name, []]));
  const until = performance.now() + ms;
  for (let number = 0; performance.now() < until; number += 1) {
    for (const [name, pathOf] of Object.entries(paths)) {
      const beganAt = performance.now();
      const answer = await fetch(new URL(pathOf(number), url), { headers: authorized });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
      delays.get(name).push(performance.now() - beganAt);
      await setTimeout(askEveryMs);
    }
  }
  return delays;
}

export async function* apiUnderLoad() {
  const pages = await startProcess('test/bench/page-server.mjs', { probe: '/' });
  const env = { MIN_INTERVAL_SECONDS: '1' };
  const product = await startProduct(await makeFolder(), { env, profileAs: 'api-under-load.cpuprofile' });
  const ids = await fill(product.url, pages);
  const paths = {
    'list of tasks': (number) => `/api/notifications?page=${1 + (number % 50)}`,
    'list by tag': (number) => `/api/notifications?tag=shelf-${number % 10}`,
    'one task': (number) => `/api/notifications/${ids[(number * 7) % ids.length]}`,
    'executions of one task': (number) => `/api/notifications/${ids[(number * 7) % ids.length]}/executions`,
    health: () => '/healthz',
  };
  await setTimeout(warmupMs);
  const cpuBefore = product.cpuMs();
  const beganAt = performance.now();
  const delays = await askAll(product.url, paths, measureMs);
  const cores = (product.cpuMs() - cpuBefore) / (performance.now() - beganAt);
  const { pagination } = await ask(product.url, 'GET', '/api/executions?limit=1');
  await product.stop();
  await pages.stop();
  const health = { name: '/healthz meanwhile', value: quantile(delays.get('health'), 0.99) };
  for (const [name, found] of delays) {
    if (name === 'health') continue;
    const common = { bench: 'api-under-load', unit: 'ms', baseline: health };
    yield { ...common, case: `${name}, p50`, value: quantile(found, 0.5), target: null };
    yield { ...common, case: `${name}, p99`, value: quantile(found, 0.99), target: 100 };
  }
  yield { bench: 'api-under-load', case: 'processor time it had', value: cores, unit: 'cores' };
  yield { bench: 'api-under-load', case: 'runs on record at the end', value: pagination.total, unit: 'runs' };
}

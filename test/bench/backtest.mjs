// `backtest`: recorded pages that other code is tried on, by the running product, per second of its processor time.
import { selectorCodes } from './pages.mjs';
import { ask, makeFolder, startProcess, startProduct } from './processes.mjs';
import { median } from './report.mjs';

const snapshots = 1_000;
const rounds = 5;
const bytes = 10_240;
const shape = 'shop';

/** A task that has seen another page at each of its runs. */
async function recorded(product, pages) {
  const { data } = await ask(product.url, 'POST', '/api/notifications', {
    name: 'A page that changes',
    url: `${pages.url}/changing/${shape}/${bytes}`,
    evaluationFunction: 'return false',
    schedule: { type: 'manual' },
  });
  for (let run = 0; run < snapshots; run += 1) {
    await ask(product.url, 'POST', `/api/notifications/${data.id}/execute?wait=30`);
  }
  return data.id;
}

export async function* backtest() {
  const pages = await startProcess('test/bench/page-server.mjs', { probe: '/' });
  const product = await startProduct(await makeFolder(), { env: { SNAPSHOT_KEEP_COUNT: '2000' } });
  try {
    const id = await recorded(product, pages);
    const evaluationFunction = selectorCodes[shape].replace(/^return (.*);$/, '$1');
    const [perCpuSecond, perSecond] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      const [cpuBefore, before] = [product.cpuMs(), performance.now()];
      const { data } = await ask(product.url, 'POST', `/api/notifications/${id}/backtest`, {
        evaluationFunction: `return ${evaluationFunction} || ${round} > 100`,
        limit: snapshots,
      });
      const count = data.summary.snapshots;
      if (!data.summary.complete || count < snapshots) throw new Error(`only ${count} snapshots were judged`);
      perSecond.push((count * 1_000) / (performance.now() - before));
      perCpuSecond.push((count * 1_000) / (product.cpuMs() - cpuBefore));
    }
    const figure = (name, values, target) => ({
      bench: 'backtest',
      case: `${name}, ${bytes / 1_024} KB pages`,
      value: median(values),
      unit: 'snapshots/s',
      target,
      direction: 'at least',
    });
    yield figure('per second of processor time', perCpuSecond, 1_000);
    yield figure('per second', perSecond, null);
  } finally {
    await product.stop();
    await pages.stop();
  }
}

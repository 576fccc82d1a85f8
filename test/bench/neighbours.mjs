// `neighbours`: ordinary tasks, every second, beside every hostile task and client at once. How late their results come, how
// long the product is silent, what it holds, and whether it lives. `hostile-neighbours.mjs` is what stands beside them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { apiKey, ask, makeFolder, memoryMbOf, startProcess, startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const tasks = 20;
const attackSeconds = 60;
const aloneSeconds = 15;
const probeEveryMs = 25;

/** Asks for its health all the time; the delays of the answers in ms. */
function startProbe(url) {
  const delays = [];
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      const beganAt = performance.now();
      const answer = await fetch(new URL('/healthz', url));
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`/healthz answers ${answer.status}`);
      delays.push(performance.now() - beganAt);
      await delay(probeEveryMs);
    }
  })();
  // Awaited at the end.
  running.catch(() => undefined);
  return {
    async stop() {
      isOver = true;
      await running;
      return delays;
    },
  };
}

/** From due to recorded, in ms, of every slot of the tasks in the time; a slot without a result has waited until now. */
async function lateness(url, ids, fromMs, untilMs) {
  const found = [];
  for (const id of ids) {
    for (let after = ''; after !== null;) {
      const page = await ask(url, 'GET', `/api/notifications/${id}/executions?limit=100&after=${after}`);
      for (const { status, scheduledFor, finishedAt } of page.data) {
        const dueMs = Date.parse(scheduledFor);
        if (dueMs < fromMs || dueMs >= untilMs) continue;
        if (!['succeeded', 'queued', 'running'].includes(status)) throw new Error(`an ordinary task ${status}`);
        found.push((finishedAt === null ? Date.now() : Date.parse(finishedAt)) - dueMs);
      }
      const oldest = page.data.at(-1);
      after = oldest === undefined || Date.parse(oldest.scheduledFor) < fromMs ? null : page.cursor.next;
    }
  }
  return found;
}

async function measured(product, ids, work) {
  const probe = startProbe(product.url);
  const fromMs = Date.now();
  let memoryMb = 0;
  const sampling = setInterval(() => (memoryMb = Math.max(memoryMb, memoryMbOf(product.pid))), 500);
  await work();
  clearInterval(sampling);
  const untilMs = Date.now();
  const delays = await probe.stop();
  await delay(3_000);
  return {
    late: await lateness(product.url, ids, fromMs, untilMs),
    delays,
    memoryMb,
    seconds: (untilMs - fromMs) / 1_000,
  };
}

async function attack(url) {
  const script = fileURLToPath(new URL('hostile-neighbours.mjs', import.meta.url));
  const settings = JSON.stringify({ url, key: apiKey, seconds: attackSeconds });
  const child = spawn(process.execPath, [script, settings], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the attack ended with code ${code}`);
}

export async function* neighbours() {
  const pages = await startProcess('test/bench/page-server.mjs', { probe: '/' });
  const product = await startProduct(await makeFolder(), {
    env: { EGRESS_ALLOW: '127.0.0.0/8', MIN_INTERVAL_SECONDS: '1' },
  });
  try {
    const ids = [];
    for (let n = 0; n < tasks; n += 1) {
      const { data } = await ask(product.url, 'POST', '/api/notifications', {
        name: `ordinary ${n}`,
        url: `${pages.url}/changing/shop/10000`,
        evaluationFunction: 'document.querySelectorAll("*").length > 1',
        schedule: { type: 'interval', intervalSeconds: 1 },
      });
      ids.push(data.id);
    }
    await delay(3_000);
    const alone = await measured(product, ids, () => delay(aloneSeconds * 1_000));
    const beside = await measured(product, ids, () => attack(product.url));
    const figure = (name, value, unit, target, baseline, direction = 'at most') => ({
      bench: 'neighbours',
      case: name,
      value,
      unit,
      target,
      direction,
      baseline: baseline === null ? null : { name: 'without neighbours', value: baseline },
    });
    yield figure(
      'ordinary results after due, p99',
      quantile(beside.late, 0.99),
      'ms',
      2_000,
      quantile(alone.late, 0.99),
    );
    const share = ({ late, seconds }) => late.length / (tasks * seconds);
    yield figure('share of ordinary slots with a result', share(beside), '', 0.9, share(alone), 'at least');
    yield figure('/healthz, p99', quantile(beside.delays, 0.99), 'ms', 100, quantile(alone.delays, 0.99));
    yield figure('/healthz, max', Math.max(...beside.delays), 'ms', 500, Math.max(...alone.delays));
    yield figure('memory of the product, largest', beside.memoryMb, 'MB', 1_000, alone.memoryMb);
    await ask(product.url, 'GET', '/api/notifications?limit=1');
  } finally {
    await product.stop();
    await pages.stop();
  }
}

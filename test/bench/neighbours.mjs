// `neighbours`: ordinary tasks, every second, beside every hostile task and client at once. How late their results come, how
// long the product is silent, what it holds, and whether it lives. `hostile-neighbours.mjs` is what stands beside them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { apiKey, ask, busyEvaluatorOf, makeFolder, memoryMbOf, startProcess, startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const tasks = 20;
const attackSeconds = 60;
const aloneSeconds = 15;
const probeEveryMs = 25;
/** As code that took its evaluator over may: it falls silent, or dies. In turn, each time another one. */
const takenOverEveryMs = 4_000;
const lookForEvaluatorMs = 50;
const deeds = ['SIGSTOP', 'SIGKILL'];

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
async function lateness(url, ids, fromMs, untilMs, failures) {
  const found = [];
  for (const id of ids) {
    for (let after = ''; after !== null;) {
      const page = await ask(url, 'GET', `/api/notifications/${id}/executions?limit=100&after=${after}`);
      for (const { status, scheduledFor, finishedAt, error } of page.data) {
        const dueMs = Date.parse(scheduledFor);
        if (dueMs < fromMs || dueMs >= untilMs) continue;
        if (!['succeeded', 'queued', 'running'].includes(status)) failures.push(error?.reason ?? status);
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
  const done = await work();
  clearInterval(sampling);
  const untilMs = Date.now();
  const delays = await probe.stop();
  await delay(3_000);
  const failures = [];
  return {
    done,
    late: await lateness(product.url, ids, fromMs, untilMs, failures),
    failures,
    delays,
    memoryMb,
    seconds: (untilMs - fromMs) / 1_000,
  };
}

/** What must name each offender, once the attack is over: a reason of its runs or deliveries, a metric or a line of the log. */
const named = [
  ['endless code', 'run', /^cpu_limit$/],
  ['memory', 'run', /^memory_limit$/],
  ['large values', 'run', /^output_limit$/],
  ['nested values', 'run', /^output_limit$/],
  ['slow site 0', 'run', /^timed_out$/],
  ['dead origin 7', 'run', /^(connect_failed|own_network)$/],
  ['a costly template', 'delivery', /^template_(timed_out|failed)$/],
  ['hanging receiver 0', 'state', /^(sending|retrying)$/],
  [
    'unfinished and large bodies of nobody',
    'metrics',
    /route="\/api\/sessions"[^\n]*status="4(13|29)"|status="4(13|29)"[^\n]*route="\/api\/sessions"/,
  ],
  ['an evaluator that fell silent', 'log', /it did not answer/],
  ['an evaluator that died', 'log', /ended by SIGKILL|exited with code (1|137)\b/],
];

async function tasksByName(url) {
  const found = new Map();
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { data, pagination } = await ask(url, 'GET', `/api/notifications?q=hostile&limit=100&page=${page}`);
    for (const task of data) found.set(task.name.replace('hostile: ', ''), task);
    ({ pages } = pagination);
  }
  return found;
}

/** What there is to read of an offender, of the kind that names it. */
async function wordsOf(product, tasks, name, kind) {
  if (kind === 'log') return [product.output()];
  if (kind === 'metrics') return [await (await fetch(new URL('/metrics', product.url))).text()];
  const { id } = tasks.get(name);
  if (kind === 'run') {
    const { data } = await ask(product.url, 'GET', `/api/notifications/${id}/executions?limit=100`);
    return data.map(({ error }) => error?.reason ?? '');
  }
  const { data } = await ask(product.url, 'GET', `/api/notifications/${id}/deliveries?limit=100`);
  return data.flatMap(({ state, attempts }) =>
    kind === 'state' ? [state] : attempts.map(({ error }) => error?.reason ?? ''),
  );
}

async function unnamedIn(product) {
  const tasks = await tasksByName(product.url);
  const unnamed = [];
  for (const [name, kind, words] of named) {
    const found = await wordsOf(product, tasks, name, kind);
    if (!found.some((text) => words.test(text))) unnamed.push(name);
  }
  return unnamed;
}

const startedAt = async (url) =>
  /^process_start_time_seconds (.+)$/m.exec(await (await fetch(new URL('/metrics', url))).text())?.[1];

/** Ends with the attack; how often each deed was done. */
function takeOverEvaluators(product) {
  const done = Object.fromEntries(deeds.map((deed) => [deed, 0]));
  let turn = 0;
  let nextAt = performance.now() + takenOverEveryMs;
  const timer = setInterval(() => {
    if (performance.now() < nextAt) return;
    const evaluator = busyEvaluatorOf(product.pid);
    if (evaluator === undefined) return;
    try {
      const deed = deeds[turn % deeds.length];
      process.kill(evaluator, deed);
      done[deed] += 1;
      turn += 1;
      nextAt = performance.now() + takenOverEveryMs;
    } catch {
      // It has ended by itself.
    }
  }, lookForEvaluatorMs);
  return () => {
    clearInterval(timer);
    return done;
  };
}

async function attack(product) {
  const { url } = product;
  const script = fileURLToPath(new URL('hostile-neighbours.mjs', import.meta.url));
  const settings = JSON.stringify({ url, key: apiKey, seconds: attackSeconds });
  const child = spawn(process.execPath, [script, settings], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  const stop = takeOverEvaluators(product);
  const [code] = await once(child, 'close');
  const done = stop();
  if (code !== 0) throw new Error(`the attack ended with code ${code}`);
  return done;
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
    const began = await startedAt(product.url);
    const beside = await measured(product, ids, () => attack(product));
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
    const reasons = [...new Set(beside.failures)].join(', ');
    const failedTitle = `ordinary runs that failed${reasons === '' ? '' : ` (${reasons})`}`;
    yield figure(failedTitle, beside.failures.length, '', 0, alone.failures.length);
    yield figure('restarts of the main process', (await startedAt(product.url)) === began ? 0 : 1, '', 0, null);
    for (const [deed, times] of Object.entries(beside.done))
      yield figure(`evaluators taken over, ${deed}`, times, '', 1, null, 'at least');
    const unnamed = await unnamedIn(product);
    const title = `offenders of ${named.length} that nothing names${unnamed.length === 0 ? '' : ` (${unnamed.join(', ')})`}`;
    yield figure(title, unnamed.length, '', 0, null);
  } finally {
    await product.stop();
    await pages.stop();
  }
}

// `deliver`: from tasks run by hand to signed webhooks and mails at receivers on loopback, each attempt two durable events.
import { setTimeout } from 'node:timers/promises';
import { ask, makeFolder, startProcess, startProduct } from './processes.mjs';
import { threadProfileFlags } from './profile.mjs';
import { quantile } from './report.mjs';

const actionsPerTask = 20;
const lookEveryMs = 100;
/** Runs asked for at once: each is asked for by a request. */
const runsAtOnce = 8;
/** Until code that runs often is compiled. */
const warmupMessages = 2_000;

export async function receivedBy(receiver) {
  return (await fetch(new URL('/received', receiver.url))).json();
}

async function countOf(receiver) {
  return (await fetch(new URL('/count', receiver.url))).json();
}

/** How many there are once they are so many, or no more have come for a while. */
async function untilReceived(receiver, wanted, patienceMs = 20_000) {
  let count = -1;
  let changedAt = performance.now();
  for (;;) {
    const now = await countOf(receiver);
    if (now >= wanted) return now;
    if (now !== count) changedAt = performance.now();
    if (performance.now() - changedAt > patienceMs) return now;
    count = now;
    await setTimeout(lookEveryMs);
  }
}

/** Tasks that notify by so many actions each time they are run. */
async function createTasks(product, count, pageUrl, actionOf, actions = actionsPerTask) {
  const make = async (_, number) => {
    const { data } = await ask(product.url, 'POST', '/api/notifications', {
      name: `Offer ${number}`,
      url: pageUrl,
      // With a value, as most tasks have: messages tell of it and of those before it.
      evaluationFunction: `const price = page.number(document.querySelector('.price')); page.report('value', price); return price < 100`,
      schedule: { type: 'manual' },
      actions: Array.from({ length: actions }, (_each, place) => actionOf(number, place)),
    });
    return data.id;
  };
  return Promise.all(Array.from({ length: count }, make));
}

/** Runs tasks in turn, so many times in all. */
async function runAll(product, ids, times) {
  let next = 0;
  const runner = async () => {
    for (;;) {
      const number = next;
      next += 1;
      if (number >= times) return;
      await runOnce(product, ids[number % ids.length]);
    }
  };
  await Promise.all(Array.from({ length: runsAtOnce }, runner));
}

const runOnce = (product, id) => ask(product.url, 'POST', `/api/notifications/${id}/execute`, { force: true });

/** Plain requests, as many at a time as the product's connections to one host would be: what loopback itself allows. */
async function measureBaseline(receiver, wanted) {
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

/** Messages a second, by the clock and by the processor time of the product with all that it started. */
async function* rateOf({ title, product, receiver, ids, messages, target, baseline }) {
  await runAll(product, ids, warmupMessages / actionsPerTask);
  await untilReceived(receiver, warmupMessages);
  const [cpuBefore, partsBefore, beganAt] = [product.cpuMs(), product.cpuMsByPart(), performance.now()];
  await runAll(product, ids, messages / actionsPerTask);
  const asked = performance.now();
  await untilReceived(receiver, warmupMessages + messages);
  const seconds = (performance.now() - beganAt) / 1_000;
  // What was sent is recorded a moment later.
  await setTimeout(1_000);
  const [cpuMs, parts] = [product.cpuMs() - cpuBefore, product.cpuMsByPart()];
  const received = await receivedBy(receiver);
  const distinct = new Set(received.map(({ id }) => id)).size;
  const wanted = warmupMessages + messages;
  process.stderr.write(
    `deliver: ${title}: asked for in ${((asked - beganAt) / 1_000).toFixed(1)} s; processor ms a message: ${['main', 'threads', 'children'].map((part) => `${part} ${((parts[part] - partsBefore[part]) / messages).toFixed(3)}`).join(', ')}\n`,
  );
  yield {
    bench: 'deliver',
    case: `${title}, per core`,
    value: messages / (cpuMs / 1_000),
    unit: '/s',
    target,
    direction: 'at least',
    ...(baseline === undefined ? {} : { baseline }),
  };
  yield { bench: 'deliver', case: `${title}, by the clock`, value: messages / seconds, unit: '/s' };
  yield { bench: 'deliver', case: `${title}: of ${wanted}, missing`, value: wanted - distinct, unit: '', target: 0 };
  yield { bench: 'deliver', case: `${title}: sent twice`, value: received.length - distinct, unit: '', target: 0 };
}

async function* webhooks() {
  const messages = 10_000;
  const receiver = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const baseline = { name: 'fetch, 8 at a time, nothing recorded', value: await measureBaseline(receiver, 4_000) };
  await receiver.stop();
  const fresh = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const profile = { profileAs: 'deliver-webhooks.cpuprofile', nodeFlags: threadProfileFlags('deliver-webhooks') };
  const product = await startProduct(await makeFolder(), profile);
  const action = { type: 'webhook', config: { url: `${fresh.url}/hook` } };
  const ids = await createTasks(product, 50, `${fresh.url}/steady`, () => action);
  yield* rateOf({ title: 'webhooks', product, receiver: fresh, ids, messages, target: 3_000, baseline });
  await product.stop();
  await fresh.stop();
}

async function* mails() {
  const pages = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const sink = await startProcess('test/bench/mail-sink.mjs', { probe: '/count' });
  const port = await (await fetch(new URL('/port', sink.url))).json();
  const env = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Meerkat <watch@example.com>' };
  const product = await startProduct(await makeFolder(), { env, profileAs: 'deliver-mails.cpuprofile' });
  const action = { type: 'email', config: { to: 'you@example.com', subject: '{{ task.name }}: {{ message }}' } };
  const ids = await createTasks(product, 50, `${pages.url}/steady`, () => action);
  yield* rateOf({ title: 'mails', product, receiver: sink, ids, messages: 4_000, target: 800 });
  await product.stop();
  await Promise.all([pages.stop(), sink.stop()]);
}

/** From the end of a run to the first byte at the receiver, in ms. */
const firstByteMs = ({ atMs, finishedAt }) => atMs - Date.parse(finishedAt);

/** Runs tasks at a steady rate; each lets its webhooks go. */
async function runSteadily(product, ids, runsPerSecond, seconds) {
  const began = performance.now();
  const asked = [];
  for (let number = 0; number < runsPerSecond * seconds; number += 1) {
    const dueMs = began + (number * 1_000) / runsPerSecond;
    await setTimeout(Math.max(0, dueMs - performance.now()));
    asked.push(runOnce(product, ids[number % ids.length]));
  }
  await Promise.all(asked);
}

async function* firstByte({ seconds }) {
  const rate = 500;
  const receiver = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const product = await startProduct(await makeFolder());
  const action = { type: 'webhook', config: { url: `${receiver.url}/hook` } };
  const ids = await createTasks(product, 50, `${receiver.url}/steady`, () => action);
  await runAll(product, ids, warmupMessages / actionsPerTask);
  await untilReceived(receiver, warmupMessages);
  await runSteadily(product, ids, rate / actionsPerTask, seconds);
  const wanted = warmupMessages + rate * seconds;
  await untilReceived(receiver, wanted);
  const received = (await receivedBy(receiver)).slice(warmupMessages);
  await product.stop();
  await receiver.stop();
  const times = received.map(firstByteMs);
  const title = `${rate} webhooks a second for ${seconds} s: decision to first byte`;
  yield { bench: 'deliver', case: `${title} p50`, value: quantile(times, 0.5), unit: 'ms' };
  yield { bench: 'deliver', case: `${title} p99`, value: quantile(times, 0.99), unit: 'ms', target: 200 };
}

/** Everything that the healthy receiver got after it was last looked at. */
async function timesOfOthers(product, receiver, ids, seconds) {
  const before = await countOf(receiver);
  const runsPerSecond = 10;
  await runSteadily(product, ids, runsPerSecond, seconds);
  const wanted = before + runsPerSecond * seconds;
  const count = await untilReceived(receiver, wanted, 40_000);
  const times = (await receivedBy(receiver)).slice(before).map(firstByteMs);
  return { times, missing: wanted - count };
}

/** `isHanging`: it takes every request and answers none; else nobody is there. */
async function* unansweredBy(isHanging, { offered = 100_000 }) {
  const receiver = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const dead = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const product = await startProduct(await makeFolder(), { profileAs: 'deliver-dead.cpuprofile' });
  const pageUrl = `${receiver.url}/steady`;
  const toHealthy = { type: 'webhook', config: { url: `${receiver.url}/hook` } };
  const toDead = { type: 'webhook', config: { url: `${dead.url}/hanging`, timeoutSeconds: 2 } };
  const healthy = await createTasks(product, 10, pageUrl, () => toHealthy, 1);
  const doomed = await createTasks(product, 50, pageUrl, () => toDead);
  await runAll(product, healthy, 200);
  await untilReceived(receiver, 200);
  const alone = await timesOfOthers(product, receiver, healthy, 10);
  if (!isHanging) await dead.stop();
  const [beganAt, cpuBefore] = [performance.now(), product.cpuMs()];
  await runAll(product, doomed, offered / actionsPerTask);
  const seconds = (performance.now() - beganAt) / 1_000;
  process.stderr.write(`deliver: ${offered} messages that nobody answers asked for in ${seconds.toFixed(1)} s\n`);
  await untilIdle(product);
  const busyMs = (product.cpuMs() - cpuBefore) / offered;
  const beside = await timesOfOthers(product, receiver, healthy, 20);
  const memoryMb = product.memoryMb();
  await product.stop();
  await receiver.stop();
  if (isHanging) await dead.stop();
  const title = `${offered.toLocaleString('en-US')} messages wait for a ${isHanging ? 'hanging' : 'dead'} receiver`;
  const baseline = { name: 'without them', value: quantile(alone.times, 0.99) };
  const p99 = quantile(beside.times, 0.99);
  yield { bench: 'deliver', case: `${title}: others' p99`, value: p99, unit: 'ms', baseline, target: 200 };
  yield { bench: 'deliver', case: `${title}: others missing`, value: beside.missing, unit: '', target: 0 };
  yield { bench: 'deliver', case: `${title}: processor time each`, value: busyMs, unit: 'ms' };
  yield { bench: 'deliver', case: `${title}: resident memory`, value: memoryMb, unit: 'MB' };
}

/** Until the product has done what there was to do: a second with less than a tenth of a core. */
async function untilIdle(product) {
  for (let before = product.cpuMs(), look = 0; look < 120; look += 1) {
    await setTimeout(1_000);
    const now = product.cpuMs();
    if (now - before < 100) return;
    before = now;
  }
}

const cases = {
  webhooks,
  mails,
  'first byte': firstByte,
  'dead receiver': (settings) => unansweredBy(false, settings),
  'hanging receiver': (settings) => unansweredBy(true, settings),
};

export async function* deliver(settings) {
  const { cases: wanted } = settings;
  for (const [title, measure] of Object.entries(cases)) {
    if (wanted.length > 0 && !wanted.some((text) => title.includes(text))) continue;
    yield* measure({ ...settings, seconds: Number(settings.seconds) });
  }
}

// `replay`: a million events into every view, by `meerkat rebuild`. The events are those of a short real run, multiplied.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { ask, makeFolder, processorMs, runCommand, startProcess, startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const sampleTasks = 20;
/** Of them so many see a price that goes up and down, and tell somebody. */
const restlessTasks = 2;
const sampleMs = 8_000;
const replayedTasks = 1_000;
const replayedEvents = 1_000_000;
const targetSeconds = 8;
/** Put on the server that EVENT_STORE_URL names and read back by the product's client. */
const serverEvents = 50_000;
const eventsPerAppend = 100;
const appendsAtOnce = 16;

const load = (path) => import(new URL(`../../dist/libs/${path}.js`, import.meta.url));

/** A real run of real tasks, paused at its end. */
async function record(dataDir) {
  const receiver = await startProcess('test/bench/receiver.mjs', { probe: '/received' });
  const product = await startProduct(dataDir, { env: { MIN_INTERVAL_SECONDS: '1' } });
  const ids = [];
  for (let number = 0; number < sampleTasks; number += 1) {
    const { data } = await ask(product.url, 'POST', '/api/notifications', {
      name: `Offer ${number}`,
      url: `${receiver.url}/${number < restlessTasks ? `offers/${number}` : 'steady'}`,
      tags: ['offers', `shelf-${number % 5}`],
      evaluationFunction: `const price = page.number(document.querySelector('.price'));\npage.report('price', price);\nreturn price < 100;`,
      schedule: { type: 'interval', intervalSeconds: 1 },
      actions: [{ type: 'webhook', config: { url: `${receiver.url}/hook` } }],
    });
    ids.push(data.id);
  }
  await setTimeout(sampleMs);
  for (const id of ids) await ask(product.url, 'PATCH', `/api/notifications/${id}`, { status: 'paused' });
  await setTimeout(1_000);
  await product.stop();
  await receiver.stop();
}

const isOfTasks = ({ name }) => /^(task|schedule|run|claim|dlv)-/.test(name);
const taskIn = ({ name, data }) =>
  /^(?:task|schedule|run)-(.+)$/.exec(name)?.[1] ?? /"(?:taskId|notificationId)":"([^"]+)"/.exec(data)?.[1];

/** Events of each sampled task: its beginning, its runs with what follows of each, its end. */
function chapters(rows) {
  const tasks = new Map();
  for (const row of rows.filter(isOfTasks)) {
    const id = taskIn(row) ?? [...tasks.values()].find(({ streams }) => streams.has(row.name))?.id;
    if (id === undefined) continue;
    let task = tasks.get(id);
    if (task === undefined) tasks.set(id, (task = { id, begin: [], runs: [], end: [], streams: new Set() }));
    task.streams.add(row.name);
    if (row.type === 'slot.fired') task.runs.push([]);
    if (/^(task\.paused|schedule\.planned|schedule\.stopped)$/.test(row.type) && task.runs.length > 0)
      task.end.push(row);
    else (task.runs.at(-1) ?? task.begin).push(row);
  }
  return [...tasks.values()];
}

const crockford = '0123456789abcdefghjkmnpqrstvwxyz';

/** Five characters per number: the tail of an id. */
function tailOf(number) {
  let tail = '';
  for (let digit = 0, rest = number; digit < 5; digit += 1, rest = Math.floor(rest / 32))
    tail = crockford[rest % 32] + tail;
  return tail;
}

const ids = /\b((?:ntf|act)_[0-9a-z]{21})[0-9a-z]{5}\b|\b((?:exe|dlv)_[0-9a-z]{21})[0-9a-z]{5}\b/g;
const times = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g;

/** Appends copies until there are enough events: other ids, later times, the same shapes. */
function multiply(dataDir) {
  const database = new DatabaseSync(join(dataDir, 'events.db'));
  database.exec('PRAGMA synchronous = OFF; BEGIN');
  const rows = database
    .prepare('SELECT e.*, s.name FROM events e JOIN streams s ON s.id = e.stream ORDER BY e.position')
    .all();
  const addStream = database.prepare('INSERT INTO streams (name, revision) VALUES (?, -1)');
  const addEvent = database.prepare(
    'INSERT INTO events (stream, revision, id, type, version, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const setRevision = database.prepare('UPDATE streams SET revision = ? WHERE id = ?');
  const streams = new Map();
  let count = rows.length;
  const copy = (row, task, run, laterMs) => {
    const other = (text) =>
      text
        .replace(ids, (_, ofTask, ofRun) => (ofTask === undefined ? ofRun + tailOf(run) : ofTask + tailOf(task)))
        .replace(times, (time) => new Date(Date.parse(time) + laterMs).toISOString());
    const name = other(row.name);
    let stream = streams.get(name);
    if (stream === undefined) streams.set(name, (stream = { id: addStream.run(name).lastInsertRowid, revision: -1 }));
    stream.revision += 1;
    count += 1;
    const id = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
    addEvent.run(stream.id, stream.revision, id, row.type, row.version, other(row.data), other(row.metadata));
  };
  const tasks = chapters(rows);
  const replayed = Array.from({ length: replayedTasks }, (_, number) => ({ number, ...tasks[number % tasks.length] }));
  for (const { number, begin } of replayed) for (const row of begin) copy(row, number, 0, 0);
  const ending = replayed.reduce((sum, { end }) => sum + end.length, 0);
  let run = 0;
  for (let round = 0; count + ending < replayedEvents; round += 1) {
    for (const { number, runs } of replayed) {
      if (count + ending >= replayedEvents) break;
      run += 1;
      for (const row of runs[round % runs.length]) copy(row, number, run, round * 60_000);
    }
  }
  for (const { number, end } of replayed) for (const row of end) copy(row, number, run, 86_400_000_000);
  for (const { id, revision } of streams.values()) setRevision.run(revision, id);
  database.exec('COMMIT');
  database.close();
  return { count, runs: run };
}

/** What reading and parsing alone takes, in this very process. */
function readAll(dataDir) {
  const database = new DatabaseSync(join(dataDir, 'events.db'));
  const beganAt = performance.now();
  let length = 0;
  for (const { data, metadata } of database.prepare('SELECT data, metadata FROM events ORDER BY position').iterate()) {
    length += Object.keys(JSON.parse(data)).length + Object.keys(JSON.parse(metadata)).length;
  }
  database.close();
  return { seconds: (performance.now() - beganAt) / 1_000, length };
}

/** Every event, parsed, by one who reads alone through the product's own port. */
async function readThroughPort(store) {
  const { readThrough } = await load('event-store/read-through');
  const [beganAt, processorBegan] = [performance.now(), process.cpuUsage()];
  let count = 0;
  for await (const { events } of readThrough(store, { end: await store.lastPosition() })) count += events.length;
  const { user, system } = process.cpuUsage(processorBegan);
  return {
    perSecond: count / ((performance.now() - beganAt) / 1_000),
    perProcessorSecond: count / ((user + system) / 1_000_000),
  };
}

async function readFile(dataDir) {
  const { createSqliteEventStore } = await load('event-store/sqlite');
  const store = createSqliteEventStore(join(dataDir, 'events.db'));
  try {
    return await readThroughPort(store);
  } finally {
    await store.close();
  }
}

/** Some of these events on a server of events, in streams of their own, read back by the product's client. */
async function readServer(dataDir, url) {
  const [{ createEventStoreDbEventStore }, { silentLogger }] = await Promise.all([
    load('event-store/eventstoredb'),
    load('runtime/logger'),
  ]);
  const database = new DatabaseSync(join(dataDir, 'events.db'));
  const rows = database
    .prepare('SELECT id, type, version, data, metadata FROM events ORDER BY position LIMIT ?')
    .all(serverEvents);
  database.close();
  const installation = `bench-${Date.now()}`;
  const store = await createEventStoreDbEventStore({ url, installation, logger: silentLogger });
  let next = 0;
  const append = async () => {
    for (let begin = next; begin < rows.length; begin = next) {
      next += eventsPerAppend;
      const events = rows
        .slice(begin, begin + eventsPerAppend)
        .map((row) => ({ ...row, data: JSON.parse(row.data), metadata: JSON.parse(row.metadata) }));
      await store.append(`run-${begin}`, events, 'none');
    }
  };
  try {
    await Promise.all(Array.from({ length: appendsAtOnce }, append));
    return await readThroughPort(store);
  } finally {
    await store.close();
  }
}

async function removeViews(dataDir) {
  for (const ending of ['', '-wal', '-shm']) {
    const file = join(dataDir, `views.db${ending}`);
    if (existsSync(file)) await rm(file);
  }
}

/** Asks for one page after the other until it is told to stop; how long each took. */
async function keepAsking(url, signal) {
  const latencies = [];
  while (!signal.aborted) {
    const beganAt = performance.now();
    await ask(url, 'GET', '/api/executions?limit=20&after=');
    latencies.push(performance.now() - beganAt);
    await setTimeout(5);
  }
  return latencies;
}

export async function* replay() {
  const dataDir = await makeFolder();
  await record(dataDir);
  const { count } = multiply(dataDir);
  const env = { DATA_DIR: dataDir };
  const rebuild = async (profileAs) => JSON.parse(await runCommand(['rebuild', 'all', '--json'], { env, profileAs }));
  const bare = readAll(dataDir);
  const baseline = { name: 'reading and parsing them once, nothing else', value: bare.seconds };
  const figure = (what, value, unit, rest = {}) => ({ bench: 'replay', case: what, value, unit, ...rest });
  const title = `${count.toLocaleString('en-US')} events into every view`;

  /** What a rebuild took of all processors, which another's work beside it changes less than its duration. */
  const measured = async (profileAs) => {
    const beforeMs = processorMs(process.pid);
    const answer = await rebuild(profileAs);
    return { ...answer, processorSeconds: (processorMs(process.pid) - beforeMs) / 1_000 };
  };

  await removeViews(dataDir);
  const first = await measured('replay-empty.cpuprofile');
  yield figure(`${title}, none there before`, first.tookMs / 1_000, 's', { baseline });
  yield figure('processor time of that', first.processorSeconds, 's', { baseline });
  const again = await measured('replay.cpuprofile');
  yield figure(title, again.tookMs / 1_000, 's', { baseline, target: targetSeconds });
  yield figure('processor time of that', again.processorSeconds, 's', { baseline });
  yield figure('events handed to views', again.eventsPerSecond, '/s');
  const file = await readFile(dataDir);
  yield figure('events read by one reader, nothing done', file.perSecond, '/s');
  yield figure('of them in a second of processor time', file.perProcessorSecond, '/s');
  const serverUrl = process.env['EVENT_STORE_URL'];
  if (serverUrl !== undefined) {
    const what = `of ${serverEvents.toLocaleString('en-US')} events through EventStoreDB's client`;
    const server = await readServer(dataDir, serverUrl);
    yield figure(`${what}, read`, server.perSecond, '/s');
    yield figure("of them in a second of the client's processor time", server.perProcessorSecond, '/s');
  }
  for (const { view, events, state } of again.views) {
    if (state !== 'done') throw new Error(`${view}: ${state}`);
    yield figure(`${view}: events`, events, 'events');
  }

  const product = await startProduct(dataDir, { profileAs: 'replay-live.cpuprofile' });
  const ending = new AbortController();
  const asking = keepAsking(product.url, ending.signal);
  const beside = await rebuild(null);
  ending.abort();
  const latencies = await asking;
  await product.stop();
  yield figure(`${title}, beside a running server`, beside.tookMs / 1_000, 's', { baseline });
  yield figure('a page of executions meanwhile, p50', quantile(latencies, 0.5), 'ms');
  yield figure('a page of executions meanwhile, p99', quantile(latencies, 0.99), 'ms');
}

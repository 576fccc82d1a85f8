// `replay`: a million events into every view, by `meerkat rebuild`.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { makeHistory } from './history.mjs';
import { ask, makeFolder, processorMs, runCommand, startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const history = { wantedTasks: 1_000, wantedEvents: 1_000_000 };
const targetSeconds = 8;
/** Put on the server that EVENT_STORE_URL names and read back by the product's client. */
const serverEvents = 50_000;
const eventsPerAppend = 100;
const appendsAtOnce = 16;

const load = (path) => import(new URL(`../../dist/libs/${path}.js`, import.meta.url));

/** What reading and parsing alone takes, in this very process. */
async function readAll(dataDir) {
  const { createRowReader, eventColumns } = await load('event-store/sqlite-rows');
  const database = new DatabaseSync(join(dataDir, 'events.db'));
  const { toRecorded } = createRowReader(database);
  const beganAt = performance.now();
  let length = 0;
  const rows = database.prepare(
    `SELECT ${eventColumns} FROM events e CROSS JOIN streams s ON s.id = e.stream ORDER BY e.position`,
  );
  for (const row of rows.iterate()) {
    const { data, metadata } = toRecorded(row);
    length += Object.keys(data).length + Object.keys(metadata).length;
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
  const { openStoredCopy } = await load('event-store/sqlite-stored');
  const { stored, close } = openStoredCopy(join(dataDir, 'events.db'));
  const rows = [];
  for await (const stretch of stored.read(null, serverEvents)) rows.push(...stretch);
  close();
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

/** Requests one page after the other until it is stopped; how long each took. */
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
  const count = await makeHistory(dataDir, history);
  const env = { DATA_DIR: dataDir };
  const rebuild = async (profileAs) => JSON.parse(await runCommand(['rebuild', 'all', '--json'], { env, profileAs }));
  const bare = await readAll(dataDir);
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

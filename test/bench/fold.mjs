// `fold`: days of checks that are old enough, folded and dropped by the running product, and what is left of them.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { makeHistory } from './history.mjs';
import { authorized, makeFolder, runCommand, startProduct } from './processes.mjs';
import { quantile } from './report.mjs';

const usualTasks = 80;
const minutesADay = 1_440;
const dayMs = 86_400_000;
const daysAgo = 40;
/** Slot, claim and record of each run, and what tasks and messages have besides. */
const eventsARun = 3.2;
const askEveryMs = 20;
const givesUpAfterMs = 240_000;
const settlesWithinMs = 10_000;

const open = (dataDir, name) => new DatabaseSync(join(dataDir, name));

function query(dataDir, sql, name = 'events.db') {
  const database = open(dataDir, name);
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** The number of a type of packed events. */
const kindOf = (type) => `(SELECT id FROM names WHERE name = '${type}')`;

const eventsLeft = (dataDir) =>
  query(dataDir, "SELECT sum(revision + 1 - first) AS count FROM streams WHERE name LIKE 'run-%'")[0].count;
const runsRecorded = (dataDir) =>
  query(dataDir, `SELECT count(*) AS count FROM events WHERE kind = ${kindOf('run.recorded')}`)[0].count;
const megabytes = (dataDir, name) => statSync(join(dataDir, name)).size / 1_048_576;

const textOf = (value) => (typeof value === 'string' ? value : '');

/** Every document of every view, by a digest of each view. */
function views(dataDir) {
  const database = open(dataDir, 'views.db');
  try {
    const names = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'view_*' AND name <> 'view_rebuilds'")
      .all()
      .map(({ name }) => textOf(name));
    return new Map(
      names.map((name) => {
        const digest = createHash('sha256');
        for (const { id, document } of database.prepare(`SELECT id, document FROM "${name}" ORDER BY id`).iterate()) {
          digest.update(textOf(id)).update(document instanceof Uint8Array ? document : textOf(document));
        }
        return [name, digest.digest('hex')];
      }),
    );
  } finally {
    database.close();
  }
}

const isLater = (ms) => {
  const at = performance.now() + ms;
  return () => performance.now() > at;
};

/** Asks for lists and statistics until `isOver`; how long each answer took, in ms. */
async function askUntil(url, isOver) {
  const paths = ['/api/notifications', '/api/executions?limit=50', '/api/stats', '/api/stats?bucket=day'];
  const delays = [];
  const until = performance.now() + givesUpAfterMs;
  for (let number = 0; !isOver(); number += 1) {
    const beganAt = performance.now();
    const answer = await fetch(new URL(paths[number % paths.length], url), { headers: authorized });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${paths[number % paths.length]}: ${answer.status}`);
    delays.push(performance.now() - beganAt);
    if (performance.now() > until) throw new Error('the days are not folded');
    await setTimeout(askEveryMs);
  }
  return delays;
}

/** `offered`: so many tasks, each with a day of runs. */
export async function* fold({ offered: tasks = usualTasks }) {
  const dataDir = await makeFolder();
  const now = Date.now();
  const backMs = now - (Math.floor(now / dayMs) * dayMs - daysAgo * dayMs);
  const wantedEvents = Math.round(tasks * minutesADay * eventsARun);
  await makeHistory(dataDir, { wantedTasks: tasks, wantedEvents, backMs, endAfterMs: dayMs });
  const runs = runsRecorded(dataDir);
  const env = { DATA_DIR: dataDir };
  await runCommand(['rebuild', 'all', '--json'], { env });
  const keeping = await startProduct(dataDir, { env: { KEEP_RUNS_DAYS: '0' } });
  // What a start takes besides.
  const cpuAtReady = keeping.cpuMs();
  await askUntil(keeping.url, isLater(settlesWithinMs));
  const startMs = keeping.cpuMs() - cpuAtReady;
  await keeping.stop();
  const before = megabytes(dataDir, 'events.db') + megabytes(dataDir, 'views.db');

  const product = await startProduct(dataDir, { profileAs: 'fold.cpuprofile' });
  const [beganAt, cpuBegan] = [performance.now(), product.cpuMs()];
  // Of each stream the last event stays, and what is younger than the days that are folded.
  const young = query(dataDir, `SELECT count(*) AS count FROM streams WHERE name LIKE 'run-%'`)[0].count;
  const ofToday = await runsOfSample(dataDir, now);
  const isOver = () => eventsLeft(dataDir) <= young + ofToday;
  const delays = await askUntil(product.url, isOver);
  const [seconds, cpuMs] = [(performance.now() - beganAt) / 1_000, product.cpuMs() - cpuBegan];
  const memoryMb = product.memoryMb();
  await product.stop();
  const dropped = runs - runsRecorded(dataDir);

  const folds = query(dataDir, `SELECT length(packed) AS bytes FROM events WHERE kind = ${kindOf('runs.folded')}`).map(
    ({ bytes }) => Number(bytes),
  );
  const kept = views(dataDir);
  await runCommand(['rebuild', 'all', '--json'], { env });
  const rebuilt = views(dataDir);
  const differing = [...kept].filter(([name, digest]) => rebuilt.get(name) !== digest).map(([name]) => name);

  const common = { bench: 'fold' };
  yield { ...common, case: 'runs folded and dropped', value: dropped, unit: 'runs' };
  const perMillion = (ms) => (ms * 1_000) / dropped;
  yield {
    ...common,
    case: 'processor time for 10^6 runs, without a start',
    value: perMillion(Math.max(0, cpuMs - startMs)),
    unit: 's',
    target: 60,
    baseline: { name: 'with what a start takes besides', value: perMillion(cpuMs) },
  };
  yield { ...common, case: 'runs folded a second', value: dropped / seconds, unit: '/s' };
  yield { ...common, case: 'API meanwhile, p99', value: quantile(delays, 0.99), unit: 'ms', target: 100 };
  yield { ...common, case: 'resident memory at the end', value: memoryMb, unit: 'MB' };
  yield { ...common, case: 'a folded task-day, median', value: quantile(folds, 0.5), unit: 'bytes', target: 2_048 };
  yield { ...common, case: 'a folded task-day, largest', value: Math.max(...folds), unit: 'bytes' };
  yield { ...common, case: 'files before', value: before, unit: 'MB' };
  const after = megabytes(dataDir, 'events.db') + megabytes(dataDir, 'views.db');
  yield { ...common, case: 'files after', value: after, unit: 'MB' };
  yield {
    ...common,
    case: `views that a rebuild makes otherwise${differing.length === 0 ? '' : ` (${differing.join(', ')})`}`,
    value: differing.length,
    unit: 'views',
    target: 0,
  };
}

/** Runs of the sample itself, which are of today. */
async function runsOfSample(dataDir, now) {
  const { openStoredHistory } = await import('../../dist/libs/event-store/sqlite-stored.js');
  const { stored, lastPosition, close } = openStoredHistory(join(dataDir, 'events.db'));
  const since = new Date(now - dayMs).toISOString();
  let count = 0;
  for await (const stretch of stored.read(null, lastPosition)) {
    count += stretch.filter(({ type, metadata }) => type === 'run.recorded' && JSON.parse(metadata).at > since).length;
  }
  close();
  return count;
}

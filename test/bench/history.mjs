// A long history in a data folder: the events of a short real run, multiplied.
import { createSecretKey, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ask, startProcess, startProduct } from './processes.mjs';

const sampleTasks = 20;
/** So many of them see a price that goes up and down, and notify. */
const restlessTasks = 2;
const sampleMs = 8_000;
const writtenAtOnce = 5_000;

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
  for (const row of rows) {
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

const tailLength = 5;

/** A number as the tail of an id. */
function tailOf(number) {
  let tail = '';
  for (let digit = 0, rest = number; digit < tailLength; digit += 1, rest = Math.floor(rest / 32))
    tail = crockford[rest % 32] + tail;
  return tail;
}

const ids = /\b((?:ntf|act)_[0-9a-z]{21})[0-9a-z]{5}\b|\b((?:exe|dlv)_[0-9a-z]{21})[0-9a-z]{5}\b/g;
/** The tails of ids in these rows: a copy with one of them could be what was copied. */
const tailsIn = (rows) =>
  new Set(
    rows.flatMap(({ name, data }) => Array.from(`${name} ${data}`.matchAll(ids), ([id]) => id.slice(-tailLength))),
  );
const sevenZeros = /\b0000000\b/g;
const times = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g;

/** What the product was built of, for what only it can do: contents of tasks are sealed, each task's with a key of its own. */
const built = (path) => import(new URL(`../../dist/libs/${path}.js`, import.meta.url).href);

const secretKeyOf = (dataDir) => Buffer.from(readFileSync(join(dataDir, 'secret.key'), 'utf8').trim(), 'base64');

/** Each action inside, wherever it stands: with its settings as `change` gives them. */
async function mapActions(value, change) {
  if (Array.isArray(value)) return Promise.all(value.map((one) => mapActions(one, change)));
  if (typeof value !== 'object' || value === null) return value;
  const { id, type, config } = value;
  const isAction = typeof id === 'string' && id.startsWith('act_') && typeof config === 'object' && config !== null;
  const members = Object.entries(value).map(async ([name, member]) => [
    name,
    isAction && name === 'config' ? await change(id, type, config) : await mapActions(member, change),
  ]);
  return Object.fromEntries(await Promise.all(members));
}

/** Opens what is stored of the sampled tasks, and seals their copies as the product does, with keys of their own. */
async function openSeals(secretKey, rows) {
  const [
    { createHistoryOpener },
    { createSealedEvents },
    { encrypt },
    { createVault },
    { createOwnerKeyWrapper, unwrapOwnerKey },
    { declarationOf },
  ] = await Promise.all(
    [
      'vault/sealed-history',
      'vault/sealed-events',
      'runtime/cipher',
      'vault/event-vault',
      'vault/owner-keys',
      'channels/declarations',
    ].map(built),
  );
  const master = createSecretKey(secretKey);
  const open = createHistoryOpener(secretKey);
  const wrapper = createOwnerKeyWrapper(secretKey);
  const last = new Map(rows.map(({ name, type, data }) => [name, { type, data: JSON.parse(data) }]));
  const keys = new Map();
  let sealed;
  const known = { known: (owner) => keys.get(owner), make: async (owner) => keys.get(owner) };
  const events = createSealedEvents(
    { append: async (_stream, [event]) => void (sealed = event), read: async function* () {} },
    known,
  );
  const sampled = createVault({
    known: (owner) => unwrapOwnerKey(wrapper, last.get(`vault-${owner}`).data.wrapped, owner),
  });
  const copies = createVault(known);
  const scopeOf = (actionId) => `actions/${actionId}`;
  return {
    opened(row) {
      const data = open({ ...row, stream: row.name, data: JSON.parse(row.data) }, (stream) => last.get(stream));
      return { ...row, data: JSON.stringify(data) };
    },
    /** The settings of its actions in clear: a copy's are sealed for the copy. */
    async withSettings({ id: owner, begin, runs, end }) {
      const inClear = async (row) => {
        const data = await mapActions(JSON.parse(row.data), (id, _type, config) =>
          sampled.open(owner, scopeOf(id), config),
        );
        return { ...row, owner, data: JSON.stringify(data) };
      };
      const all = (part) => Promise.all(part.map(inClear));
      return { begin: await all(begin), runs: await Promise.all(runs.map(all)), end: await all(end) };
    },
    /** The data of the event that gives a task its key. */
    keyFor(owner) {
      const bytes = randomBytes(32);
      keys.set(owner, createSecretKey(bytes));
      return JSON.stringify({ wrapped: encrypt(master, bytes, owner) });
    },
    async seal(stream, owner, id, type, text) {
      const data = text.includes('"config"')
        ? await mapActions(JSON.parse(text), (actionId, channel, config) =>
            copies.seal(owner, scopeOf(actionId), config, declarationOf(channel).sealed),
          )
        : JSON.parse(text);
      await events.append(stream, [{ id, type, data }], 'any');
      return JSON.stringify(sealed.data);
    },
  };
}

/**
 * Appends copies until there are enough events: other ids, later times, the same shapes. The number of each task, seven digits,
 * stands where the sampled ones have seven zeros; each begins `apartMs` later than the one before. All of it is `backMs` earlier
 * than the sample, and each ends `endAfterMs` after its beginning.
 */
export async function multiply(
  dataDir,
  { wantedEvents, wantedTasks, apartMs = 0, backMs = 0, endAfterMs = 86_400_000_000 },
) {
  const file = join(dataDir, 'events.db');
  const { openStoredHistory } = await built('event-store/sqlite-stored');
  const { stored, lastPosition, close } = openStoredHistory(file);
  const rows = [];
  for await (const stretch of stored.read(null, lastPosition))
    rows.push(...stretch.map(({ stream, ...row }) => ({ ...row, name: stream })));
  close();
  const secretKey = secretKeyOf(dataDir);
  const [seals, { openWriter }] = await Promise.all([openSeals(secretKey, rows), built('event-store/sqlite-writer')]);
  // By the product's own writer, so that the copies have the MACs that every event has.
  const writer = openWriter({ file, held: 'alone', secretKey });
  let group = [];
  const writeGroup = () => {
    for (const result of writer.writeGroup(group)) if (!result.ok) throw new Error('a copied event was not written');
    group = [];
  };
  const keyRow = rows.find(({ type }) => type === 'vault.key_made');
  const revisions = new Map();
  let count = rows.length;
  const add = async (stream, { type, version, metadata }, textOf) => {
    const revision = revisions.get(stream);
    revisions.set(stream, (revision ?? -1) + 1);
    count += 1;
    const id = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
    const events = [{ id, type, version, data: await textOf(id), metadata }];
    group.push({ stream, expected: revision ?? 'none', events });
    if (group.length >= writtenAtOnce) writeGroup();
  };
  const copy = async (row, task, run, laterMs) => {
    const other = (text) =>
      text
        .replace(sevenZeros, () => String(task).padStart(7, '0'))
        .replace(ids, (_, ofTask, ofRun) => (ofTask === undefined ? ofRun + tailOf(run) : ofTask + tailOf(task)))
        .replace(times, (time) => new Date(Date.parse(time) + laterMs).toISOString());
    const name = other(row.name);
    const metadata = other(row.metadata);
    const owner = /^task-(.+)$/.exec(name)?.[1];
    if (owner !== undefined && !revisions.has(name))
      await add(`vault-${owner}`, { ...keyRow, metadata }, () => seals.keyFor(owner));
    await add(name, { ...row, metadata }, (id) => seals.seal(name, other(row.owner), id, row.type, other(row.data)));
  };
  const tasks = await Promise.all(chapters(rows.filter(isOfTasks).map(seals.opened)).map(seals.withSettings));
  const taken = tailsIn(rows);
  const nextFree = (after) => {
    let next = after + 1;
    while (taken.has(tailOf(next))) next += 1;
    return next;
  };
  const copied = [];
  for (let number = nextFree(-1); copied.length < wantedTasks; number = nextFree(number))
    copied.push({ number, ...tasks[number % tasks.length] });
  for (const { number, begin } of copied)
    for (const row of begin) await copy(row, number, 0, number * apartMs - backMs);
  const ending = copied.reduce((sum, { end }) => sum + end.length, 0);
  let run = 0;
  for (let round = 0; count + ending < wantedEvents; round += 1) {
    for (const { number, runs } of copied) {
      if (count + ending >= wantedEvents) break;
      run = nextFree(run);
      for (const row of runs[round % runs.length]) await copy(row, number, run, round * 60_000 - backMs);
    }
  }
  for (const { number, end } of copied) for (const row of end) await copy(row, number, run, endAfterMs - backMs);
  writeGroup();
  writer.close();
  return count;
}

/** Makes it in an empty folder. Returns how many events there are. */
export async function makeHistory(dataDir, wanted) {
  await record(dataDir);
  const count = await multiply(dataDir, wanted);
  // A product of this age has sent its messages long ago: with those of the sample alone it would first send all the rest.
  for (const ending of ['', '-wal', '-shm']) await rm(join(dataDir, `bus.db${ending}`), { force: true });
  return count;
}

// `audit`: what verifying costs: every event held against its MAC, and the chain of an organisation's changes made anew. The built
// parts of the product, over a file of events that they have written and signed themselves.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { makeFolder, ownProcessorMs } from './processes.mjs';

const changes = 200_000;
const tasks = 2_000;
const appendsAtOnce = 200;

const built = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url).href);

/** As large as a change of a task, sealed, is. */
const sealedOf = (number) => ({ $sealed: randomBytes(600).toString('base64url') + number });

function changeOf(number, organizationId) {
  const metadata = { organizationId, actor: 'key:key_bench', requestId: `req_${number}`, causationId: null };
  const at = new Date(1_790_000_000_000 + number).toISOString();
  return { id: randomUUID(), type: 'task.changed', version: 1, data: sealedOf(number), metadata: { ...metadata, at } };
}

async function fill(store) {
  for (let first = 0; first < changes; first += appendsAtOnce) {
    const appends = Array.from({ length: appendsAtOnce }, (_, index) => {
      const number = first + index;
      const revision = Math.floor(number / tasks);
      const stream = `task-ntf_${String(number % tasks).padStart(26, '0')}`;
      return { stream, events: [changeOf(number, 'org_bench')], expected: revision === 0 ? 'none' : revision - 1 };
    });
    for (const { ok } of await store.appendInOrder(appends)) if (!ok) throw new Error('an event was not taken');
  }
}

/** Per second, and per second of processor time of this process. */
async function rated(work) {
  const [beganAt, processorMs] = [performance.now(), ownProcessorMs([process.pid])];
  const count = await work();
  const wallSeconds = (performance.now() - beganAt) / 1_000;
  return {
    perSecond: count / wallSeconds,
    perProcessorSecond: (1_000 * count) / (ownProcessorMs([process.pid]) - processorMs),
  };
}

/** Reading the rows and one HMAC over each, and nothing else. */
async function bareRate(history, end) {
  const key = randomBytes(32);
  return rated(async () => {
    let count = 0;
    for await (const rows of history.read(null, end)) {
      for (const { data, metadata } of rows) createHmac('sha256', key).update(data).update(metadata).digest();
      count += rows.length;
    }
    return count;
  });
}

export async function* auditBench() {
  const [{ createSqliteEventStore }, { createEventChains }, { verifyEvents }, { createChainCheck, changesOf }] =
    await Promise.all([
      built('libs/event-store/sqlite'),
      built('libs/event-store/event-chain'),
      built('libs/event-store/verify-events'),
      built('libs/eventing/verify-audit'),
    ]);
  const secretKey = randomBytes(32);
  const store = createSqliteEventStore(join(await makeFolder(), 'events.db'), { secretKey });
  try {
    await fill(store);
    const end = await store.lastPosition();
    const history = store.stored;
    const bare = await bareRate(history, end);
    const macs = await rated(async () => {
      for await (const { what } of verifyEvents({
        history,
        chains: createEventChains(secretKey),
        signedAfter: 0,
        end,
      })) {
        throw new Error(`an event is ${what}`);
      }
      return changes;
    });
    const chain = await rated(async () => {
      const check = createChainCheck([]);
      for await (const event of changesOf(store, end)) check.add(event, null);
      const { events } = check.ended(null);
      return events;
    });
    for (const { title, rate } of [
      { title: 'events held against their MACs', rate: macs },
      { title: 'changes chained anew', rate: chain },
    ]) {
      const figure = { bench: 'audit', unit: '/s', target: 100_000, direction: 'at least' };
      const baseline = { name: 'read, and one HMAC each', value: bare.perSecond };
      yield { ...figure, case: title, value: rate.perSecond, baseline };
      const ofProcessor = { name: 'read, and one HMAC each', value: bare.perProcessorSecond };
      yield { ...figure, case: `${title}, of processor time`, value: rate.perProcessorSecond, baseline: ofProcessor };
    }
  } finally {
    await store.close();
  }
}

// `audit`: what verifying costs: every event held against its MAC, the chain of an organisation's changes made anew, and the same with
// each entry of the view held against it, as the API does. The built parts of the product, over a file of events that they have
// written and signed themselves.
import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
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
  const key = createSecretKey(randomBytes(32));
  return rated(async () => {
    let count = 0;
    for await (const rows of history.read(null, end)) {
      for (const { data, metadata } of rows) createHmac('sha256', key).update(data).update(metadata).digest();
      count += rows.length;
    }
    return count;
  });
}

/** Entries as the product keeps them, of changes that name one setting each. */
async function fillView({ store, end, readStore, signer }, { changesOf, audit }) {
  let head = audit.chainStart;
  for await (const events of changesOf(store, end)) {
    const documents = events.map((event) => {
      const { stream, revision, position, type, metadata } = event;
      const { organizationId, at, actor, requestId } = metadata;
      const sequence = head.sequence + 1;
      const hash = audit.hashOfChange(event, head.hash);
      const document = signer.signEntry({
        id: audit.auditEntryId(at, sequence, hash),
        organizationId,
        sequence,
        at,
        type,
        actor,
        requestId,
        resource: stream.slice(stream.indexOf('-') + 1),
        revision,
        data: { description: `Now ${sequence}` },
        changes: [{ path: 'description', from: `Now ${sequence - 1}`, to: `Now ${sequence}` }],
        previousHash: head.hash,
        hash,
        stream,
        streamRevision: revision,
        position,
      });
      head = { sequence, hash };
      return { id: document.id, revision: position, document };
    });
    await readStore.save(audit.auditView, documents, events.at(-1).position);
  }
}

export async function* auditBench() {
  const [{ createSqliteEventStore }, { createEventChains }, { verifyEvents }, verifying, audit] = await Promise.all([
    built('libs/event-store/sqlite'),
    built('libs/event-store/event-chain'),
    built('libs/event-store/verify-events'),
    built('libs/eventing/verify-audit'),
    built('libs/contracts/audit'),
  ]);
  const [{ createSqliteReadStore }, { createAuditSigner }] = await Promise.all([
    built('libs/read-store/sqlite'),
    built('libs/eventing/audit-heads'),
  ]);
  const { createChainCheck, changesOf } = verifying;
  const secretKey = randomBytes(32);
  const folder = await makeFolder();
  const store = createSqliteEventStore(join(folder, 'events.db'), { secretKey });
  const readStore = createSqliteReadStore(join(folder, 'views.db'));
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
      for await (const events of changesOf(store, end)) for (const event of events) check.add(event, null);
      const { events } = check.ended(null);
      return events;
    });
    const signer = createAuditSigner(secretKey);
    await fillView({ store, end, readStore, signer }, { changesOf, audit });
    const whole = await rated(async () => {
      const options = { storedEvents: store, readStore, organizationId: 'org_bench', heads: [], signer };
      const { intact, events } = await verifying.verifyAudit(options);
      if (!intact || events !== changes) throw new Error('the audit is not intact');
      return events;
    });
    for (const { title, rate } of [
      { title: 'events held against their MACs', rate: macs },
      { title: 'changes chained anew', rate: chain },
      { title: 'changes chained anew, each with its entry', rate: whole },
    ]) {
      const figure = { bench: 'audit', unit: '/s', target: 100_000, direction: 'at least' };
      const baseline = { name: 'read, and one HMAC each', value: bare.perSecond };
      yield { ...figure, case: title, value: rate.perSecond, baseline };
      const ofProcessor = { name: 'read, and one HMAC each', value: bare.perProcessorSecond };
      yield { ...figure, case: `${title}, of processor time`, value: rate.perProcessorSecond, baseline: ofProcessor };
    }
  } finally {
    await readStore.close();
    await store.close();
  }
}

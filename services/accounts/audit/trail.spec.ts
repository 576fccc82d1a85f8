import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { auditView, type AuditDocument } from '#contracts/audit';
import { taskStream, type TaskEvent } from '#contracts/task';
import { aTask } from '#contracts/task.kit';
import type { EventArchive, EventMetadata, EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { auditHeadsCollection, createAuditSigner, headsOf } from '#eventing/audit-heads';
import { encodeEvents } from '#eventing/codec';
import { verifyAudit } from '#eventing/verify-audit';
import { createSoleLeases } from '#leases/sole';
import { organizationsView } from '#contracts/account';
import { createPositionWaiter } from '#read-store/await-position';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import { createOwnerKeys, vaultStream, type OwnerKeys } from '#vault/owner-keys';
import { createEventOpener, createSealedEvents, type EventOpener } from '#vault/sealed-events';
import { headSweep, signHeads, signLastHeads } from './sign-heads.js';
import { startAuditTrail } from './trail.js';

const secretKey = Buffer.alloc(32, 3);
const signer = createAuditSigner(secretKey);
const [org, otherOrg] = ['org_00000000000000000000000001', 'org_00000000000000000000000002'];
const taskId = (n: number): string => `ntf_${String(n).padStart(26, '0')}`;
const spec = { ...aTask(), name: 'canary-name' };
const created: TaskEvent = { type: 'task.created', data: { spec, status: 'active', createdBy: 'key:key_1' } };

let folder: string;
let stored: EventArchive;
let keys: OwnerKeys;
let opener: EventOpener;
let events: EventStore;
let readStore: ViewStore;
let count: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-audit-'));
  readStore = createSqliteReadStore(':memory:');
  openEvents();
  count = 0;
});
afterEach(async () => {
  await stored.close();
  await readStore.close();
  await rm(folder, { recursive: true, force: true });
});

function openEvents(): void {
  stored = createSqliteEventStore(join(folder, 'events.db'), { secretKey });
  keys = createOwnerKeys(stored, secretKey);
  opener = createEventOpener(keys);
  events = createSealedEvents(stored, keys, opener);
}

/** As after a start: nothing of it is in memory. */
async function reopenEvents(): Promise<void> {
  await stored.close();
  openEvents();
}

async function append(n: number, event: TaskEvent, organizationId = org): Promise<void> {
  count += 1;
  const at = new Date(Date.parse('2026-11-21T10:00:00Z') + count).toISOString();
  const metadata: EventMetadata = {
    organizationId,
    actor: 'key:key_1',
    requestId: `req_${count}`,
    causationId: null,
    at,
  };
  const last = await stored.readLast(taskStream(taskId(n)));
  const encoded = encodeEvents([event], { commandId: `c${count}`, metadata });
  await events.append(taskStream(taskId(n)), encoded, last?.revision ?? 'none');
}

/** Runs the trail until it has seen everything. */
async function follow(view: ViewStore = readStore): Promise<AuditDocument[]> {
  const trail = startAuditTrail({
    storedEvents: stored,
    opener,
    readStore: view,
    leases: createSoleLeases(),
    signer,
    logger: silentLogger,
  });
  const last = (await stored.readLast(taskStream(taskId(count))))?.position ?? (await stored.lastPosition()) ?? 0;
  const end = Math.max(last, await lastChange());
  expect(await createPositionWaiter(view, auditView).reached(end, 30_000)).toBe(true);
  await trail.stop();
  return entries(view);
}

async function lastChange(): Promise<number> {
  const positions = [1, 2, 3].map(async (n) => (await stored.readLast(taskStream(taskId(n))))?.position ?? 0);
  return Math.max(...(await Promise.all(positions)));
}

async function entries(view: ViewStore = readStore, organizationId = org): Promise<AuditDocument[]> {
  const { documents } = await view.page(auditView, {
    where: [{ field: 'organizationId', equals: organizationId }],
    sort: [{ field: 'position', descending: false }],
    limit: 100,
    offset: 0,
    count: false,
  });
  return [...documents];
}

const verify = async (organizationId = org) =>
  verifyAudit({
    storedEvents: stored,
    readStore,
    organizationId,
    heads: await headsOf(createDocumentState(readStore), signer, organizationId),
    signer,
  });

const keeping = (at: string) => ({
  readStore,
  sharedState: createDocumentState(readStore),
  signer,
  clock: { now: () => Date.parse(at) },
  logger: silentLogger,
  keepLine: null,
});
const sign = (at = '2026-11-21T23:00:00.000Z') => signHeads(keeping(at));

const anOrganization = (id: string) => ({
  id,
  name: 'A',
  plan: 'free' as const,
  rateLimit: null,
  createdAt: '2026-11-21T10:00:00.000Z',
});

/** What somebody does who can write to the file. */
function edit(statement: string): void {
  const database = new DatabaseSync(join(folder, 'events.db'));
  database.exec(statement);
  database.close();
}

describe('the audit', () => {
  it('tells each change of a task, by whom, in which request, and what it changed', async () => {
    await append(1, created);
    await append(1, { type: 'task.changed', data: { changes: { name: 'Two' } } });
    const [first, second] = await follow();
    expect(first).toMatchObject({ sequence: 1, type: 'task.created', actor: 'key:key_1', resource: taskId(1) });
    expect(second).toMatchObject({
      sequence: 2,
      type: 'task.changed',
      requestId: 'req_2',
      revision: 1,
      data: { changes: { name: 'Two' } },
      changes: [{ path: 'name', from: 'canary-name', to: 'Two' }],
      previousHash: first?.hash,
    });
    expect((first?.id ?? '') < (second?.id ?? '')).toBe(true);
  });

  it('is a chain of its own for each organisation', async () => {
    await append(1, created);
    await append(2, created, otherOrg);
    await append(1, { type: 'task.paused', data: {} });
    expect((await follow()).map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect((await entries(readStore, otherOrg)).map(({ sequence }) => sequence)).toEqual([1]);
  });

  it('goes on where it was, and is the same where it is made anew', async () => {
    await append(1, created);
    await follow();
    await append(1, { type: 'task.paused', data: {} });
    await append(1, { type: 'task.resumed', data: {} });
    const kept = await follow();
    expect(kept.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    const anew = createSqliteReadStore(':memory:');
    expect(await follow(anew)).toEqual(kept);
    await anew.close();
  });

  it('masks what is sealed', async () => {
    const action = { id: `act_${'0'.repeat(26)}`, type: 'webhook', config: { secret: { $sealed: 'canary' } } } as const;
    const settings = { enabled: true, expireAfterSeconds: 60, on: [] };
    await append(1, {
      ...created,
      data: { ...created.data, spec: { ...spec, actions: [{ ...action, ...settings }] } },
    });
    const [entry] = await follow();
    expect(JSON.stringify(entry)).not.toContain('canary"');
    expect(JSON.stringify(entry)).toContain('"secret":"********"');
  });

  it('of a purged task keeps that it happened and nothing of what it was, whenever it is made', async () => {
    await append(1, created);
    await append(1, { type: 'task.changed', data: { changes: { description: 'canary' } } });
    const before = await follow();
    await append(1, { type: 'task.archived', data: { externalKey: null } });
    await append(1, { type: 'task.purged', data: {} });
    const live = await follow();
    expect(live.map(({ type, purged }) => [type, purged])).toEqual([
      ['task.created', true],
      ['task.changed', true],
      ['task.archived', true],
      ['task.purged', undefined],
    ]);
    expect(live.slice(0, 2).map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash));
    expect(JSON.stringify(live)).not.toContain('canary');
    expect(await verify()).toMatchObject({ intact: true, events: 4 });
    // The key is gone by now, as its stream says.
    edit(
      `UPDATE events SET data = '{"$erased":"x"}' WHERE stream = (SELECT id FROM streams WHERE name = '${vaultStream(taskId(1))}')`,
    );
    const anew = createSqliteReadStore(':memory:');
    expect(await follow(anew)).toEqual(live);
    await anew.close();
  });
});

describe('a verification of the audit', () => {
  beforeEach(async () => {
    await readStore.save(organizationsView, [{ id: org, revision: 1, document: anOrganization(org) }], null);
    await append(1, created);
    await append(1, { type: 'task.paused', data: {} });
    await append(1, { type: 'task.resumed', data: {} });
    await follow();
  });

  it('finds nothing where nothing was changed', async () => {
    const [, , last] = await entries();
    expect(await verify()).toEqual({ intact: true, events: 3, head: last?.hash, heads: 0 });
    await sign();
    expect(await verify()).toMatchObject({ intact: true, heads: 1 });
  });

  it.each([
    ['data was changed', `UPDATE events SET data = '{}' WHERE type = 'task.paused'`],
    [
      'an actor was changed',
      `UPDATE events SET metadata = replace(metadata, 'key_1', 'key_2') WHERE type = 'task.paused'`,
    ],
    ['a type was changed', `UPDATE events SET type = 'task.resumed' WHERE type = 'task.paused'`],
  ])('names the entry whose event is not what it was: %s', async (_, statement) => {
    edit(statement);
    expect(await verifyAfresh()).toMatchObject({ intact: false, brokenAt: { sequence: 2, reason: 'differs' } });
  });

  it.each<readonly [string, Partial<AuditDocument>]>([
    ['its actor', { actor: 'key:key_2' }],
    ['its time', { at: '2026-11-20T10:00:00.000Z' }],
    ['its resource', { resource: taskId(2) }],
    ['what it says', { data: { reason: 'forged' } }],
    ['what it changed', { changes: [{ path: 'status', from: 'active', to: 'active' }] }],
    ['that it has contents', { data: {}, purged: true }],
    ['its MAC', { mac: 'x' }],
  ])('names an entry that is not shown as it was written, its hash being right: %s', async (_, forged) => {
    const [, second] = await entries();
    if (second === undefined) throw new Error('there is none');
    await readStore.save(auditView, [{ id: second.id, revision: 1_000, document: { ...second, ...forged } }], null);
    expect(await verify()).toMatchObject({
      intact: false,
      brokenAt: { sequence: 2, id: second.id, reason: 'differs' },
    });
  });

  it('names an entry that the view lacks, the newest too, though every event is there', async () => {
    const [, , last] = await entries();
    await readStore.save(auditView, [{ id: last?.id ?? '', revision: 1_000, document: null }], null);
    expect(await verify()).toMatchObject({ intact: false, brokenAt: { sequence: 3, id: null, reason: 'differs' } });
  });

  it('is intact by a key that was followed by another', async () => {
    const next = createAuditSigner(Buffer.alloc(32, 4), secretKey);
    const asked = { storedEvents: stored, readStore, organizationId: org, heads: [] };
    expect(await verifyAudit({ ...asked, signer: next })).toMatchObject({ intact: true });
    expect(await verifyAudit({ ...asked, signer: createAuditSigner(Buffer.alloc(32, 4)) })).toMatchObject({
      intact: false,
    });
  });

  it('is intact of a view of before there were MACs, which is made anew', async () => {
    const kept = await entries();
    const bare = kept.map((entry) => {
      const { mac: _, ...document } = entry;
      return { id: document.id, revision: 1_000, document };
    });
    await readStore.save(auditView, bare, null);
    expect(await verify()).toMatchObject({ intact: false, brokenAt: { sequence: 1 } });
    expect(await follow()).toEqual(kept);
    expect(await verify()).toMatchObject({ intact: true });
  });

  it('is intact while the view goes on', async () => {
    const [first, , last] = await entries();
    // The checkpoint as it stood before the last two entries were written.
    const before = { ...readStore, checkpoint: async () => first?.position ?? 0 };
    const found = await verifyAudit({
      storedEvents: stored,
      readStore: before,
      organizationId: org,
      heads: [],
      signer,
    });
    expect([found.intact, found.events, last?.sequence]).toEqual([true, 1, 3]);
  });

  it('names what was cut off, by the view', async () => {
    edit(`DELETE FROM events WHERE type = 'task.resumed'`);
    expect(await verifyAfresh()).toMatchObject({
      intact: false,
      events: 2,
      brokenAt: { sequence: 3, reason: 'missing' },
    });
  });

  it('names what was cut off, by a signed head, where the view was made anew of what is left', async () => {
    const [head] = await sign();
    edit(`DELETE FROM events WHERE type = 'task.resumed'`);
    await reopenEvents();
    await readStore.reset(auditView);
    await follow();
    expect(head?.sequence).toBe(3);
    expect(await verifyAfresh()).toMatchObject({
      intact: false,
      brokenAt: { sequence: 3, reason: 'missing', id: null },
    });
  });

  it('takes no head that somebody without the key has made', async () => {
    const state = createDocumentState(readStore);
    const [head] = await sign();
    if (head === undefined) throw new Error('nothing was signed');
    await state.save(auditHeadsCollection, [{ key: 'x', version: 0, value: { ...head, hash: 'forged' } }]);
    expect(await verify()).toMatchObject({ intact: false, brokenAt: { sequence: 3, reason: 'head_forged' } });
  });

  it('finds one head of a day, however often one is signed', async () => {
    expect(await sign()).toHaveLength(1);
    expect(await sign('2026-11-21T23:59:00.000Z')).toHaveLength(0);
    expect(await sign('2026-11-22T00:01:00.000Z')).toHaveLength(1);
  });

  it('names what was cut off after the head of the day, where the process ended in order behind it', async () => {
    await sign();
    await append(1, { type: 'task.paused', data: {} });
    await follow();
    await signLastHeads(keeping('2026-11-21T23:10:00.000Z'));
    edit(`DELETE FROM events WHERE type = 'task.paused' AND revision = 3`);
    await reopenEvents();
    await readStore.reset(auditView);
    await follow();
    expect(await verifyAfresh()).toMatchObject({
      intact: false,
      heads: 2,
      brokenAt: { sequence: 4, reason: 'missing', id: null },
    });
    // The start on what is left signs nothing in their place.
    await headSweep(keeping('2026-11-21T23:20:00.000Z')).sweep();
    expect(await verify()).toMatchObject({ intact: false, heads: 2 });
  });

  it('finds a further head of a day only where the chain has grown by a start or an orderly end', async () => {
    const sweep = headSweep(keeping('2026-11-21T23:10:00.000Z'));
    await sign();
    await sweep.sweep();
    expect(await verify()).toMatchObject({ intact: true, heads: 1 });
    await append(1, { type: 'task.paused', data: {} });
    await follow();
    await sweep.sweep();
    expect(await verify()).toMatchObject({ intact: true, heads: 1 });
    for (let start = 0; start < 2; start += 1) await headSweep(keeping('2026-11-21T23:20:00.000Z')).sweep();
    await signLastHeads(keeping('2026-11-21T23:30:00.000Z'));
    expect(await verify()).toMatchObject({ intact: true, heads: 2 });
  });

  async function verifyAfresh() {
    await reopenEvents();
    return verify();
  }
});

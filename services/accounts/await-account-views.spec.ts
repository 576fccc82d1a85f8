import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keysView, sessionsView, type Scope } from '#contracts/account';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { startProjection } from '#eventing/projection';
import { findRebuild, requestRebuild, writeRebuild } from '#eventing/rebuild/requests';
import { createSoleLeases } from '#leases/sole';
import { asBuilt, type ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { createDocumentState } from '#shared-state/document-state';
import { createAccountsKit, type AccountsKit } from './accounts.kit.js';
import { createAccountViews, type AccountViews } from './await-account-views.js';
import { keysProjection } from './accounts-views.js';
import { createKey } from './create-key.js';
import { revokeKey } from './revoke-key.js';
import { rotateKey } from './rotate-key.js';
import { openSession, sessionIdOf } from './sessions.js';
import { setUpByEnvironment } from './setup-by-environment.js';

const organizationId = 'org_01jz0000000000000000000000';
const asking = { actor: 'user:usr_1', requestId: 'req_1' };
const input = { name: 'CI', scopes: ['write'] satisfies Scope[], expiresAt: null, allowedCidrs: [] };

describe('a view that nobody keeps', () => {
  let eventStore: EventStore;
  let readStore: ViewStore;
  let kit: AccountsKit;
  let views: AccountViews;
  beforeEach(() => {
    eventStore = createSqliteEventStore(':memory:');
    readStore = createSqliteReadStore(':memory:');
    kit = createAccountsKit(eventStore, readStore);
    views = createAccountViews(readStore, eventStore, createDocumentState(readStore), 1);
  });
  afterEach(async () => {
    await kit.stop();
    await eventStore.close();
    await readStore.close();
  });

  it('has a key once it is answered, its successor and its end', async () => {
    await kit.stop();
    const { created, position } = await createKey(kit.ports, organizationId, input, asking);
    expect(await views.reachKey(position, created.id)).toBe(true);
    expect(await readStore.get(keysView, created.publicId)).toMatchObject({ id: created.id, revokedAt: null });
    const rotation = { keyId: created.id, overlapSeconds: 60, isOperator: false };
    const next = await rotateKey(kit.ports, rotation, { organizationId, ...asking });
    await views.reachKey(next.position, next.created.id, created.id);
    expect(await readStore.get(keysView, created.publicId)).toMatchObject({ successorId: next.created.id });
    expect(await readStore.get(keysView, next.created.publicId)).toMatchObject({ id: next.created.id });
    const ended = await revokeKey(kit.ports, organizationId, next.created.id, asking);
    expect(await views.reachKey(ended, next.created.id)).toBe(true);
    expect(await readStore.get(keysView, next.created.publicId)).toMatchObject({ revokedAt: expect.any(String) });
  });

  it('has a key once it is answered, also where a build takes its place that has not come to it', async () => {
    await kit.stop();
    const sharedState = createDocumentState(readStore);
    await requestRebuild(sharedState, keysView.name, '2026-01-01T00:00:00.000Z');
    const requested = await findRebuild(sharedState, keysView.name);
    if (requested?.value == null) throw new Error('no rebuild was requested');
    await writeRebuild(sharedState, { ...requested.value, state: 'building', build: 'keys_build_1' }, requested);
    const { created, position } = await createKey(kit.ports, organizationId, input, asking);
    let isAnswered = false;
    const answered = views.reachKey(position, created.id).then(() => (isAnswered = true));
    await found(() => readStore.get(keysView, created.publicId));
    const built = asBuilt(keysView, 'keys_build_1');
    await readStore.save(built, [], (position ?? 0) - 1);
    await readStore.replace(keysView, built);
    expect([await readStore.get(keysView, created.publicId), isAnswered]).toEqual([null, false]);
    const leases = createSoleLeases();
    const kept = startProjection({
      ...keysProjection,
      eventStore,
      readStore,
      sharedState,
      leases,
      logger: silentLogger,
    });
    await answered;
    expect(await readStore.get(keysView, created.publicId)).toMatchObject({ id: created.id });
    await kept.stop();
  });

  it('has a session once it is answered', async () => {
    const owner = {
      email: 'ann@example.com',
      password: 'correct horse battery staple',
      apiKey: null,
      organization: 'One',
    };
    await kit.ports.views.reachSetup(await setUpByEnvironment(kit.ports, owner, silentLogger));
    await kit.stop();
    const { email, password } = owner;
    const { opened, position } = await openSession(kit.ports, { email, password, address: '127.0.0.1' }, 'req_1');
    const id = sessionIdOf(kit.ports, opened);
    expect(await views.reachSession(position, id)).toBe(true);
    expect(await readStore.get(sessionsView, id)).toMatchObject({ id });
  });

  it('is the same once somebody keeps it again', async () => {
    await kit.stop();
    const { created } = await createKey(kit.ports, organizationId, input, asking);
    const ended = await revokeKey(kit.ports, organizationId, created.id, asking);
    await views.reachKey(ended, created.id);
    const written = await readStore.get(keysView, created.publicId);
    const [sharedState, leases] = [createDocumentState(readStore), createSoleLeases()];
    const kept = startProjection({
      ...keysProjection,
      eventStore,
      readStore,
      sharedState,
      leases,
      logger: silentLogger,
    });
    expect(await kit.ports.views.reachKey(ended)).toBe(true);
    expect(await readStore.get(keysView, created.publicId)).toEqual(written);
    await kept.stop();
  });
});

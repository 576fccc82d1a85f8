import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyDocument, keyInput, keysView, type Scope } from '#contracts/account';
import { createApiKey, hashApiKey, parseApiKey } from '#contracts/api-key';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createAccountsKit, kitPepper, type AccountsKit } from './accounts.kit.js';
import { createKey, createKeyOffline, recordKey } from './create-key.js';
import { revokeKey } from './revoke-key.js';
import { showKey } from './show-key.js';
import { setUpByEnvironment } from './setup-by-environment.js';

const asking = { actor: 'user:usr_1', requestId: 'req_1' };
const organizationId = 'org_01jz0000000000000000000000';
const input = { name: 'CI', scopes: ['write'] satisfies Scope[], expiresAt: null, allowedCidrs: ['10.0.0.0/8'] };

let eventStore: EventStore;
let readStore: ViewStore;
let kit: AccountsKit;

beforeEach(() => {
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  kit = createAccountsKit(eventStore, readStore);
});
afterEach(async () => {
  await kit.stop();
  await eventStore.close();
  await readStore.close();
});

async function inView(publicId: string, position: number | null) {
  expect(await kit.ports.views.reachKey(position)).toBe(true);
  return keyDocument.parse(await readStore.get(keysView, publicId));
}

describe('API keys', () => {
  it('are answered in clear once and stored as a hash', async () => {
    const { created, position } = await createKey(kit.ports, organizationId, input, asking);
    const kept = await inView(created.publicId, position);
    expect(parseApiKey(created.key)).toEqual({ publicId: created.publicId });
    expect(kept.hash).toBe(hashApiKey(created.key, kitPepper));
    expect(created).not.toHaveProperty('hash');
    expect(JSON.stringify(await kit.allEvents())).not.toContain(created.key.slice(12));
  });

  it('are stored with the actor that created them and the one that revoked them', async () => {
    const { created } = await createKey(kit.ports, organizationId, input, asking);
    await revokeKey(kit.ports, organizationId, created.id, { actor: 'key:key_9', requestId: 'req_2' });
    const events = await kit.allEvents();
    expect(
      // Beside the sealed copy of the key.
      events
        .filter(({ type }) => type !== 'vault.key_made')
        .map(({ type, metadata }) => [type, metadata.actor, metadata.requestId, metadata.organizationId]),
    ).toEqual([
      ['key.created', 'user:usr_1', 'req_1', organizationId],
      ['key.revoked', 'key:key_9', 'req_2', organizationId],
    ]);
  });

  it('are revoked in the view once their revocation is answered', async () => {
    const { created } = await createKey(kit.ports, organizationId, input, asking);
    kit.time.ms += 1_000;
    const position = await revokeKey(kit.ports, organizationId, created.id, asking);
    expect(await inView(created.publicId, position)).toMatchObject({ revokedAt: '2026-11-01T00:00:01.000Z' });
    expect(await revokeKey(kit.ports, organizationId, created.id, asking)).toBe(position);
  });

  it('are shown without their hash until they are revoked', async () => {
    const { created } = await createKey(kit.ports, organizationId, input, asking);
    const { key: _, ...shown } = created;
    expect(await showKey(kit.ports, organizationId, created.id)).toEqual(shown);
    const gone = { code: 'NOT_FOUND', reason: 'not_found' };
    await expect(showKey(kit.ports, 'org_01jz0000000000000000000001', created.id)).rejects.toMatchObject(gone);
    await revokeKey(kit.ports, organizationId, created.id, asking);
    await expect(showKey(kit.ports, organizationId, created.id)).rejects.toMatchObject(gone);
  });

  it('are unknown to another organisation', async () => {
    const { created } = await createKey(kit.ports, organizationId, input, asking);
    const other = 'org_01jz0000000000000000000001';
    await expect(revokeKey(kit.ports, other, created.id, asking)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(revokeKey(kit.ports, organizationId, 'key_unknown', asking)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('may expire, but not before they are created', async () => {
    const soon = { ...input, expiresAt: '2026-11-01T02:00:00+01:00' };
    const { created } = await createKey(kit.ports, organizationId, soon, asking);
    expect(created.expiresAt).toBe('2026-11-01T01:00:00.000Z');
    const past = { ...input, expiresAt: '2026-11-01T00:59:59+01:00' };
    await expect(createKey(kit.ports, organizationId, past, asking)).rejects.toMatchObject({
      reason: 'expires_in_past',
    });
  });

  it('that use a public id again stay good when the one before is revoked', async () => {
    const text = createApiKey((size) => new Uint8Array(size).fill(3));
    const same = { organizationId, name: 'CI', scopes: ['read'] satisfies Scope[], expiresAt: null, text };
    const [one, two] = [kit.ports.ids.next('key'), kit.ports.ids.next('key')];
    const { key } = await recordKey(kit.ports, { ...same, id: one }, asking);
    await recordKey(kit.ports, { ...same, id: two }, asking);
    const position = await revokeKey(kit.ports, organizationId, one, asking);
    expect(await inView(key.publicId, position)).toMatchObject({ id: two, revokedAt: null });
  });

  it.each([
    { name: '', scopes: ['read'] },
    { name: 'x\u0000', scopes: ['read'] },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['root'] },
    { name: 'x', scopes: ['read', 'read'] },
    { name: 'x', scopes: ['read'], expiresAt: 'tomorrow' },
    { name: 'x', scopes: ['read'], allowedCidrs: ['10.0.0.0/33'] },
    { name: 'x', scopes: ['read'], allowedCidrs: ['example.com'] },
    { name: 'x', scopes: ['read'], allowedCidrs: ['10.0.0.0/8/8'] },
    { name: 'x', scopes: ['read'], allowedCidrs: '10.0.0.0/8' },
  ])('are refused with the input %j', (body) => {
    expect(keyInput.safeParse(body).success).toBe(false);
  });
});

describe('API keys created without a server', () => {
  it('belong to the one organisation of the installation', async () => {
    await expect(createKeyOffline(kit.ports, { name: 'CLI', scopes: ['admin'] })).rejects.toMatchObject({
      reason: 'not_set_up',
    });
    const owner = { email: 'owner@example.com', password: 'correct horse battery', apiKey: null, organization: 'Acme' };
    await setUpByEnvironment(kit.ports, owner, silentLogger);
    const created = await createKeyOffline(kit.ports, { name: 'CLI', scopes: ['admin'] });
    expect(parseApiKey(created.key)).toEqual({ publicId: created.publicId });
    const last = (await kit.allEvents()).at(-1);
    expect(last).toMatchObject({ type: 'key.created', metadata: { actor: 'system:cli' } });
    expect(created.organizationId).toBe(last?.metadata.organizationId);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createEventVault } from './event-vault.js';
import type { Vault } from './vault.js';

const master = Buffer.alloc(32, 7);
const config = { to: ['a@example.com', 'b@example.com'], subject: 'Hi', headers: { Authorization: 'Bearer x' } };
const paths = ['to', 'to[]', 'headers.*', 'missing'];

describe('the vault', () => {
  let store: EventStore;
  let vault: Vault;
  beforeEach(() => {
    store = createSqliteEventStore(':memory:');
    vault = createEventVault(store, master);
  });
  afterEach(() => store.close());

  it('seals what is named, leaves the rest, and opens it again', async () => {
    const sealed = await vault.seal('ntf_1', 'actions/act_1', config, paths);
    expect(JSON.stringify(sealed)).not.toMatch(/example\.com|Bearer/);
    expect(sealed).toMatchObject({ subject: 'Hi' });
    expect(await vault.open('ntf_1', 'actions/act_1', sealed)).toEqual(config);
  });

  it('seals one member of an object, and refuses a path that it does not understand', async () => {
    const settings = { auth: { type: 'basic', username: 'ada', password: 'secret' }, none: null };
    const sealed = await vault.seal('ntf_1', 'fetch', settings, ['auth.password', 'none.password']);
    expect(sealed).toMatchObject({ auth: { type: 'basic', username: 'ada' }, none: null });
    expect(JSON.stringify(sealed)).not.toContain('secret');
    expect(await vault.open('ntf_1', 'fetch', sealed)).toEqual(settings);
    await expect(vault.seal('ntf_1', 'fetch', settings, ['auth.password.deeper'])).rejects.toThrow('no path to seal');
  });

  it('leaves what is sealed already as it is', async () => {
    const sealed = await vault.seal('ntf_1', 's', config, paths);
    expect(await vault.seal('ntf_1', 's', sealed, paths)).toEqual(sealed);
  });

  it('opens nothing that was moved to another owner, scope or place', async () => {
    const sealed = await vault.seal('ntf_1', 's', { to: 'a@example.com', replyTo: 'c@example.com' }, ['to', 'replyTo']);
    await vault.seal('ntf_2', 's', { to: 'x' }, ['to']);
    const refusal = { reason: 'secret_unreadable' };
    await expect(vault.open('ntf_2', 's', sealed)).rejects.toMatchObject(refusal);
    await expect(vault.open('ntf_1', 'other', sealed)).rejects.toMatchObject(refusal);
    await expect(vault.open('ntf_1', 's', { to: sealed['replyTo'] ?? null })).rejects.toMatchObject(refusal);
    await expect(vault.open('ntf_3', 's', sealed)).rejects.toMatchObject(refusal);
  });

  it('opens after a restart with the same master key, and not with another', async () => {
    const sealed = await vault.seal('ntf_1', 's', config, paths);
    expect(await createEventVault(store, master).open('ntf_1', 's', sealed)).toEqual(config);
    await expect(createEventVault(store, Buffer.alloc(32, 8)).open('ntf_1', 's', sealed)).rejects.toMatchObject({
      reason: 'secret_unreadable',
    });
  });

  it('makes one key per owner, whichever process seals first', async () => {
    const other = createEventVault(store, master);
    const [one, two] = await Promise.all([
      vault.seal('ntf_1', 's', { to: 'a' }, ['to']),
      other.seal('ntf_1', 's', { to: 'b' }, ['to']),
    ]);
    const reader = createEventVault(store, master);
    expect(await reader.open('ntf_1', 's', one)).toEqual({ to: 'a' });
    expect(await reader.open('ntf_1', 's', two)).toEqual({ to: 'b' });
    expect(await Array.fromAsync(store.read('vault-ntf_1'))).toHaveLength(1);
  });
});

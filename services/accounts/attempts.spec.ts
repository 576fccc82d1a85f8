import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createDocumentState } from '#shared-state/document-state';
import type { SharedState } from '#shared-state/shared-state';
import { attemptsCollection, createAttempts } from './attempts.js';

const refusal = expect.objectContaining({ code: 'RATE_LIMITED', reason: 'too_many_attempts' });

describe('the count of wrong passwords', () => {
  let readStore: ReturnType<typeof createSqliteReadStore>;
  let sharedState: SharedState;
  beforeEach(() => {
    readStore = createSqliteReadStore(':memory:');
    sharedState = createDocumentState(readStore);
  });
  afterEach(() => readStore.close());

  function setup() {
    const time = { ms: 0 };
    const attempts = createAttempts(sharedState, { now: () => time.ms });
    /** Each account here is of one member, called alike. */
    const begin = (account: string, address: string) =>
      attempts.begin(account, address, () => Promise.resolve([account]));
    return { time, attempts, begin };
  }

  it('blocks an account after ten, whatever addresses they come from', async () => {
    const { time, begin } = setup();
    for (let i = 0; i < 10; i += 1) await begin('account', `10.0.0.${i}`);
    time.ms = 60_000;
    await expect(begin('account', '10.0.1.1')).rejects.toThrow(
      expect.objectContaining({ reason: 'too_many_attempts', retryAfterSeconds: 14 * 60 }),
    );
    await begin('another', '10.0.1.1');
  });

  it('lets the owner in from an address known to the account, while others guess from everywhere', async () => {
    const { time, begin } = setup();
    await (await begin('account', 'home')).succeeded('account');
    for (let i = 0; i < 10; i += 1) await begin('account', `10.0.0.${i}`);
    await expect(begin('account', '10.0.1.1')).rejects.toThrow(refusal);
    await (await begin('account', 'home')).succeeded('account');
    for (let i = 0; i < 10; i += 1) await begin('account', 'home');
    await expect(begin('account', 'home')).rejects.toThrow(refusal);
    time.ms = 31 * 24 * 3_600_000;
    for (let i = 0; i < 10; i += 1) await begin('account', `10.0.2.${i}`);
    await expect(begin('account', 'home')).rejects.toThrow(refusal);
  });

  it('lets who has proved to hold the account in from there, and there alone', async () => {
    const { attempts, begin } = setup();
    for (let i = 0; i < 10; i += 1) await begin('account', `10.0.0.${i}`);
    await attempts.proved('account', 'abroad');
    await begin('account', 'abroad');
    await expect(begin('account', '10.0.1.1')).rejects.toThrow(refusal);
    for (let i = 0; i < 10; i += 1) await begin('another', `10.0.0.${i}`);
    await expect(begin('another', 'abroad')).rejects.toThrow(refusal);
  });

  it('blocks an address after ten, for whatever accounts they are', async () => {
    const { begin } = setup();
    for (let i = 0; i < 10; i += 1) await begin(`account${i}`, 'here');
    await expect(begin('account99', 'here')).rejects.toThrow(refusal);
    await begin('account99', 'there');
  });

  it('starts again after 15 minutes', async () => {
    const { time, begin } = setup();
    for (let i = 0; i < 10; i += 1) await begin('account', 'here');
    time.ms = 15 * 60_000 - 1;
    await expect(begin('account', 'here')).rejects.toThrow(refusal);
    time.ms += 1;
    await begin('account', 'here');
  });

  it('is not cleared by a right password, which itself does not count', async () => {
    const { begin } = setup();
    for (let i = 0; i < 9; i += 1) await begin('account', `10.0.0.${i}`);
    for (let i = 0; i < 20; i += 1) await (await begin('account', 'here')).succeeded('account');
    await begin('account', '10.0.1.1');
    await expect(begin('account', '10.0.1.2')).rejects.toThrow(refusal);
    // Neither where it was let in by an address that is known.
    for (let i = 0; i < 20; i += 1) await (await begin('account', 'here')).succeeded('account');
    await expect(begin('account', '10.0.1.3')).rejects.toThrow(refusal);
  });

  it('lets an address that one member of the account knows in to that member alone', async () => {
    const { attempts } = setup();
    const begin = (address: string) => attempts.begin('account', address, () => Promise.resolve(['one', 'other']));
    await (await begin('here')).succeeded('one');
    for (let i = 0; i < 10; i += 1) {
      const { mayTry } = await begin(`10.0.0.${i}`);
      expect([mayTry('one'), mayTry('other')]).toEqual([true, true]);
    }
    const { mayTry } = await begin('here');
    expect([mayTry('one'), mayTry('other')]).toEqual([true, false]);
    await expect(begin('there')).rejects.toThrow(refusal);
  });

  it('leaves out an attempt that had no outcome', async () => {
    const { begin } = setup();
    for (let i = 0; i < 50; i += 1) {
      await (await begin('account', 'here')).abandoned();
    }
    for (let i = 0; i < 10; i += 1) await begin('account', 'here');
    await expect(begin('account', 'here')).rejects.toThrow(refusal);
  });

  it('is one for all processes together, and outlasts a restart', async () => {
    const others = [setup(), setup(), setup()];
    for (let i = 0; i < 10; i += 1) await others[i % 3]?.begin('account', `10.0.0.${i}`);
    await expect(setup().begin('account', 'here')).rejects.toThrow(refusal);
  });

  it('leaves no counter in the shared state once it has expired', async () => {
    const { time, attempts, begin } = setup();
    await begin('account', 'here');
    time.ms = 15 * 60_000;
    await attempts.prune();
    expect(await sharedState.list(attemptsCollection, 10)).toEqual([]);
  });
});

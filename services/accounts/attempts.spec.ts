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
    return { time, attempts: createAttempts(sharedState, { now: () => time.ms }) };
  }

  it('blocks an account after ten, whatever addresses they come from', async () => {
    const { time, attempts } = setup();
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', `10.0.0.${i}`);
    time.ms = 60_000;
    await expect(attempts.begin('account', '10.0.1.1')).rejects.toThrow(
      expect.objectContaining({ reason: 'too_many_attempts', retryAfterSeconds: 14 * 60 }),
    );
    await attempts.begin('another', '10.0.1.1');
  });

  it('lets the owner in from an address known to the account, while others guess from everywhere', async () => {
    const { time, attempts } = setup();
    await attempts.begin('account', 'home');
    await attempts.succeeded('account', 'home');
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', `10.0.0.${i}`);
    await expect(attempts.begin('account', '10.0.1.1')).rejects.toThrow(refusal);
    await attempts.begin('account', 'home');
    await attempts.succeeded('account', 'home');
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', 'home');
    await expect(attempts.begin('account', 'home')).rejects.toThrow(refusal);
    time.ms = 31 * 24 * 3_600_000;
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', `10.0.2.${i}`);
    await expect(attempts.begin('account', 'home')).rejects.toThrow(refusal);
  });

  it('lets who has proved to hold the account in from there, and there alone', async () => {
    const { attempts } = setup();
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', `10.0.0.${i}`);
    await attempts.proved('account', 'abroad');
    await attempts.begin('account', 'abroad');
    await expect(attempts.begin('account', '10.0.1.1')).rejects.toThrow(refusal);
    for (let i = 0; i < 10; i += 1) await attempts.begin('another', `10.0.0.${i}`);
    await expect(attempts.begin('another', 'abroad')).rejects.toThrow(refusal);
  });

  it('blocks an address after ten, for whatever accounts they are', async () => {
    const { attempts } = setup();
    for (let i = 0; i < 10; i += 1) await attempts.begin(`account${i}`, 'here');
    await expect(attempts.begin('account99', 'here')).rejects.toThrow(refusal);
    await attempts.begin('account99', 'there');
  });

  it('starts again after 15 minutes', async () => {
    const { time, attempts } = setup();
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', 'here');
    time.ms = 15 * 60_000 - 1;
    await expect(attempts.begin('account', 'here')).rejects.toThrow(refusal);
    time.ms += 1;
    await attempts.begin('account', 'here');
  });

  it('restarts for the account after a right password, and not for the address', async () => {
    const { attempts } = setup();
    for (let i = 0; i < 9; i += 1) await attempts.begin('own', `10.0.0.${i}`);
    for (let i = 0; i < 9; i += 1) await attempts.begin('victim', 'here');
    await attempts.begin('own', 'here');
    await attempts.succeeded('own', 'here');
    for (let i = 0; i < 9; i += 1) await attempts.begin('own', `10.0.1.${i}`);
    await attempts.begin('own', 'here');
    await expect(attempts.begin('own', 'here')).rejects.toThrow(refusal);
  });

  it('leaves out an attempt that had no outcome', async () => {
    const { attempts } = setup();
    for (let i = 0; i < 50; i += 1) {
      await attempts.begin('account', 'here');
      await attempts.abandoned('account', 'here');
    }
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', 'here');
    await expect(attempts.begin('account', 'here')).rejects.toThrow(refusal);
  });

  it('is one for all processes together, and outlasts a restart', async () => {
    const others = [setup(), setup(), setup()];
    for (let i = 0; i < 10; i += 1) await others[i % 3]?.attempts.begin('account', `10.0.0.${i}`);
    await expect(setup().attempts.begin('account', 'here')).rejects.toThrow(refusal);
  });

  it('leaves no counter in the shared state once it has expired', async () => {
    const { time, attempts } = setup();
    await attempts.begin('account', 'here');
    time.ms = 15 * 60_000;
    await attempts.prune();
    expect(await sharedState.list(attemptsCollection, 10)).toEqual([]);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createDocumentState } from '#shared-state/document-state';
import type { SharedState } from '#shared-state/shared-state';
import { attemptsCollection, createAttempts } from './attempts.js';

const refusal = expect.objectContaining({ code: 'RATE_LIMITED', reason: 'too_many_attempts' });

describe('wrong passwords', () => {
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

  it('are ten per account, wherever they come from', async () => {
    const { time, attempts } = setup();
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', `10.0.0.${i}`);
    time.ms = 60_000;
    await expect(attempts.begin('account', '10.0.0.99')).rejects.toThrow(
      expect.objectContaining({ reason: 'too_many_attempts', retryAfterSeconds: 14 * 60 }),
    );
    await attempts.begin('another', '10.0.0.99');
  });

  it('are ten per address, whoever they are for', async () => {
    const { attempts } = setup();
    for (let i = 0; i < 10; i += 1) await attempts.begin(`account${i}`, 'here');
    await expect(attempts.begin('account99', 'here')).rejects.toThrow(refusal);
    await attempts.begin('account99', 'there');
  });

  it('are forgotten after 15 minutes', async () => {
    const { time, attempts } = setup();
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', 'here');
    time.ms = 15 * 60_000 - 1;
    await expect(attempts.begin('account', 'here')).rejects.toThrow(refusal);
    time.ms += 1;
    await attempts.begin('account', 'here');
  });

  it('start anew for an account after the right one, and not for the address', async () => {
    const { attempts } = setup();
    for (let i = 0; i < 9; i += 1) await attempts.begin('victim', 'here');
    await attempts.begin('own', 'here');
    await attempts.succeeded('own', 'here');
    await attempts.begin('own', 'here');
    await expect(attempts.begin('own', 'here')).rejects.toThrow(refusal);
    await attempts.begin('victim', 'there');
    await expect(attempts.begin('victim', 'elsewhere')).rejects.toThrow(refusal);
  });

  it('are not counted where nobody could look', async () => {
    const { attempts } = setup();
    for (let i = 0; i < 50; i += 1) {
      await attempts.begin('account', 'here');
      await attempts.abandoned('account', 'here');
    }
    for (let i = 0; i < 10; i += 1) await attempts.begin('account', 'here');
    await expect(attempts.begin('account', 'here')).rejects.toThrow(refusal);
  });

  it('count for all processes together, and after a restart', async () => {
    const others = [setup(), setup(), setup()];
    for (let i = 0; i < 10; i += 1) await others[i % 3]?.attempts.begin('account', `10.0.0.${i}`);
    await expect(setup().attempts.begin('account', 'here')).rejects.toThrow(refusal);
  });

  it('leave nothing behind once they are forgotten', async () => {
    const { time, attempts } = setup();
    await attempts.begin('account', 'here');
    time.ms = 15 * 60_000;
    await attempts.prune();
    expect(await sharedState.list(attemptsCollection, 10)).toEqual([]);
  });
});

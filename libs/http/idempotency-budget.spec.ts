import { afterAll, describe, expect, it } from '@jest/globals';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createDocumentState } from '#shared-state/document-state';
import { answerBudgetCollection, createAnswerBudget } from './idempotency-budget.js';

const mebibyte = 1_048_576;
const readStore = createSqliteReadStore(':memory:');
const sharedState = createDocumentState(readStore);
const time = { ms: 1_000 };
const limits = { bytes: 20 * mebibyte, windowMs: 1_000, reserveBytes: 5 * mebibyte };
const processOf = () => createAnswerBudget(sharedState, { now: () => time.ms }, limits);

afterAll(() => readStore.close());

/** How many answers of 1 MiB an organisation gets kept. */
async function fill(organizationId: string, budgets: readonly ReturnType<typeof processOf>[]): Promise<number> {
  for (let kept = 0; ; kept += 1) {
    const budget = budgets[kept % budgets.length];
    try {
      await budget?.admit(organizationId);
    } catch (error) {
      expect(error).toMatchObject({ code: 'RATE_LIMITED', reason: 'idempotency_storage_full', retryAfterSeconds: 1 });
      return kept;
    }
    budget?.spend(organizationId, mebibyte);
  }
}

describe('the budget of answers kept for idempotency keys', () => {
  it('admits answers up to its bytes, over all processes together', async () => {
    const kept = await fill('org_1', [processOf(), processOf()]);
    expect([kept > 10, kept <= 20]).toEqual([true, true]);
  });

  it('is each organisation’s own, and whole again in the next window', async () => {
    const budget = processOf();
    const kept = await fill('org_2', [budget]);
    expect(await fill('org_3', [budget])).toBe(kept);
    time.ms += 1_000;
    expect(await fill('org_2', [budget])).toBe(kept);
  });

  it('is kept under a name that expires', async () => {
    await sharedState.removeExpired(answerBudgetCollection, time.ms + 1_000);
    expect(await sharedState.list(answerBudgetCollection, 10)).toEqual([]);
  });
});

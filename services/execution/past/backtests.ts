/** Backtests take processor time that due runs want too: one of an organisation at once, few in all. */
import type { Backtest, BacktestQuery } from '#contracts/run';
import { AppError, unavailable } from '#runtime/errors';
import type { RunDeps } from '../run.js';
import { backtestTask } from './backtest.js';

const maxBacktests = 4;

export interface Backtests {
  /** Rejects with `too_many_backtests` or `backtests_busy`. */
  run(query: BacktestQuery, organizationId: string): Promise<Backtest>;
}

export const BACKTESTS = Symbol('Backtests');

export function createBacktests(deps: RunDeps): Backtests {
  const running = new Set<string>();
  return {
    async run(query, organizationId) {
      if (running.has(organizationId)) {
        const message = 'A backtest is running; try again when it has ended.';
        throw new AppError('RATE_LIMITED', 'too_many_backtests', message, { retryAfterSeconds: 5 });
      }
      if (running.size >= maxBacktests) {
        throw unavailable('backtests_busy', 'Many backtests are running; try again in a moment.', 5);
      }
      running.add(organizationId);
      try {
        return await backtestTask(deps, query, organizationId);
      } finally {
        running.delete(organizationId);
      }
    },
  };
}

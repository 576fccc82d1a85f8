/** Counts wrong passwords per account and per address, over all processes together, and says when enough is enough. */
import { hash } from 'node:crypto';
import type { Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { compareAndSet, type Contended } from '#shared-state/compare-and-set';
import type { SharedState, StateCollection } from '#shared-state/shared-state';

const limit = 10;
const windowMs = 15 * 60_000;

interface Counter extends Contended {
  readonly wrong: number;
}

export const attemptsCollection: StateCollection<Counter> = { name: 'sign_in_attempts', indexedBy: 'expiresAtMs' };

export interface Attempts {
  /** Counts an attempt before it is made, so that concurrent attempts count too. Rejects with `too_many_attempts`. */
  begin(account: string, address: string): Promise<void>;
  /** The password was right: the account's count restarts at zero, the address gets this one attempt back. */
  succeeded(account: string, address: string): Promise<void>;
  /** The attempt had no outcome: it does not count. */
  abandoned(account: string, address: string): Promise<void>;
  /** Removes expired counters. */
  prune(): Promise<void>;
}

/** Counters outlast a restart; addresses stand in them as hashes. */
export function createAttempts(sharedState: SharedState, clock: Clock): Attempts {
  const keyOf = (kind: 'account' | 'address', value: string): string => `${kind}.${hash('sha256', value, 'base64url')}`;

  const current = (counter: Counter | null): Counter | null =>
    counter !== null && counter.expiresAtMs > clock.now() ? counter : null;

  /** null where the attempt was counted; else the end of the block. */
  const take = async (key: string): Promise<number | null> => {
    let refusedUntilMs: number | null = null;
    await compareAndSet(sharedState, attemptsCollection, key, (stored) => {
      const counter = current(stored);
      refusedUntilMs = counter !== null && counter.wrong >= limit ? counter.expiresAtMs : null;
      if (refusedUntilMs !== null) return null;
      return { wrong: (counter?.wrong ?? 0) + 1, expiresAtMs: counter?.expiresAtMs ?? clock.now() + windowMs };
    });
    return refusedUntilMs;
  };

  const lower = async (key: string, to: (wrong: number) => number): Promise<void> => {
    await compareAndSet(sharedState, attemptsCollection, key, (stored) => {
      const counter = current(stored);
      return counter === null ? null : { wrong: Math.max(0, to(counter.wrong)), expiresAtMs: counter.expiresAtMs };
    });
  };

  const giveBack = (key: string): Promise<void> => lower(key, (wrong) => wrong - 1);

  return {
    async begin(account, address) {
      const keys = [keyOf('account', account), keyOf('address', address)];
      const refusals = await Promise.all(keys.map(take));
      const untilMs = refusals.reduce<number | null>(
        (latest, until) => (until === null ? latest : Math.max(until, latest ?? 0)),
        null,
      );
      if (untilMs === null) return;
      // The attempt is refused, so neither counter keeps it.
      await Promise.all(keys.filter((_, index) => refusals[index] === null).map(giveBack));
      throw new AppError('RATE_LIMITED', 'too_many_attempts', 'Too many wrong passwords; try again later.', {
        retryAfterSeconds: Math.max(1, Math.ceil((untilMs - clock.now()) / 1_000)),
      });
    },

    async succeeded(account, address) {
      await Promise.all([lower(keyOf('account', account), () => 0), giveBack(keyOf('address', address))]);
    },

    async abandoned(account, address) {
      await Promise.all([giveBack(keyOf('account', account)), giveBack(keyOf('address', address))]);
    },

    prune: () => sharedState.removeExpired(attemptsCollection, clock.now()),
  };
}

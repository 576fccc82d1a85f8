/** Counts wrong passwords per account and per address, and says when enough is enough. */
import type { Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';

const limit = 10;
const windowMs = 15 * 60_000;
/** Counters kept; the oldest go first. Each costs its maker a password hash, so flooding them out is slow. */
const countersLimit = 20_000;

interface Counter {
  wrong: number;
  readonly startedAtMs: number;
}

export interface Attempts {
  /** Counts a try before it is made, so that tries side by side count too. Rejects with `too_many_attempts`. */
  begin(account: string, address: string): void;
  /** The password was right: the account's count starts anew, the address gets this one try back. */
  succeeded(account: string, address: string): void;
  /** No answer came of it: the try does not count. */
  abandoned(account: string, address: string): void;
}

export function createAttempts(clock: Clock): Attempts {
  const counters = new Map<string, Counter>();

  const current = (key: string): Counter | undefined => {
    const counter = counters.get(key);
    if (counter === undefined || clock.now() - counter.startedAtMs < windowMs) return counter;
    counters.delete(key);
    return undefined;
  };

  const add = (key: string): void => {
    const counter = current(key);
    if (counter !== undefined) {
      counter.wrong += 1;
      return;
    }
    if (counters.size >= countersLimit) {
      const [oldest] = counters.keys();
      if (oldest !== undefined) counters.delete(oldest);
    }
    counters.set(key, { wrong: 1, startedAtMs: clock.now() });
  };

  const giveBack = (key: string): void => {
    const counter = current(key);
    if (counter === undefined) return;
    counter.wrong -= 1;
    if (counter.wrong <= 0) counters.delete(key);
  };

  const keysOf = (account: string, address: string): readonly string[] => [`account|${account}`, `address|${address}`];

  return {
    begin(account, address) {
      const keys = keysOf(account, address);
      const spent = keys.map(current).filter((counter) => counter !== undefined && counter.wrong >= limit);
      if (spent.length > 0) {
        const untilMs = Math.max(...spent.map((counter) => (counter?.startedAtMs ?? 0) + windowMs));
        throw new AppError('RATE_LIMITED', 'too_many_attempts', 'Too many wrong passwords; try again later.', {
          retryAfterSeconds: Math.max(1, Math.ceil((untilMs - clock.now()) / 1_000)),
        });
      }
      for (const key of keys) add(key);
    },

    succeeded(account, address) {
      counters.delete(`account|${account}`);
      giveBack(`address|${address}`);
    },

    abandoned(account, address) {
      for (const key of keysOf(account, address)) giveBack(key);
    },
  };
}

/**
 * Counts wrong passwords per address and per account, over all processes together, and says when enough is enough. An
 * address that signed in to an account before, or set its password by a link, is not held up by what others guess at it:
 * else anybody could lock an owner out.
 */
import { hash } from 'node:crypto';
import type { Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { compareAndSet, type Contended } from '#shared-state/compare-and-set';
import type { SharedState, StateCollection } from '#shared-state/shared-state';

/** A code has a million values, and three of them count at a time. */
const limits = { address: 10, account: 10, code: 10, mail: 3 } as const;
const windowMs = 15 * 60_000;
/** How long an address is known to an account. */
const knownMs = 30 * 24 * 3_600_000;

interface Counter extends Contended {
  readonly wrong: number;
}

export const attemptsCollection: StateCollection<Counter> = { name: 'sign_in_attempts', indexedBy: 'expiresAtMs' };

export interface Attempts {
  /** Counts an attempt before it is made, so that concurrent attempts count too. Rejects with `too_many_attempts`. */
  begin(account: string, address: string): Promise<void>;
  /** The password was right: the account's count restarts at zero, the address gets this one attempt back, and is known there. */
  succeeded(account: string, address: string): Promise<void>;
  /** Who asks from there has proved to hold the account by other means than its password: the address is known there. */
  proved(account: string, address: string): Promise<void>;
  /** The attempt had no outcome: it does not count. */
  abandoned(account: string, address: string): Promise<void>;
  /** The same for codes of a second factor, of which few are tried for. Rejects with `too_many_attempts`. */
  beginCode(memberId: string): Promise<void>;
  codeSucceeded(memberId: string): Promise<void>;
  /** Whether another mail may go to the account: nobody fills a mailbox by asking for links. */
  mayMail(account: string): Promise<boolean>;
  /** Removes expired counters. */
  prune(): Promise<void>;
}

/** Counters outlast a restart; addresses stand in them as hashes. */
export function createAttempts(sharedState: SharedState, clock: Clock): Attempts {
  const keyOf = (kind: keyof typeof limits | 'known', value: string): string =>
    `${kind}.${hash('sha256', value, 'base64url')}`;
  const knownKey = (account: string, address: string): string => keyOf('known', `${account}|${address}`);

  const current = (counter: Counter | null): Counter | null =>
    counter !== null && counter.expiresAtMs > clock.now() ? counter : null;

  const isKnown = async (account: string, address: string): Promise<boolean> => {
    const key = knownKey(account, address);
    const stored = await sharedState.load(attemptsCollection, [key]);
    return current(stored.get(key)?.value ?? null) !== null;
  };

  /** null where the attempt was counted; else the end of the block. */
  const take = async (kind: keyof typeof limits, value: string): Promise<number | null> => {
    const key = keyOf(kind, value);
    let refusedUntilMs: number | null = null;
    await compareAndSet(sharedState, attemptsCollection, key, (stored) => {
      const counter = current(stored);
      refusedUntilMs = counter !== null && counter.wrong >= limits[kind] ? counter.expiresAtMs : null;
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

  const tooMany = (untilMs: number): AppError =>
    new AppError('RATE_LIMITED', 'too_many_attempts', 'Too many wrong passwords or codes; try again later.', {
      retryAfterSeconds: Math.max(1, Math.ceil((untilMs - clock.now()) / 1_000)),
    });

  const becomeKnown = async (account: string, address: string): Promise<void> => {
    const expiresAtMs = clock.now() + knownMs;
    await compareAndSet(sharedState, attemptsCollection, knownKey(account, address), () => ({ wrong: 0, expiresAtMs }));
  };

  const giveBack = (key: string): Promise<void> => lower(key, (wrong) => wrong - 1);

  return {
    async begin(account, address) {
      const keys = [keyOf('account', account), keyOf('address', address)];
      const [ofAccount, ofAddress, known] = await Promise.all([
        take('account', account),
        take('address', address),
        isKnown(account, address),
      ]);
      const refusals = [known ? null : ofAccount, ofAddress];
      const untilMs = refusals.reduce<number | null>(
        (latest, until) => (until === null ? latest : Math.max(until, latest ?? 0)),
        null,
      );
      if (untilMs === null) return;
      // The attempt is refused, so neither counter keeps it.
      const counted = keys.filter((_, index) => [ofAccount, ofAddress][index] === null);
      await Promise.all(counted.map(giveBack));
      throw tooMany(untilMs);
    },

    async succeeded(account, address) {
      await Promise.all([
        lower(keyOf('account', account), () => 0),
        giveBack(keyOf('address', address)),
        becomeKnown(account, address),
      ]);
    },

    proved: becomeKnown,

    async abandoned(account, address) {
      await Promise.all([giveBack(keyOf('account', account)), giveBack(keyOf('address', address))]);
    },

    async beginCode(memberId) {
      const untilMs = await take('code', memberId);
      if (untilMs !== null) throw tooMany(untilMs);
    },

    codeSucceeded: (memberId) => lower(keyOf('code', memberId), () => 0),

    mayMail: async (account) => (await take('mail', account)) === null,

    prune: () => sharedState.removeExpired(attemptsCollection, clock.now()),
  };
}

/**
 * Counts wrong passwords per address and per account, over all processes together, and says when enough is enough. An
 * account is an e-mail's here: members of several organisations may have it, not all of them by will of its owner, so that a right
 * password of one clears nothing. An address that signed in to a member before, or set its password by a link, is not held up there
 * by what others guess: else anybody could lock an owner out.
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

/** It counts unless it is said how it ended. */
export interface Attempt {
  /** Where the account was guessed at too often, the attempt is good for members to whom the address is known. */
  readonly mayTry: (memberId: string) => boolean;
  /** The password was right: this one attempt does not count, and the address is known to the member. */
  succeeded(memberId: string): Promise<void>;
  /** It had no outcome: it does not count. */
  abandoned(): Promise<void>;
}

export interface Attempts {
  /**
   * Counts an attempt before it is made, so that concurrent attempts count too. `memberIds`: of the account, asked for where it
   * was guessed at too often. Rejects with `too_many_attempts`.
   */
  begin(account: string, address: string, memberIds: () => Promise<readonly string[]>): Promise<Attempt>;
  /** Who asks from there has proved to be the member by other means than a password: the address is known there. */
  proved(memberId: string, address: string): Promise<void>;
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
  const knownKey = (memberId: string, address: string): string => keyOf('known', `${memberId}|${address}`);

  const current = (counter: Counter | null): Counter | null =>
    counter !== null && counter.expiresAtMs > clock.now() ? counter : null;

  const knownTo = async (memberIds: readonly string[], address: string): Promise<ReadonlySet<string>> => {
    const keys = memberIds.map((memberId) => knownKey(memberId, address));
    const stored = await sharedState.load(attemptsCollection, keys);
    return new Set(memberIds.filter((_, index) => current(stored.get(keys[index] ?? '')?.value ?? null) !== null));
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

  const becomeKnown = async (memberId: string, address: string): Promise<void> => {
    const expiresAtMs = clock.now() + knownMs;
    await compareAndSet(sharedState, attemptsCollection, knownKey(memberId, address), () => ({
      wrong: 0,
      expiresAtMs,
    }));
  };

  const giveBack = async (keys: readonly string[]): Promise<void> => {
    await Promise.all(keys.map((key) => lower(key, (wrong) => wrong - 1)));
  };

  return {
    async begin(account, address, memberIds) {
      const [ofAccount, ofAddress] = await Promise.all([take('account', account), take('address', address)]);
      const counted = [
        ...(ofAccount === null ? [keyOf('account', account)] : []),
        ...(ofAddress === null ? [keyOf('address', address)] : []),
      ];
      const attempt = (mayTry: Attempt['mayTry']): Attempt => ({
        mayTry,
        succeeded: async (memberId) => {
          await Promise.all([giveBack(counted), becomeKnown(memberId, address)]);
        },
        abandoned: () => giveBack(counted),
      });
      if (ofAddress === null) {
        if (ofAccount === null) return attempt(() => true);
        const known = await knownTo(await memberIds(), address);
        if (known.size > 0) return attempt((memberId) => known.has(memberId));
      }
      // The attempt is refused, so neither counter keeps it.
      await giveBack(counted);
      throw tooMany(Math.max(ofAccount ?? 0, ofAddress ?? 0));
    },

    proved: becomeKnown,

    async beginCode(memberId) {
      const untilMs = await take('code', memberId);
      if (untilMs !== null) throw tooMany(untilMs);
    },

    codeSucceeded: (memberId) => lower(keyOf('code', memberId), () => 0),

    mayMail: async (account) => (await take('mail', account)) === null,

    prune: () => sharedState.removeExpired(attemptsCollection, clock.now()),
  };
}

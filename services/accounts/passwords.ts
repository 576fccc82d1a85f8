/** Passwords: hashed by argon2id, a few at a time. Each hash takes 19 MiB and a core for some 30 ms, so the queue is short. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { createSemaphore } from '#concurrency/semaphore';
import { AppError } from '#runtime/errors';

export interface Passwords {
  /**
   * `like`: hashes of other accounts of the same person, whose salt is taken over: one hash then tells for all of them whether a
   * password is theirs. Rejects with `too_many_sign_ins` where the queue is full.
   */
  hash(password: string, like?: readonly string[]): Promise<string>;
  /** Takes as long for an unknown account (`stored` null) as for a wrong password. Rejects as `hash` does. */
  matches(password: string, stored: string | null): Promise<boolean>;
  /** Places of those among the stored hashes that are of this password; as long for none stored as for one. Rejects as `hash` does. */
  matching(password: string, stored: readonly string[]): Promise<readonly number[]>;
}

const maxConcurrent = 2;
const queueLimit = 20;
const saltBytes = 16;

/** What `hash` writes in front of salt and hash. */
const parameters = '$argon2id$v=19$m=19456,t=2,p=1$';
/** Hash of a random password: what is compared for an unknown account. */
const decoyHash = `${parameters}gL9Dlk763FZtJzLoxYUe0g$N5uShGeMUoiuBvH4G+rorJLHnOYOSWbmDMKW6rWjfVU`;

/** The same password typed on another keyboard or system arrives in other code points. */
const toBytes = (password: string): Buffer => Buffer.from(password.normalize('NFKC'));

/** The salt of a hash that `hash` wrote; null of any other. */
function saltOf(stored: string): string | null {
  return stored.startsWith(parameters) ? (stored.slice(parameters.length).split('$')[0] ?? null) : null;
}

function sameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export function createPasswords(): Passwords {
  const semaphore = createSemaphore(maxConcurrent);

  const limited = <T>(work: () => Promise<T>): Promise<T> => {
    if (semaphore.waiting >= queueLimit) {
      throw new AppError('RATE_LIMITED', 'too_many_sign_ins', 'Too many sign-ins at once; try again in a moment.', {
        retryAfterSeconds: 2,
      });
    }
    return semaphore.run(work);
  };

  const hashWith = (password: string, salt: string | null): Promise<string> => {
    const bytes = salt === null ? randomBytes(saltBytes) : Buffer.from(salt, 'base64');
    return limited(() => hash(toBytes(password), { salt: bytes }));
  };

  const matches = async (password: string, stored: string | null): Promise<boolean> => {
    const isMatching = await limited(() => verify(stored ?? decoyHash, toBytes(password)));
    return isMatching && stored !== null;
  };

  return {
    async hash(password, like = []) {
      return hashWith(password, like.map(saltOf).find((salt) => salt !== null) ?? null);
    },

    matches,

    async matching(password, stored) {
      const [first] = stored;
      if (first === undefined) {
        await matches(password, null);
        return [];
      }
      const salt = saltOf(first);
      const places = stored.map((_, place) => place);
      const alike = salt === null ? [] : places.filter((place) => saltOf(stored[place] ?? '') === salt);
      const found = new Set<number>();
      if (alike.length > 0) {
        const computed = await hashWith(password, salt);
        for (const place of alike) if (sameText(computed, stored[place] ?? '')) found.add(place);
      }
      for (const place of places) {
        if (!alike.includes(place) && (await matches(password, stored[place] ?? null))) found.add(place);
      }
      return [...found].sort((one, other) => one - other);
    },
  };
}

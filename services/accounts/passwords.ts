/** Passwords: hashed by argon2id, a few at a time. Each hash takes 19 MiB and a core for some 30 ms, so the queue is short. */
import { hash, verify } from '@node-rs/argon2';
import { createSemaphore } from '#concurrency/semaphore';
import { AppError } from '#runtime/errors';

export interface Passwords {
  /** Rejects with `too_many_sign_ins` where the queue is full. */
  hash(password: string): Promise<string>;
  /** Takes as long for an unknown account (`stored` null) as for a wrong password. Rejects as `hash` does. */
  matches(password: string, stored: string | null): Promise<boolean>;
}

const maxConcurrent = 2;
const queueLimit = 20;

/** Hash of a random password, with the parameters of `hash`: what is compared for an unknown account. */
const decoyHash = '$argon2id$v=19$m=19456,t=2,p=1$gL9Dlk763FZtJzLoxYUe0g$N5uShGeMUoiuBvH4G+rorJLHnOYOSWbmDMKW6rWjfVU';

/** The same password typed on another keyboard or system arrives in other code points. */
const toBytes = (password: string): Buffer => Buffer.from(password.normalize('NFKC'));

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

  return {
    async hash(password) {
      return limited(() => hash(toBytes(password)));
    },

    async matches(password, stored) {
      const matching = await limited(() => verify(stored ?? decoyHash, toBytes(password)));
      return matching && stored !== null;
    },
  };
}

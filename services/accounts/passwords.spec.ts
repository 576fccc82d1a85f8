import { describe, expect, it } from '@jest/globals';
import { createPasswords } from './passwords.js';

describe('passwords', () => {
  it('match their own hash, and no other password does', async () => {
    const passwords = createPasswords();
    const kept = await passwords.hash('correct horse battery');
    expect(kept).toMatch(/^\$argon2id\$/);
    expect(await passwords.matches('correct horse battery', kept)).toBe(true);
    expect(await passwords.matches('correct horse batterz', kept)).toBe(false);
    expect(await passwords.matches('correct horse battery', null)).toBe(false);
  });

  it('count to their last character, NULs and emoji included', async () => {
    const passwords = createPasswords();
    const odd = 'nul\u0000behind it 👩‍🚀\ud800';
    const kept = await passwords.hash(odd);
    expect(await passwords.matches(odd, kept)).toBe(true);
    expect(await passwords.matches('nul\u0000behind', kept)).toBe(false);
  });

  it('match in whatever form the keyboard composed them', async () => {
    const passwords = createPasswords();
    const kept = await passwords.hash('pässwörd-ünïcode');
    expect(await passwords.matches('pässwörd-ünïcode'.normalize('NFD'), kept)).toBe(true);
  });

  it('are refused with a time to try again where the queue of hashes is full', async () => {
    const passwords = createPasswords();
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => passwords.matches('guess', null)));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(30 - 22);
    expect(refused[0]?.reason).toMatchObject({
      code: 'RATE_LIMITED',
      reason: 'too_many_sign_ins',
      retryAfterSeconds: 2,
    });
    expect(await passwords.matches('guess', null)).toBe(false);
  });
});

import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createApiKey, hashApiKey, parseApiKey } from './api-key.js';

const example = 'mk_Ab3dEf9h_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd3qYUag';

describe('the text of an API key', () => {
  it('matches the example of the API contract', () => {
    expect(parseApiKey(example)).toEqual({ publicId: 'Ab3dEf9h' });
  });

  it('recognises each key that was made, all different', () => {
    const keys = new Set(Array.from({ length: 500 }, () => createApiKey(randomBytes)));
    expect(keys.size).toBe(500);
    for (const key of keys) {
      expect(key).toMatch(/^mk_[0-9A-Za-z]{8}_[0-9A-Za-z]{46}$/);
      expect(parseApiKey(key)).toEqual({ publicId: key.slice(3, 11) });
    }
  });

  it('uses all letters with the same probability', () => {
    // 255 is thrown away; the following 0 counts as the first letter.
    let calls = 0;
    const key = createApiKey((size) => new Uint8Array(size).fill(calls++ % 2 === 0 ? 255 : 0));
    expect(key.startsWith(`mk_00000000_${'0'.repeat(40)}`)).toBe(true);
  });

  it('is rejected with any one character changed', () => {
    const letters = 'abcXYZ019_-';
    fc.assert(
      fc.property(fc.nat(example.length - 1), fc.constantFrom(...letters.split('')), (at, letter) => {
        fc.pre(example[at] !== letter);
        expect(parseApiKey(example.slice(0, at) + letter + example.slice(at + 1))).toBeNull();
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['a trailing line break', `${example}\n`],
    ['surrounding blanks', ` ${example} `],
    ['a missing character', example.slice(0, -1)],
    ['a NUL', `${example.slice(0, 20)}\u0000${example.slice(21)}`],
    ['other alphabets', example.replace('0123456789', '०१२३४५६७८९')],
    ['a megabyte', 'mk_'.repeat(350_000)],
  ])('is rejected where it is %s', (_, text) => {
    expect(parseApiKey(text)).toBeNull();
  });

  it('is hashed with the pepper, so that a stolen view is useless without it', () => {
    expect(hashApiKey(example, 'one')).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(hashApiKey(example, 'one')).not.toBe(hashApiKey(example, 'two'));
  });
});

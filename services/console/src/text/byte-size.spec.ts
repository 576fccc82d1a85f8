import { describe, expect, it } from '@jest/globals';
import { byteSize } from './byte-size.js';

describe('the size of something', () => {
  it.each([
    [0, '0 B'],
    [48, '48 B'],
    [1_023, '1,023 B'],
    [1_024, '1 KB'],
    [170_000, '166 KB'],
    [5 * 1_024 ** 2, '5 MB'],
    [3 * 1_024 ** 4, '3,072 GB'],
  ])('of %i bytes is written %s', (bytes, written) => {
    expect(byteSize(bytes, 'en')).toBe(written);
  });

  it('is written as the reader writes numbers', () => {
    expect(byteSize(1_536, 'de')).toBe('1,5 KB');
  });
});

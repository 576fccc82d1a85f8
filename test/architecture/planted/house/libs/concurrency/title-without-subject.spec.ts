// planted: titles-read-alone
import { describe, expect, it } from '@jest/globals';

describe('is a sum', () => {
  it('of one and one', () => {
    expect(1 + 1).toBe(2);
  });
});

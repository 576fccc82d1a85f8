// planted: titles-read-alone
import { expect, it } from '@jest/globals';

it('adds numbers up', () => {
  expect(1 + 1).toBe(2);
});

// planted: titles-read-alone
import { expect, it } from '@jest/globals';

it('a counter is told of each number', () => {
  expect(1 + 1).toBe(2);
});

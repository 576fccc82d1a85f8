// planted: titles-read-alone
import { expect, it } from '@jest/globals';

it.each([1, 2])('%i is a number of the first two', (number) => {
  expect(number).toBeLessThan(3);
});

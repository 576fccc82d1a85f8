// planted: jest/no-disabled-tests
import { expect, it } from '@jest/globals';

it.skip('adds', () => {
  expect(1 + 1).toBe(2);
});

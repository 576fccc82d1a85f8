// planted: jest/no-focused-tests
import { expect, it } from '@jest/globals';

it.only('adds', () => {
  expect(1 + 1).toBe(2);
});

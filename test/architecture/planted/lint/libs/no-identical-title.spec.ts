// planted: jest/no-identical-title
import { expect, it } from '@jest/globals';

it('adds', () => {
  expect(1 + 1).toBe(2);
});
it('adds', () => {
  expect(1 + 2).toBe(3);
});

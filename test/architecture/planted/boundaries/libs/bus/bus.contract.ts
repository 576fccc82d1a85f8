import { expect, it } from '@jest/globals';
import type { Bus } from '#bus/bus';

export function busContract(make: () => Bus): void {
  it('publishes', () => {
    expect(make()).toBeDefined();
  });
}

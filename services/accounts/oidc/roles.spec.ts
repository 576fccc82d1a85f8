import { describe, expect, it } from '@jest/globals';
import { roleOf } from './roles.js';

const groups = [
  { claim: 'groups', value: 'watchers', role: 'viewer' },
  { claim: 'groups', value: 'chiefs', role: 'admin' },
  { claim: 'title', value: 'boss', role: 'owner' },
] as const;

describe('the role of somebody from a provider', () => {
  it.each([
    [{}, null],
    [{ groups: [] }, null],
    [{ groups: ['watchers'] }, 'viewer'],
    [{ groups: ['chiefs', 'watchers'] }, 'admin'],
    [{ groups: 'watchers' }, 'viewer'],
    [{ groups: 'watchers,chiefs' }, null],
    [{ groups: ['watchers'], title: 'boss' }, 'owner'],
    [{ groups: { watchers: true } }, null],
  ] as const)('by the claims %j is %s', (claims, role) => {
    expect(roleOf(claims, groups)).toBe(role);
  });
});

import { describe, expect, it } from '@jest/globals';
import { addressWithin } from './return-address.js';

const here = 'https://meerkat.example';

describe('the address to go back to after sign-in', () => {
  it.each([
    ['/tasks/ntf_1?tab=runs#top', '/tasks/ntf_1?tab=runs#top'],
    ['/', '/'],
    [null, '/tasks'],
    ['', '/tasks'],
    ['tasks', '/tasks'],
    ['https://evil.example/', '/tasks'],
    ['//evil.example/', '/tasks'],
    ['/\\evil.example/', '/tasks'],
    ['/\t/evil.example/', '/tasks'],
    ['/.//evil.example/', '/tasks'],
    ['/a/..//evil.example/', '/tasks'],
    ['javascript:alert(1)', '/tasks'],
  ])('of %j is %j', (to, address) => {
    expect(addressWithin(to, here)).toBe(address);
  });
});

import { describe, expect, it } from '@jest/globals';
import { diffPaths } from './json-diff.js';

describe('the difference of two settings', () => {
  it.each(['constructor', 'toString'])('names a member called %s that was added or taken away', (name) => {
    expect(diffPaths({ headers: {} }, { headers: { [name]: 'x' } })).toEqual([{ path: `headers.${name}`, to: 'x' }]);
    expect(diffPaths({ headers: { [name]: 'x' } }, { headers: {} })).toEqual([{ path: `headers.${name}`, from: 'x' }]);
  });
});

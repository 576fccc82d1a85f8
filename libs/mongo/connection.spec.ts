import { describe, expect, it } from '@jest/globals';
import { hasNoPrimary } from './connection.js';

describe('a replica set', () => {
  it.each([
    ['in which none could be selected', { reason: { type: 'ReplicaSetNoPrimary' } }, true],
    ['whose member is none', { code: 10_107 }, true],
    ['whose primary steps down', { code: 189 }, true],
    ['that does not answer', { reason: { type: 'Unknown' } }, false],
    ['that refuses a document', { code: 121 }, false],
    ['of which nothing is known', null, false],
  ])('%s has no primary: %j is %s', (_, error, expected) => {
    expect(hasNoPrimary(error)).toBe(expected);
  });
});

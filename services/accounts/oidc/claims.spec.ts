import { describe, expect, it } from '@jest/globals';
import { joinedClaims } from './claims.js';

const [theirs, own] = ['victim@example.com', 'attacker@example.com'];

describe('what a provider says of somebody', () => {
  it.each([
    [{ email: own, email_verified: true }, {}, own, true],
    [{}, { email: own, email_verified: true }, own, true],
    [{ email: own }, { email: own, email_verified: true }, own, true],
    [{ email: theirs }, { email: own, email_verified: true }, own, true],
    [{ email: theirs }, { email_verified: true }, theirs, undefined],
    [{ email_verified: true }, { email: theirs }, theirs, undefined],
    [{ email: own, email_verified: true }, { email: theirs, email_verified: true }, own, true],
    [{ email: own, email_verified: false }, { email: own, email_verified: true }, own, false],
  ])('takes address and verification from the same: %j and %j', (token, userInfo, email, isVerified) => {
    const { email: joined, email_verified } = joinedClaims<Record<string, unknown>>(token, userInfo);
    expect([joined, email_verified]).toEqual([email, isVerified]);
  });

  it('takes of the rest what the token says first', () => {
    expect(joinedClaims({ sub: 'a', groups: ['x'] }, { sub: 'b', groups: ['y'], name: 'A' })).toMatchObject({
      sub: 'a',
      groups: ['x'],
      name: 'A',
    });
  });
});

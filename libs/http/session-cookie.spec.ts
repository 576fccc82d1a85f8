import { describe, expect, it } from '@jest/globals';
import { clearedCookie, isOwnOrigin, sessionCookie, tokenOfCookie } from './session-cookie.js';

describe('the session cookie', () => {
  it('is out of reach of scripts and other sites, and kept to TLS where there is TLS', () => {
    expect(sessionCookie('abc', 60, false)).toBe('meerkat_session=abc; Max-Age=60; Path=/; HttpOnly; SameSite=Lax');
    expect(sessionCookie('abc', 60, true)).toMatch(/; Secure$/);
    expect(clearedCookie(true)).toMatch(/^meerkat_session=; Max-Age=0; .*; Secure$/);
  });

  it('is found among others', () => {
    expect(tokenOfCookie('a=b; meerkat_session=t-_1; c=d')).toBe('t-_1');
    expect(tokenOfCookie('meerkat_session=a=b')).toBe('a=b');
    expect(tokenOfCookie('meerkat_session=first; meerkat_session=second')).toBe('first');
  });

  it.each([undefined, '', ';', '=', 'a', 'xmeerkat_session=t', 'meerkat_sessionx=t'])(
    'is not found in %j',
    (header) => {
      expect(tokenOfCookie(header)).toBeNull();
    },
  );

  it('reads no more than a token can be long', () => {
    expect(tokenOfCookie(`meerkat_session=${'x'.repeat(100_000)}`)).toHaveLength(200);
  });
});

describe('the origin of a write', () => {
  const publicUrl = 'https://meerkat.example.com/';
  it.each([
    [undefined, 'localhost:3000'],
    ['http://localhost:3000', 'localhost:3000'],
    ['http://localhost:3000', 'LOCALHOST:3000'],
    ['https://meerkat.example.com', '10.0.0.7:3000'],
  ])('is ours: %s at %s', (origin, host) => {
    expect(isOwnOrigin(origin, host, publicUrl)).toBe(true);
  });

  it.each([
    ['null', 'localhost:3000'],
    ['', 'localhost:3000'],
    ['http://localhost:3001', 'localhost:3000'],
    ['https://localhost:3000.evil.example', 'localhost:3000'],
    ['http://evil.example', 'localhost:3000'],
    ['http://localhost:3000', undefined],
    ['http://meerkat.example.com', 'meerkat.example.com'],
  ])('is not ours: %j at %s', (origin, host) => {
    expect(isOwnOrigin(origin, host, publicUrl)).toBe(false);
  });
});

import { describe, expect, it } from '@jest/globals';
import { Cookies } from './cookies.js';

/** The Cookie header of the last address, after each one before it redirected there and set cookies. */
function sentTo(
  last: string,
  hops: readonly (readonly [url: string, ...cookies: string[]])[],
  own?: string,
): string | null {
  const cookies = new Cookies(own === undefined ? {} : { Cookie: own });
  let sent: string | null = own ?? null;
  for (const [index, [url, ...lines]] of hops.entries()) {
    const next = new URL(hops[index + 1]?.[0] ?? last);
    const crosses = new URL(url).origin !== next.origin;
    const headers = own === undefined || crosses ? {} : { Cookie: own };
    const hop = cookies.follow(new URL(url), lines, { method: 'GET', url: next, headers, body: undefined });
    sent = hop.headers['cookie'] ?? null;
  }
  return sent;
}

describe('the cookies of one exchange', () => {
  it.each([
    ['https://a.example/x', 's=1', 'https://a.example/y', 's=1'],
    ['https://a.example/x', 's=1; Path=/', 'https://a.example/y/z', 's=1'],
    ['https://a.example/in/x', 's=1', 'https://a.example/out', null],
    ['https://a.example/in/x', 's=1', 'https://a.example/in/y', 's=1'],
    ['https://a.example/in/x', 's=1; Path=/in', 'https://a.example/inner', null],
    ['https://a.example/x', 's=1; Path=nonsense', 'https://a.example/y', 's=1'],
    ['https://a.example/x', 's=1', 'https://b.example/', null],
    ['https://a.example/x', 's=1', 'https://www.a.example/', null],
    ['https://a.example/x', 's=1; Domain=a.example', 'https://www.a.example/', 's=1'],
    ['https://www.a.example/x', 's=1; Domain=.A.example', 'https://a.example/', 's=1'],
    ['https://www.a.example/x', 's=1; Domain=example', 'https://b.example/', null],
    ['https://www.a.co.uk/x', 's=1; Domain=co.uk', 'https://b.co.uk/', null],
    ['https://a.example/x', 's=1; Domain=b.example', 'https://b.example/', null],
    ['https://nota.example/x', 's=1; Domain=a.example', 'https://a.example/', null],
    ['https://127.0.0.1/x', 's=1; Domain=0.0.1', 'https://127.0.0.1/', null],
    ['https://127.0.0.1/x', 's=1; Domain=127.0.0.1', 'https://127.0.0.1/', 's=1'],
    ['https://[2001:db8::1]/x', 's=1', 'https://[2001:db8::1]/y', 's=1'],
    ['https://a.example/x', 's=1; Secure', 'https://a.example/y', 's=1'],
    ['https://a.example/x', 's=1; Secure', 'http://a.example/y', null],
    ['http://a.example/x', 's=1; Secure', 'https://a.example/y', null],
    ['http://a.example/x', 's=1', 'https://a.example/y', 's=1'],
    ['https://a.example/x', 's=1; Max-Age=0', 'https://a.example/y', null],
    ['https://a.example/x', 's=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'https://a.example/y', null],
    ['https://a.example/x', 's=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60', 'https://a.example/y', 's=1'],
    ['https://a.example/x', '__Host-s=1; Secure; Path=/', 'https://a.example/y', '__Host-s=1'],
    ['https://a.example/x', '__Host-s=1; Secure; Path=/; Domain=a.example', 'https://a.example/y', null],
    ['https://a.example/x', '__Secure-s=1', 'https://a.example/y', null],
    ['https://a.example/x', 's=a=b', 'https://a.example/y', 's=a=b'],
    ['https://a.example/x', ' s = "1 2" ; HttpOnly', 'https://a.example/y', 's="1 2"'],
    ['https://a.example/x', 'lonely', 'https://a.example/y', 'lonely'],
    ['https://a.example/x', '', 'https://a.example/y', null],
    ['https://a.example/x', '=', 'https://a.example/y', null],
    ['https://a.example/x', 's=1\0', 'https://a.example/y', null],
    ['https://a.example/x', 's=1\nx: y', 'https://a.example/y', null],
    ['https://a.example/x', `s=${'x'.repeat(5_000)}`, 'https://a.example/y', null],
  ])('set by %s as %j are sent to %s as %j', (from, line, to, sent) => {
    expect(sentTo(to, [[from, line]])).toBe(sent);
  });

  it('are sent along the whole chain of redirects, and can be changed and deleted by each', () => {
    const chain = [
      ['https://a.example/1', 'a=1', 'b=1', 'c=1'],
      ['https://a.example/2', 'a=2', 'b=; Max-Age=0'],
    ] as const;
    expect(sentTo('https://a.example/3', chain)).toBe('c=1; a=2');
  });

  it('are sent only to the site that set them', () => {
    const chain = [
      ['https://a.example/', 's=1'],
      ['https://b.example/', 't=2'],
    ] as const;
    expect(sentTo('https://a.example/', chain)).toBe('s=1');
    expect(sentTo('https://b.example/', chain)).toBe('t=2');
    expect(sentTo('https://c.example/', chain)).toBe(null);
  });

  it('are added to those of the request and replace those of the same name', () => {
    expect(sentTo('https://a.example/2', [['https://a.example/', 's=new']], 's=old; mine=1')).toBe('mine=1; s=new');
    expect(sentTo('https://a.example/2', [['https://a.example/']], 's=old')).toBe('s=old');
    expect(sentTo('https://b.example/', [['https://a.example/', 's=new']], 'mine=1')).toBe(null);
    const there = [['https://a.example/'], ['https://b.example/']] as const;
    expect(sentTo('https://a.example/', there, 'mine=1')).toBe(null);
  });

  it('are bounded in number and length', () => {
    const many = Array.from({ length: 500 }, (_, at) => `c${at}=${'x'.repeat(1_000)}`);
    const sent = sentTo('https://a.example/2', [['https://a.example/', ...many]]);
    expect(sent?.length).toBeLessThanOrEqual(8_192);
    expect(sent?.split('; ').length).toBe(8);
  });
});

/** Paths that no route is looked for: they are paid for all the same. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, refused, type GatewayKit } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway({ ANONYMOUS_PER_MINUTE: '3' });
  ({ gateway } = opened);
});

afterAll(() => opened.close());

describe('a path that cannot be read', () => {
  it('costs one like any other, and its answer tells how the budget stands', async () => {
    const free = await gateway.addOrganization('free');
    const key = await gateway.addKey(free, ['read']);
    for (const [path, left] of [
      ['/api/%zz', '99'],
      ['/api/notifications/%E0%A4%A', '98'],
      [`/api/notifications/${'n'.repeat(9_000)}`, '97'],
    ] as const) {
      const reply = await gateway.send('GET', path, { key });
      expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'malformed_url'));
      expect(reply.headers.get('x-ratelimit-limit')).toBe('100');
      expect(reply.headers.get('x-ratelimit-remaining')).toBe(left);
      expect(reply.headers.get('ratelimit')).toMatch(new RegExp(`^"organization";r=${left};t=3\\d\\d\\d$`));
    }
    for (let used = 3; used < 100; used += 1) await gateway.send('GET', '/api/%zz', { key });
    const over = await gateway.send('GET', '/api/%zz', { key });
    expect(errorOf(over)).toEqual(refused(429, 'RATE_LIMITED', 'rate_limited'));
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(3_000);
  });

  it('counts for the address of who has no valid key, like an unknown path', async () => {
    for (const key of [null, 'mk_nobody', null]) {
      const reply = await gateway.send('GET', '/api/%zz', { key });
      expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', 'malformed_url'));
      expect(reply.headers.get('x-ratelimit-limit')).toBeNull();
    }
    for (const path of ['/api/%zz', '/api/nothing']) {
      const reply = await gateway.send('GET', path, { key: null });
      expect(errorOf(reply)).toEqual(refused(429, 'RATE_LIMITED', 'rate_limited'));
    }
  });
});

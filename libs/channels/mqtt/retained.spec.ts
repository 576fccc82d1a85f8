import { describe, expect, it } from '@jest/globals';
import type { Notification } from '../channel.js';
import { aDigest, aNotification, kitTimeMs } from '../notification.kit.js';
import { mqtt } from './build.js';

const config = { serverUrl: 'mqtt://broker.example.com', topic: 'watch/shop', retain: true };

function isRetained(request: Notification): boolean {
  const context = { nowMs: kitTimeMs, linkBase: 'https://meerkat.example', mailFrom: 'a@example.com' };
  const outgoing = mqtt.build({ request, config }, context);
  if (outgoing.kind !== 'peer' || outgoing.message.protocol !== 'mqtt') throw new Error('nothing for a broker');
  return outgoing.message.retain;
}

describe('a message that a broker is to keep', () => {
  it.each([
    ['triggered', true],
    ['recovered', true],
    ['error', false],
    ['test', false],
  ] as const)('is kept where it is %s: %j', (kind, retained) => {
    expect(isRetained(aNotification({ kind }))).toBe(retained);
  });

  it('is kept as a digest where it tells of a state, so that no older one stays in its place', () => {
    const digest = aDigest();
    expect(isRetained(digest)).toBe(true);
    const errors = (digest.items ?? []).map((item) => ({ ...item, kind: 'error' as const }));
    expect(isRetained({ ...digest, items: errors })).toBe(false);
  });
});

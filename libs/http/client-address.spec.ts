import { describe, expect, it } from '@jest/globals';
import { addressGroup, createClientAddress } from './client-address.js';

describe('the client’s address', () => {
  it('is the peer where no proxy is trusted, whatever a header says', () => {
    expect(createClientAddress([])('198.51.100.7', '203.0.113.1')).toBe('198.51.100.7');
    expect(createClientAddress(['10.0.0.0/8'])('198.51.100.7', '203.0.113.1')).toBe('198.51.100.7');
  });

  it('is the last hop that no trusted proxy vouches for', () => {
    const addressOf = createClientAddress(['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);
    expect(addressOf('10.0.0.1', '203.0.113.1')).toBe('203.0.113.1');
    expect(addressOf('::ffff:10.0.0.1', '203.0.113.1, 192.0.2.1')).toBe('203.0.113.1');
    expect(addressOf('10.0.0.1', '1.2.3.4, 203.0.113.1, 10.2.2.2')).toBe('203.0.113.1');
    expect(addressOf('fd00::1', '2001:db8::5')).toBe('2001:db8::5');
  });

  it('stays the proxy where the header is no address', () => {
    const addressOf = createClientAddress(['10.0.0.0/8']);
    for (const odd of ['', 'unknown', '_hidden', '1.2.3', '203.0.113.1:80, nonsense', ',']) {
      expect(addressOf('10.0.0.1', odd)).toBe('10.0.0.1');
    }
    expect(createClientAddress(['not a range'])('10.0.0.1', '1.1.1.1')).toBe('10.0.0.1');
  });

  it('is counted by /64 in IPv6, and IPv4 inside IPv6 as IPv4', () => {
    expect(addressGroup('2001:db8:1:2:3::4')).toBe(addressGroup('2001:db8:1:2:ffff::1'));
    expect(addressGroup('2001:db8:1:2::1')).not.toBe(addressGroup('2001:db8:1:3::1'));
    expect(addressGroup('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(addressGroup('unknown')).toBe('unknown');
  });
});

import { describe, expect, it } from '@jest/globals';
import { addressVectors, notHosts } from './address-vectors.contract.js';
import { createAddressPolicy, hostOf, specialKindOf } from './addresses.js';

describe('an address', () => {
  it('has at least two hundred spellings among the vectors', () => {
    expect(addressVectors.length + notHosts.length).toBeGreaterThanOrEqual(200);
  });

  it.each(addressVectors)('spelled %s is read as %s and classified: %s', (spelling, address, kind) => {
    expect(hostOf(spelling)).toEqual({ kind: 'address', address });
    if (kind === null) expect(specialKindOf(address)).toBeNull();
    else expect(specialKindOf(address)).toContain(kind);
    expect(createAddressPolicy([]).refusalOfAddress(address) === null).toBe(kind === null);
  });

  it.each(notHosts)('is not parsed from %j', (text) => {
    expect(hostOf(text)).toBeNull();
  });

  it('with a zone is refused even where it is allowed', () => {
    expect(createAddressPolicy(['::/0', '0.0.0.0/0']).refusalOfAddress('fe80::1%eth0')).not.toBeNull();
  });

  it('given as a name is written in lower case, in ASCII and without the final dot', () => {
    expect(hostOf('ExAmple.COM.')).toEqual({ kind: 'name', name: 'example.com' });
    expect(hostOf('bücher.example')).toEqual({ kind: 'name', name: 'xn--bcher-kva.example' });
  });
});

describe('EGRESS_ALLOW', () => {
  it.each([
    [['127.0.0.0/8'], '127.0.0.1', true],
    [['127.0.0.0/8'], '::1', false],
    [['127.0.0.0/8'], '::ffff:7f00:1', false],
    [['127.0.0.1'], '127.0.0.1', true],
    [['127.0.0.1'], '127.0.0.2', false],
    [['10.0.0.0/30'], '10.0.0.3', true],
    [['10.0.0.0/30'], '10.0.0.4', false],
    [['10.0.0.128/25'], '10.0.0.127', false],
    [['0.0.0.0/0'], '192.168.1.1', true],
    [['0.0.0.0/0'], 'fd00::1', false],
    [['::1'], '::1', true],
    [['fd00::/8'], 'fd12::1', true],
    [['fd00::/8'], 'fc12::1', false],
    [['64:ff9b::/96'], '64:ff9b::a00:1', true],
    [['example.com', '10.0.0.0/8'], '10.9.9.9', true],
    [[' 10.0.0.0/8 '], '10.9.9.9', true],
    [[], '10.0.0.1', false],
  ])('of %j permits the address %s: %s', (allow, address, permitted) => {
    expect(createAddressPolicy(allow).refusalOfAddress(address) === null).toBe(permitted);
  });

  it.each([
    [['intranet'], 'intranet', true],
    [['Wiki.Example.com.'], 'wiki.example.com', true],
    [['wiki.example.com'], 'a.wiki.example.com', false],
    [['wiki.example.com'], 'xwiki.example.com', false],
    [['*.example.com'], 'a.b.example.com', true],
    [['*.example.com'], 'example.com', false],
    [['*.example.com'], 'notexample.com', false],
  ])('of %j permits the name %s: %s', (allow, name, permitted) => {
    expect(createAddressPolicy(allow).refusalOfAddress('10.0.0.1', name) === null).toBe(permitted);
  });

  const innermost = ['127.0.0.1', '::1', '169.254.169.254', 'fe80::1', '168.63.129.16', '0.0.0.0', '::ffff:127.0.0.1'];
  const clouds = ['100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'];
  const embedded = ['64:ff9b::a9fe:a9fe', '64:ff9b::7f00:1', '2002:7f00:1::1', '::127.0.0.1', '::ffff:0:127.0.0.1'];
  it.each([...innermost, ...clouds, ...embedded])(
    'of a suffix never permits %s, which names below it may resolve to; of the name itself it does',
    (address) => {
      expect(createAddressPolicy(['*.example.com']).refusalOfAddress(address, 'a.example.com')).not.toBeNull();
      expect(createAddressPolicy(['a.example.com']).refusalOfAddress(address, 'a.example.com')).toBeNull();
    },
  );

  it.each(['64:ff9b::a00:1', '2002:a00:1::1', 'fd00::1', '100.64.0.1'])(
    'of a suffix permits %s, an address of a network like others',
    (address) => {
      expect(createAddressPolicy(['*.example.com']).refusalOfAddress(address, 'a.example.com')).toBeNull();
    },
  );

  it.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/',
    'http://x',
    'a b',
    '*',
    '*.',
    '',
    '10.0.0.0/-1',
    '0x7f.1',
  ])('is refused with the name of its bad entry %j', (entry) => {
    expect(() => createAddressPolicy([entry])).toThrow(TypeError);
    expect(() => createAddressPolicy([entry])).toThrow(JSON.stringify(entry).slice(1, -1));
  });
});

import { describe, expect, it } from '@jest/globals';
import { eventStoreAddressFault, eventStoreSchemes, parseEventStoreAddress } from './event-store-address.js';

describe('the address of an event store', () => {
  it.each(eventStoreSchemes)('may begin with %s, and is a cluster where members are to be asked', (scheme) => {
    const address = parseEventStoreAddress(`${scheme}://admin:p%40ss@events.example:2114`);
    expect(address).toMatchObject({
      seeds: [{ host: 'events.example', port: 2114 }],
      isCluster: scheme.endsWith('+discover'),
      credentials: { username: 'admin', password: 'p@ss' },
      tls: { authoritiesFile: null, user: null },
    });
  });

  it('of several hosts is that of a cluster, whose port is 2113 where none is written', () => {
    expect(parseEventStoreAddress('esdb://a,b:2,[::1]:3?tls=false')).toMatchObject({
      seeds: [
        { host: 'a', port: 2113 },
        { host: 'b', port: 2 },
        { host: '[::1]', port: 3 },
      ],
      isCluster: true,
      tls: null,
    });
  });

  it('holds every documented option, by its name in any case', () => {
    const query = [
      'TLS=true&tlsCaFile=%2Fca.pem&tlsVerifyCert=true&userCertFile=me.crt&userKeyFile=me.key&connectionName=mine',
      'maxDiscoverAttempts=3&discoveryInterval=250&gossipTimeout=2&nodePreference=Leader&defaultDeadline=7000',
      'keepAliveInterval=-1&keepAliveTimeout=3000&throwOnAppendFailure=true',
    ].join('&');
    expect(parseEventStoreAddress(`esdb://h?${query}`)).toEqual({
      seeds: [{ host: 'h', port: 2113 }],
      isCluster: false,
      credentials: null,
      tls: { authoritiesFile: '/ca.pem', user: { certificateFile: 'me.crt', keyFile: 'me.key' } },
      connectionName: 'mine',
      maxDiscoverAttempts: 3,
      discoveryIntervalMs: 250,
      gossipTimeoutMs: 2_000,
      callTimeoutMs: 7_000,
      keepAliveIntervalMs: null,
      keepAliveTimeoutMs: 3_000,
    });
  });

  it.each([
    [
      'an option that is not known',
      'gossipTimeot=3',
      'has an option `gossiptimeot` that is not known; `gossipTimeout` is',
    ],
    ['certificates that are not verified', 'tlsVerifyCert=false', 'name the authority that signed them with tlsCAFile'],
    ['another node than the leader', 'nodePreference=follower', 'has a nodePreference other than leader'],
    ['answers instead of errors', 'throwOnAppendFailure=false', 'has throwOnAppendFailure=false'],
    ['a flag that is none', 'tls=yes', 'has an option `tls` that must be true or false'],
    [
      'a number that is none',
      'defaultDeadline=1e3',
      'has an option `defaultDeadline` that must be a whole number of milliseconds, at least 1',
    ],
    ['a number below its least', 'maxDiscoverAttempts=0', 'must be a whole number of attempts, at least 1'],
    ['a certificate without its key', 'userCertFile=a', 'needs userCertFile and userKeyFile together'],
  ])('is refused for %s, without a word of what it holds', (_, query, why) => {
    const fault = eventStoreAddressFault(`esdb://admin:s3cret@host:2113?${query}`);
    expect(fault).toContain(why);
    expect(fault).not.toContain('s3cret');
  });

  it.each(['esdb://admin@host', 'esdb://', 'http://host', 'esdb://host:99999', 'esdb://host:0', 'esdb://a:b@@:::?x'])(
    'is refused as %s',
    (url) => {
      expect(eventStoreAddressFault(url)).not.toBeNull();
    },
  );
});

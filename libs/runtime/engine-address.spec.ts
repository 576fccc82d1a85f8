import { describe, expect, it } from '@jest/globals';
import { parseEngineAddress, parseKafkaAddress, shownAddress, unsafeIn } from './engine-address.js';

const unsafe = (url: string): readonly string[] => {
  const address = parseEngineAddress(url);
  if (address === null) throw new Error(`not an address: ${url}`);
  return unsafeIn(address);
};

describe('addresses of engines', () => {
  it('are read with several hosts, credentials and options', () => {
    expect(parseEngineAddress('mongodb://me:p%40ss@a:27017,b:27018/meerkat?TLS=true')).toEqual({
      scheme: 'mongodb',
      hosts: ['a:27017', 'b:27018'],
      username: 'me',
      password: 'p@ss',
      options: new Map([['tls', 'true']]),
    });
    expect(parseEngineAddress('esdb://[::1]:2113?tls=false')?.hosts).toEqual(['[::1]:2113']);
  });

  it.each(['kafka://', 'nonsense', 'kafka://a b:1', 'kafka://u:%ZZ@host:1', 'kafka://a:1,,b:2'])(
    'are refused where they cannot be read: %s',
    (url) => expect(parseEngineAddress(url)).toBeNull(),
  );

  it('are shown without what is secret', () => {
    expect(shownAddress('mongodb://me:secret@a:1,b:2/x?authSource=admin')).toBe('mongodb://a:1,b:2');
  });

  it('are safe on loopback, and elsewhere with TLS and a password', () => {
    expect(unsafe('kafka://127.0.0.1:9092')).toEqual([]);
    expect(unsafe('mongodb://localhost:27017,[::1]:27018/meerkat')).toEqual([]);
    expect(unsafe('kafka://kafka:9092')).toEqual(['without TLS (add ?tls=true)', 'without a password']);
    expect(unsafe('kafka://127.0.0.1:9092,kafka:9092')).toHaveLength(2);
    expect(unsafe('kafka://u:p@kafka:9092?tls=true')).toEqual([]);
    expect(unsafe('mongodb+srv://u:p@cluster.example.com/meerkat')).toEqual([]);
    expect(unsafe('esdb://admin:changeit@events.example.com:2113')).toEqual([]);
    expect(unsafe('esdb://admin:changeit@events.example.com:2113?tls=false')).toEqual(['without TLS (add ?tls=true)']);
    expect(unsafe('esdb://127.0.0.1.example.com:2113')).toEqual(['without a password']);
  });
});

describe('addresses of Kafka', () => {
  it('name brokers, encryption and how to sign in', () => {
    expect(parseKafkaAddress('kafka://me:secret@a:9092,b:9093?tls=true&mechanism=PLAIN')).toEqual({
      brokers: ['a:9092', 'b:9093'],
      tls: true,
      credentials: { mechanism: 'plain', username: 'me', password: 'secret' },
    });
    expect(parseKafkaAddress('kafka://a:9092')).toEqual({ brokers: ['a:9092'], tls: false, credentials: null });
    expect(parseKafkaAddress('kafka://me:secret@a:9092')?.credentials?.mechanism).toBe('scram-sha-512');
  });

  it.each(['kafka://a', 'kafka://me@a:9092', 'kafka://me:x@a:9092?mechanism=none', 'mongodb://a:1'])(
    'are refused where they cannot be used: %s',
    (url) => expect(parseKafkaAddress(url)).toBeNull(),
  );
});

/** Addresses of engines as operators write them: `scheme://user:password@host:port,host:port/path?option=value`. */
import { isIP } from 'node:net';

export interface EngineAddress {
  readonly scheme: string;
  /** `host:port`, the port as written or none. */
  readonly hosts: readonly string[];
  readonly username: string | null;
  readonly password: string | null;
  readonly options: ReadonlyMap<string, string>;
}

const shape = /^([a-z][a-z0-9+]*):\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?@]+)(?:\/[^?]*)?(?:\?(.*))?$/;
const hostShape = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?$/;

/** null where it cannot be read. Names of options count in any case. */
export function parseEngineAddress(url: string): EngineAddress | null {
  const [, scheme, username, password, list, query] = shape.exec(url) ?? [];
  if (scheme === undefined || list === undefined) return null;
  const hosts = list.split(',');
  if (!hosts.every((host) => hostShape.test(host))) return null;
  try {
    const options = [...new URLSearchParams(query ?? '')].map(([name, value]) => [name.toLowerCase(), value] as const);
    return {
      scheme,
      hosts,
      username: username === undefined ? null : decodeURIComponent(username),
      password: password === undefined ? null : decodeURIComponent(password),
      options: new Map(options),
    };
  } catch {
    return null;
  }
}

/** As it may be shown: without user, password and options. */
export function shownAddress(url: string): string {
  const address = parseEngineAddress(url);
  return address === null ? url : `${address.scheme}://${address.hosts.join(',')}`;
}

function isLoopback(host: string): boolean {
  const name = host.replace(/:[0-9]+$/, '').replace(/^\[|\]$/g, '');
  if (name === 'localhost') return true;
  return isIP(name) === 4 ? name.startsWith('127.') : name === '::1';
}

/** Each engine's own word for an encrypted connection, and what it does where nothing is said. */
function usesTls({ scheme, options }: EngineAddress): boolean {
  const said = options.get('tls') ?? options.get('ssl');
  if (said !== undefined) return said === 'true';
  return scheme !== 'kafka' && scheme !== 'mongodb';
}

/** What is unsafe about reaching an engine so, in words for the operator; empty on loopback. */
export function unsafeIn(address: EngineAddress): readonly string[] {
  if (address.hosts.every(isLoopback)) return [];
  return [
    ...(usesTls(address) ? [] : ['without TLS (add ?tls=true)']),
    ...(address.password === null || address.password === '' ? ['without a password'] : []),
  ];
}

export interface KafkaAddress {
  readonly brokers: readonly string[];
  readonly tls: boolean;
  readonly credentials: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  } | null;
}

const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** `kafka://user:password@host:9092,host:9092?tls=true&mechanism=scram-sha-512`; null where it cannot be read. */
export function parseKafkaAddress(url: string): KafkaAddress | null {
  const address = parseEngineAddress(url);
  if (address === null || address.scheme !== 'kafka') return null;
  const { hosts, username, password, options } = address;
  const wanted = options.get('mechanism') ?? 'scram-sha-512';
  const mechanism = mechanisms.find((known) => known === wanted.toLowerCase());
  if (mechanism === undefined || (username === null) !== (password === null)) return null;
  if (hosts.some((host) => !/:[0-9]+$/.test(host))) return null;
  return {
    brokers: hosts,
    tls: usesTls(address),
    credentials: username === null || password === null ? null : { mechanism, username, password },
  };
}

/** What URLs, proxy settings and `host:port` settings name: endpoints, and keys to compare them by. */
import { createHash } from 'node:crypto';
import { hostOf, hostOfUrlHostname, type Host } from './addresses.js';
import type { TrustSettings } from './certificates.js';
import { Fault } from './failures.js';

export interface Endpoint {
  readonly host: Host;
  readonly port: number;
  readonly tls: boolean;
  /** Configured by the operator: may be reached whatever its address. */
  readonly trusted: boolean;
  /** Absent: yes. TLS is agreed on for HTTP. */
  readonly isHttp?: boolean;
}

export interface Proxy extends Endpoint {
  /** Value of Proxy-Authorization, or null. */
  readonly authorization: string | null;
}

/** A request's URL and its host. A Fault where the URL is not one to request. */
export function parseTarget(text: string): { readonly url: URL; readonly host: Host } | Fault {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return new Fault('invalid_url', 'The address is not valid.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return new Fault('invalid_url', 'The address must begin with http:// or https://.');
  }
  if (url.username !== '' || url.password !== '') {
    return new Fault('invalid_url', 'The address must not hold credentials: use a header for them.');
  }
  if (url.port === '0') return new Fault('invalid_url', 'Port 0 cannot be reached.');
  const host = hostOfUrlHostname(url.hostname);
  return host === null ? new Fault('invalid_url', 'The host name is not valid.') : { url, host };
}

/** Of protocols that go by `connect` and `datagram`. */
const peerSchemes: ReadonlySet<string> = new Set(['udp:', 'tcp:', 'tls:', 'mqtt:', 'mqtts:']);

export function isPeerAddress(text: string): boolean {
  return URL.canParse(text) && peerSchemes.has(new URL(text).protocol);
}

export function parsePeer(text: string): { readonly host: Host } | Fault {
  const host = hostOf(new URL(text).hostname.replace(/^\[|\]$/g, ''));
  return host === null ? new Fault('invalid_url', 'The host name is not valid.') : { host };
}

/** Reads `http(s)://user:pass@host:port`, or null where it is no such address. */
export function parseProxy(text: string, trusted: boolean): Proxy | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  const host = hostOfUrlHostname(url.hostname);
  const tls = url.protocol === 'https:';
  const port = portOf(url);
  if (host === null || port === 0) return null;
  return { host, port, tls, trusted, authorization: basicAuthorization(url) };
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function basicAuthorization(url: URL): string | null {
  if (url.username === '' && url.password === '') return null;
  try {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
  } catch {
    return `Basic ${Buffer.from(`${url.username}:${url.password}`, 'utf8').toString('base64')}`;
  }
}

/** `host:port` of EGRESS settings and mail servers, for comparison. */
export function endpointKey(host: Host, port: number): string {
  return `${host.kind === 'name' ? host.name : `[${host.address}]`}:${port}`;
}

/** The same from text such as `mail.example.com:587` or `[::1]:25`, or null. */
export function endpointKeyOf(text: string): string | null {
  const endpoint = endpointOf(text);
  return endpoint === null ? null : endpointKey(endpoint.host, endpoint.port);
}

/** Reads `host:port`, or null where it is none. */
export function endpointOf(text: string): { readonly host: Host; readonly port: number } | null {
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  const host = colon === -1 ? null : hostOf(text.slice(0, colon));
  return host === null || !Number.isInteger(port) || port < 1 || port > 65_535 ? null : { host, port };
}

/** Requests with the same key may share connections: same scheme, host, port, trust and proxies with the same credentials. */
export function connectionKey(url: URL, proxies: readonly Proxy[], trust: TrustSettings | null): string {
  if (proxies.length === 0 && trust === null) return url.origin;
  const via = proxies.map((proxy) => [endpointKey(proxy.host, proxy.port), proxy.tls, proxy.authorization]);
  const trusted = trust === null ? '' : createHash('sha256').update(JSON.stringify(trust)).digest('base64');
  return `${url.origin} ${JSON.stringify(via)} ${trusted}`;
}

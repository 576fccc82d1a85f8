/** Where a request comes from: the peer, or what a trusted proxy says. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

function parseRange(text: string): Range | null {
  const address = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  try {
    return ipaddr.parseCIDR(address);
  } catch {
    return null;
  }
}

function within(text: string, ranges: readonly Range[]): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match([network, bits]));
}

/** Whether the address is one of these, or inside one of these ranges. */
export function isWithin(address: string, ranges: readonly string[]): boolean {
  return within(
    address,
    ranges.map(parseRange).filter((range) => range !== null),
  );
}

/** Reads the client's address: X-Forwarded-For counts only as far as every hop that wrote it is trusted. */
export function createClientAddress(trustedProxies: readonly string[]) {
  const trusted = trustedProxies.map(parseRange).filter((range) => range !== null);
  return (peer: string | undefined, forwardedFor: string | readonly string[] | undefined): string => {
    let client = peer ?? 'unknown';
    if (trusted.length === 0 || forwardedFor === undefined) return client;
    const hops = String(forwardedFor).split(',');
    while (within(client, trusted)) {
      const hop = hops.pop()?.trim();
      if (hop === undefined || isIP(hop) === 0) break;
      client = hop;
    }
    return client;
  };
}

/** What anonymous requests are counted by: an IPv6 client has a whole /64 to call from. */
export function addressGroup(client: string): string {
  if (isIP(client) === 0) return client;
  const address = ipaddr.process(client);
  if (address.kind() === 'ipv4') return address.toString();
  return address.toByteArray().slice(0, 8).join('.');
}

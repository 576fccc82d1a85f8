/** Endpoints that are no target, whatever else is allowed: the servers on which Meerkat keeps its own data. */
import { isIPv4, isIPv6 } from 'node:net';
import { isLocalhost, loopbackAddresses, type Host } from './addresses.js';
import type { Endpoint } from './endpoints.js';
import { Fault } from './failures.js';
import type { Resolve } from './resolve.js';

export interface RefusedEndpoint {
  readonly host: Host;
  readonly port: number;
}

/** One spelling for addresses that lead to the same machine: whatever is answered by this one is `loopback`. */
function placeOf(address: string): string {
  const bare = address.toLowerCase();
  const mapped = /^::ffff:([0-9.]+)$/.exec(bare)?.[1];
  const four = mapped !== undefined && isIPv4(mapped) ? mapped : bare;
  if (isIPv4(four)) return four.startsWith('127.') || four === '0.0.0.0' ? 'loopback' : four;
  if (!isIPv6(four)) return four;
  const written = new URL(`http://[${four}]/`).hostname.slice(1, -1);
  if (written === '::1' || written === '::') return 'loopback';
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(written);
  if (groups === null) return written;
  const [high, low] = [Number.parseInt(groups[1] ?? '0', 16), Number.parseInt(groups[2] ?? '0', 16)];
  return placeOf(`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`);
}

async function placesOf(host: Host, resolve: Resolve): Promise<readonly string[]> {
  if (host.kind === 'address') return [placeOf(host.address)];
  if (isLocalhost(host.name)) return loopbackAddresses.map(placeOf);
  // A name that does not resolve now names no machine that could be reached by it.
  const addresses = await resolve(host.name).catch(() => []);
  return addresses.map(placeOf);
}

/** Throws a Fault where one of the endpoint's addresses is that of a refused one, on the same port. */
export async function refuseOwnServers(
  { host, port, trusted }: Endpoint,
  addresses: readonly string[],
  refused: readonly RefusedEndpoint[],
  resolve: Resolve,
): Promise<void> {
  const near = trusted ? [] : refused.filter((one) => one.port === port);
  if (near.length === 0) return;
  const denied = new Fault('address_denied', 'The address is that of a server on which this service keeps its data.');
  if (host.kind === 'name' && near.some((one) => one.host.kind === 'name' && one.host.name === host.name)) throw denied;
  const places = new Set((await Promise.all(near.map((one) => placesOf(one.host, resolve)))).flat());
  if (addresses.some((address) => places.has(placeOf(address)))) throw denied;
}

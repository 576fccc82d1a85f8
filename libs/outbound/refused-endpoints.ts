/** Endpoints that are no target, whatever else is allowed: the servers on which Meerkat keeps its own data. */
import { isLocalhost, loopbackAddresses, machineOf, type Host } from './addresses.js';
import type { Endpoint } from './endpoints.js';
import { Fault } from './failures.js';
import type { Resolve } from './resolve.js';

export interface RefusedEndpoint {
  readonly host: Host;
  readonly port: number;
}

async function machinesOf(host: Host, resolve: Resolve): Promise<readonly string[]> {
  if (host.kind === 'address') return [machineOf(host.address)];
  if (isLocalhost(host.name)) return loopbackAddresses.map(machineOf);
  // A name that does not resolve now names no machine that could be reached by it.
  const addresses = await resolve(host.name).catch(() => []);
  return addresses.map(machineOf);
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
  const machines = new Set((await Promise.all(near.map((one) => machinesOf(one.host, resolve)))).flat());
  if (addresses.some((address) => machines.has(machineOf(address)))) throw denied;
}

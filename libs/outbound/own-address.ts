/** Which address of this machine leads to a place that the operator named. */
import { once } from 'node:events';
import { connect } from 'node:net';

const reachMs = 10_000;
const standardPorts: ReadonlyMap<string, number> = new Map([
  ['ws:', 80],
  ['wss:', 443],
]);

/** By connecting to it. Rejects where it does not answer. */
export async function ownAddressTowards(address: string): Promise<string> {
  const { hostname, port, protocol } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: port === '' ? (standardPorts.get(protocol) ?? 80) : Number(port) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(reachMs) });
    return socket.localAddress ?? '127.0.0.1';
  } finally {
    socket.destroy();
  }
}

/** How many connections one address may hold open: unfinished requests cost memory, and a descriptor each. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export const maxConnectionsPerAddress = 256;

export interface ConnectionLimit {
  readonly maxPerAddress: number;
  /** Addresses that count as one: the /64 of an IPv6 address. */
  readonly groupOf: (address: string) => string;
  /** Not counted: a reverse proxy, which brings the connections of many. */
  readonly isExempt: (address: string) => boolean;
}

/** Closes each connection beyond the limit as soon as it is there. */
export function limitConnections(
  server: Pick<Server, 'on'>,
  { maxPerAddress, groupOf, isExempt }: ConnectionLimit,
): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isExempt(address)) return;
    const group = groupOf(address);
    const count = (open.get(group) ?? 0) + 1;
    if (count > maxPerAddress) {
      socket.destroy();
      return;
    }
    open.set(group, count);
    socket.once('close', () => {
      const left = (open.get(group) ?? 1) - 1;
      if (left === 0) open.delete(group);
      else open.set(group, left);
    });
  });
}

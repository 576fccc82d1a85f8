/** Stands between a process and a server: passes bytes on, and cuts, stalls or delays them as a broken network does. */
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/** `pass`: as it comes. `cut`: connections are broken and refused. `stall`: they stay, and nothing arrives any more. */
export type Passage = 'pass' | 'cut' | 'stall';

export interface TcpProxy {
  readonly port: number;
  set(passage: Passage): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  let passage: Passage = 'pass';
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer({ allowHalfOpen: false }, (near) => {
    near.on('error', () => undefined);
    if (passage === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const far = createConnection(target);
    far.on('error', () => undefined);
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [one, other] of [pair, [far, near]] as const) {
      one.on('data', (bytes: Buffer) => {
        if (!other.write(bytes)) one.pause();
      });
      other.on('drain', () => {
        if (passage === 'pass') one.resume();
      });
      one.on('close', () => {
        other.destroy();
        pairs.delete(pair);
      });
    }
    if (passage === 'stall') for (const socket of pair) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    set(next) {
      passage = next;
      for (const pair of pairs) {
        for (const socket of pair) {
          if (next === 'cut') socket.resetAndDestroy();
          else if (next === 'stall') socket.pause();
          else socket.resume();
        }
      }
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await closed;
    },
  };
}

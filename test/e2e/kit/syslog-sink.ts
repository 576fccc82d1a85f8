/** A receiver of syslog: counted frames by TCP or TLS, and datagrams. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface SyslogSink {
  readonly port: number;
  readonly lines: readonly string[];
  close(): Promise<void>;
}

function framesIn(bytes: Buffer): { readonly lines: readonly string[]; readonly rest: Buffer } {
  const lines: string[] = [];
  let rest = bytes;
  for (let space = rest.indexOf(' '); space > 0; space = rest.indexOf(' ')) {
    const length = Number(rest.subarray(0, space).toString());
    if (!Number.isInteger(length)) throw new Error('a frame does not begin with its length');
    if (rest.length < space + 1 + length) break;
    lines.push(rest.subarray(space + 1, space + 1 + length).toString());
    rest = rest.subarray(space + 1 + length);
  }
  return { lines, rest };
}

export async function startSyslogSink(
  options: { readonly port?: number; readonly tls?: { readonly key: string; readonly cert: string } } = {},
): Promise<SyslogSink> {
  const lines: string[] = [];
  const take = (socket: Socket): void => {
    let waiting: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      const found = framesIn(Buffer.concat([waiting, chunk]));
      lines.push(...found.lines);
      waiting = found.rest;
    });
    socket.on('error', () => undefined);
  };
  const server: Server = options.tls === undefined ? createServer(take) : createTlsServer(options.tls, take);
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    lines,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}

export async function startDatagramSink(): Promise<SyslogSink> {
  const lines: string[] = [];
  const socket = createSocket('udp4', (bytes) => void lines.push(bytes.toString()));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    lines,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** Servers on loopback for specs: HTTP, HTTPS, and raw sockets on which a spec writes any bytes. */
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface Loopback {
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** Connections accepted so far. */
  connections(): number;
  /** Resolves once no more than `count` connections are open. */
  whenOpen(count: number): Promise<void>;
  close(): Promise<void>;
}

export function serveHttp(listener: RequestListener): Promise<Loopback> {
  const server = createHttpServer(listener);
  server.keepAliveTimeout = 60_000;
  return listening(server, 'http');
}

/** The spec answers on the socket itself. Errors of a peer that disconnects are ignored. */
export function serveRaw(onSocket: (socket: Socket) => void): Promise<Loopback> {
  return listening(createTcpServer(onSocket), 'http');
}

/** Calls `answer` with each complete request head. */
export function onHead(socket: Socket, answer: (head: string, socket: Socket) => void): void {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
      const head = text.slice(0, end);
      text = text.slice(end + 4);
      answer(head, socket);
    }
  });
}

/** Answers each request with these bytes; then closes the connection if `closes`. */
export function serveBytes(bytes: string | Uint8Array, closes = false): Promise<Loopback> {
  return serveRaw((socket) =>
    onHead(socket, () => {
      if (closes) socket.end(bytes);
      else socket.write(bytes);
    }),
  );
}

/** An HTTP server behind TLS under `testCertificate`. */
export function serveHttps(listener: RequestListener): Promise<Loopback> {
  const http = createHttpServer(listener);
  const server = createTlsServer({ cert: testCertificate, key: testKey }, (socket) => http.emit('connection', socket));
  server.on('tlsClientError', () => undefined);
  return listening(server, 'https');
}

async function listening(server: Server, scheme: string): Promise<Loopback> {
  const sockets = new Set<Socket>();
  const watchers = new Set<() => void>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      for (const watcher of watchers) watcher();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `${scheme}://127.0.0.1:${port}`,
    connections: () => connections,
    whenOpen: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (sockets.size > count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Self-signed, for localhost, named.test and 127.0.0.1, until the end of 2099. Made for specs, used nowhere else. */
export const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBcjCCARmgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjA5OTEyMzEyMzU5NTlaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPgw8Cv0RB5E5oeg
7h5/HmX2PUzAE204QsYa2BltRDkH+xzTPrmK+MbdSGI4LqGwx5hR5oCh5zB/1GFS
0/hLgsmjWjBYMA8GA1UdEwEB/wQFMAMBAf8wJgYDVR0RBB8wHYIJbG9jYWxob3N0
ggpuYW1lZC50ZXN0hwR/AAABMB0GA1UdDgQWBBQcdA0vYekBZO2A8KJy3c9wYqxa
mTAKBggqhkjOPQQDAgNHADBEAiEA7/2IKnvWB/QPmAln5Xn3upTzd4LLKwkZRLqd
tYU6mx4CH1ciesz0fMoh4/cUjiHvpg4JaxRCM37bkNJGXAUpUn8=
-----END CERTIFICATE-----
`;

export const testKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtqYEDYXLKBmbCAAp
QtkwcOZ6159uaTDAScXpiMWzlkWhRANCAAT4MPAr9EQeROaHoO4efx5l9j1MwBNt
OELGGtgZbUQ5B/sc0z65ivjG3UhiOC6hsMeYUeaAoecwf9RhUtP4S4LJ
-----END PRIVATE KEY-----
`;

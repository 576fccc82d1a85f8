/** Every service on the internet, as its vendor documents it: at its own name and over TLS, and yet on loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpOutgoing } from '#channels/channel';
import type { VendorReply } from '#channels/receiver.kit';
import { testKey } from '#outbound/loopback.contract';

/** A request as it was meant: to the vendor's own address. */
export type VendorRequest = HttpOutgoing;

export interface Vendors {
  /** With these settings the product finds the services here. */
  readonly settings: Readonly<Record<string, string>>;
  /** Every request that came in whole, oldest first. */
  readonly received: readonly VendorRequest[];
  close(): Promise<void>;
}

/** The first byte of a TLS handshake. */
const handshake = 0x16;

function listen(server: { listen(port: number, host: string, done: () => void): unknown; address(): unknown }) {
  return new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
}

/** `answer`: what the service at that address says. */
export async function startVendors(answer: (request: VendorRequest) => VendorReply): Promise<Vendors> {
  const received: VendorRequest[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const handle = (scheme: string) => (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const),
      );
      const bytes = Buffer.concat(chunks);
      const body = bytes.length === 0 ? null : bytes.toString();
      const url = `${scheme}://${headers['host'] ?? ''}${request.url ?? ''}`;
      const asked = { method: request.method ?? '', url, headers, body, timeoutMs: 0 };
      received.push(asked);
      const reply = answer(asked);
      const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
      response.writeHead(reply.status, reply.headers).end(reply.status === 204 ? undefined : text);
    });
  };
  const plain = createServer(handle('http'));
  const inside = createServer(handle('https'));
  const secure = createTlsServer({ cert: certificate, key: testKey }, (socket) => inside.emit('connection', socket));
  secure.on('tlsClientError', () => undefined);
  const [plainPort, securePort] = [await listen(plain), await listen(secure)];

  const lead = (client: Socket, port: number, first: Buffer): void => {
    const next = connect(port, '127.0.0.1');
    keep(next);
    next.write(first);
    client.pipe(next).pipe(client);
    client.on('close', () => next.destroy());
    next.on('close', () => client.destroy());
  };
  const proxy = createTcpServer((client) => {
    keep(client);
    client.once('data', (head) => {
      const [, host = '', port = ''] = /^CONNECT ([^ ]+):(\d+) /.exec(head.toString('latin1')) ?? [];
      client.once('data', (first: Buffer) => {
        client.pause();
        const isLocal = host === '127.0.0.1';
        lead(client, isLocal ? Number(port) : first[0] === handshake ? securePort : plainPort, first);
      });
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    });
  });
  const proxyPort = await listen(proxy);
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-vendors-'));
  const authorities = join(folder, 'authorities.pem');
  await writeFile(authorities, certificate);
  return {
    settings: {
      EGRESS_PROXY: `http://127.0.0.1:${proxyPort}`,
      EGRESS_CA_FILE: authorities,
      NODE_OPTIONS: `--import=${new URL('vendor-names.mjs', import.meta.url).href}`,
    },
    received,
    async close() {
      const closed = [plain, secure, proxy].map((server) => new Promise((resolve) => server.close(resolve)));
      for (const socket of sockets) socket.destroy();
      plain.closeAllConnections();
      inside.closeAllConnections();
      await Promise.all(closed);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Signed by itself, for the names of vendors that golden files have, until the end of 2099. Made for specs, used nowhere else. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIEzjCCBHWgAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAx2ZW5kb3Jz
LnRlc3QwIBcNMjAwMTAxMDAwMDAwWhgPMjA5OTEyMzEyMzU5NTlaMBcxFTATBgNV
BAMMDHZlbmRvcnMudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPgw8Cv0
RB5E5oeg7h5/HmX2PUzAE204QsYa2BltRDkH+xzTPrmK+MbdSGI4LqGwx5hR5oCh
5zB/1GFS0/hLgsmjggOuMIIDqjAPBgNVHRMBAf8EBTADAQH/MIIDdgYDVR0RBIID
bTCCA2mCDmFwaS5naXRodWIuY29tghVleGFtcGxlLmF0bGFzc2lhbi5uZXSCEGpp
cmEuZXhhbXBsZS5jb22CEGFwaS5wdXNob3Zlci5uZXSCD2FwaS5pbmNpZGVudC5p
b4IOcmVzdC5uZXhtby5jb22CIW9uY2FsbC1wcm9kLWV1LXdlc3QtMC5ncmFmYW5h
Lm5ldIIQaG9tZS5leGFtcGxlLmNvbYISZ3JhcGguZmFjZWJvb2suY29tghRldmVu
dHMucGFnZXJkdXR5LmNvbYIOYXBpLnR3aWxpby5jb22CE2FsZXJ0LnZpY3Rvcm9w
cy5jb22CDXdlYmV4YXBpcy5jb22CCXNsYWNrLmNvbYIScm9ja2V0LmV4YW1wbGUu
Y29tghBwdXNoLmV4YW1wbGUuY29tghFvYXBpLmRpbmd0YWxrLmNvbYISbWF0cml4
LmV4YW1wbGUub3JnghVleGFtcGxlLnp1bGlwY2hhdC5jb22CEGNoYXQuZXhhbXBs
ZS5jb22CE2FwcHJpc2UuZXhhbXBsZS5jb22CEmFwaS5wdXNoYnVsbGV0LmNvbYIL
YXBpLmxpbmUubWWCHnNucy5ldS1jZW50cmFsLTEuYW1hem9uYXdzLmNvbYIOb3Bl
bi5mZWlzaHUuY26CC2Rpc2NvcmQuY29tghNjaGF0Lmdvb2dsZWFwaXMuY29tghBh
cGkudGVsZWdyYW0ub3JnghBhcGkub3BzZ2VuaWUuY29tgiJwcm9kLTAxLndlc3Rl
dXJvcGUubG9naWMuYXp1cmUuY29tggdudGZ5LnNogg9ob29rcy5zbGFjay5jb22C
EmdpdGh1Yi5leGFtcGxlLmNvbYIRYXBpLmF0bGFzc2lhbi5jb22CH3Nucy5jbi1u
b3J0aC0xLmFtYXpvbmF3cy5jb20uY26CEm9wZW4ubGFya3N1aXRlLmNvbYISb25j
YWxsLmV4YW1wbGUuY29tghdldmVudHMuZXUucGFnZXJkdXR5LmNvbYIrZGVmYXVs
dDAwLmVudmlyb25tZW50LmFwaS5wb3dlcnBsYXRmb3JtLmNvbYISY2FuYXJ5LmRp
c2NvcmQuY29tghBib3RzLmV4YW1wbGUuY29tghNhcGkuZXUub3BzZ2VuaWUuY29t
ggxwdXNoLmV4YW1wbGUwHQYDVR0OBBYEFBx0DS9h6QFk7YDwonLdz3BirFqZMAoG
CCqGSM49BAMCA0cAMEQCIDK7g4spHXnUe+YM3ipfot2DTfYdeUDmu3SmIgLACWre
AiA9FgH9U4vGB8qc3VtWAXtbHVTskdlYfD1ID5Gnq3skSQ==
-----END CERTIFICATE-----
`;

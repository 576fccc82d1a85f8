import { generateKeyPairSync } from 'node:crypto';
import { createSocket, type Socket as Datagrams } from 'node:dgram';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { syslog } from '#channels/syslog/build';
import { syslogDeclaration } from '#channels/syslog/declaration';
import { hostileText } from '#channels/dialects.kit';
import { aNotification, kitTimeMs, type KitNotification } from '#channels/notification.kit';
import type { PeerAnswer, SyslogMessage } from '#channels/peer';
import { testCertificate, testKey } from '#outbound/loopback.contract';
import type { Outbound } from '#outbound/outbound';
import { createOutbound } from '#outbound/undici';
import { parsedSyslog } from './syslog.kit.js';
import { sendSyslog } from './syslog.js';

const signal = new AbortController().signal;
const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
let outbound: Outbound;
const closing: (() => void)[] = [];

beforeAll(() => {
  outbound = createOutbound({ egressAllow: ['127.0.0.1'], egressProxyUrl: null, userAgent: 'Meerkat' });
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
afterAll(() => outbound.close());

function messageTo(serverUrl: string, more: object = {}, options: KitNotification = {}): SyslogMessage {
  const built = syslog.build(
    { request: aNotification(options), config: { serverUrl, ...more } },
    { nowMs: kitTimeMs, linkBase: 'https://meerkat.example', mailFrom: 'a@example.com' },
  );
  if (built.kind !== 'peer' || built.message.protocol !== 'syslog') throw new Error(`built ${built.kind}`);
  return built.message;
}

/** A receiver of a stream of counted frames, on a free port; what it got once a connection has ended. */
async function streamReceiver(server: Server): Promise<{ port: number; got: Promise<string[]> }> {
  const got = new Promise<string[]>((resolve) => {
    const onStream = (socket: Socket): void => {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('end', () => {
        let rest = Buffer.concat(chunks);
        const frames: string[] = [];
        while (rest.length > 0) {
          const [, count = ''] = /^([1-9][0-9]*) /.exec(rest.toString('latin1')) ?? [];
          const from = count.length + 1;
          frames.push(rest.subarray(from, from + Number(count)).toString());
          if (count === '' || rest.length < from + Number(count)) throw new Error('a frame without its count');
          rest = rest.subarray(from + Number(count));
        }
        socket.end();
        resolve(frames);
      });
    };
    server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
    server.on(
      server.listenerCount('secureConnection') > 0 || 'setSecureContext' in server ? 'secureConnection' : 'connection',
      onStream,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, got };
}

describe('a message by TCP', () => {
  it('arrives as one frame whose octets are counted, and is RFC 5424 to the letter', async () => {
    const { port, got } = await streamReceiver(createServer());
    const answer = await sendSyslog(outbound, messageTo(`tcp://127.0.0.1:${port}`), signal);
    expect(answer).toEqual({ ok: true, code: 'sent', text: '' });
    const [line = ''] = await got;
    expect(parsedSyslog(line)).toMatchObject({
      facility: 16,
      severity: 4,
      hostname: 'meerkat',
      appName: 'meerkat',
      messageId: 'triggered',
      structure: { 'meerkat@32473': { kind: 'triggered', episode: expect.stringMatching(/^meerkat\/ntf_/) } },
      text: expect.stringContaining('Price watch: The condition of “Price watch” became true.'),
    });
  });

  it.each(['triggered', 'recovered', 'error', 'test'] as const)(
    'is one line whatever a page says: %s',
    async (kind) => {
      const { context } = aNotification();
      const execution = {
        ...context.execution,
        values: { value: hostileText },
        finalUrl: 'https://shop.example/"]\\x',
      };
      const task = { ...context.task, name: hostileText };
      const message = messageTo('tcp://127.0.0.1', {}, { kind, context: { message: hostileText, execution, task } });
      const { text, structure } = parsedSyslog(message.line);
      expect(text).not.toMatch(/[\u0000-\u001f\u007f]/);
      expect(structure['meerkat@32473']?.['page']).toBe('https://shop.example/"]\\x');
      expect(Buffer.byteLength(message.line)).toBeLessThanOrEqual(2_048);
    },
  );

  it('to nobody is retried, and so is one that is broken off', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).resetAndDestroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const broken = await sendSyslog(outbound, messageTo(`tcp://127.0.0.1:${port}`), signal);
    expect(broken).toMatchObject({ ok: false, reason: expect.stringMatching(/connection_lost|connect_failed/) });
    await new Promise((resolve) => server.close(resolve));
    const nobody = await sendSyslog(outbound, messageTo(`tcp://127.0.0.1:${port}`), signal);
    expect(nobody).toMatchObject({ ok: false, reason: 'connect_failed' });
  });
});

describe('a message by TLS', () => {
  it('goes to a receiver whose certificate is trusted, and to no other', async () => {
    const [cert, key] = [testCertificate, testKey];
    const { port, got } = await streamReceiver(createTlsServer({ cert, key }));
    const address = `tls://127.0.0.1:${port}`;
    const refused = await sendSyslog(outbound, messageTo(address), signal);
    expect(refused).toMatchObject({ ok: false, reason: 'tls_failed' });
    expect(await sendSyslog(outbound, messageTo(address, { ca: cert }), signal)).toMatchObject({ ok: true });
    expect((await got).map((line) => parsedSyslog(line).version)).toEqual([1]);
  });
});

describe('a receiver that asks who comes', () => {
  const [cert, key] = [testCertificate, testKey];
  const asking = { cert, key, ca: [cert], requestCert: true, rejectUnauthorized: true };

  it('gets the message from a sender whose certificate it trusts', async () => {
    const { port, got } = await streamReceiver(createTlsServer(asking));
    const identity = { ca: cert, clientCertificate: cert, clientKey: key };
    const answer = await sendSyslog(outbound, messageTo(`tls://127.0.0.1:${port}`, identity), signal);
    expect(answer).toEqual({ ok: true, code: 'sent', text: '' });
    expect(await got).toHaveLength(1);
  });

  it('and is shown nothing is named, with the settings that it wants', async () => {
    const { port } = await streamReceiver(createTlsServer(asking));
    const answer = await sendSyslog(outbound, messageTo(`tls://127.0.0.1:${port}`, { ca: cert }), signal);
    expect(answer).toEqual({
      ok: false,
      reason: 'tls_failed',
      message: 'The receiver wants a client certificate: set clientCertificate and clientKey.',
      sent: false,
    });
  });

  it.each<[string, object]>([
    ['a certificate without its key', { clientCertificate: cert }],
    ['a key without its certificate', { clientKey: key }],
    ['a key of another certificate', { clientCertificate: cert, clientKey: otherKey }],
    ['a key that is none', { clientCertificate: cert, clientKey: 'secret' }],
    ['both without TLS', { serverUrl: 'tcp://logs.example.com', clientCertificate: cert, clientKey: key }],
  ])('is not set up with %s', (_, identity) => {
    const parsed = syslogDeclaration.config.safeParse({ serverUrl: 'tls://logs.example.com', ...identity });
    expect(parsed.error?.issues.map(({ path }) => path[0])).toEqual([expect.stringMatching(/^client/)]);
  });
});

describe('a message by UDP', () => {
  const listen = async (): Promise<{ socket: Datagrams; port: number; got: Promise<string> }> => {
    const socket = createSocket('udp4');
    const got = new Promise<string>((resolve) => socket.once('message', (bytes) => resolve(bytes.toString())));
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return { socket, port: socket.address().port, got };
  };

  it('is one datagram that fits into one packet, cut where a character ends', async () => {
    const { socket, port, got } = await listen();
    closing.push(() => socket.close());
    const { context } = aNotification();
    const message = messageTo(`udp://127.0.0.1:${port}`, {}, { context: { ...context, message: 'ä😀'.repeat(2_000) } });
    expect(await sendSyslog(outbound, message, signal)).toMatchObject({ ok: true, code: 'sent' });
    const line = await got;
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(1_180);
    expect(parsedSyslog(line).text).toMatch(/[ä😀]…$/u);
  });

  it('to nobody is retried where the machine says so', async () => {
    const { socket, port } = await listen();
    await new Promise<void>((resolve) => socket.close(() => resolve()));
    const answer: PeerAnswer = await sendSyslog(outbound, messageTo(`udp://127.0.0.1:${port}`), signal);
    expect(answer).toMatchObject({ ok: false, reason: 'connect_failed' });
  });
});

describe('a receiver of syslog', () => {
  it.each(['udp://10.1.2.3', 'tcp://169.254.169.254:601', 'tls://[::1]:6514', 'udp://localhost'])(
    'at %s is never reached: the address is checked as any other',
    async (serverUrl) => {
      const closed = createOutbound({ egressAllow: [], egressProxyUrl: null, userAgent: 'Meerkat' });
      const answer = await sendSyslog(closed, messageTo(serverUrl), signal);
      expect(answer).toMatchObject({ ok: false, reason: 'address_denied' });
      expect(closed.refusalOf(serverUrl)).toMatch(/not reachable from here/);
      await closed.close();
    },
  );
});

/** Receivers that mean harm, on the wire: each ends its attempt in time, and the message is judged by what was answered. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DeliveryDocument } from '#contracts/delivery';
import { answerWith } from './delivery.kit.js';
import { WorkerKit } from './worker.kit.js';

let kit: WorkerKit;
const open: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];

beforeEach(() => {
  kit = new WorkerKit();
});

afterEach(async () => {
  await kit.close();
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** `talk` is called once a whole request has come, and writes what it likes. */
async function hostile(
  talk: (socket: Socket) => void,
  answersAtOnce = false,
): Promise<{ url: string; requests: () => number }> {
  let requests = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    if (answersAtOnce) return talk(socket);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const [head = '', body] = text.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      text = '';
      requests += 1;
      talk(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ server, sockets });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, requests: () => requests };
}

/** Writes for as long as somebody reads. */
function pour(socket: Socket, chunk: string | Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.writable && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

async function attempted(url: string, config: object = {}): Promise<DeliveryDocument> {
  const id = await kit.ask(kit.start(), { config: { url, timeoutSeconds: 1, ...config } });
  return kit.harness.until(id, ({ attempts, state }) => attempts.length > 0 && state !== 'sending');
}

const ok = 'HTTP/1.1 200 OK\r\n';
/** Packed ahead: that takes longer than an answer may on a busy machine. */
const bomb = gzipSync(Buffer.alloc(50_000_000));
const megabyte = Buffer.alloc(1_048_576, 'a');
const huge = 1_073_741_824;

describe('an answer', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['of HTTP/1.0 without a length', (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nthanks')],
    ['without a word for its status', (socket) => socket.end('HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n')],
    ['of a gigabyte', (socket) => (socket.write(`${ok}Content-Length: ${huge}\r\n\r\n`), pour(socket, megabyte))],
    [
      'of endless chunks',
      (socket) => (
        socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n`),
        pour(socket, `10000\r\n${'a'.repeat(65_536)}\r\n`)
      ),
    ],
    [
      'behind a hundred continue',
      (socket) => socket.end(`HTTP/1.1 103 Early Hints\r\n\r\n${ok}Content-Length: 0\r\n\r\n`),
    ],
    [
      'that is a bomb',
      (socket) => socket.end(Buffer.concat([Buffer.from(`${ok}Content-Encoding: gzip\r\n\r\n`), bomb])),
    ],
    [
      'in no encoding at all',
      (socket) =>
        socket.end(
          Buffer.concat([
            Buffer.from(`${ok}Content-Type: text/plain; charset=utf-16\r\nContent-Length: 6\r\n\r\n`),
            Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x80, 0x07]),
          ]),
        ),
    ],
  ])('%s counts by its status, and no more of it is kept than a person reads', async (_what, talk) => {
    const { url, requests } = await hostile(talk);
    const delivery = await attempted(url);
    expect([delivery.state, requests()]).toEqual(['delivered', 1]);
    const kept = delivery.attempts[0]?.response?.body ?? '';
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(2_048);
    expect(kept).not.toMatch(/[\u0000-\u0008]/);
  });

  it.each<[string, (socket: Socket) => void, RegExp]>([
    [
      'whose headers never end',
      (socket) => (socket.write(ok), pour(socket, `X-More: ${'a'.repeat(1_000)}\r\n`)),
      /^(protocol_error|too_large)$/,
    ],
    ['whose head comes and stops in the middle', (socket) => socket.write('HTTP/1.1 200 OK\r\nX-'), /^timed_out$/],
    ['of which nothing comes', () => undefined, /^timed_out$/],
    ['that is no HTTP', (socket) => socket.end('\u0000\u0001SSH-2.0-OpenSSH\r\n\r\n'), /^protocol_error$/],
    [
      'that is shorter than it says',
      (socket) => socket.end(`${ok}Content-Length: 100\r\n\r\nshort`),
      /^protocol_error$/,
    ],
    [
      'with two lengths',
      (socket) => socket.end(`${ok}Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello`),
      /^protocol_error$/,
    ],
    [
      'of endless hints',
      (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
      /^(protocol_error|timed_out)$/,
    ],
    ['that breaks off by a reset', (socket) => socket.resetAndDestroy(), /^(connect_failed|protocol_error)$/],
    [
      'of a status that there is not',
      (socket) => socket.end('HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n'),
      /^(protocol_error|http_status)$/,
    ],
  ])('%s ends the attempt in time', async (_what, talk, reason) => {
    const { url } = await hostile(talk);
    const delivery = await attempted(url);
    expect(delivery.attempts[0]?.error?.reason).toMatch(reason);
    expect(delivery.state).toBe('retrying');
  });

  it.each([
    'http://169.254.169.254/latest/',
    'http://[::1]:1/',
    'file:///etc/passwd',
    '//127.0.0.1:1/',
    'javascript:alert(1)',
  ])('that redirects to %s is followed nowhere', async (where) => {
    const { url, requests } = await hostile((socket) =>
      socket.end(`HTTP/1.1 302 Found\r\nLocation: ${where}\r\nContent-Length: 0\r\n\r\n`),
    );
    const delivery = await attempted(url);
    expect([delivery.state, delivery.reason, requests()]).toEqual(['retrying', 'redirected', 1]);
  });

  it.each(['99999999999', '-5', '1e400', 'Fri, 31 Dec 9999 23:59:59 GMT', 'soon', '5, 10', '٣'])(
    'that asks to wait %s is tried again within a day',
    async (wait) => {
      const { url } = await hostile((socket) =>
        socket.end(Buffer.from(`HTTP/1.1 503 No\r\nRetry-After: ${wait}\r\nContent-Length: 0\r\n\r\n`)),
      );
      const delivery = await attempted(url);
      // What would come after the expiry has expired.
      expect(['retrying', 'expired']).toContain(delivery.state);
      const atMs = Date.parse(delivery.nextAttemptAt ?? delivery.expiresAt);
      expect(atMs - kit.harness.clock.nowMs).toBeGreaterThanOrEqual(0);
      expect(atMs - kit.harness.clock.nowMs).toBeLessThanOrEqual(86_400_000);
    },
  );
});

describe('a receiver', () => {
  it('that agrees on no secure connection ends the attempt in time', async () => {
    const { url } = await hostile(() => undefined, true);
    const delivery = await attempted(url.replace('http:', 'https:'));
    expect(delivery).toMatchObject({ state: 'retrying', reason: expect.stringMatching(/^(timed_out|tls_failed)$/) });
  });

  it('that reads nothing of a large message ends the attempt in time', async () => {
    const { url } = await hostile((socket) => void socket.pause(), true);
    const delivery = await attempted(url, { body: `{"text":"${'x'.repeat(60_000)}"}` });
    expect(delivery).toMatchObject({ state: 'retrying', reason: 'timed_out' });
  });

  it('that answers before it was asked spoils no other message', async () => {
    const { url } = await hostile((socket) =>
      socket.write(`${ok}Content-Length: 2\r\n\r\nhi${ok}Content-Length: 4\r\n\r\nmore`),
    );
    const [, good] = await kit.receiver(answerWith(204));
    const [bad, other] = await Promise.all([attempted(url), attempted(good)]);
    expect(bad.attempts).toHaveLength(1);
    expect(other.state).toBe('delivered');
    // What came too much is no answer to the next one.
    const again = await attempted(url);
    expect(again.attempts[0]?.response?.body ?? '').not.toContain('more');
  });
});

/** The promises about bodies: decoding, size limits, ratio limits. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { found } from '#runtime/probe.kit';
import { onHead, serveBytes, serveHttp, serveRaw } from './loopback.contract.js';
import { createKit, type CreateOutbound } from './kit.contract.js';

export function describeBodies(create: CreateOutbound): void {
  const { up, door, ask, answerOf, failureOf } = createKit(create);

  describe('a body', () => {
    const page = Buffer.from('a page with a price: 12,50 € '.repeat(200));

    it.each([
      ['gzip', gzipSync(page)],
      ['x-gzip', gzipSync(page)],
      ['GZIP', gzipSync(page)],
      ['deflate', deflateSync(page)],
      ['deflate', deflateRawSync(page)],
      ['br', brotliCompressSync(page)],
      ['zstd', zstdCompressSync(page)],
      ['identity', page],
      ['gzip, br', brotliCompressSync(gzipSync(page))],
      ['deflate, gzip', gzipSync(deflateSync(page))],
      ['gzip, identity', gzipSync(page)],
    ])('is decoded from %s', async (encoding, body) => {
      const server = await up(
        serveHttp((_request, response) => response.setHeader('content-encoding', encoding).end(body)),
      );
      expect(Buffer.from((await answerOf(door(), server.origin)).body).equals(page)).toBe(true);
    });

    it.each([
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
      ['zstd', zstdCompressSync],
    ] as const)('reads a long %s body that comes in pieces', async (encoding, compress) => {
      const long = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i * 31 + (i >> 3)) & 0xff));
      const body = compress(long);
      const server = await up(
        serveHttp((_request, response) => {
          response.setHeader('content-encoding', encoding);
          for (let at = 0; at < body.length; at += 10_000) response.write(body.subarray(at, at + 10_000));
          response.end();
        }),
      );
      expect(Buffer.from((await answerOf(door(), server.origin)).body).equals(long)).toBe(true);
    });

    it.each([
      ['snappy', page],
      ['gzip, br, gzip', page],
      ['gzip', page],
      ['br', Buffer.alloc(100, 0xff)],
      ['zstd', page],
      ['deflate', Buffer.from([0x78, 0x9c, 1, 2, 3])],
      ['gzip', gzipSync(page).subarray(0, 60)],
      ['br', brotliCompressSync(page).subarray(0, 30)],
      ['zstd', zstdCompressSync(page).subarray(0, 30)],
      ['gzip, br', brotliCompressSync(page)],
    ])('that does not match its Content-Encoding fails with bad_encoding: %s', async (encoding, body) => {
      const server = await up(
        serveHttp((_request, response) => response.setHeader('content-encoding', encoding).end(body)),
      );
      expect(await failureOf(door(), server.origin)).toMatchObject({ reason: 'bad_encoding', sent: true });
    });

    const zeros = Buffer.alloc(50_000_000);
    const bombs: readonly (readonly [string, Buffer])[] = [
      ['gzip', gzipSync(zeros)],
      ['deflate', deflateSync(zeros)],
      ['br', brotliCompressSync(zeros)],
      ['zstd', zstdCompressSync(zeros)],
      ['gzip, gzip', gzipSync(gzipSync(zeros))],
      ['br, gzip', gzipSync(brotliCompressSync(zeros))],
      ['gzip, br', brotliCompressSync(gzipSync(zeros))],
    ];
    it.each(bombs)('that is a decompression bomb is aborted: %s', async (encoding, body) => {
      const server = await up(
        serveHttp((_request, response) => response.setHeader('content-encoding', encoding).end(body)),
      );
      const outbound = door();
      expect((await failureOf(outbound, server.origin, { maxBodyBytes: 100_000_000 })).reason).toBe('too_large');
      expect((await failureOf(outbound, server.origin)).reason).toBe('too_large');
      const cut = await answerOf(outbound, server.origin, { maxBodyBytes: 1_000, onBodyLimit: 'cut' });
      expect([cut.body.length, cut.bodyCut]).toEqual([1_000, true]);
    });

    it('is not read before the caller is ready, whose time is not that of the other side', async () => {
      const body = Buffer.alloc(900_000, 'x');
      const server = await up(serveHttp((_request, response) => response.end(body)));
      const timeoutMs = 300;
      const ready = Promise.withResolvers<void>();
      let asked = 0;
      const beforeBody = () => {
        asked += 1;
        return ready.promise;
      };
      const answering = answerOf(door(), server.origin, { beforeBody, timeoutMs });
      const isPastMs = performance.now() + 1.5 * timeoutMs;
      await found(async () => asked === 1 && performance.now() > isPastMs);
      ready.resolve();
      expect((await answering).body.length).toBe(900_000);
      expect(asked).toBe(1);
    });

    it('is not read where the caller does not want it any more', async () => {
      const server = await up(serveHttp((_request, response) => response.end('x')));
      const beforeBody = () => Promise.reject(new Error('not now'));
      expect((await failureOf(door(), server.origin, { beforeBody })).reason).toBe('aborted');
    });

    it('is waited for by the caller only where there is one: not for a redirect, a HEAD or a 304', async () => {
      const server = await up(
        serveHttp(({ url }, response) => {
          if (url === '/redirect') response.writeHead(302, { location: '/unchanged' }).end('elsewhere');
          else response.writeHead(url === '/unchanged' ? 304 : 200).end();
        }),
      );
      const beforeBody = () => Promise.reject(new Error('there is a body'));
      const outbound = door();
      expect((await answerOf(outbound, `${server.origin}/redirect`, { beforeBody, maxRedirects: 5 })).status).toBe(304);
      expect((await answerOf(outbound, server.origin, { beforeBody, method: 'HEAD' })).status).toBe(200);
    });

    it('that compresses well but is not large is accepted', async () => {
      const body = gzipSync(Buffer.alloc(900_000));
      const server = await up(
        serveHttp((_request, response) => response.setHeader('content-encoding', 'gzip').end(body)),
      );
      expect((await answerOf(door(), server.origin)).body.length).toBe(900_000);
    });

    it('of exactly the size limit is accepted, and one byte more fails', async () => {
      const server = await up(
        serveHttp((request, response) => {
          if (request.url === '/chunked') response.write('');
          else response.setHeader('content-length', 1_000);
          response.end(Buffer.alloc(1_000));
        }),
      );
      const outbound = door();
      for (const path of ['/', '/chunked']) {
        expect((await answerOf(outbound, server.origin + path, { maxBodyBytes: 1_000 })).body.length).toBe(1_000);
        expect((await failureOf(outbound, server.origin + path, { maxBodyBytes: 999 })).reason).toBe('too_large');
        const cut = await answerOf(outbound, server.origin + path, { maxBodyBytes: 999, onBodyLimit: 'cut' });
        expect([cut.body.length, cut.bodyCut, cut.status]).toEqual([999, true, 200]);
        const whole = await answerOf(outbound, server.origin + path, { maxBodyBytes: 1_000, onBodyLimit: 'cut' });
        expect([whole.body.length, whole.bodyCut]).toEqual([1_000, false]);
      }
    });

    it('that arrives in small and large chunks is joined in order', async () => {
      const pieces = Array.from({ length: 3_000 }, (_, i) =>
        Buffer.alloc(i % 500 === 0 ? 5_000 : (i % 7) + 1, String.fromCharCode(97 + (i % 26))),
      );
      const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece.toString()}\r\n`).join('');
      const server = await up(serveBytes(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`));
      const whole = Buffer.concat(pieces);
      expect(Buffer.from((await answerOf(door(), server.origin)).body).equals(whole)).toBe(true);
      const cut = await answerOf(door(), server.origin, { maxBodyBytes: 12_345, onBodyLimit: 'cut' });
      expect(Buffer.from(cut.body).equals(whole.subarray(0, 12_345))).toBe(true);
    });

    it('of too many chunks is aborted', async () => {
      const server = await up(
        serveRaw((socket) =>
          onHead(socket, () => {
            socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
            const more = (): void => {
              while (!socket.destroyed && socket.write('1\r\nx\r\n'.repeat(10_000)));
            };
            socket.on('drain', more);
            more();
          }),
        ),
      );
      expect((await failureOf(door(), server.origin)).reason).toBe('too_large');
      await server.whenOpen(0);
    });

    it.each(['fail', 'cut'] as const)('without an end is read no further than the limit (%s)', async (onBodyLimit) => {
      const server = await up(
        serveHttp((_request, response) => {
          const more = (): void => {
            while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
          };
          response.on('drain', more);
          more();
        }),
      );
      const answer = await ask(door(), server.origin, { onBodyLimit });
      if (answer.ok) expect([answer.body.length, answer.bodyCut]).toEqual([1_000_000, true]);
      else expect(answer.reason).toBe('too_large');
      expect(answer.ok).toBe(onBodyLimit === 'cut');
      await server.whenOpen(0);
    });
  });
}

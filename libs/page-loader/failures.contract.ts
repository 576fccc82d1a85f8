/** The promises about loads that fail: each failure has its reason. */
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { serveBytes, serveHttp, serveHttps } from '#outbound/loopback.contract';
import { createKit, type CreateLoader } from './kit.contract.js';
import type { PageRequest } from './page-loader.js';

/** 800 MB of zeros in 607 bytes of brotli. */
const brotliBomb = Buffer.from(
  'z///fwAkAOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37f/7//wMgARCHBaB7/8///38AJADisAB07//5//8PgARAHBaA7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3ft//v//AyABEIcFoHv/z///fwAkAOKwAHTv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37f/7//wMgARCHBaB7/8///38AJADisAB07//5//8PgARAHBaA7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3fv//D94BSABEIcFoPvvCg==',
  'base64',
);

export function describeFailures(mode: PageRequest['mode'], create: CreateLoader): void {
  const { up, loader, failureOf } = createKit(mode, create);

  describe('a failed load', () => {
    it('names a site that is down', async () => {
      const server = await serveHttp(() => undefined);
      await server.close();
      const failure = await failureOf(loader(), `${server.origin}/#x`);
      expect(failure).toMatchObject({ reason: 'connect_failed', status: null, finalUrl: `${server.origin}/#x` });
    });

    it.each(['http://10.0.0.1/', 'http://[::1]/', 'http://0x7f.2/', 'http://169.254.169.254/'])(
      'names an address that is denied: %s',
      async (url) => {
        expect(await failureOf(loader(), url)).toMatchObject({ reason: 'address_denied', attempts: 1 });
      },
    );

    it('names a certificate that cannot be trusted', async () => {
      const server = await up(serveHttps((_request, response) => response.end()));
      expect((await failureOf(loader(), server.origin)).reason).toBe('tls_failed');
    });

    it('names a timeout before the answer, and one within its body', async () => {
      const silent = await up(serveHttp(() => undefined));
      expect((await failureOf(loader(), silent.origin, { timeoutMs: 40 })).reason).toBe('timed_out');
      const endless = await up(serveHttp((_request, response) => response.write('<p>')));
      expect((await failureOf(loader(), endless.origin, { timeoutMs: 60 })).reason).toBe('timed_out');
      await silent.whenOpen(0);
      await endless.whenOpen(0);
    });

    it('names an answer that arrives too slowly', async () => {
      const server = await up(
        serveHttp((_request, response) => {
          const timer = setInterval(() => response.write('x'), 5);
          response.on('close', () => clearInterval(timer));
        }),
      );
      const from = loader({ limits: { trickleWindowMs: 50 } });
      expect((await failureOf(from, server.origin)).reason).toBe('timed_out');
    });

    it('names a page that is too large, announced or not', async () => {
      const server = await up(
        serveHttp((request, response) => {
          if (request.url === '/announced') response.setHeader('content-length', 50_000_000);
          const more = (): void => {
            while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
          };
          response.on('drain', more);
          more();
        }),
      );
      const from = loader();
      for (const path of ['/announced', '/endless']) {
        expect((await failureOf(from, server.origin + path)).reason).toBe('too_large');
      }
      await server.whenOpen(0);
    });

    const zeros = Buffer.alloc(20_000_000);
    it.each([
      ['br', brotliBomb],
      ['gzip', gzipSync(zeros)],
      ['zstd', zstdCompressSync(zeros)],
      ['gzip, gzip', gzipSync(gzipSync(zeros))],
      ['br, gzip', gzipSync(brotliBomb)],
    ])('names a decompression bomb: %s', async (encoding, body) => {
      const server = await up(
        serveHttp((_request, response) =>
          response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).end(body),
        ),
      );
      const from = loader();
      expect((await failureOf(from, server.origin)).reason).toBe('too_large');
      expect((await failureOf(from, server.origin, { maxBytes: 1_000_000_000 })).reason).toBe('too_large');
    });

    it.each([
      ['three encodings', 'Content-Encoding: gzip, br, gzip\r\nContent-Length: 2\r\n\r\nok', 'bad_encoding'],
      ['an unknown encoding', 'Content-Encoding: rot13\r\nContent-Length: 2\r\n\r\nok', 'bad_encoding'],
      ['a false encoding', 'Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok', 'bad_encoding'],
      ['a length too long', 'Content-Length: 10\r\n\r\nok', 'protocol_error'],
      ['broken chunks', 'Transfer-Encoding: chunked\r\n\r\nx\r\nok', 'protocol_error'],
      ['NUL in a header', 'X: a\0b\r\nContent-Length: 2\r\n\r\nok', 'protocol_error'],
      ['endless headers', `${'X: yyyyyyyyyyyyyyyy\r\n'.repeat(2_000)}\r\n`, 'too_large'],
    ])('names an answer with %s', async (_what, rest, reason) => {
      const server = await up(serveBytes(`HTTP/1.1 200 OK\r\n${rest}`, true));
      expect((await failureOf(loader(), server.origin)).reason).toBe(reason);
      await server.whenOpen(0);
    });

    it('has the reason timed_out where the caller aborts it or the loader is closed', async () => {
      const controller = new AbortController();
      const server = await up(serveHttp(() => controller.abort()));
      expect((await failureOf(loader(), server.origin, { signal: controller.signal })).reason).toBe('timed_out');
      const from = loader();
      const other = await up(serveHttp(() => void from.close()));
      expect((await failureOf(from, other.origin)).reason).toBe('timed_out');
      await other.whenOpen(0);
    });
  });
}

/** What every page loader promises, whether it speaks HTTP itself or drives a browser. */
import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { onHead, serveBytes, serveHttp, serveHttps, serveRaw, type Loopback } from '#outbound/loopback.contract';
import type { LoadedPage, LoadFailure, PageLoader, PageRequest } from './page-loader.js';

export interface LoaderContractOptions {
  /** Time limits that a spec lowers, so that it need not wait for the real ones. */
  readonly limits?: { readonly firstByteMs?: number; readonly trickleWindowMs?: number };
  readonly egressAllow?: readonly string[];
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random?: () => number;
}

/** A loader, and how to close it with all that it stands on. */
export interface LoaderUnderTest {
  readonly loader: PageLoader;
  close(): Promise<void>;
}

/** 800 MB of zeros in 607 bytes of brotli. */
export const brotliBomb = Buffer.from(
  'z///fwAkAOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37f/7//wMgARCHBaB7/8///38AJADisAB07//5//8PgARAHBaA7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3ft//v//AyABEIcFoHv/z///fwAkAOKwAHTv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37f/7//wMgARCHBaB7/8///38AJADisAB07//5//8PgARAHBaA7v0/////AZAAiMMC0L3/5///PwASAHFYALr3//z//wdAAiAOC0D3/p////8ASADEYQHo3v/z//8fAAmAOCwA3fv//D94BSABEIcFoPvvCg==',
  'base64',
);

/** Runs the suite; `mode` is what its requests ask for. */
export function describePageLoader(
  name: string,
  mode: PageRequest['mode'],
  create: (options: LoaderContractOptions) => LoaderUnderTest,
): void {
  describe(`${name}: a page loader`, () => {
    const closers: (() => Promise<void>)[] = [];

    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    async function up(server: Promise<Loopback>): Promise<Loopback> {
      const loopback = await server;
      closers.push(() => loopback.close());
      return loopback;
    }

    function loader(options: LoaderContractOptions = {}): PageLoader {
      const made = create({ egressAllow: ['127.0.0.1'], sleep: () => Promise.resolve(), ...options });
      closers.push(() => made.close());
      return made.loader;
    }

    const ask = (url: string, extra: Partial<PageRequest> = {}): PageRequest => ({
      url,
      mode,
      method: 'GET',
      headers: {},
      body: null,
      timeoutMs: 20_000,
      maxBytes: 1_000_000,
      followRedirects: true,
      acceptStatus: ['2xx'],
      userAgent: null,
      proxyUrl: null,
      retry: { attempts: 1, strategy: 'fixed', baseMs: 1_000 },
      ...extra,
    });

    async function pageOf(from: PageLoader, url: string, extra: Partial<PageRequest> = {}): Promise<LoadedPage> {
      const page = await from.load(ask(url, extra));
      if (!page.ok) throw new Error(`${page.reason}: ${page.message}`);
      return page;
    }

    async function failureOf(from: PageLoader, url: string, extra: Partial<PageRequest> = {}): Promise<LoadFailure> {
      const page = await from.load(ask(url, extra));
      if (page.ok) throw new Error(`loaded ${page.status}`);
      return page;
    }

    const textOf = (page: LoadedPage): string => new TextDecoder().decode(page.body);

    describe('a loaded page', () => {
      it('is returned as UTF-8 with its kind, encoding and hash', async () => {
        const server = await up(
          serveHttp((_request, response) => {
            response.writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1', 'x-one': '1' });
            response.end(Buffer.from('<p>Grüße €', 'latin1'));
          }),
        );
        const url = `${server.origin}/a?b#c`;
        const page = await pageOf(loader(), url);
        expect(page).toMatchObject({ url, finalUrl: url, status: 200, contentKind: 'html', encoding: 'windows-1252' });
        expect(page.headers['x-one']).toBe('1');
        expect(page.attempts).toBe(1);
        expect(page.contentHash).toBe(`sha256:${createHash('sha256').update(page.body).digest('hex')}`);
      });

      it('keeps its hash while its content is the same, in any encoding and compression', async () => {
        const text = '<p>same</p>'.repeat(100);
        const forms: readonly (readonly [string, Buffer])[] = [
          ['identity', Buffer.from(text)],
          ['gzip', gzipSync(text)],
          ['br', brotliCompressSync(text)],
          ['zstd', zstdCompressSync(text)],
          ['identity', Buffer.from(`\ufeff${text}`)],
          ['identity', Buffer.from(`\ufeff${text}`, 'utf16le')],
          ['identity', Buffer.from(`${text}!`)],
        ];
        let turn = 0;
        const server = await up(
          serveHttp((_request, response) => {
            const [encoding, body] = forms[turn++] ?? ['identity', Buffer.alloc(0)];
            response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).end(body);
          }),
        );
        const from = loader();
        const hashes: string[] = [];
        for (const _form of forms) hashes.push((await pageOf(from, server.origin)).contentHash);
        expect(new Set(hashes.slice(0, 6)).size).toBe(1);
        expect(hashes[6]).not.toBe(hashes[0]);
      });

      it.each([
        ['text/html; charset=utf-8', 'caf\xc3\xa9', 'utf-8', 'café'],
        [
          'text/html; charset=nonsense',
          '<meta charset=windows-1251>\xe4',
          'windows-1251',
          '<meta charset=windows-1251>д',
        ],
        ['text/html', '<meta charset=utf-16>\xc3\xa4', 'utf-8', '<meta charset=utf-16>ä'],
        ['text/html', '<meta charset=x-user-defined>\x80', 'windows-1252', '<meta charset=x-user-defined>€'],
        ['text/html; charset=utf-8', 'a\xff\0b', 'utf-8', 'a\ufffd\0b'],
        ['text/html; charset=utf-8', '\xff\xfea\0\0\xd8', 'utf-16le', 'a\ufffd'],
        ['text/html; charset=utf-16le', 'a', 'utf-16le', '\ufffd'],
      ])('in %s is decoded as browsers do', async (type, body, encoding, text) => {
        const server = await up(
          serveHttp((_request, response) => response.setHeader('content-type', type).end(Buffer.from(body, 'latin1'))),
        );
        const page = await pageOf(loader(), server.origin);
        expect([page.encoding, textOf(page)]).toEqual([encoding, text]);
      });

      it.each([
        ['application/json', '{"a":1}', 'json'],
        ['application/rss+xml', '<rss/>', 'xml'],
        ['text/plain', 'x', 'text'],
        [null, '<!doctype html>', 'html'],
      ])('of the type %s is %s', async (type, body, kind) => {
        const server = await up(
          serveHttp((_request, response) => {
            if (type !== null) response.setHeader('content-type', type);
            response.end(body);
          }),
        );
        expect((await pageOf(loader(), server.origin)).contentKind).toBe(kind);
      });

      it.each([
        ['image/png', 'x'],
        ['application/pdf', '%PDF-1.4'],
        ['application/octet-stream', 'a\0b'],
      ])('of the type %s is rejected', async (type, body) => {
        const server = await up(serveHttp((_request, response) => response.setHeader('content-type', type).end(body)));
        const failure = await failureOf(loader(), server.origin);
        expect(failure).toMatchObject({ reason: 'bad_encoding', status: 200, attempts: 1 });
        expect(failure.message).toBe(`The page is not text: ${type}`);
      });

      it('in an encoding that browsers refuse is rejected', async () => {
        const server = await up(
          serveHttp((_request, response) =>
            response.setHeader('content-type', 'text/html; charset=iso-2022-kr').end('x'),
          ),
        );
        expect(await failureOf(loader(), server.origin)).toMatchObject({ reason: 'bad_encoding', status: 200 });
      });

      it('is requested with the settings of the task', async () => {
        const server = await up(
          serveHttp((request, response) => {
            let body = '';
            request.on('data', (part: Buffer) => (body += part.toString()));
            request.on('end', () => {
              const { method, headers } = request;
              response.setHeader('content-type', 'application/json').end(JSON.stringify({ method, headers, body }));
            });
          }),
        );
        const from = loader();
        const page = await pageOf(from, server.origin, {
          method: 'POST',
          headers: { Accept: 'text/x', 'X-Mine': 'yes', 'User-Agent': 'header' },
          body: 'grüße',
          userAgent: 'setting',
        });
        expect(JSON.parse(textOf(page))).toMatchObject({
          method: 'POST',
          body: 'grüße',
          headers: { accept: 'text/x', 'x-mine': 'yes', 'user-agent': 'setting' },
        });
        const plain = JSON.parse(textOf(await pageOf(from, server.origin))) as { headers: Record<string, string> };
        expect(plain.headers['accept']).toContain('text/html');
        expect(plain.headers['user-agent']).not.toBe('');
        const named = await pageOf(from, server.origin, { headers: { 'user-agent': 'header' } });
        expect(JSON.parse(textOf(named))).toMatchObject({ headers: { 'user-agent': 'header' } });
      });
    });

    describe('an HTTP status', () => {
      const answering = (status: number): Promise<Loopback> =>
        up(
          serveHttp((_request, response) => response.writeHead(status, { 'content-type': 'text/html' }).end('<p>page')),
        );

      it.each([
        [200, ['2xx'], true],
        [204, ['2xx'], true],
        [404, ['2xx'], false],
        [404, ['2xx', '404'], true],
        [410, ['404'], false],
        [503, ['5XX'], true],
        [200, ['404'], false],
        [200, [], false],
      ])('%s counts under %j: %s', async (status, acceptStatus, counts) => {
        const server = await answering(status);
        const page = await loader().load(ask(server.origin, { acceptStatus }));
        expect(page).toMatchObject(counts ? { ok: true, status } : { ok: false, reason: 'http_status', status });
      });

      it('is named in the message', async () => {
        const server = await answering(404);
        expect((await failureOf(loader(), server.origin)).message).toContain('404 Not Found');
      });
    });

    describe('a redirect', () => {
      it('is followed, and the fragment of the task’s URL kept', async () => {
        const server = await up(
          serveHttp((request, response) => {
            if (request.url === '/') response.writeHead(302, { location: '/end#theirs' }).end();
            else response.setHeader('content-type', 'text/html').end('end');
          }),
        );
        const from = loader();
        const page = await pageOf(from, `${server.origin}/#mine`);
        expect([page.url, page.finalUrl]).toEqual([`${server.origin}/#mine`, `${server.origin}/end#mine`]);
        expect((await pageOf(from, `${server.origin}/`)).finalUrl).toBe(`${server.origin}/end#theirs`);
      });

      it('is returned as an answer where redirects are off', async () => {
        const server = await up(serveHttp((_request, response) => response.writeHead(301, { location: '/x' }).end()));
        const from = loader();
        const failure = await failureOf(from, server.origin, { followRedirects: false });
        expect(failure).toMatchObject({ reason: 'http_status', status: 301 });
        expect(failure.message).toContain('redirects');
        const page = await pageOf(from, server.origin, { followRedirects: false, acceptStatus: ['301'] });
        expect([page.status, page.headers['location']]).toEqual([301, '/x']);
      });

      it('in a loop fails', async () => {
        const server = await up(serveHttp((_request, response) => response.writeHead(302, { location: '/' }).end()));
        expect((await failureOf(loader(), server.origin)).reason).toBe('too_many_redirects');
      });

      it.each(['http://127.0.0.2:{port}/', 'http://[::1]:{port}/', 'http://10.0.0.1/', 'http://169.254.169.254/'])(
        'to the private address %s is not followed',
        async (target) => {
          const trap = await up(serveHttp((_request, response) => response.end()));
          const location = target.replace('{port}', String(trap.port));
          const server = await up(serveHttp((_request, response) => response.writeHead(302, { location }).end()));
          const retry = { attempts: 3, strategy: 'fixed', baseMs: 1 } as const;
          expect(await failureOf(loader(), server.origin, { retry })).toMatchObject({
            reason: 'address_denied',
            attempts: 1,
          });
          expect(trap.connections()).toBe(0);
        },
      );
    });

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
        expect((await failureOf(loader({ limits: { firstByteMs: 40 } }), silent.origin)).reason).toBe('timed_out');
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
        const from = loader({ limits: { firstByteMs: 50, trickleWindowMs: 50 } });
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

    describe('a retry', () => {
      const retry = { attempts: 3, strategy: 'exponential', baseMs: 1_000 } as const;

      /** Answers with these statuses in turn, the last one for ever. */
      async function answering(...statuses: readonly number[]): Promise<{ server: Loopback; count: () => number }> {
        let count = 0;
        const server = await up(
          serveHttp((_request, response) => {
            const status = statuses[Math.min(count, statuses.length - 1)] ?? 200;
            count += 1;
            response.writeHead(status, { 'content-type': 'text/html', 'retry-after': '3' }).end('<p>page');
          }),
        );
        return { server, count: () => count };
      }

      it('returns the page where a later attempt succeeds', async () => {
        const { server, count } = await answering(500, 502, 200);
        expect(await pageOf(loader(), server.origin, { retry })).toMatchObject({ status: 200, attempts: 3 });
        expect(count()).toBe(3);
      });

      it('stops at the last attempt, with its failure', async () => {
        const { server, count } = await answering(500);
        expect(await failureOf(loader(), server.origin, { retry })).toMatchObject({
          reason: 'http_status',
          status: 500,
          attempts: 3,
        });
        expect(count()).toBe(3);
      });

      it('waits by its backoff, exponential or fixed, and as long as the server asks', async () => {
        const waits: number[] = [];
        const from = loader({
          random: () => 0.5,
          sleep: (ms) => {
            waits.push(ms);
            return Promise.resolve();
          },
        });
        const { server } = await answering(500);
        const long = { attempts: 4, baseMs: 4_000 } as const;
        await from.load(ask(server.origin, { retry: { ...long, strategy: 'exponential' }, timeoutMs: 100_000 }));
        await from.load(ask(server.origin, { retry: { ...long, strategy: 'fixed' } }));
        await from.load(ask(server.origin, { retry: { ...long, attempts: 2, strategy: 'fixed', baseMs: 10 } }));
        expect(waits).toEqual([3_000, 6_000, 12_000, 3_000, 3_000, 3_000, 3_000]);
      });

      it('is not made where the wait would exceed the time limit', async () => {
        const { server, count } = await answering(503);
        const failure = await failureOf(loader(), server.origin, { retry, timeoutMs: 2_000 });
        expect([failure.attempts, count()]).toEqual([1, 1]);
      });

      it.each([400, 401, 403, 404, 410, 501])('is not made for %s', async (status) => {
        const { server, count } = await answering(status);
        expect((await failureOf(loader(), server.origin, { retry })).attempts).toBe(1);
        expect(count()).toBe(1);
      });

      it('is not made where it could repeat a POST', async () => {
        const broken = await answering(500);
        expect((await failureOf(loader(), broken.server.origin, { retry, method: 'POST' })).attempts).toBe(1);
        const busy = await answering(503, 200);
        expect((await pageOf(loader(), busy.server.origin, { retry, method: 'POST' })).attempts).toBe(2);
        const dropping = await up(serveRaw((socket) => onHead(socket, () => socket.destroy())));
        expect((await failureOf(loader(), dropping.origin, { retry, method: 'POST' })).attempts).toBe(1);
        expect((await failureOf(loader(), dropping.origin, { retry, method: 'PUT' })).attempts).toBe(3);
      });

      it('is made for a connection that fails, and not for a page that is too large', async () => {
        const gone = await serveHttp(() => undefined);
        await gone.close();
        expect((await failureOf(loader(), gone.origin, { retry })).attempts).toBe(3);
        const { server } = await answering(200);
        expect((await failureOf(loader(), server.origin, { retry, maxBytes: 1 })).attempts).toBe(1);
      });

      it('is not waited for once the load is aborted', async () => {
        const controller = new AbortController();
        const from = loader({
          sleep: async () => controller.abort(),
        });
        const { server, count } = await answering(500);
        expect((await failureOf(from, server.origin, { retry, signal: controller.signal })).status).toBe(500);
        expect(count()).toBe(1);
      });
    });

    describe('the origin limit', () => {
      it('loads at most four pages of one site at once, and all in the end', async () => {
        let running = 0;
        let most = 0;
        const held: (() => void)[] = [];
        const server = await up(
          serveHttp((_request, response) => {
            running += 1;
            most = Math.max(most, running);
            held.push(() => {
              running -= 1;
              response.setHeader('content-type', 'text/html').end('x');
            });
            if (held.length === 4) for (const release of held.splice(0)) setImmediate(release);
          }),
        );
        const from = loader();
        const pages = await Promise.all(Array.from({ length: 12 }, () => from.load(ask(server.origin))));
        expect(pages.every((page) => page.ok)).toBe(true);
        expect(most).toBe(4);
      });

      it('times out a load that waits too long for its site', async () => {
        const server = await up(serveHttp(() => undefined));
        const from = loader();
        const controller = new AbortController();
        const busy = [1, 2, 3, 4].map(() => from.load(ask(server.origin, { signal: controller.signal })));
        expect(await failureOf(from, server.origin, { timeoutMs: 30 })).toMatchObject({
          reason: 'timed_out',
          attempts: 0,
        });
        controller.abort();
        await Promise.all(busy);
      });

      it('stops requests to a site that keeps failing, and reports its failure', async () => {
        const server = await up(serveRaw((socket) => onHead(socket, () => socket.destroy())));
        const from = loader();
        const reasons: string[] = [];
        for (let i = 0; i < 7; i += 1) reasons.push((await failureOf(from, server.origin)).reason);
        expect(reasons).toEqual(Array.from({ length: 7 }, () => 'connect_failed'));
        expect(server.connections()).toBe(5);
        expect((await failureOf(from, server.origin)).attempts).toBe(0);
      });
    });
  });
}

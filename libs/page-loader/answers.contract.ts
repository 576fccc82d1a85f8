/** The promises about answers that arrive: content, status, redirects. */
import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { serveHttp, type Loopback } from '#outbound/loopback.contract';
import { createKit, type CreateLoader } from './kit.contract.js';
import type { PageRequest } from './page-loader.js';

export function describeAnswers(mode: PageRequest['mode'], create: CreateLoader): void {
  const { up, loader, ask, pageOf, failureOf, textOf } = createKit(mode, create);

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

    it('that is large and in another encoding is returned as UTF-8', async () => {
      const server = await up(
        serveHttp((_request, response) =>
          response
            .setHeader('content-type', 'text/html; charset=gb18030')
            .end(Buffer.alloc(900_000, '\xd6\xd0', 'latin1')),
        ),
      );
      const page = await pageOf(loader(), server.origin);
      expect([page.encoding, textOf(page)]).toEqual(['gb18030', '中'.repeat(450_000)]);
      expect(page.contentHash).toBe(`sha256:${createHash('sha256').update(page.body).digest('hex')}`);
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
      up(serveHttp((_request, response) => response.writeHead(status, { 'content-type': 'text/html' }).end('<p>page')));

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
}

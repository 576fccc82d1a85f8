/** What every outbound door promises, whatever HTTP client is behind it. */
import { createServer } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { addressVectors } from './address-vectors.contract.js';
import { onHead, serveBytes, serveHttp, serveHttps, serveRaw, type Loopback } from './loopback.contract.js';
import type { Outbound, OutboundAnswer, OutboundFailure, OutboundRequest } from './outbound.js';

/** Limits that a spec lowers, so that it need not wait for the real ones. */
export interface ContractLimits {
  readonly connectMs?: number;
  readonly firstByteMs?: number;
  readonly trickleWindowMs?: number;
  readonly connectionsPerOrigin?: number;
}

export interface ContractOptions {
  readonly egressAllow?: readonly string[];
  readonly egressProxyUrl?: string | null;
  readonly trustedHosts?: readonly string[];
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  readonly limits?: ContractLimits;
}

type Extra = Partial<OutboundRequest>;

/** Runs the suite against doors that `create` makes. */
export function describeOutbound(name: string, create: (options: ContractOptions) => Outbound): void {
  describe(`${name}: an outbound door`, () => {
    const closers: (() => Promise<void>)[] = [];

    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    async function up(server: Promise<Loopback>): Promise<Loopback> {
      const loopback = await server;
      closers.push(() => loopback.close());
      return loopback;
    }

    /** A door that may reach loopback by IPv4, and resolves every name to it unless told otherwise. */
    function door(options: ContractOptions = {}): Outbound {
      const outbound = create({
        egressAllow: ['127.0.0.0/8'],
        resolve: () => Promise.resolve(['127.0.0.1']),
        ...options,
      });
      closers.push(() => outbound.close());
      return outbound;
    }

    function ask(outbound: Outbound, url: string, extra: Extra = {}): Promise<OutboundAnswer | OutboundFailure> {
      return outbound.request({
        method: 'GET',
        url,
        headers: {},
        timeoutMs: 20_000,
        maxBodyBytes: 1_000_000,
        onBodyLimit: 'fail',
        maxRedirects: 5,
        ...extra,
      });
    }

    async function answerOf(outbound: Outbound, url: string, extra: Extra = {}): Promise<OutboundAnswer> {
      const answer = await ask(outbound, url, extra);
      if (!answer.ok) throw new Error(`${answer.reason}: ${answer.message}`);
      return answer;
    }

    async function failureOf(outbound: Outbound, url: string, extra: Extra = {}): Promise<OutboundFailure> {
      const answer = await ask(outbound, url, extra);
      if (answer.ok) throw new Error(`answered ${answer.status}`);
      return answer;
    }

    const textOf = (answer: OutboundAnswer): string => new TextDecoder().decode(answer.body);

    describe('an exchange', () => {
      it('sends the method, the headers and the body, and hands over status, headers and body', async () => {
        const server = await up(
          serveHttp((request, response) => {
            const parts: Buffer[] = [];
            request.on('data', (part: Buffer) => parts.push(part));
            request.on('end', () => {
              response.writeHead(201, { 'X-One': 'a', 'Set-Cookie': ['a=1', 'b=2'] });
              const { method, url, headers } = request;
              response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(parts).toString() }));
            });
          }),
        );
        const answer = await answerOf(door(), `${server.origin}/a?b=c#d`, {
          method: 'post',
          headers: { 'X-Mine': 'yes', 'content-type': 'text/plain' },
          body: 'grüße',
        });
        expect(answer.status).toBe(201);
        expect(answer.headers['x-one']).toBe('a');
        expect(answer.headers['set-cookie']).toBe('a=1, b=2');
        expect(answer.finalUrl).toBe(`${server.origin}/a?b=c#d`);
        expect(answer.redirects).toBe(0);
        expect(answer.bodyCut).toBe(false);
        expect(JSON.parse(textOf(answer))).toMatchObject({
          method: 'POST',
          url: '/a?b=c',
          body: 'grüße',
          headers: { 'x-mine': 'yes', host: `127.0.0.1:${server.port}`, 'content-length': '7' },
        });
      });

      it('sends bytes as a body as they are', async () => {
        const server = await up(serveHttp((request, response) => request.pipe(response)));
        const bytes = Uint8Array.from([0, 255, 128, 13, 10]);
        const answer = await answerOf(door(), server.origin, { method: 'PUT', body: bytes });
        expect([...answer.body]).toEqual([...bytes]);
      });

      it('keeps to itself the headers that belong to the connection', async () => {
        const server = await up(serveHttp((request, response) => response.end(JSON.stringify(request.headers))));
        const answer = await answerOf(door(), server.origin, {
          headers: { Host: 'evil.test', 'Transfer-Encoding': 'chunked', Connection: 'close', 'Content-Length': '9' },
        });
        const seen = JSON.parse(textOf(answer)) as Record<string, string>;
        expect(seen['host']).toBe(`127.0.0.1:${server.port}`);
        expect(seen['transfer-encoding']).toBeUndefined();
        expect(seen['content-length']).toBeUndefined();
      });

      it.each([[{ 'bad name': 'x' }], [{ ok: 'a\r\nInjected: yes' }], [{ ok: 'nul\0' }], [{ ok: '☃' }], [{ '': 'x' }]])(
        'refuses a header that HTTP does not allow: %j',
        async (headers) => {
          const server = await up(serveHttp((_request, response) => response.end()));
          const failure = await failureOf(door(), server.origin, { headers });
          expect(failure).toMatchObject({ reason: 'protocol_error', sent: false });
        },
      );

      it.each(['CONNECT', 'trace', 'TRACK', 'GE T', 'GET\r\nX: y'])('refuses the method %j', async (method) => {
        const server = await up(serveHttp((_request, response) => response.end()));
        expect((await failureOf(door(), server.origin, { method })).reason).toBe('protocol_error');
      });

      it('takes the empty bodies of HEAD, 204 and 304 for what they are, compressed or not', async () => {
        const server = await up(
          serveHttp((request, response) => {
            const status = Number(request.url?.slice(1));
            response.writeHead(status, { 'content-encoding': 'gzip' });
            response.end();
          }),
        );
        const outbound = door();
        for (const [method, status] of [
          ['HEAD', 200],
          ['GET', 204],
          ['GET', 304],
          ['GET', 200],
        ] as const) {
          const answer = await answerOf(outbound, `${server.origin}/${status}`, { method });
          expect([answer.status, answer.body.length]).toEqual([status, 0]);
        }
      });

      it('takes an answer whose end is the end of the connection', async () => {
        const server = await up(serveBytes('HTTP/1.1 200 OK\r\n\r\nall of it', true));
        expect(textOf(await answerOf(door(), server.origin))).toBe('all of it');
      });

      it('takes an early hint for no answer', async () => {
        const server = await up(
          serveBytes('HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
        );
        expect(textOf(await answerOf(door(), server.origin))).toBe('ok');
      });

      it('hands over headers named like properties of objects', async () => {
        const server = await up(
          serveBytes('HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nContent-Length: 0\r\n\r\n'),
        );
        const { headers } = await answerOf(door(), server.origin);
        expect(Object.entries(headers)).toEqual(
          expect.arrayContaining([
            ['__proto__', 'a'],
            ['constructor', 'b'],
          ]),
        );
      });

      it('carries many exchanges at once, each with its own answer', async () => {
        const server = await up(serveHttp((request, response) => response.end(request.url)));
        const outbound = door({ limits: { connectionsPerOrigin: 4 } });
        const paths = Array.from({ length: 100 }, (_, index) => `/${index}`);
        const answers = await Promise.all(paths.map((path) => answerOf(outbound, server.origin + path)));
        expect(answers.map(textOf)).toEqual(paths);
        expect(server.connections()).toBeLessThanOrEqual(4);
      });
    });

    describe('addresses', () => {
      const denied = addressVectors.filter(([, , kind]) => kind !== null);

      it('makes no connection for any spelling of a denied address', async () => {
        let connections = 0;
        const listeners = await Promise.all(
          ['127.0.0.1', '::1'].map(async (host) => {
            const listener = createServer((socket) => {
              connections += 1;
              socket.destroy();
            });
            await new Promise<void>((resolve) => listener.once('error', () => resolve()).listen(0, host, resolve));
            return listener;
          }),
        );
        const ports = listeners.map((listener) => {
          const address = listener.address();
          return typeof address === 'object' && address !== null ? address.port : 80;
        });
        const outbound = door({ egressAllow: [], resolve: () => Promise.reject(new Error('asked')) });
        for (const [spelling] of denied) {
          const host = spelling.includes(':') && !spelling.startsWith('[') ? `[${spelling}]` : spelling;
          for (const port of ports) {
            const url = `http://${host}:${port}/`;
            const failure = await failureOf(outbound, url);
            expect([spelling, failure.reason, failure.sent]).toEqual([spelling, 'address_denied', false]);
            expect(outbound.refusalOf(url)).toBe(failure.message);
            const connected = await outbound.connect(spelling.trim().replace(/[\t\n]/g, ''), port, 1_000);
            expect([spelling, connected.ok ? null : connected.reason]).toEqual([spelling, 'address_denied']);
          }
        }
        expect(connections).toBe(0);
        await Promise.all(listeners.map((listener) => new Promise((resolve) => listener.close(resolve))));
      }, 60_000);

      it.each(['localhost', 'LOCALHOST.', 'a.localhost', 'x.y.LocalHost.'])(
        'takes %s for this machine',
        async (host) => {
          const outbound = door({ egressAllow: [], resolve: () => Promise.resolve(['8.8.8.8']) });
          expect(await failureOf(outbound, `http://${host}/`)).toMatchObject({ reason: 'address_denied', sent: false });
          expect(outbound.refusalOf(`http://${host}/`)).not.toBeNull();
        },
      );

      it('reaches localhost where loopback is allowed', async () => {
        const server = await up(serveHttp((_request, response) => response.end('here')));
        const outbound = door();
        expect(outbound.refusalOf('http://localhost/')).toBeNull();
        expect(textOf(await answerOf(outbound, `http://localhost:${server.port}/`))).toBe('here');
      });

      it.each([
        [['127.0.0.1']],
        [['93.184.216.34', '127.0.0.1']],
        [['127.0.0.1', '2606:4700:4700::1111']],
        [['2606:4700:4700::1111', '::ffff:127.0.0.1']],
        [['fe80::1%eth0']],
        [['169.254.169.254', '8.8.8.8']],
      ])('refuses a name that resolves to %j', async (addresses) => {
        const server = await up(serveHttp((_request, response) => response.end()));
        const outbound = door({ egressAllow: [], resolve: () => Promise.resolve(addresses) });
        const failure = await failureOf(outbound, `http://mixed.test:${server.port}/`);
        expect(failure).toMatchObject({ reason: 'address_denied', sent: false });
        for (const address of addresses) expect(failure.message).not.toContain(address);
        expect(server.connections()).toBe(0);
      });

      it('connects to the address that was checked, whatever the name resolves to later', async () => {
        const server = await up(
          serveHttp((request, response) => response.setHeader('connection', 'close').end(request.headers.host)),
        );
        let asked = 0;
        const resolve = (): Promise<readonly string[]> => {
          asked += 1;
          return Promise.resolve([asked === 1 ? '127.0.0.1' : '127.0.0.2']);
        };
        const outbound = door({ egressAllow: ['127.0.0.1'], resolve });
        const url = `http://rebound.test:${server.port}/`;
        expect(textOf(await answerOf(outbound, url))).toBe(`rebound.test:${server.port}`);
        expect(asked).toBe(1);
        expect((await failureOf(outbound, url)).reason).toBe('address_denied');
        expect(server.connections()).toBe(1);
      });

      it('tries the other addresses of a name where the first does not answer', async () => {
        const server = await up(serveHttp((_request, response) => response.end('second')));
        const outbound = door({ resolve: () => Promise.resolve(['127.0.0.9', '127.0.0.1']) });
        expect(textOf(await answerOf(outbound, `http://two.test:${server.port}/`))).toBe('second');
      });

      it('reaches a name that the operator allows, whatever its address', async () => {
        const server = await up(serveHttp((_request, response) => response.end('inside')));
        const outbound = door({ egressAllow: ['wiki.test', '*.apps.test'] });
        expect(textOf(await answerOf(outbound, `http://WIKI.test.:${server.port}/`))).toBe('inside');
        expect(textOf(await answerOf(outbound, `http://a.b.apps.test:${server.port}/`))).toBe('inside');
        expect((await failureOf(outbound, `http://other.test:${server.port}/`)).reason).toBe('address_denied');
      });

      it.each([
        ['', 'invalid_url'],
        ['not an address', 'invalid_url'],
        ['//example.com', 'invalid_url'],
        ['ftp://example.com/', 'invalid_url'],
        ['file:///etc/passwd', 'invalid_url'],
        ['javascript:alert(1)', 'invalid_url'],
        ['data:text/html,x', 'invalid_url'],
        ['gopher://127.0.0.1:25/', 'invalid_url'],
        ['http://', 'invalid_url'],
        ['http://example.com:0/', 'invalid_url'],
        ['http://example.com:65536/', 'invalid_url'],
        ['http://user:secret@example.com/', 'invalid_url'],
        ['http://[fe80::1%25eth0]/', 'invalid_url'],
        ['http://a..b/', 'invalid_url'],
        ['http://256.256.256.256/', 'invalid_url'],
      ])('refuses %j as %s, when saved and when asked', async (url, reason) => {
        const outbound = door();
        const failure = await failureOf(outbound, url);
        expect(failure).toMatchObject({ reason, sent: false });
        expect(failure.message).not.toContain('secret');
        expect(outbound.refusalOf(url)).toBe(failure.message);
      });

      it('has nothing against a public address when it is saved', () => {
        const outbound = door({ egressAllow: [], resolve: () => Promise.reject(new Error('asked')) });
        for (const url of ['https://example.com/a?b#c', 'http://8.8.8.8:8080/', 'https://[2606:4700:4700::1111]/']) {
          expect(outbound.refusalOf(url)).toBeNull();
        }
      });

      it.each([['ENOTFOUND'], ['ETIMEOUT'], ['ESERVFAIL']])(
        'says so where a name does not resolve (%s)',
        async (code) => {
          const outbound = door({ resolve: () => Promise.reject(Object.assign(new Error('at 10.0.0.53'), { code })) });
          const failure = await failureOf(outbound, 'http://nowhere.test/');
          expect(failure).toMatchObject({ reason: 'dns_failed', sent: false });
          expect(failure.message).not.toContain('10.0.0.53');
        },
      );

      it('says so where a name has no address', async () => {
        const outbound = door({ resolve: () => Promise.resolve([]) });
        expect((await failureOf(outbound, 'http://empty.test/')).reason).toBe('dns_failed');
      });
    });

    describe('redirects', () => {
      /** Redirects `/status/target` to the target, and says at `/end` what came. */
      function redirecting(): Promise<Loopback> {
        return serveHttp((request, response) => {
          const parts = (request.url ?? '').split('/');
          if (parts[1] === 'to') {
            const location = decodeURIComponent(parts[3] ?? '');
            response.writeHead(Number(parts[2]), { location, 'set-cookie': 'a=b' }).end('moved');
            return;
          }
          let body = '';
          request.on('data', (part: Buffer) => (body += part.toString()));
          request.on('end', () => {
            const { method, url, headers } = request;
            response.end(JSON.stringify({ method, url, headers, body }));
          });
        });
      }
      const to = (status: number, target: string): string => `/to/${status}/${encodeURIComponent(target)}`;

      it.each([
        [301, 'GET', 'GET', ''],
        [301, 'POST', 'GET', ''],
        [302, 'POST', 'GET', ''],
        [303, 'POST', 'GET', ''],
        [303, 'PUT', 'GET', ''],
        [303, 'HEAD', 'HEAD', ''],
        [301, 'PUT', 'PUT', 'data'],
        [302, 'DELETE', 'DELETE', 'data'],
        [307, 'POST', 'POST', 'data'],
        [308, 'POST', 'POST', 'data'],
        [308, 'PUT', 'PUT', 'data'],
      ])('%s of a %s asks again by %s with the body %j', async (status, method, then, body) => {
        const server = await up(redirecting());
        const withBody =
          method === 'GET' || method === 'HEAD' ? {} : { body: 'data', headers: { 'content-type': 'a/b' } };
        const answer = await answerOf(door(), server.origin + to(status, '/end'), { method, ...withBody });
        expect(answer.redirects).toBe(1);
        expect(answer.finalUrl).toBe(`${server.origin}/end`);
        if (then === 'HEAD') return;
        const seen = JSON.parse(textOf(answer)) as { headers: Record<string, string> };
        expect(seen).toMatchObject({ method: then, body });
        expect(seen.headers['content-type']).toBe(body === '' ? undefined : 'a/b');
      });

      it('follows five redirects and no sixth', async () => {
        const server = await up(redirecting());
        const chain = (count: number): string => (count === 0 ? '/end' : to(302, chain(count - 1)));
        const outbound = door();
        expect((await answerOf(outbound, server.origin + chain(5))).redirects).toBe(5);
        expect((await failureOf(outbound, server.origin + chain(6))).reason).toBe('too_many_redirects');
        const more = await failureOf(outbound, server.origin + chain(6), { maxRedirects: 50 });
        expect(more.reason).toBe('too_many_redirects');
        const fewer = await failureOf(outbound, server.origin + chain(2), { maxRedirects: 1 });
        expect(fewer.reason).toBe('too_many_redirects');
      });

      it('ends a loop', async () => {
        const server = await up(serveHttp((_request, response) => response.writeHead(302, { location: '/' }).end()));
        expect((await failureOf(door(), server.origin)).reason).toBe('too_many_redirects');
      });

      it('takes a redirect for an answer where none is to be followed, and where it names no place', async () => {
        const server = await up(redirecting());
        const answer = await answerOf(door(), server.origin + to(302, '/end'), { maxRedirects: 0 });
        expect([answer.status, answer.headers['location'], textOf(answer)]).toEqual([302, '/end', 'moved']);
        const bare = await up(serveBytes('HTTP/1.1 301 Moved\r\nContent-Length: 4\r\n\r\nhere'));
        expect(textOf(await answerOf(door(), bare.origin))).toBe('here');
        const other = await up(serveBytes('HTTP/1.1 304 Same\r\nLocation: /x\r\n\r\n'));
        expect((await answerOf(door(), other.origin)).status).toBe(304);
      });

      it('keeps the fragment unless the redirect brings one', async () => {
        const server = await up(redirecting());
        const outbound = door();
        const kept = await answerOf(outbound, `${server.origin}${to(302, '/end')}#mine`);
        expect(kept.finalUrl).toBe(`${server.origin}/end#mine`);
        const brought = await answerOf(outbound, `${server.origin}${to(302, '/end#theirs')}#mine`);
        expect(brought.finalUrl).toBe(`${server.origin}/end#theirs`);
      });

      const secrets = {
        Authorization: 'Bearer x',
        cookie: 'session=x',
        'Proxy-Authorization': 'Basic x',
        'X-Api-Key': 'x',
        'x-auth-token': 'x',
        'Client-Secret': 'x',
        'x-password': 'x',
      };

      it('takes credentials along within an origin', async () => {
        const server = await up(redirecting());
        const answer = await answerOf(door(), server.origin + to(302, '/end'), {
          headers: { ...secrets, 'x-plain': 'y' },
        });
        const { headers } = JSON.parse(textOf(answer)) as { headers: Record<string, string> };
        for (const name of Object.keys(secrets)) expect(headers[name.toLowerCase()]).toBeDefined();
        expect(headers['x-plain']).toBe('y');
      });

      it.each([
        ['another port', (end: Loopback) => `http://127.0.0.1:${end.port}/end`],
        ['another host', (end: Loopback) => `http://other.test:${end.port}/end`],
        ['two hops away', (end: Loopback) => `http://127.0.0.1:${end.port}${to(302, '/end')}`],
      ])('drops credentials on the way to another origin: %s', async (_name, target) => {
        const start = await up(redirecting());
        const end = await up(redirecting());
        const answer = await answerOf(door(), start.origin + to(307, target(end)), {
          headers: { ...secrets, 'x-plain': 'y' },
        });
        const { headers } = JSON.parse(textOf(answer)) as { headers: Record<string, string> };
        for (const name of Object.keys(secrets)) expect([name, headers[name.toLowerCase()]]).toEqual([name, undefined]);
        expect(headers['x-plain']).toBe('y');
      });

      it.each([
        'http://127.0.0.2:{port}/',
        'http://[::1]:{port}/',
        'http://[::ffff:127.0.0.1]:{port}/',
        'http://0x7f.0.0.2:{port}/',
        'http://2130706434:{port}/',
        'http://localhost.:{port}/x',
        '//127.0.0.2:{port}/',
        'http://inside.test:{port}/',
        'http://169.254.169.254/latest/meta-data/',
      ])('does not follow a redirect to %s where that is denied', async (target) => {
        const trap = await up(serveHttp((_request, response) => response.end('caught')));
        const server = await up(redirecting());
        const outbound = door({
          egressAllow: ['start.test'],
          resolve: (name) => Promise.resolve([name === 'start.test' ? '127.0.0.1' : '127.0.0.3']),
        });
        const location = target.replace('{port}', String(trap.port));
        const failure = await failureOf(outbound, `http://start.test:${server.port}${to(302, location)}`);
        expect(failure.reason).toBe('address_denied');
        expect(trap.connections()).toBe(0);
      });

      it.each([
        ['ftp://example.com/', 'redirect_refused'],
        ['file:///etc/passwd', 'redirect_refused'],
        ['javascript:alert(1)', 'redirect_refused'],
        ['http://user:secret@127.0.0.1/', 'redirect_refused'],
        ['http://[bad/', 'protocol_error'],
        ['http://127.0.0.1:0/', 'invalid_url'],
        ['http://a..b/', 'invalid_url'],
      ])('does not follow a redirect to %s: %s', async (location, reason) => {
        const server = await up(redirecting());
        const failure = await failureOf(door(), server.origin + to(302, location));
        expect(failure.reason).toBe(reason);
        expect(failure.message).not.toContain('secret');
      });

      it("reads on where a redirect's own body does not end", async () => {
        const server = await up(
          serveHttp((request, response) => {
            if (request.url === '/end') return response.end('there');
            response.writeHead(302, { location: '/end' });
            const more = (): void => {
              while (!response.destroyed && response.write(Buffer.alloc(65_536)));
            };
            response.on('drain', more);
            more();
            return response;
          }),
        );
        expect(textOf(await answerOf(door(), server.origin))).toBe('there');
      });
    });

    describe('bodies', () => {
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
      ])('reads %s', async (encoding, body) => {
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
      ])('names a body that is not what it says: %s', async (encoding, body) => {
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
      it.each(bombs)('ends a decompression bomb: %s', async (encoding, body) => {
        const server = await up(
          serveHttp((_request, response) => response.setHeader('content-encoding', encoding).end(body)),
        );
        const outbound = door();
        expect((await failureOf(outbound, server.origin, { maxBodyBytes: 100_000_000 })).reason).toBe('too_large');
        expect((await failureOf(outbound, server.origin)).reason).toBe('too_large');
        const cut = await answerOf(outbound, server.origin, { maxBodyBytes: 1_000, onBodyLimit: 'cut' });
        expect([cut.body.length, cut.bodyCut]).toEqual([1_000, true]);
      });

      it('lets a page through that compresses well but is not large', async () => {
        const body = gzipSync(Buffer.alloc(900_000));
        const server = await up(
          serveHttp((_request, response) => response.setHeader('content-encoding', 'gzip').end(body)),
        );
        expect((await answerOf(door(), server.origin)).body.length).toBe(900_000);
      });

      it('takes a body of exactly the limit, and fails one byte past it', async () => {
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

      it.each(['fail', 'cut'] as const)('stops reading an endless body (%s)', async (onBodyLimit) => {
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

    describe('bad answers', () => {
      const cases: readonly (readonly [string, string, string])[] = [
        ['is no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', 'protocol_error'],
        ['is HTML without a head', '<html>hello</html>\r\n\r\n', 'protocol_error'],
        ['has a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n', 'protocol_error'],
        ['has NUL in a header', 'HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\nok', 'protocol_error'],
        ['has NUL in a header name', 'HTTP/1.1 200 OK\r\nX\0A: a\r\nContent-Length: 2\r\n\r\nok', 'protocol_error'],
        [
          'announces two lengths',
          'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nokokok',
          'protocol_error',
        ],
        ['announces a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok', 'protocol_error'],
        ['announces more than it brings', 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nshort', 'protocol_error'],
        [
          'has broken chunks',
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n',
          'protocol_error',
        ],
        [
          'has an endless chunk size',
          `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'f'.repeat(40)}\r\nok`,
          'protocol_error',
        ],
        ['stops between chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n', 'protocol_error'],
        [
          'has both a length and chunks',
          'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
          'protocol_error',
        ],
        ['has headers without an end', `HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(6_000)}`, 'too_large'],
        ['has one huge header', `HTTP/1.1 200 OK\r\nX-A: ${'b'.repeat(20_000)}\r\n\r\n`, 'too_large'],
        [
          'switches protocols unasked',
          'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
          'protocol_error',
        ],
        ['announces a huge length', 'HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nok', 'too_large'],
        ['is nothing', '', 'connect_failed'],
        ['stops in the head', 'HTTP/1.1 200 OK\r\nX-A', 'connect_failed'],
      ];
      it.each(cases)('names an answer that %s', async (_name, bytes, reason) => {
        const server = await up(serveBytes(bytes, true));
        const failure = await failureOf(door(), server.origin);
        expect([failure.reason, failure.sent]).toEqual([reason, true]);
        await server.whenOpen(0);
      });

      it('keeps what follows a short answer from being taken for the next one', async () => {
        const server = await up(
          serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'),
        );
        const outbound = door();
        for (let i = 0; i < 5; i += 1) {
          const answer = await ask(outbound, server.origin);
          expect(answer.ok ? textOf(answer) : answer.reason).toBe('ok');
        }
      });

      it('names a port where nothing listens', async () => {
        const server = await serveHttp(() => undefined);
        await server.close();
        expect(await failureOf(door(), server.origin)).toMatchObject({ reason: 'connect_failed', sent: false });
      });

      it('names a connection that is reset', async () => {
        const server = await up(serveRaw((socket) => onHead(socket, () => socket.resetAndDestroy())));
        expect(await failureOf(door(), server.origin)).toMatchObject({ reason: 'connect_failed', sent: true });
      });

      it('names a certificate that cannot be trusted, before anything is sent', async () => {
        const server = await up(serveHttps((_request, response) => response.end('secret')));
        const failure = await failureOf(door(), server.origin);
        expect(failure).toMatchObject({ reason: 'tls_failed', sent: false });
        expect(failure.message).toContain('self-signed');
      });

      it('names a server that does not speak TLS', async () => {
        const server = await up(serveBytes('HTTP/1.1 400 Bad Request\r\n\r\n', true));
        const plain = await up(serveRaw((socket) => socket.end('220 hello\r\n')));
        for (const { port } of [server, plain]) {
          const failure = await failureOf(door({ limits: { connectMs: 300 } }), `https://127.0.0.1:${port}/`);
          expect(failure).toMatchObject({ reason: 'tls_failed', sent: false });
        }
      });
    });

    describe('time', () => {
      it('ends an exchange whose answer does not begin', async () => {
        const server = await up(serveHttp(() => undefined));
        const slow = await failureOf(door({ limits: { firstByteMs: 40 } }), server.origin);
        expect(slow).toMatchObject({ reason: 'timed_out', sent: true });
        const total = await failureOf(door(), server.origin, { timeoutMs: 40 });
        expect(total).toMatchObject({ reason: 'timed_out', sent: true });
        await server.whenOpen(0);
      });

      it('ends an exchange whose body does not end', async () => {
        const server = await up(serveHttp((_request, response) => response.write('x')));
        expect((await failureOf(door(), server.origin, { timeoutMs: 60 })).reason).toBe('timed_out');
        await server.whenOpen(0);
      });

      it('ends a body that trickles', async () => {
        const server = await up(
          serveHttp((_request, response) => {
            const timer = setInterval(() => response.write('x'), 5);
            response.on('close', () => clearInterval(timer));
          }),
        );
        const failure = await failureOf(door({ limits: { trickleWindowMs: 60, firstByteMs: 60 } }), server.origin);
        expect(failure.reason).toBe('timed_out');
        expect(failure.message).toContain('slowly');
        await server.whenOpen(0);
      });

      it('bears with a long body that keeps coming', async () => {
        const server = await up(
          serveHttp((_request, response) => {
            let left = 12;
            const timer = setInterval(() => {
              response.write(Buffer.alloc(20_000));
              left -= 1;
              if (left > 0) return;
              clearInterval(timer);
              response.end();
            }, 10);
          }),
        );
        const outbound = door({ limits: { trickleWindowMs: 60, firstByteMs: 60 } });
        expect((await answerOf(outbound, server.origin)).body.length).toBe(240_000);
      });

      it('ends the wait for a name server', async () => {
        const outbound = door({ resolve: () => new Promise(() => undefined) });
        expect(await failureOf(outbound, 'http://slow.test/', { timeoutMs: 30 })).toMatchObject({
          reason: 'timed_out',
          sent: false,
        });
      });

      it('ends the wait for a connection that others hold', async () => {
        const server = await up(serveHttp(() => undefined));
        const outbound = door({ limits: { connectionsPerOrigin: 1 } });
        const controller = new AbortController();
        const first = ask(outbound, server.origin, { signal: controller.signal });
        expect(await failureOf(outbound, server.origin, { timeoutMs: 30 })).toMatchObject({
          reason: 'timed_out',
          sent: false,
        });
        controller.abort();
        expect(await first).toMatchObject({ reason: 'aborted' });
      });

      it('ends a handshake that hangs', async () => {
        const server = await up(serveRaw((socket) => socket.resume()));
        const url = `https://127.0.0.1:${server.port}/`;
        expect((await failureOf(door({ limits: { connectMs: 30 } }), url)).reason).toBe('tls_failed');
        expect((await failureOf(door(), url, { timeoutMs: 30 })).reason).toBe('timed_out');
        await server.whenOpen(0);
      });

      it('is given up where the caller says so', async () => {
        const controller = new AbortController();
        const server = await up(serveHttp(() => controller.abort()));
        const outbound = door();
        const given = await failureOf(outbound, server.origin, { signal: controller.signal });
        expect(given).toMatchObject({ reason: 'aborted', sent: true });
        const before = await failureOf(outbound, server.origin, { signal: AbortSignal.abort() });
        expect(before).toMatchObject({ reason: 'aborted', sent: false });
        await server.whenOpen(0);
      });

      it('ends what runs when it is closed, and takes nothing more', async () => {
        const outbound = door();
        const server = await up(serveHttp(() => void outbound.close()));
        expect((await failureOf(outbound, server.origin)).reason).toBe('aborted');
        expect(await failureOf(outbound, server.origin)).toMatchObject({ reason: 'aborted', sent: false });
        expect(await outbound.connect('127.0.0.1', server.port, 1_000)).toMatchObject({ reason: 'aborted' });
        await server.whenOpen(0);
      });
    });

    describe('connect', () => {
      it('opens a socket to a checked address', async () => {
        const server = await up(serveRaw((socket) => socket.end('220 ready\r\n')));
        const connected = await door().connect('mail.test', server.port, 5_000);
        if (!connected.ok) throw new Error(connected.message);
        let text = '';
        for await (const chunk of connected.socket) text += String(chunk);
        expect(text).toBe('220 ready\r\n');
      });

      it("reaches the operator's own server whatever its address, and only that, and not by HTTP", async () => {
        const server = await up(serveRaw((socket) => socket.end('220 ready\r\n')));
        const other = await up(serveRaw((socket) => socket.end()));
        const outbound = door({
          egressAllow: [],
          trustedHosts: [`Mail.test:${server.port}`, `127.0.0.1:${server.port}`],
        });
        for (const host of ['mail.test', 'MAIL.TEST.', '127.0.0.1', '127.1']) {
          const connected = await outbound.connect(host, server.port, 5_000);
          expect([host, connected.ok]).toEqual([host, true]);
          if (connected.ok) connected.socket.destroy();
        }
        for (const [host, port] of [
          ['mail.test', other.port],
          ['127.0.0.2', server.port],
          ['x.test', server.port],
        ] as const) {
          expect(await outbound.connect(host, port, 5_000)).toMatchObject({ ok: false, reason: 'address_denied' });
        }
        expect((await failureOf(outbound, `http://mail.test:${server.port}/`)).reason).toBe('address_denied');
      });

      it.each([
        ['', 25],
        ['a b', 25],
        ['mail.test/x', 25],
        ['user@mail.test', 25],
        ['mail.test:25', 25],
        ['mail.test', 0],
        ['mail.test', 65_536],
        ['mail.test', 1.5],
        ['mail.test', Number.NaN],
      ])('refuses %j port %s', async (host, port) => {
        expect(await door().connect(host, port, 1_000)).toMatchObject({
          ok: false,
          reason: 'invalid_url',
          sent: false,
        });
      });

      it('names what goes wrong', async () => {
        const server = await serveHttp(() => undefined);
        await server.close();
        expect(await door().connect('127.0.0.1', server.port, 1_000)).toMatchObject({ reason: 'connect_failed' });
        const never = door({ resolve: () => new Promise(() => undefined) });
        expect(await never.connect('slow.test', 25, 30)).toMatchObject({ reason: 'timed_out' });
      });
    });

    describe('proxies', () => {
      interface ProxySeen {
        readonly server: Loopback;
        readonly heads: string[];
      }

      /** A forward proxy that notes what it is asked, and sends everything on to `target`. */
      async function proxyTo(target: Loopback, status = '200 Connection established'): Promise<ProxySeen> {
        const heads: string[] = [];
        const server = await up(
          serveRaw((socket) => {
            socket.once('data', (first) => {
              const text = first.toString('latin1');
              heads.push(text.slice(0, text.indexOf('\r\n\r\n')));
              const onward = new Promise<import('node:net').Socket>((resolve) => {
                void import('node:net').then(({ connect }) => {
                  const next = connect(target.port, '127.0.0.1', () => resolve(next));
                  next.on('error', () => socket.destroy());
                  socket.on('close', () => next.destroy());
                });
              });
              const tunnels = text.startsWith('CONNECT ');
              if (tunnels && !status.startsWith('2')) return socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
              void onward.then((next) => {
                if (tunnels) socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
                else next.write(first);
                socket.pipe(next).pipe(socket);
              });
              return undefined;
            });
          }),
        );
        return { server, heads };
      }

      it.each(['egress', 'request'])('asks a proxy for plain pages by their whole address (%s)', async (which) => {
        const page = await up(serveHttp((request, response) => response.end(request.url)));
        const proxy = await proxyTo(page);
        const url = `http://us%65r:p%40ss@127.0.0.1:${proxy.server.port}`;
        const outbound = door(which === 'egress' ? { egressProxyUrl: url } : {});
        const extra = { headers: { 'Proxy-Authorization': 'mine' }, ...(which === 'egress' ? {} : { proxyUrl: url }) };
        const answer = await answerOf(outbound, `http://page.test:${page.port}/a?b`, extra);
        expect(textOf(answer)).toBe(`http://page.test:${page.port}/a?b`);
        const head = proxy.heads[0]?.toLowerCase() ?? '';
        expect(head).toContain(`get http://page.test:${page.port}/a?b http/1.1`);
        expect(head).toContain(`host: page.test:${page.port}`);
        expect(head).toContain(`proxy-authorization: ${`Basic ${btoa('user:p@ss')}`.toLowerCase()}`);
        expect(head).not.toContain('mine');
      });

      it.each(['egress', 'request'])(
        'asks a proxy for a tunnel to the checked address of secure pages (%s)',
        async (which) => {
          const page = await up(serveHttps((_request, response) => response.end('never trusted')));
          const proxy = await proxyTo(page);
          const url = `http://user:pass@127.0.0.1:${proxy.server.port}`;
          const outbound = door(which === 'egress' ? { egressProxyUrl: url } : {});
          const failure = await failureOf(
            outbound,
            `https://named.test:${page.port}/`,
            which === 'egress' ? {} : { proxyUrl: url },
          );
          expect(failure.reason).toBe('tls_failed');
          expect(proxy.heads[0]).toContain(`CONNECT 127.0.0.1:${page.port} HTTP/1.1`);
          expect(proxy.heads[0]).toContain(`Proxy-Authorization: Basic ${btoa('user:pass')}`);
        },
      );

      it('checks the target although a proxy would make the connection', async () => {
        const page = await up(serveHttp((_request, response) => response.end()));
        const proxy = await proxyTo(page);
        const outbound = door({
          egressAllow: [],
          egressProxyUrl: `http://127.0.0.1:${proxy.server.port}`,
          resolve: () => Promise.resolve(['10.0.0.1']),
        });
        for (const url of ['http://inside.test/', 'https://inside.test/', 'http://127.0.0.1/', 'https://[::1]/']) {
          expect((await failureOf(outbound, url)).reason).toBe('address_denied');
        }
        expect(proxy.server.connections()).toBe(0);
      });

      it("checks the address of a user's proxy, but not of the operator's", async () => {
        const page = await up(serveHttp((_request, response) => response.end('through')));
        const proxy = await proxyTo(page);
        const proxyUrl = `http://127.0.0.1:${proxy.server.port}`;
        const resolve = (): Promise<readonly string[]> => Promise.resolve(['93.184.216.34']);
        const denied = await failureOf(door({ egressAllow: [], resolve }), 'http://page.test/', { proxyUrl });
        expect(denied.reason).toBe('address_denied');
        expect(proxy.server.connections()).toBe(0);
        const outbound = door({ egressAllow: [], resolve, egressProxyUrl: proxyUrl });
        expect(textOf(await answerOf(outbound, 'http://page.test/'))).toBe('through');
      });

      it("reaches a user's proxy through the operator's", async () => {
        const page = await up(serveHttp((request, response) => response.end(request.url)));
        const inner = await proxyTo(page);
        const outer = await proxyTo(inner.server);
        const outbound = door({ egressProxyUrl: `http://127.0.0.1:${outer.server.port}` });
        const proxyUrl = `http://127.0.0.1:${inner.server.port}`;
        const answer = await answerOf(outbound, `http://page.test:${page.port}/x`, { proxyUrl });
        expect(textOf(answer)).toBe(`http://page.test:${page.port}/x`);
        expect(outer.heads[0]).toContain(`CONNECT 127.0.0.1:${inner.server.port} `);
        expect(inner.heads[0]).toContain(`GET http://page.test:${page.port}/x `);
      });

      it.each([['407 Proxy Authentication Required'], ['403 Forbidden'], ['502 Bad Gateway']])(
        'names a proxy that answers %s, without its credentials',
        async (status) => {
          const page = await up(serveHttps((_request, response) => response.end()));
          const proxy = await proxyTo(page, status);
          const proxyUrl = `http://user:hidden@127.0.0.1:${proxy.server.port}`;
          const failure = await failureOf(door(), `https://page.test:${page.port}/`, { proxyUrl });
          expect(failure).toMatchObject({ reason: 'connect_failed', sent: false });
          expect(failure.message).toContain(status.slice(0, 3));
          expect(failure.message).not.toMatch(/hidden|127\.0\.0\.1/);
        },
      );

      it.each([['SSH-2.0\r\n\r\n'], ['x'.repeat(40_000)], ['']])('names a proxy that is none', async (bytes) => {
        const proxy = await up(serveRaw((socket) => socket.once('data', () => socket.end(bytes))));
        const failure = await failureOf(door(), 'https://page.test/', { proxyUrl: proxy.origin });
        expect(failure).toMatchObject({ reason: 'connect_failed', sent: false });
      });

      it.each(['', 'nonsense', 'socks5://127.0.0.1:1080', 'http://a..b'])('refuses the proxy %j', async (proxyUrl) => {
        expect((await failureOf(door(), 'http://page.test/', { proxyUrl })).reason).toBe('invalid_url');
      });
    });
  });
}

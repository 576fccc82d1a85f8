/** The promises about what may be reached: addresses, redirects, sockets. */
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { addressVectors } from './address-vectors.contract.js';
import { serveBytes, serveHttp, serveRaw, type Loopback } from './loopback.contract.js';
import { createKit, textOf, type CreateOutbound } from './kit.contract.js';

export function describeReach(create: CreateOutbound): void {
  const { up, door, answerOf, failureOf } = createKit(create);

  describe('the address check', () => {
    const denied = addressVectors.filter(([, , kind]) => kind !== null);

    it('lets no connection be made for any spelling of a denied address', async () => {
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

    it.each(['localhost', 'LOCALHOST.', 'a.localhost', 'x.y.LocalHost.'])('takes %s for loopback', async (host) => {
      const outbound = door({ egressAllow: [], resolve: () => Promise.resolve(['8.8.8.8']) });
      expect(await failureOf(outbound, `http://${host}/`)).toMatchObject({ reason: 'address_denied', sent: false });
      expect(outbound.refusalOf(`http://${host}/`)).not.toBeNull();
    });

    it('lets localhost be reached where loopback is allowed', async () => {
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

    it('pins the connection to the checked address, whatever the name resolves to later', async () => {
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

    it('lets the other addresses of a name be tried where the first does not answer', async () => {
      const server = await up(serveHttp((_request, response) => response.end('second')));
      const outbound = door({ resolve: () => Promise.resolve(['127.0.0.9', '127.0.0.1']) });
      expect(textOf(await answerOf(outbound, `http://two.test:${server.port}/`))).toBe('second');
    });

    it('lets a name that the operator allows be reached, whatever its address, but none below a suffix on this machine', async () => {
      const server = await up(serveHttp((_request, response) => response.end('inside')));
      const outbound = door({ egressAllow: ['wiki.test', '*.apps.test'] });
      expect(textOf(await answerOf(outbound, `http://WIKI.test.:${server.port}/`))).toBe('inside');
      // A name below a suffix may be anybody's: it opens no address of this machine.
      expect((await failureOf(outbound, `http://a.b.apps.test:${server.port}/`)).reason).toBe('address_denied');
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
    ])('refuses %j as %s, when saved and when requested', async (url, reason) => {
      const outbound = door();
      const failure = await failureOf(outbound, url);
      expect(failure).toMatchObject({ reason, sent: false });
      expect(failure.message).not.toContain('secret');
      expect(outbound.refusalOf(url)).toBe(failure.message);
    });

    it('accepts a public address when it is saved, without DNS', () => {
      const outbound = door({ egressAllow: [], resolve: () => Promise.reject(new Error('asked')) });
      for (const url of ['https://example.com/a?b#c', 'http://8.8.8.8:8080/', 'https://[2606:4700:4700::1111]/']) {
        expect(outbound.refusalOf(url)).toBeNull();
      }
    });

    it.each([['ENOTFOUND'], ['ETIMEOUT'], ['ESERVFAIL']])(
      'fails with dns_failed where a name does not resolve (%s)',
      async (code) => {
        const outbound = door({ resolve: () => Promise.reject(Object.assign(new Error('at 10.0.0.53'), { code })) });
        const failure = await failureOf(outbound, 'http://nowhere.test/');
        expect(failure).toMatchObject({ reason: 'dns_failed', sent: false });
        expect(failure.message).not.toContain('10.0.0.53');
      },
    );

    it('fails with dns_failed where a name has no address', async () => {
      const outbound = door({ resolve: () => Promise.resolve([]) });
      expect((await failureOf(outbound, 'http://empty.test/')).reason).toBe('dns_failed');
    });
  });

  describe('a redirect', () => {
    /** Redirects `/to/status/target` to the target; every other path answers with the request it got. */
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
    ])('with status %s after a %s is followed by a %s with the body %j', async (status, method, then, body) => {
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

    it('is followed up to five times and no sixth', async () => {
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

    it('in a loop ends with too_many_redirects', async () => {
      const server = await up(serveHttp((_request, response) => response.writeHead(302, { location: '/' }).end()));
      expect((await failureOf(door(), server.origin)).reason).toBe('too_many_redirects');
    });

    it('is returned as an answer where redirects are off, or where it has no Location', async () => {
      const server = await up(redirecting());
      const answer = await answerOf(door(), server.origin + to(302, '/end'), { maxRedirects: 0 });
      expect([answer.status, answer.headers['location'], textOf(answer)]).toEqual([302, '/end', 'moved']);
      const bare = await up(serveBytes('HTTP/1.1 301 Moved\r\nContent-Length: 4\r\n\r\nhere'));
      expect(textOf(await answerOf(door(), bare.origin))).toBe('here');
      const other = await up(serveBytes('HTTP/1.1 304 Same\r\nLocation: /x\r\n\r\n'));
      expect((await answerOf(door(), other.origin)).status).toBe(304);
    });

    it('keeps the fragment of the URL unless it brings one', async () => {
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

    it('keeps credentials within an origin', async () => {
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
    ])('to another origin drops credentials: %s', async (_name, target) => {
      const start = await up(redirecting());
      const end = await up(redirecting());
      const answer = await answerOf(door(), start.origin + to(307, target(end)), {
        headers: { ...secrets, 'x-plain': 'y', 'Accept-Language': 'eo' },
      });
      const { headers } = JSON.parse(textOf(answer)) as { headers: Record<string, string> };
      for (const name of [...Object.keys(secrets), 'X-Plain'])
        expect([name, headers[name.toLowerCase()]]).toEqual([name, undefined]);
      expect(headers['accept-language']).toBe('eo');
    });

    it.each([307, 308])('with status %s to another origin sends no content there', async (status) => {
      const start = await up(redirecting());
      const end = await up(redirecting());
      const target = start.origin + to(status, `${end.origin}/end`);
      const failure = await failureOf(door(), target, { method: 'POST', body: 'user=a&password=b' });
      expect(failure.reason).toBe('redirect_refused');
      expect(end.connections()).toBe(0);
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
    ])('to the denied address %s is not followed', async (target) => {
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
    ])('to %s is not followed: %s', async (location, reason) => {
      const server = await up(redirecting());
      const failure = await failureOf(door(), server.origin + to(302, location));
      expect(failure.reason).toBe(reason);
      expect(failure.message).not.toContain('secret');
    });

    it('is followed before its own body has ended', async () => {
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

  describe('a raw connection', () => {
    it('is opened to a checked address', async () => {
      const server = await up(serveRaw((socket) => socket.end('220 ready\r\n')));
      const connected = await door().connect('mail.test', server.port, 5_000);
      if (!connected.ok) throw new Error(connected.message);
      let text = '';
      for await (const chunk of connected.socket) text += String(chunk);
      expect(text).toBe('220 ready\r\n');
    });

    it('does not reach a refused host and port by any spelling, whatever is allowed, but reaches its other ports', async () => {
      const own = await up(serveRaw((socket) => socket.end('220 ready\r\n')));
      const other = await up(serveRaw((socket) => socket.end('220 ready\r\n')));
      const within = new Map([
        ['mapped.test', '::ffff:127.0.0.1'],
        ['nat64.test', '64:ff9b::7f00:1'],
        ['6to4.test', '2002:7f00:1::'],
      ]);
      const outbound = door({
        egressAllow: ['0.0.0.0/0', '::/0', 'db.test', '*.test', 'localhost'],
        refusedHosts: [`db.test:${own.port}`],
        resolve: (name) => Promise.resolve([within.get(name) ?? '127.0.0.1']),
      });
      const spellings = ['db.test', 'DB.test.', 'other.test', ...within.keys(), '127.0.0.1', '127.1', '0.0.0.0', '::1'];
      for (const host of [...spellings, '::ffff:7f00:1', 'localhost', '127.0.0.9']) {
        const connected = await outbound.connect(host, own.port, 5_000);
        expect([host, connected]).toMatchObject([host, { ok: false, reason: 'address_denied' }]);
      }
      expect((await failureOf(outbound, `http://db.test:${own.port}/`)).reason).toBe('address_denied');
      const connected = await outbound.connect('db.test', other.port, 5_000);
      expect(connected.ok).toBe(true);
      if (connected.ok) connected.socket.destroy();
    });

    it('reaches a trusted host and port at any address, but no other, and not by HTTP', async () => {
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
    ])('is refused to %j port %s', async (host, port) => {
      expect(await door().connect(host, port, 1_000)).toMatchObject({
        ok: false,
        reason: 'invalid_url',
        sent: false,
      });
    });

    it('fails with a reason where it cannot be opened', async () => {
      const server = await serveHttp(() => undefined);
      await server.close();
      expect(await door().connect('127.0.0.1', server.port, 1_000)).toMatchObject({ reason: 'connect_failed' });
      const never = door({ resolve: () => new Promise(() => undefined) });
      expect(await never.connect('slow.test', 25, 30)).toMatchObject({ reason: 'timed_out' });
    });
  });
}

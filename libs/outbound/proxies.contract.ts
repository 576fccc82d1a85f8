/** The promises about proxies. */
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { serveHttp, serveHttps, serveRaw, type Loopback } from './loopback.contract.js';
import { createKit, textOf, type CreateOutbound } from './kit.contract.js';

export function describeProxies(create: CreateOutbound): void {
  const { up, door, answerOf, failureOf } = createKit(create);

  describe('a proxy', () => {
    interface ProxySeen {
      readonly server: Loopback;
      readonly heads: string[];
    }

    /** A forward proxy that notes what it is asked, and sends everything on to `target`. */
    async function proxyTo(target: Loopback, status = '200 Connection established'): Promise<ProxySeen> {
      const heads: string[] = [];
      const relay = (client: Socket, first: Buffer): void => {
        const text = first.toString('latin1');
        heads.push(text.slice(0, text.indexOf('\r\n\r\n')));
        if (!text.startsWith('CONNECT ') || !status.startsWith('2')) {
          client.end(`HTTP/1.1 ${status}\r\n\r\n`);
          return;
        }
        const next = connect(target.port, '127.0.0.1', () => {
          client.write(`HTTP/1.1 ${status}\r\n\r\n`);
          client.pipe(next).pipe(client);
        });
        next.on('error', () => client.destroy());
        client.on('close', () => next.destroy());
      };
      const server = await up(serveRaw((socket) => socket.once('data', (first) => relay(socket, first))));
      return { server, heads };
    }

    it.each(['egress', 'request'])(
      'never learns the host name of an http page, which it could resolve anew (%s)',
      async (which) => {
        const page = await up(serveHttp((request, response) => response.end(JSON.stringify(request.rawHeaders))));
        const proxy = await proxyTo(page);
        const url = `http://us%65r:p%40ss@127.0.0.1:${proxy.server.port}`;
        const outbound = door(which === 'egress' ? { egressProxyUrl: url } : {});
        const extra = { headers: { 'Proxy-Authorization': 'mine' }, ...(which === 'egress' ? {} : { proxyUrl: url }) };
        const answer = await answerOf(outbound, `http://page.test:${page.port}/a?b`, extra);
        expect(textOf(answer)).toContain(`page.test:${page.port}`);
        expect(textOf(answer)).not.toMatch(/mine|proxy-authorization/i);
        const [head] = proxy.heads;
        expect(head).toContain(`CONNECT 127.0.0.1:${page.port} HTTP/1.1`);
        expect(head).toContain(`Proxy-Authorization: Basic ${btoa('user:p@ss')}`);
        expect(proxy.heads.join()).not.toContain('page.test');
      },
    );

    it.each(['egress', 'request'])(
      'is asked for a tunnel to the checked address of an https page (%s)',
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

    it('does not replace the check of the target address', async () => {
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

    it('has its address checked where a user sets it, but not where the operator does', async () => {
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

    it('of a user is reached through the proxy of the operator', async () => {
      const page = await up(serveHttp((request, response) => response.end(request.url)));
      const inner = await proxyTo(page);
      const outer = await proxyTo(inner.server);
      const outbound = door({ egressProxyUrl: `http://127.0.0.1:${outer.server.port}` });
      const proxyUrl = `http://127.0.0.1:${inner.server.port}`;
      const answer = await answerOf(outbound, `http://page.test:${page.port}/x`, { proxyUrl });
      expect(textOf(answer)).toBe('/x');
      expect(outer.heads[0]).toContain(`CONNECT 127.0.0.1:${inner.server.port} `);
      expect(inner.heads[0]).toContain(`CONNECT 127.0.0.1:${page.port} `);
    });

    it.each([['407 Proxy Authentication Required'], ['403 Forbidden'], ['502 Bad Gateway']])(
      'that answers %s is named in the failure, without its credentials',
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

    it.each([['SSH-2.0\r\n\r\n'], ['x'.repeat(40_000)], ['']])(
      'that does not speak HTTP fails with connect_failed',
      async (bytes) => {
        const proxy = await up(serveRaw((socket) => socket.once('data', () => socket.end(bytes))));
        const failure = await failureOf(door(), 'https://page.test/', { proxyUrl: proxy.origin });
        expect(failure).toMatchObject({ reason: 'connect_failed', sent: false });
      },
    );

    it.each(['', 'nonsense', 'socks5://127.0.0.1:1080', 'http://a..b'])('given as %j is refused', async (proxyUrl) => {
      expect((await failureOf(door(), 'http://page.test/', { proxyUrl })).reason).toBe('invalid_url');
    });
  });
}

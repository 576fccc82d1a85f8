import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { onHead, serveHttp, serveHttps, serveRaw, testCertificate, type Loopback } from './loopback.contract.js';
import { describeOutbound } from './outbound.contract.js';
import type { Outbound, OutboundRequest } from './outbound.js';
import { createOutbound, type OutboundOptions } from './undici.js';

const base: OutboundOptions = { egressAllow: ['127.0.0.0/8'], egressProxyUrl: null, userAgent: 'Spec/1.0' };

const trusted = getCACertificates('default');
beforeEach(() => setDefaultCACertificates(trusted));

describeOutbound('undici', (options) => createOutbound({ ...base, ...options }));

describe('the undici door', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    setDefaultCACertificates(trusted);
  });

  function door(options: Partial<OutboundOptions> = {}): Outbound {
    const outbound = createOutbound({ ...base, resolve: () => Promise.resolve(['127.0.0.1']), ...options });
    closers.push(() => outbound.close());
    return outbound;
  }

  async function up(server: Promise<Loopback>): Promise<Loopback> {
    const loopback = await server;
    closers.push(() => loopback.close());
    return loopback;
  }

  const get = (url: string, extra: Partial<OutboundRequest> = {}): OutboundRequest => ({
    method: 'GET',
    url,
    headers: {},
    timeoutMs: 20_000,
    maxBodyBytes: 1_000_000,
    onBodyLimit: 'fail',
    maxRedirects: 5,
    ...extra,
  });

  it('uses a connection again', async () => {
    const server = await up(serveHttp((_request, response) => response.end('x'.repeat(10_000))));
    const outbound = door();
    for (let i = 0; i < 20; i += 1) expect((await outbound.request(get(server.origin))).ok).toBe(true);
    expect(server.connections()).toBe(1);
  });

  it('uses the connection of a redirect again', async () => {
    const server = await up(
      serveHttp((request, response) => {
        if (request.url === '/') response.writeHead(302, { location: '/end' }).end('moved');
        else response.end('end');
      }),
    );
    expect((await door().request(get(server.origin))).ok).toBe(true);
    expect(server.connections()).toBe(1);
  });

  it('does not use a connection again whose answer was cut or failed', async () => {
    const server = await up(serveHttp((_request, response) => response.end('x'.repeat(10_000))));
    const outbound = door();
    await outbound.request(get(server.origin, { maxBodyBytes: 10, onBodyLimit: 'cut' }));
    await outbound.request(get(server.origin, { maxBodyBytes: 10 }));
    await outbound.request(get(server.origin));
    expect(server.connections()).toBe(3);
  });

  it('uses a connection again whose answer came whole but could not be read', async () => {
    const server = await up(
      serveHttp((_request, response) => response.setHeader('content-encoding', 'gzip').end('no gzip')),
    );
    const outbound = door({ limits: { connectionsPerOrigin: 1 } });
    const answers = await Promise.all([1, 2, 3].map(() => outbound.request(get(server.origin))));
    expect(answers.map((answer) => (answer.ok ? 'ok' : answer.reason))).toEqual(Array(3).fill('bad_encoding'));
    expect(server.connections()).toBe(1);
  });

  /** Answers the first request of each connection, and closes it at the second without a word. */
  function closesAtSecond(): Promise<Loopback> {
    return serveRaw((socket) => {
      let count = 0;
      onHead(socket, () => {
        count += 1;
        if (count === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        else socket.destroy();
      });
    });
  }

  it('asks again, once, where a kept connection turns out to be closed', async () => {
    const server = await up(closesAtSecond());
    const outbound = door();
    for (let i = 0; i < 3; i += 1) expect(await outbound.request(get(server.origin))).toMatchObject({ ok: true });
    expect(server.connections()).toBe(3);
  });

  it('does not send a POST twice where a kept connection turns out to be closed', async () => {
    const server = await up(closesAtSecond());
    const outbound = door();
    await outbound.request(get(server.origin));
    const second = await outbound.request(get(server.origin, { method: 'POST', body: 'x' }));
    expect(second).toMatchObject({ ok: false, reason: 'connect_failed', sent: true });
  });

  it('closes the oldest idle connection where there are too many', async () => {
    const servers = await Promise.all([0, 1, 2].map(() => up(serveHttp((_request, response) => response.end('ok')))));
    const outbound = door({ limits: { idleConnections: 2 } });
    for (const server of servers) await outbound.request(get(server.origin));
    await servers[0]?.whenOpen(0);
    for (const server of servers.slice(1)) await outbound.request(get(server.origin));
    expect(servers.map((server) => server.connections())).toEqual([1, 1, 1]);
  });

  it('closes its connections at the end', async () => {
    const server = await up(serveHttp((_request, response) => response.end('ok')));
    const outbound = door();
    await Promise.all([1, 2, 3].map(() => outbound.request(get(server.origin))));
    await outbound.close();
    await server.whenOpen(0);
  });

  it('names itself, unless the caller does', async () => {
    const server = await up(
      serveHttp((request, response) =>
        response.end(`${request.headers['user-agent']} ${request.headers['accept-encoding']}`),
      ),
    );
    const outbound = door();
    const text = async (headers: Record<string, string>): Promise<string> => {
      const answer = await outbound.request(get(server.origin, { headers }));
      return answer.ok ? new TextDecoder().decode(answer.body) : answer.reason;
    };
    expect(await text({})).toBe('Spec/1.0 gzip, deflate, br, zstd');
    expect(await text({ 'User-Agent': 'Mine', 'accept-Encoding': 'identity' })).toBe('Mine identity');
  });

  it('refuses a compressed body that is too long on the wire', async () => {
    const server = await up(
      serveHttp((_request, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end(Buffer.alloc(60_000));
      }),
    );
    const outbound = door({ limits: { wireBytes: 50_000 } });
    expect(await outbound.request(get(server.origin))).toMatchObject({ reason: 'too_large' });
  });

  describe('over TLS', () => {
    it('checks the certificate against the name that was asked for', async () => {
      setDefaultCACertificates([...trusted, testCertificate]);
      const server = await up(serveHttps((request, response) => response.end(request.headers.host)));
      const outbound = door();
      for (const host of ['localhost', 'named.test', '127.0.0.1', 'named.test.']) {
        const answer = await outbound.request(get(`https://${host}:${server.port}/`));
        expect([host, answer.ok ? new TextDecoder().decode(answer.body) : answer.message]).toEqual([
          host,
          `${host}:${server.port}`,
        ]);
      }
      for (const host of ['other.test', '127.0.0.2']) {
        const answer = await outbound.request(get(`https://${host}:${server.port}/`));
        expect(answer).toMatchObject({ ok: false, sent: false });
        if (host === 'other.test') expect(answer).toMatchObject({ reason: 'tls_failed' });
      }
    });

    it('drops credentials where a redirect leaves TLS', async () => {
      setDefaultCACertificates([...trusted, testCertificate]);
      const plain = await up(
        serveHttp((request, response) => response.end(request.headers.authorization ?? 'no credentials')),
      );
      const secure = await up(
        serveHttps((_request, response) => response.writeHead(302, { location: `${plain.origin}/` }).end()),
      );
      const answer = await door().request(
        get(`https://127.0.0.1:${secure.port}/`, { headers: { authorization: 'x' } }),
      );
      expect(answer.ok ? new TextDecoder().decode(answer.body) : answer.message).toBe('no credentials');
    });

    it('reaches a secure page through a tunnel, and by a proxy that speaks TLS itself', async () => {
      setDefaultCACertificates([...trusted, testCertificate]);
      const page = await up(serveHttps((_request, response) => response.end('tunnelled')));
      const { connect } = await import('node:net');
      const { createServer } = await import('node:http');
      const http = createServer();
      http.on('connect', (request, socket) => {
        const next = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          next.pipe(socket).pipe(next);
        });
        next.on('error', () => socket.destroy());
        socket.on('error', () => next.destroy()).on('close', () => next.destroy());
      });
      const plainProxy = await up(serveRaw((socket) => http.emit('connection', socket)));
      const secureProxy = await up(
        serveHttps((_request, response) => response.writeHead(405).end()).then((server) => server),
      );
      const outbound = door();
      const answer = await outbound.request(
        get(`https://named.test:${page.port}/`, { proxyUrl: `http://127.0.0.1:${plainProxy.port}` }),
      );
      expect(answer.ok ? new TextDecoder().decode(answer.body) : answer.message).toBe('tunnelled');
      const refused = await outbound.request(
        get(`https://named.test:${page.port}/`, { proxyUrl: `https://127.0.0.1:${secureProxy.port}` }),
      );
      expect(refused).toMatchObject({ ok: false, reason: 'connect_failed', sent: false });
    });
  });

  it.each([
    [{ egressAllow: ['10.0.0.0/99'] }, '10.0.0.0/99'],
    [{ egressProxyUrl: 'socks5://user:hidden@x' }, 'http://proxy.example.com:3128'],
    [{ trustedHosts: ['mail.test'] }, 'mail.test'],
    [{ trustedHosts: ['mail.test:0'] }, 'mail.test:0'],
  ])('says what is wrong with its settings: %j', (options, words) => {
    expect(() => createOutbound({ ...base, ...options })).toThrow(TypeError);
    expect(() => createOutbound({ ...base, ...options })).toThrow(words);
    expect(() => createOutbound({ ...base, ...options })).not.toThrow('hidden');
  });
});

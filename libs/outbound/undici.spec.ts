import { X509Certificate } from 'node:crypto';
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

describe('the undici outbound adapter', () => {
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

  it('reuses a connection', async () => {
    const server = await up(serveHttp((_request, response) => response.end('x'.repeat(10_000))));
    const outbound = door();
    for (let i = 0; i < 20; i += 1) expect((await outbound.request(get(server.origin))).ok).toBe(true);
    expect(server.connections()).toBe(1);
  });

  it('opens a new connection after an answer with Connection: close', async () => {
    const server = await up(serveHttp((_request, response) => response.setHeader('connection', 'close').end('ok')));
    const outbound = door({ limits: { connectionsPerOrigin: 1 } });
    for (const method of ['GET', 'POST', 'POST', 'GET']) {
      expect(await outbound.request(get(server.origin, { method }))).toMatchObject({ ok: true });
    }
    expect(server.connections()).toBe(4);
    await server.whenOpen(0);
  });

  it('reuses the connection of a redirect', async () => {
    const server = await up(
      serveHttp((request, response) => {
        if (request.url === '/') response.writeHead(302, { location: '/end' }).end('moved');
        else response.end('end');
      }),
    );
    expect((await door().request(get(server.origin))).ok).toBe(true);
    expect(server.connections()).toBe(1);
  });

  it('does not reuse a connection whose answer was cut or failed', async () => {
    const server = await up(serveHttp((_request, response) => response.end('x'.repeat(10_000))));
    const outbound = door();
    await outbound.request(get(server.origin, { maxBodyBytes: 10, onBodyLimit: 'cut' }));
    await outbound.request(get(server.origin, { maxBodyBytes: 10 }));
    await outbound.request(get(server.origin));
    expect(server.connections()).toBe(3);
  });

  it('reuses a connection whose answer was received completely but could not be decoded', async () => {
    const server = await up(
      serveHttp((_request, response) => response.setHeader('content-encoding', 'gzip').end('no gzip')),
    );
    const outbound = door({ limits: { connectionsPerOrigin: 1 } });
    const answers = await Promise.all([1, 2, 3].map(() => outbound.request(get(server.origin))));
    expect(answers.map((answer) => (answer.ok ? 'ok' : answer.reason))).toEqual(Array(3).fill('bad_encoding'));
    expect(server.connections()).toBe(1);
  });

  /** Answers the first request of each connection, and closes the connection at the second. */
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

  it('repeats a GET once where a reused connection turns out to be closed', async () => {
    const server = await up(closesAtSecond());
    const outbound = door();
    for (let i = 0; i < 3; i += 1) expect(await outbound.request(get(server.origin))).toMatchObject({ ok: true });
    expect(server.connections()).toBe(3);
  });

  it('does not repeat a POST where a reused connection turns out to be closed', async () => {
    const server = await up(closesAtSecond());
    const outbound = door();
    await outbound.request(get(server.origin));
    const second = await outbound.request(get(server.origin, { method: 'POST', body: 'x' }));
    expect(second).toMatchObject({ ok: false, reason: 'connect_failed', sent: true });
  });

  it('closes the oldest idle connection above the limit for idle ones', async () => {
    const servers = await Promise.all([0, 1, 2].map(() => up(serveHttp((_request, response) => response.end('ok')))));
    const outbound = door({ limits: { idleConnections: 2 } });
    for (const server of servers) await outbound.request(get(server.origin));
    await servers[0]?.whenOpen(0);
    for (const server of servers.slice(1)) await outbound.request(get(server.origin));
    expect(servers.map((server) => server.connections())).toEqual([1, 1, 1]);
  });

  it('closes the connections above the limit for idle ones, also where all of them lead to one origin', async () => {
    const waiting: (() => void)[] = [];
    const server = await up(
      serveHttp((_request, response) => {
        waiting.push(() => response.end('ok'));
        if (waiting.length === 5) for (const answer of waiting) answer();
      }),
    );
    const outbound = door({ limits: { idleConnections: 2 } });
    await Promise.all([1, 2, 3, 4, 5].map(() => outbound.request(get(server.origin))));
    expect(server.connections()).toBe(5);
    await server.whenOpen(2);
  });

  it('does not repeat a GET on a new connection that is closed before the answer', async () => {
    let requests = 0;
    const server = await up(
      serveRaw((socket) =>
        onHead(socket, () => {
          requests += 1;
          socket.destroy();
        }),
      ),
    );
    expect(await door().request(get(server.origin))).toMatchObject({ reason: 'connect_failed', sent: true });
    expect(requests).toBe(1);
  });

  it('opens no connection for a request that is aborted during its DNS lookup', async () => {
    const server = await up(serveHttp((_request, response) => response.end('ok')));
    const lookup = Promise.withResolvers<readonly string[]>();
    const asked = Promise.withResolvers<void>();
    const outbound = door({
      resolve: () => {
        asked.resolve();
        return lookup.promise;
      },
    });
    const caller = new AbortController();
    const pending = outbound.request(get(`http://named.test:${server.port}/`, { signal: caller.signal }));
    await asked.promise;
    caller.abort();
    expect(await pending).toMatchObject({ reason: 'aborted', sent: false });
    lookup.resolve(['127.0.0.1']);
    await outbound.request(get(server.origin));
    expect(server.connections()).toBe(1);
  });

  it('frees the connection slot of a request that times out during its DNS lookup', async () => {
    const server = await up(serveHttp((_request, response) => response.end('ok')));
    const lookups = [new Promise<readonly string[]>(() => undefined), Promise.resolve(['127.0.0.1'])];
    const outbound = door({
      limits: { connectionsPerOrigin: 1 },
      resolve: () => lookups.shift() ?? Promise.resolve([]),
    });
    const url = `http://named.test:${server.port}/`;
    expect(await outbound.request(get(url, { timeoutMs: 50 }))).toMatchObject({ reason: 'timed_out' });
    expect(await outbound.request(get(url))).toMatchObject({ ok: true });
  });

  it('neither sends a request that timed out in the queue nor spends a connection on it', async () => {
    const paths: (string | undefined)[] = [];
    const first = Promise.withResolvers<() => void>();
    const server = await up(
      serveHttp((request, response) => {
        paths.push(request.url);
        if (request.url === '/first') first.resolve(() => response.end('ok'));
        else response.end('ok');
      }),
    );
    const outbound = door({ limits: { connectionsPerOrigin: 1 } });
    const pending = outbound.request(get(`${server.origin}/first`));
    const answerFirst = await first.promise;
    const late = await outbound.request(get(`${server.origin}/late`, { method: 'POST', body: 'x', timeoutMs: 50 }));
    expect(late).toMatchObject({ reason: 'timed_out', sent: false });
    answerFirst();
    await pending;
    await outbound.request(get(`${server.origin}/next`));
    expect(paths).toEqual(['/first', '/next']);
    expect(server.connections()).toBe(1);
  });

  it('closes its connections when it is closed', async () => {
    const server = await up(serveHttp((_request, response) => response.end('ok')));
    const outbound = door();
    await Promise.all([1, 2, 3].map(() => outbound.request(get(server.origin))));
    await outbound.close();
    await server.whenOpen(0);
  });

  it('sends its own User-Agent and Accept-Encoding unless the caller sets them', async () => {
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

  it('refuses a compressed body that is above the limit for bytes on the wire', async () => {
    const server = await up(
      serveHttp((_request, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end(Buffer.alloc(60_000));
      }),
    );
    const outbound = door({ limits: { wireBytes: 50_000 } });
    expect(await outbound.request(get(server.origin))).toMatchObject({ reason: 'too_large' });
  });

  describe('over TLS connections', () => {
    it('checks the certificate against the requested host name', async () => {
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

    const shown = new X509Certificate(testCertificate).fingerprint256;
    const isTaken = async (outbound: Outbound, url: string, extra: Partial<OutboundRequest> = {}) => {
      const answer = await outbound.request(get(url, extra));
      return answer.ok ? 'taken' : [answer.reason, answer.sent];
    };
    const refused = ['tls_failed', false];

    it('says of a server that it does not speak TLS', async () => {
      const server = await up(serveHttp((_request, response) => response.end('x')));
      const answer = await door().request(get(`https://127.0.0.1:${server.port}/`));
      const message = 'What answers there does not speak TLS.';
      expect(answer).toMatchObject({ ok: false, reason: 'tls_failed', message, sent: false });
    });

    it("takes what the operator's authorities signed, and the usual ones as before", async () => {
      const server = await up(serveHttps((_request, response) => response.end('x')));
      expect(await isTaken(door(), server.origin)).toEqual(refused);
      expect(await isTaken(door({ authorities: testCertificate }), server.origin)).toBe('taken');
    });

    it('takes an authority of the request, for the names of its certificate alone', async () => {
      const server = await up(serveHttps((_request, response) => response.end('x')));
      const outbound = door();
      const trust = { ca: testCertificate };
      expect(await isTaken(outbound, server.origin, { trust })).toBe('taken');
      expect(await isTaken(outbound, `https://other.test:${server.port}/`, { trust })).toEqual(refused);
      // The connection that is open now is not one for requests that trust less.
      expect(await isTaken(outbound, server.origin)).toEqual(refused);
    });

    it.each([
      ['with colons', shown],
      ['without', shown.replaceAll(':', '').toLowerCase()],
      ['as OpenSSL prints it', `SHA256=${shown}`],
    ])('takes the one certificate of a fingerprint %s, whatever it is for', async (_, fingerprint) => {
      const server = await up(serveHttps((_request, response) => response.end('x')));
      const url = `https://other.test:${server.port}/`;
      const answer = await door().request(get(url, { trust: { fingerprint } }));
      expect(answer.ok ? answer.certificate?.fingerprint : answer.message).toBe(shown);
    });

    it('sends nothing to a server with another certificate than that of the fingerprint, and names it', async () => {
      let requests = 0;
      const server = await up(serveHttps((_request, response) => response.end(String((requests += 1)))));
      const trust = { fingerprint: shown.replace(/^../, shown.startsWith('00') ? '01' : '00') };
      const outbound = door({ authorities: testCertificate });
      const answer = await outbound.request(get(server.origin, { trust }));
      expect(answer).toMatchObject({ ok: false, reason: 'tls_failed', sent: false });
      expect(answer.ok ? '' : answer.message).toContain(shown);
      expect(requests).toBe(0);
    });

    it('does not trust the host of a redirect as the one that was asked for', async () => {
      const other = await up(serveHttps((_request, response) => response.end('x')));
      const location = `https://named.test:${other.port}/`;
      const server = await up(serveHttps((_request, response) => response.writeHead(302, { location }).end()));
      const url = `https://127.0.0.1:${server.port}/`;
      const trust = { fingerprint: shown };
      expect(await isTaken(door(), url, { trust, maxRedirects: 5 })).toEqual(['tls_failed', true]);
    });

    it('hands over the certificate of the server that answered', async () => {
      const secure = await up(serveHttps((_request, response) => response.end('x')));
      const plain = await up(serveHttp((_request, response) => response.end('x')));
      const outbound = door({ authorities: testCertificate });
      for (const url of [secure.origin, secure.origin]) {
        const answer = await outbound.request(get(url));
        expect(answer.ok ? answer.certificate : answer.message).toMatchObject({
          validTo: '2099-12-31T23:59:59.000Z',
          subject: 'CN=localhost',
          fingerprint: shown,
        });
      }
      const answer = await outbound.request(get(plain.origin));
      expect(answer.ok ? answer.certificate : answer.message).toBeNull();
    });

    it('drops credentials where a redirect leads from https to http', async () => {
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

    it('reaches an https page through a tunnel, and fails where an https proxy refuses one', async () => {
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
  ])('names the bad entry of its settings: %j', (options, words) => {
    expect(() => createOutbound({ ...base, ...options })).toThrow(TypeError);
    expect(() => createOutbound({ ...base, ...options })).toThrow(words);
    expect(() => createOutbound({ ...base, ...options })).not.toThrow('hidden');
  });
});

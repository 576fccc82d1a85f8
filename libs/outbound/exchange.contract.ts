/** The promises about requests, answers and their time limits. */
import { describe, expect, it } from '@jest/globals';
import { onHead, serveBytes, serveHttp, serveHttps, serveRaw } from './loopback.contract.js';
import { createKit, textOf, type CreateOutbound } from './kit.contract.js';

export function describeExchanges(create: CreateOutbound): void {
  const { up, door, ask, answerOf, failureOf } = createKit(create);

  describe('an exchange', () => {
    it('sends the method, headers and body, and returns status, headers and body', async () => {
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

    it('sends a body of bytes unchanged', async () => {
      const server = await up(serveHttp((request, response) => request.pipe(response)));
      const bytes = Uint8Array.from([0, 255, 128, 13, 10]);
      const answer = await answerOf(door(), server.origin, { method: 'PUT', body: bytes });
      expect([...answer.body]).toEqual([...bytes]);
    });

    it('ignores request headers that belong to the connection', async () => {
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

    it('accepts the empty bodies of HEAD, 204 and 304, with or without a Content-Encoding', async () => {
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

    it('accepts an answer that ends with its connection', async () => {
      const server = await up(serveBytes('HTTP/1.1 200 OK\r\n\r\nall of it', true));
      expect(textOf(await answerOf(door(), server.origin))).toBe('all of it');
    });

    it('skips an early hint (103) before the answer', async () => {
      const server = await up(
        serveBytes('HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
      );
      expect(textOf(await answerOf(door(), server.origin))).toBe('ok');
    });

    it('fails on a flood of early hints', async () => {
      const server = await up(
        serveRaw((socket) =>
          onHead(socket, () => {
            const more = (): void => {
              while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(100)));
            };
            socket.on('drain', more);
            more();
          }),
        ),
      );
      expect((await failureOf(door(), server.origin)).reason).toBe('protocol_error');
    });

    it('returns headers that are named like properties of Object.prototype', async () => {
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

    it('gets its own answer among many concurrent ones', async () => {
      const server = await up(serveHttp((request, response) => response.end(request.url)));
      const outbound = door({ limits: { connectionsPerOrigin: 4 } });
      const paths = Array.from({ length: 100 }, (_, index) => `/${index}`);
      const answers = await Promise.all(paths.map((path) => answerOf(outbound, server.origin + path)));
      expect(answers.map(textOf)).toEqual(paths);
      expect(server.connections()).toBeLessThanOrEqual(4);
    });
  });

  describe('a bad answer or connection', () => {
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
    it.each(cases)('fails with a reason where the answer %s', async (_name, bytes, reason) => {
      const server = await up(serveBytes(bytes, true));
      const failure = await failureOf(door(), server.origin);
      expect([failure.reason, failure.sent]).toEqual([reason, true]);
      await server.whenOpen(0);
    });

    it('does not pass bytes after a complete answer to the next request', async () => {
      const server = await up(
        serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'),
      );
      const outbound = door();
      for (let i = 0; i < 5; i += 1) {
        const answer = await ask(outbound, server.origin);
        expect(answer.ok ? textOf(answer) : answer.reason).toBe('ok');
      }
    });

    it('fails with connect_failed at a port where nothing listens', async () => {
      const server = await serveHttp(() => undefined);
      await server.close();
      expect(await failureOf(door(), server.origin)).toMatchObject({ reason: 'connect_failed', sent: false });
    });

    it('fails with connect_failed where the connection is reset', async () => {
      const server = await up(serveRaw((socket) => onHead(socket, () => socket.resetAndDestroy())));
      expect(await failureOf(door(), server.origin)).toMatchObject({ reason: 'connect_failed', sent: true });
    });

    it('fails with tls_failed at an untrusted certificate, before anything is sent', async () => {
      const server = await up(serveHttps((_request, response) => response.end('secret')));
      const failure = await failureOf(door(), server.origin);
      expect(failure).toMatchObject({ reason: 'tls_failed', sent: false });
      expect(failure.message).toContain('self-signed');
    });

    it('fails with tls_failed at a server that does not speak TLS', async () => {
      const server = await up(serveBytes('HTTP/1.1 400 Bad Request\r\n\r\n', true));
      const plain = await up(serveRaw((socket) => socket.end('220 hello\r\n')));
      for (const { port } of [server, plain]) {
        const failure = await failureOf(door({ limits: { connectMs: 300 } }), `https://127.0.0.1:${port}/`);
        expect(failure).toMatchObject({ reason: 'tls_failed', sent: false });
      }
    });
  });

  describe('a time limit', () => {
    it('ends a request whose answer does not begin', async () => {
      const server = await up(serveHttp(() => undefined));
      const slow = await failureOf(door(), server.origin, { timeoutMs: 40 });
      expect(slow).toMatchObject({ reason: 'timed_out', sent: true });
      expect(slow.message).toContain('did not begin within 0.04 s');
      await server.whenOpen(0);
    });

    it('leaves all of it to an answer that takes long to begin, however slow a body may be', async () => {
      const server = await up(serveHttp((_request, response) => void setTimeout(() => response.end('late'), 150)));
      const answer = await answerOf(door({ limits: { trickleWindowMs: 20 } }), server.origin);
      expect(new TextDecoder().decode(answer.body)).toBe('late');
    });

    it('ends a request whose body does not end', async () => {
      const server = await up(serveHttp((_request, response) => response.write('x')));
      expect((await failureOf(door(), server.origin, { timeoutMs: 60 })).reason).toBe('timed_out');
      await server.whenOpen(0);
    });

    it('ends a body that arrives too slowly', async () => {
      const server = await up(
        serveHttp((_request, response) => {
          const timer = setInterval(() => response.write('x'), 5);
          response.on('close', () => clearInterval(timer));
        }),
      );
      const failure = await failureOf(door({ limits: { trickleWindowMs: 60 } }), server.origin);
      expect(failure.reason).toBe('timed_out');
      expect(failure.message).toContain('slowly');
      await server.whenOpen(0);
    });

    it('does not end a long body that keeps arriving', async () => {
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
      const outbound = door({ limits: { trickleWindowMs: 60 } });
      expect((await answerOf(outbound, server.origin)).body.length).toBe(240_000);
    });

    it('ends a DNS lookup that hangs', async () => {
      const outbound = door({ resolve: () => new Promise(() => undefined) });
      expect(await failureOf(outbound, 'http://slow.test/', { timeoutMs: 30 })).toMatchObject({
        reason: 'timed_out',
        sent: false,
      });
    });

    it('ends the wait for a connection that other requests use', async () => {
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

    it('ends a TLS handshake that hangs', async () => {
      const server = await up(serveRaw((socket) => socket.resume()));
      const url = `https://127.0.0.1:${server.port}/`;
      expect((await failureOf(door({ limits: { connectMs: 30 } }), url)).reason).toBe('tls_failed');
      expect((await failureOf(door(), url, { timeoutMs: 30 })).reason).toBe('timed_out');
      await server.whenOpen(0);
    });

    it('is cut short where the caller aborts the request', async () => {
      const controller = new AbortController();
      const server = await up(serveHttp(() => controller.abort()));
      const outbound = door();
      const given = await failureOf(outbound, server.origin, { signal: controller.signal });
      expect(given).toMatchObject({ reason: 'aborted', sent: true });
      const before = await failureOf(outbound, server.origin, { signal: AbortSignal.abort() });
      expect(before).toMatchObject({ reason: 'aborted', sent: false });
      await server.whenOpen(0);
    });

    it('is cut short where the adapter is closed, and later requests are refused', async () => {
      const outbound = door();
      const server = await up(serveHttp(() => void outbound.close()));
      expect((await failureOf(outbound, server.origin)).reason).toBe('aborted');
      expect(await failureOf(outbound, server.origin)).toMatchObject({ reason: 'aborted', sent: false });
      expect(await outbound.connect('127.0.0.1', server.port, 1_000)).toMatchObject({ reason: 'aborted' });
      await server.whenOpen(0);
    });
  });
}

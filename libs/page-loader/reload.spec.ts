import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { onHead, serveHttp, serveRaw, type Loopback } from '#outbound/loopback.contract';
import { createOutbound } from '#outbound/undici';
import { createHttpPageLoader, type HttpPageLoaderOptions } from './http.js';
import type { KnownPage, PageLoader, PageRequest } from './page-loader.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function loader(
  options: HttpPageLoaderOptions = {},
  resolve?: (name: string) => Promise<readonly string[]>,
): PageLoader {
  const outbound = createOutbound({
    egressAllow: ['127.0.0.0/8'],
    egressProxyUrl: null,
    userAgent: 'Spec/1.0',
    ...(resolve === undefined ? {} : { resolve }),
  });
  const made = createHttpPageLoader(outbound, options);
  closers.push(async () => {
    await made.close();
    await outbound.close();
  });
  return made;
}

/** Answers as scripted, and keeps its requests. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: IncomingMessage[] = [];
  const server: Loopback = await serveHttp((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  closers.push(() => server.close());
  return { origin: server.origin, asked };
}

function ask(url: string, extra: Partial<PageRequest> = {}): PageRequest {
  return {
    url,
    mode: 'http',
    method: 'GET',
    headers: {},
    body: null,
    timeoutMs: 20_000,
    maxBytes: 1_000_000,
    followRedirects: true,
    acceptStatus: ['2xx'],
    userAgent: null,
    proxyUrl: null,
    retry: { attempts: 1, strategy: 'fixed', baseMs: 1 },
    ...extra,
  };
}

const lastModified = 'Wed, 21 Oct 2015 07:28:00 GMT';
const html = { 'content-type': 'text/html' };

describe('a page that was loaded before', () => {
  const known = (finalUrl: string, more: Partial<KnownPage> = {}): KnownPage => ({
    etag: '"1"',
    lastModified,
    finalUrl,
    ...more,
  });

  it('is requested conditionally, and is not sent again where it is unchanged', async () => {
    const { origin, asked } = await serve((_request, response) => {
      response.writeHead(304, { etag: '"1"', 'x-seen': 'now' }).end();
    });
    const url = `${origin}/a?b#c`;
    expect(await loader().loadIfChanged(ask(url), known(url))).toMatchObject({
      ok: true,
      unchanged: true,
      finalUrl: url,
      headers: { 'x-seen': 'now' },
      attempts: 1,
    });
    expect(asked[0]?.headers).toMatchObject({ 'if-none-match': '"1"', 'if-modified-since': lastModified });
  });

  it('is returned whole where it has changed', async () => {
    const { origin } = await serve((_request, response) => void response.writeHead(200, html).end('<p>2'));
    const page = await loader().loadIfChanged(ask(`${origin}/`), known(`${origin}/`));
    expect(page).toMatchObject({ ok: true, status: 200, contentKind: 'html' });
    expect(page).not.toHaveProperty('unchanged');
  });

  it.each([
    ['a tag alone', { lastModified: null }, { 'if-none-match': '"1"' }],
    ['a date alone', { etag: null }, { 'if-modified-since': lastModified }],
    ['a weak tag', { etag: 'W/"x"', lastModified: null }, { 'if-none-match': 'W/"x"' }],
    ['a tag that is no header', { etag: 'a\r\nx: y', lastModified: null }, {}],
    ['a tag without end', { etag: 'x'.repeat(300), lastModified: null }, {}],
    ['a date that is none', { etag: null, lastModified: 'yesterday' }, {}],
    ['nothing', { etag: null, lastModified: null }, {}],
  ])('is requested by the validators that the server gave: %s', async (_, more, sent) => {
    const { origin, asked } = await serve((_request, response) => void response.writeHead(200, html).end('x'));
    await loader().loadIfChanged(ask(origin), known(origin, more));
    const headers = Object.entries(asked[0]?.headers ?? {}).filter(([name]) => name.startsWith('if-'));
    expect(Object.fromEntries(headers)).toEqual(sent);
  });

  it.each([
    ['a POST', { method: 'POST' }],
    ['a request that asks so itself', { headers: { 'If-None-Match': '"mine"' } }],
    ['a request for a part', { headers: { Range: 'bytes=0-9' } }],
  ])('is requested unconditionally by %s', async (_, extra) => {
    const { origin, asked } = await serve((_request, response) => void response.writeHead(304).end());
    const page = await loader().loadIfChanged(ask(origin, extra), known(`${origin}/`));
    expect(page).toMatchObject({ ok: false, reason: 'http_status', status: 304 });
    expect(asked[0]?.headers['if-modified-since']).toBe(undefined);
  });

  it('is not taken for unchanged by a 304 from another address', async () => {
    const { origin, asked } = await serve((request, response) => {
      if (request.headers['if-none-match'] !== undefined) response.writeHead(304).end();
      else if (request.url === '/') response.writeHead(302, { location: '/there' }).end();
      else response.writeHead(200, html).end('<p>there');
    });
    const page = await loader().loadIfChanged(ask(`${origin}/`), known(`${origin}/there`));
    expect(page).toMatchObject({ ok: true, status: 200, finalUrl: `${origin}/there` });
    expect(asked.map(({ url }) => url)).toEqual(['/', '/', '/there']);
  });

  it('is recognised as unchanged at the end of a redirect as well', async () => {
    const { origin } = await serve((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/there' }).end();
      else response.writeHead(304).end();
    });
    const page = await loader().loadIfChanged(ask(`${origin}/`), known(`${origin}/there`));
    expect(page).toMatchObject({ ok: true, unchanged: true, finalUrl: `${origin}/there` });
  });

  it('fails with a 304 to an unconditional request', async () => {
    const { origin } = await serve((_request, response) => void response.writeHead(304).end());
    expect(await loader().load(ask(origin))).toMatchObject({ ok: false, reason: 'http_status', status: 304 });
  });
});

describe('a cookie', () => {
  it('of a redirect is sent with the next request of the same load, and with no other load', async () => {
    const { origin, asked } = await serve((request, response) => {
      if (request.url !== '/in') {
        response.writeHead(302, { location: '/in', 'set-cookie': ['sid=1; HttpOnly', 'seen=yes; Path=/'] }).end();
      } else response.writeHead(request.headers.cookie === undefined ? 403 : 200, html).end('in');
    });
    const from = loader();
    expect(await from.load(ask(`${origin}/`))).toMatchObject({ ok: true, status: 200 });
    expect(asked.map(({ headers }) => headers.cookie)).toEqual([undefined, 'sid=1; seen=yes']);
    expect(await from.load(ask(`${origin}/in`))).toMatchObject({ ok: false, status: 403 });
  });

  it('is not sent to another origin', async () => {
    const other = await serve((_request, response) => void response.writeHead(200, html).end('x'));
    const { origin } = await serve((_request, response) => {
      response
        .writeHead(302, { location: other.origin.replace('127.0.0.1', 'localhost'), 'set-cookie': 'sid=1' })
        .end();
    });
    expect(await loader().load(ask(origin, { headers: { cookie: 'mine=1' } }))).toMatchObject({ ok: true });
    expect(other.asked[0]?.headers.cookie).toBe(undefined);
  });
});

describe('a site that answers with Retry-After', () => {
  async function busyOnce() {
    let count = 0;
    return serve((_request, response) => {
      count += 1;
      if (count === 1) response.writeHead(429, { 'retry-after': '30' }).end();
      else response.writeHead(200, html).end('x');
    });
  }

  it('is not requested by the next load either, which reports the pause', async () => {
    const { origin, asked } = await busyOnce();
    const from = loader();
    expect(await from.load(ask(origin))).toMatchObject({ ok: false, status: 429, attempts: 1 });
    const second = await from.load(ask(`${origin}/other`));
    expect(second).toMatchObject({ ok: false, reason: 'http_status', status: 429, attempts: 0 });
    expect(second).toHaveProperty(
      'message',
      expect.stringMatching(/asked to be left alone \(Retry-After\), for another \d+ s/),
    );
    expect(asked.length).toBe(1);
  });

  it('is waited for where the time limit allows', async () => {
    const { origin } = await busyOnce();
    const waits: number[] = [];
    const from = loader({ sleep: async (ms) => void waits.push(Math.ceil(ms / 1_000)) });
    await from.load(ask(origin));
    expect(await from.load(ask(origin, { timeoutMs: 60_000 }))).toMatchObject({ ok: true });
    expect(waits).toEqual([30]);
  });
});

describe('a page loader whose own network goes down', () => {
  it('says so once many sites in many networks are out of reach, and spares no site for it', async () => {
    const changes: boolean[] = [];
    const server = await serveRaw((socket) => onHead(socket, () => socket.end('HTTP/1.1 204 No Content\r\n\r\n')));
    closers.push(() => server.close());
    const port = new URL(server.origin).port;
    let isUp = true;
    const from = loader({ onOwnNetwork: (isDown) => changes.push(isDown) }, async (name) => {
      const [, site] = /^site-(\d+)\./.exec(name) ?? [];
      return [isUp ? '127.0.0.1' : `127.0.${site}.2`];
    });
    const load = (site: number) => from.load(ask(`http://site-${site}.example:${port}/`));
    const all = async (): Promise<string[]> => {
      const reasons: string[] = [];
      for (let site = 1; site <= 12; site += 1) {
        const page = await load(site);
        reasons.push(page.ok ? 'ok' : page.reason);
      }
      return reasons;
    };
    expect(await all()).toEqual(Array.from({ length: 12 }, () => 'ok'));
    isUp = false;
    expect(await all()).toEqual([
      ...Array.from({ length: 9 }, () => 'connect_failed'),
      ...Array.from({ length: 3 }, () => 'own_network'),
    ]);
    for (let round = 0; round < 7; round += 1)
      expect(await load(1)).toMatchObject({ reason: 'own_network', attempts: 1 });
    expect(changes).toEqual([true]);
  });
});

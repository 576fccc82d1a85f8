import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { createFilteringProxy, type FilteringProxy, type Visit, type VisitLimits } from './filtering-proxy.js';

const usual: VisitLimits = { mostBytes: 1_000_000, mostRequests: 100, proxyUrl: null, onLimit: () => undefined };

let site: Server;
let inner: TcpServer;
let innerConnections: number;
let proxy: FilteringProxy;
let seen: string[];

const portOf = (server: Server | TcpServer): number => (server.address() as AddressInfo).port;

beforeEach(async () => {
  seen = [];
  innerConnections = 0;
  site = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    response.setHeader('x-site', 'yes').end('x'.repeat(1_000));
  });
  inner = createTcpServer((socket) => {
    innerConnections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.2', resolve));
  proxy = await createFilteringProxy({
    egressAllow: ['127.0.0.1/32'],
    egressProxyUrl: null,
    resolve: async (name) => (name === 'rebinds.example' ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.2']),
  });
});
afterEach(async () => {
  await proxy.close();
  site.closeAllConnections();
  await Promise.all([site, inner].map((one) => new Promise((resolve) => one.close(resolve))));
});

const authorizationOf = ({ username, password }: Pick<Visit, 'username' | 'password'>): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

interface Got {
  readonly status: number;
  readonly body: string;
}

/** A plain request in the absolute form that proxies take. */
function get(url: string, authorization: string | null): Promise<Got> {
  return new Promise((resolve, reject) => {
    const headers = authorization === null ? {} : { 'proxy-authorization': authorization };
    const sending = httpRequest(
      proxy.url,
      { path: url, headers: { host: new URL(url).host, ...headers } },
      (answer) => {
        let body = '';
        answer.on('data', (chunk: Buffer) => (body += chunk.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
        answer.on('error', () => resolve({ status: answer.statusCode ?? 0, body }));
      },
    );
    sending.on('error', reject);
    sending.end();
  });
}

/** All that comes back after what was sent in a tunnel. */
function tunnel(authority: string, authorization: string | null, then = ''): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    let text = '';
    const given = authorization === null ? '' : `Proxy-Authorization: ${authorization}\r\n`;
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${given}\r\n`);
    socket.on('data', (chunk) => {
      const isFirst = text === '';
      text += chunk.toString();
      if (isFirst && text.includes(' 200 ')) socket.write(then);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

describe('the proxy of browsers', () => {
  it('passes plain requests and tunnels on, without the way to it, and counts the bytes', async () => {
    const visit = proxy.admit(usual);
    const authority = `127.0.0.1:${portOf(site)}`;
    const got = await get(`http://${authority}/a?b`, authorizationOf(visit));
    expect([got.status, got.body.length]).toEqual([200, 1_000]);
    expect(seen[0]).toMatch(/^GET \/a\?b /);
    expect(seen[0]).not.toContain('proxy-');
    const request = `GET /c HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`;
    expect(await tunnel(authority, authorizationOf(visit), request)).toContain('x-site: yes');
    expect(visit.bytes).toBeGreaterThan(2_000);
    expect(visit.refusals.list).toEqual([]);
  });

  it('lets nobody through without the credentials of a visit that goes on', async () => {
    const authority = `127.0.0.1:${portOf(site)}`;
    const visit = proxy.admit(usual);
    const authorization = authorizationOf(visit);
    const wrong = authorizationOf({ ...visit, username: visit.username, password: 'x' });
    expect(await get(`http://${authority}/`, null)).toMatchObject({ status: 407 });
    expect(await get(`http://${authority}/`, wrong)).toMatchObject({ status: 407 });
    expect(await tunnel(authority, null)).toContain(' 407 ');
    visit.end();
    expect(await get(`http://${authority}/`, authorization)).toMatchObject({ status: 407 });
    expect(await tunnel(authority, authorization)).toContain(' 407 ');
    expect(seen).toEqual([]);
  });

  it.each(['127.0.0.2', 'inner.example', 'rebinds.example', '[::ffff:127.0.0.2]', '2130706434', 'localhost.example'])(
    'never connects to an address that the door denies, and says so: %s',
    async (host) => {
      const visit = proxy.admit(usual);
      const authority = `${host}:${portOf(inner)}`;
      expect(await get(`http://${authority}/`, authorizationOf(visit))).toMatchObject({ status: 403 });
      expect(await tunnel(authority, authorizationOf(visit))).toContain(' 403 ');
      expect(visit.refusals.list.reduce((sum, { count }) => sum + count, 0)).toBe(2);
      expect(visit.refusals.list.every(({ reason }) => reason === 'address_denied')).toBe(true);
      expect(innerConnections).toBe(0);
    },
  );

  it('keeps the first twenty refused addresses, and how often each was asked for', async () => {
    const visit = proxy.admit(usual);
    const asked = Array.from({ length: 25 }, (_, at) => `127.0.0.${at + 2}`);
    for (const host of [...asked, ...asked]) await get(`http://${host}/`, authorizationOf(visit));
    expect(visit.refusals.list).toHaveLength(20);
    expect(visit.refusals.list[0]).toEqual({ address: '127.0.0.2:80', reason: 'address_denied', count: 2 });
  });

  it('ends a visit that takes more bytes or asks more often than it may', async () => {
    const url = `http://127.0.0.1:${portOf(site)}/`;
    const told: string[] = [];
    const onLimit = (what: string): void => void told.push(what);
    const large = proxy.admit({ ...usual, mostBytes: 500, onLimit });
    await get(url, authorizationOf(large)).catch(() => null);
    const often = proxy.admit({ ...usual, mostRequests: 2, onLimit });
    const authorization = authorizationOf(often);
    expect([(await get(url, authorization)).status, (await get(url, authorization)).status]).toEqual([200, 200]);
    await get(url, authorization).catch(() => null);
    expect(told).toEqual(['bytes', 'requests']);
    expect(await get(url, authorization)).toMatchObject({ status: 407 });
  });

  it.each(['ftp://127.0.0.1/', 'https://127.0.0.1/', 'http://user:pass@127.0.0.1/', 'http://127.0.0.1:0/'])(
    'refuses what is no plain request: %s',
    async (url) => {
      const visit = proxy.admit(usual);
      expect(await get(url, authorizationOf(visit))).toMatchObject({ status: 400 });
    },
  );

  it('refuses a tunnel to what is no host and port', async () => {
    const visit = proxy.admit(usual);
    for (const authority of ['127.0.0.1', 'a/b:80', '127.0.0.1:0', '127.0.0.1:99999', ':80']) {
      expect(await tunnel(authority, authorizationOf(visit))).toContain(' 400 ');
    }
  });
});

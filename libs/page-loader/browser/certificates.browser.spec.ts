/** Pages behind certificates that nobody vouches for, in the real Chromium: trusted as plain pages are, and no further. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { serveHttp, serveHttps, testCertificate, type Loopback } from '#outbound/loopback.contract';
import { silentLogger } from '#runtime/logger';
import type { LoadedPage, LoadFailure, PageLoader, PageRequest } from '../page-loader.js';
import { createBrowserPageLoader } from './browser.js';
import { findBrowser } from './find-browser.js';
import { renderedRequest } from './rendered-request.kit.js';

const place = findBrowser({ browser: process.env['CHROMIUM'] ?? 'auto', browserNoSandbox: process.getuid?.() === 0 });
if (!place.ok || 'endpoint' in place) throw new Error('no browser is installed here');
const { executablePath, hasSandbox } = place;
const shown = new X509Certificate(testCertificate).fingerprint256;
const unused = (): Promise<never> => Promise.reject(new Error('no page here is loaded without a browser'));

let folder: string;
let site: Loopback;
let plain: Loopback;
let sockets: WebSocketServer;
const loaders: PageLoader[] = [];
let cautious: PageLoader;
let trusting: PageLoader;

function loaderWith(authorities: string | null, path = executablePath): PageLoader {
  const loader = createBrowserPageLoader({
    http: { load: unused, loadIfChanged: unused, close: async () => undefined },
    place: { ok: true, executablePath: path, hasSandbox },
    door: { egressAllow: ['127.0.0.1/32'], egressProxyUrl: null, authorities, resolve: async () => ['127.0.0.1'] },
    logger: silentLogger,
    processes: 1,
  });
  loaders.push(loader);
  return loader;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-browser-certificates-'));
  sockets = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  sockets.on('connection', (socket) => socket.send('by socket'));
  site = await serveHttps((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.url === '/away') response.writeHead(302, { location: `https://shop.test:${site.port}/` }).end();
    else response.end(`<p id="made"></p><script>made.textContent = 'by script'</script>`);
  });
  plain = await serveHttp((_request, response) => {
    const { port } = sockets.address() as { port: number };
    response.setHeader('content-type', 'text/html');
    response.end(`<p id="made"></p><script>
      new WebSocket('ws://127.0.0.1:${port}').onmessage = ({ data }) => { made.textContent = data; made.className = 'there'; };
    </script>`);
  });
  cautious = loaderWith(null);
  trusting = loaderWith(testCertificate);
}, 60_000);
afterAll(async () => {
  await Promise.all(loaders.map((loader) => loader.close()));
  for (const socket of sockets.clients) socket.terminate();
  await Promise.all([site.close(), plain.close(), new Promise((resolve) => sockets.close(resolve))]);
  await rm(folder, { recursive: true, force: true });
}, 60_000);

function load(
  loader: PageLoader,
  url: string,
  trust?: PageRequest['trust'],
  waitFor = 'load',
): Promise<LoadedPage | LoadFailure> {
  return loader.load(renderedRequest(url, { waitFor }, trust === undefined ? {} : { trust }));
}

function seen(page: LoadedPage | LoadFailure): unknown {
  return page.ok
    ? {
        text: /<p id="made"[^>]*>([^<]*)/.exec(Buffer.from(page.body).toString())?.[1],
        by: page.certificate?.fingerprint,
      }
    : page.reason;
}

const taken = { text: 'by script', by: shown };

describe('the certificate of a rendered page', () => {
  it('ends the visit where nobody vouches for it', async () => {
    expect(seen(await load(cautious, site.origin))).toBe('tls_failed');
  });

  it.each([
    ['its authority', { ca: testCertificate }],
    ['its fingerprint', { fingerprint: shown }],
  ])('is taken where the task names %s, and is on record', async (_, trust) => {
    expect(seen(await load(cautious, site.origin, trust))).toEqual(taken);
  });

  it('is taken where the operator names its authority', async () => {
    expect(seen(await load(trusting, site.origin))).toEqual(taken);
  });

  it('ends the visit where the task names another one, which the failure tells', async () => {
    const fingerprint = shown.replace(/^../, shown.startsWith('00') ? '01' : '00');
    expect(await load(cautious, site.origin, { fingerprint })).toMatchObject({
      ok: false,
      reason: 'tls_failed',
      message: expect.stringContaining(shown),
    });
  });

  it('is trusted at the host of the task and at no other that it leads to', async () => {
    const page = await load(cautious, `${site.origin}/away`, { fingerprint: shown });
    expect(seen(page)).toBe('tls_failed');
  });

  it('is judged by its name too, under an authority that is trusted', async () => {
    expect(seen(await load(trusting, `https://shop.test:${site.port}/`))).toBe('tls_failed');
  });

  it('keeps nothing from a page without one, nor from its sockets', async () => {
    const page = await load(trusting, plain.origin, undefined, 'p.there');
    expect(seen(page)).toEqual({ text: 'by socket', by: undefined });
  });

  it('is on record where the browser judged it by itself', async () => {
    const path = join(folder, 'chromium');
    await writeFile(path, `#!/bin/sh\nexec ${executablePath} --ignore-certificate-errors "$@"\n`);
    await chmod(path, 0o755);
    expect(seen(await load(loaderWith(null, path), site.origin))).toEqual(taken);
  });
});

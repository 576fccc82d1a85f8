/** Pages that are rendered by a browser elsewhere, in the real Chromium. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { silentLogger } from '#runtime/logger';
import type { LoadedPage, LoadFailure, PageLoader } from '../page-loader.js';
import { createBrowserPageLoader } from './browser.js';
import { startBrowserHost, type BrowserHost } from './browser-host.js';
import { findBrowser } from './find-browser.js';
import { killBelow, processesBelow } from './process-tree.js';
import { renderedRequest } from './rendered-request.kit.js';

const place = findBrowser({ browser: process.env['CHROMIUM'] ?? 'auto', browserNoSandbox: process.getuid?.() === 0 });
const unused = (): Promise<never> => Promise.reject(new Error('no page here is loaded without a browser'));

let site: Server;
let canary: TcpServer;
let touched = 0;
let host: BrowserHost;
let loader: PageLoader;
let asked: string[];
let isHeld: (() => void) | null = null;

const portOf = (server: Server | TcpServer): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  if (!place.ok || 'endpoint' in place) throw new Error('no browser is installed here');
  asked = [];
  canary = createTcpServer((socket) => {
    touched += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.2', resolve));
  const inner = `127.0.0.2:${portOf(canary)}`;
  site = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    if (path === '/held') {
      isHeld?.();
      return;
    }
    response.setHeader('content-type', 'text/html');
    if (path === '/hostile') {
      response.end(`<img src="http://${inner}/i"><iframe src="file:///etc/passwd"></iframe><script>
        for (const a of ['http://${inner}/', 'http://rebinds.example/', '${host.url.replace('ws:', 'http:')}']) fetch(a).catch(() => 0);
        for (const a of ['ws://${inner}/', '${host.url}']) new WebSocket(a);
        setTimeout(() => { document.body.className = 'tried'; }, 700);
      </script>`);
    } else
      response.end(
        `<p id="made"></p><script>made.textContent = 'by script'; localStorage.setItem('kept', 'yes')</script>`,
      );
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const { executablePath, hasSandbox } = place;
  const bounds = { mostProcesses: 2, mostMemoryBytes: 768 * 1024 * 1024 };
  host = await startBrowserHost({
    executablePath,
    hasSandbox,
    host: '127.0.0.1',
    port: 0,
    ...bounds,
    logger: silentLogger,
  });
  loader = createBrowserPageLoader({
    http: { load: unused, loadIfChanged: unused, close: async () => undefined },
    place: { ok: true, endpoint: host.url },
    door: {
      egressAllow: [`127.0.0.1/32`],
      egressProxyUrl: null,
      refusedHosts: [new URL(host.url).host],
      resolve: async () => ['127.0.0.2'],
    },
    logger: silentLogger,
    processes: 1,
  });
}, 60_000);
afterAll(async () => {
  await loader.close();
  await host.close();
  site.closeAllConnections();
  await Promise.all([site, canary].map((one) => new Promise((resolve) => one.close(resolve))));
}, 60_000);

function load(path: string, waitFor = 'load', session: string | null = null): Promise<LoadedPage | LoadFailure> {
  const url = `http://127.0.0.1:${portOf(site)}${path}`;
  return loader.load(renderedRequest(url, { waitFor, session, takesScreenshot: true }));
}

/** Root processes of browsers that the host has started. */
function browsers(): readonly number[] {
  return processesBelow(process.pid).filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return line.includes('--remote-debugging-pipe') && !line.includes('--type=') && line.includes('meerkat-browser-');
    } catch {
      return false;
    }
  });
}

describe('a browser elsewhere', () => {
  it('renders a page, with its screenshot and what its session leaves', async () => {
    const page = await load('/');
    expect(page.ok ? Buffer.from(page.body).toString() : page.message).toContain('by script');
    expect(Buffer.from(page.rendering?.screenshot ?? []).toString('latin1', 1, 4)).toBe('PNG');
    expect(page.rendering?.session).toContain('kept');
    expect(browsers().length).toBe(1);
  }, 60_000);

  it('reaches nothing past the door, nor the place that browsers are asked for', async () => {
    const page = await load('/hostile', 'body.tried');
    expect(page.ok).toBe(true);
    const refused = (page.rendering?.refused ?? []).map(({ address }) => address);
    expect(refused).toEqual(
      expect.arrayContaining([`127.0.0.2:${portOf(canary)}`, 'rebinds.example:80', new URL(host.url).host]),
    );
    expect([touched, browsers().length]).toEqual([0, 1]);
  }, 60_000);

  it('is not given to a page, and not to more than it is set to', async () => {
    const refusal = (headers: Record<string, string>) =>
      new Promise<string>((resolve) => {
        void import('ws').then(({ WebSocket: Client }) => {
          const socket = new Client(host.url, { headers });
          socket.on('unexpected-response', (_request, response) => resolve(String(response.statusCode)));
          socket.on('open', () => socket.close());
          socket.on('close', () => resolve('opened'));
          socket.on('error', () => undefined);
        });
      });
    expect(await refusal({ origin: 'http://evil.example' })).toBe('403');
    expect((await fetch(host.url.replace('ws:', 'http:').concat('healthz'))).status).toBe(200);
    expect((await fetch(host.url.replace('ws:', 'http:'))).status).toBe(404);
  }, 60_000);

  it('costs a run one more try where it is killed in the middle of a page, and the next page nothing', async () => {
    const held = new Promise<void>((resolve) => (isHeld = resolve));
    const loading = load('/held');
    await held;
    const again = new Promise<void>((resolve) => (isHeld = resolve));
    for (const pid of browsers()) killBelow(pid);
    await again;
    for (const pid of browsers()) killBelow(pid);
    expect(await loading).toMatchObject({ ok: false, reason: 'browser_crashed' });
    expect((await load('/')).ok).toBe(true);
  }, 60_000);
});

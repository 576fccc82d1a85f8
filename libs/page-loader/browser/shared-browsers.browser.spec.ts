/** Two visits in one browser: of one organisation alone, and neither pays for the other. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLogger } from '#runtime/logger';
import type { LoadedPage, LoadFailure, PageLoader } from '../page-loader.js';
import { createBrowserPageLoader } from './browser.js';
import { findBrowser } from './find-browser.js';
import { killBelow, processesBelow } from './process-tree.js';
import { renderedRequest } from './rendered-request.kit.js';

const place = findBrowser({ browser: process.env['CHROMIUM'] ?? 'auto', browserNoSandbox: process.getuid?.() === 0 });
if (!place.ok || 'endpoint' in place) throw new Error('no browser is installed here');
const installed = place;
const unused = (): Promise<never> => Promise.reject(new Error('no page here is loaded without a browser'));

let site: Server;
let loader: PageLoader;
let held: Map<string, ServerResponse[]>;
let onHeld: (() => void) | null = null;

const at = (path: string): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`;
const page = '<p id="made"></p><script>made.textContent = "by script"</script>';

beforeAll(async () => {
  held = new Map();
  site = createServer((request, response) => {
    const path = request.url ?? '';
    response.setHeader('content-type', 'text/html');
    if (path === '/eats') {
      response.end('<script>const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));</script>');
    } else if (path.startsWith('/held')) {
      const waiting = [...(held.get(path) ?? []), response];
      held.set(path, waiting);
      if (waiting.length > 1) response.end(page);
      onHeld?.();
    } else response.end(page);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
}, 60_000);
afterEach(async () => {
  onHeld = null;
  held.clear();
  await loader.close();
}, 60_000);
afterAll(async () => {
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
});

function open(bounds: { readonly mostMemoryBytes?: number } = {}): void {
  loader = createBrowserPageLoader({
    http: { load: unused, loadIfChanged: unused, close: async () => undefined },
    place: installed,
    door: { egressAllow: ['127.0.0.1/32'], egressProxyUrl: null },
    logger: silentLogger,
    processes: 2,
    bounds,
  });
}

function load(path: string, owner: string): Promise<LoadedPage | LoadFailure> {
  return loader.load(renderedRequest(at(path), { owner }, { timeoutMs: 60_000 }));
}

/** The first processes of the browsers that run below this one. */
function browsers(): readonly number[] {
  return processesBelow(process.pid).filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return line.includes('--meerkat-process=') && !line.includes('--type=');
    } catch {
      return false;
    }
  });
}

/** Both pages wait for their server; then `act`. */
function withBoth(owners: readonly [string, string], act: () => void): Promise<readonly (LoadedPage | LoadFailure)[]> {
  onHeld = () => {
    if (held.size < 2) return;
    onHeld = null;
    act();
  };
  return Promise.all(owners.map((owner, index) => load(`/held/${index}`, owner)));
}

const release = (): void => {
  for (const waiting of held.values()) for (const response of waiting) response.end(page);
};

describe('two visits at once', () => {
  it('share a browser where they are of one organisation, and never where they are of two', async () => {
    open();
    const seen: number[] = [];
    const count = (): void => {
      seen.push(browsers().length);
      release();
    };
    const one = await withBoth(['org_1', 'org_1'], count);
    held.clear();
    const two = await withBoth(['org_1', 'org_2'], count);
    expect([...one, ...two].map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(seen).toEqual([1, 2]);
  }, 120_000);

  it('are both done again where their browser is killed', async () => {
    open();
    const results = await withBoth(['org_1', 'org_1'], () => {
      for (const pid of browsers()) killBelow(pid);
    });
    expect(results.map(({ ok }) => ok)).toEqual([true, true]);
  }, 120_000);

  it('are told apart where one takes too much memory: the other is loaded all the same', async () => {
    open({ mostMemoryBytes: 500 * 1024 * 1024 });
    const [eats, calm] = await Promise.all([load('/eats', 'org_1'), load('/calm', 'org_1')]);
    expect(eats).toMatchObject({ ok: false, reason: expect.stringMatching(/^browser_(?:limit|crashed)$/) });
    expect(calm.ok).toBe(true);
  }, 120_000);
});

/** An attacker's page in the real Chromium, watched by the kernel: where it leads, what it leaves, and what kills cost. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '#runtime/logger';
import type { PageLoader, PageStep } from '../page-loader.js';
import { createBrowserPageLoader } from './browser.js';
import { findBrowser, installedBrowsers } from './find-browser.js';
import { killBelow, processesBelow } from './process-tree.js';
import { renderedRequest } from './rendered-request.kit.js';

const isRoot = process.getuid?.() === 0;
const place = findBrowser({ browser: process.env['CHROMIUM'] ?? 'auto', browserNoSandbox: isRoot });
if (!place.ok || 'endpoint' in place) throw new Error('no browser is installed here');
const { executablePath, hasSandbox } = place;
/** Each of this machine keeps its word in another way: the same flags mean nothing to some. */
const installed = process.env['CHROMIUM'] === undefined ? installedBrowsers() : [executablePath];
/** A capability: where it is not there, connections and datagrams are not counted by the kernel. */
const canTrace = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0;
/** Where Chromium connects a datagram socket to learn its own address: no packet goes out unless something is sent by it. */
const probed = ['inet_pton(AF_INET6, "2001:4860:4860::8888"', 'sin_port=htons(53), sin_addr=inet_addr("8.8.8.8")'];

/** Whether the thread that connected a socket sent anything by it before it closed it. */
function isSentBy(connect: string, lines: readonly string[]): boolean {
  const [, thread = '', socket = ''] = /^(\d+) +connect\((\d+),/.exec(connect) ?? [];
  const own = new RegExp(`^${thread} +(send\\w+|close|connect)\\(${socket}\\b`);
  const next = lines.slice(lines.indexOf(connect) + 1).find((line) => own.test(line));
  return next !== undefined && next.includes(' send');
}

/** So many browsers are killed in the middle of their pages. */
const kills = Number(process.env['BROWSER_KILLS'] ?? '4');

let folder: string;
let site: Server;
let pages: Map<string, string>;
let onHeld: ((path: string) => boolean) | null = null;
let loaders: PageLoader[];
/** One for all pages that are touched by hostile steps: each must leave it fit for the next. */
let touched: PageLoader | null = null;
let asked: string[];

const at = (path: string): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`;
const unused = (): Promise<never> => Promise.reject(new Error('no page here is loaded without a browser'));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-attacks-'));
  loaders = [];
  pages = new Map();
  asked = [];
  site = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    if (path.startsWith('/held') && onHeld?.(path) === true) return;
    if (path === '/file.bin') response.setHeader('content-disposition', 'attachment; filename="evil.sh"');
    if (path === '/away') response.statusCode = 500;
    response.setHeader('content-type', path.endsWith('.js') ? 'text/javascript' : 'text/html');
    response.end(pages.get(path) ?? '<p id="calm">calm</p>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
}, 60_000);
afterEach(() => {
  asked = [];
});
afterAll(async () => {
  await Promise.all(loaders.map((loader) => loader.close()));
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
  await rm(folder, { recursive: true, force: true });
}, 60_000);

function loaderWith(path: string): PageLoader {
  const loader = createBrowserPageLoader({
    http: { load: unused, loadIfChanged: unused, close: async () => undefined },
    place: { ok: true, executablePath: path, hasSandbox },
    door: { egressAllow: ['127.0.0.1/32'], egressProxyUrl: null, resolve: async () => ['127.0.0.2'] },
    logger: silentLogger,
    processes: 1,
  });
  loaders.push(loader);
  return loader;
}

function load(loader: PageLoader, path: string, waitFor = 'load', steps: readonly PageStep[] = [], timeoutMs = 45_000) {
  return loader.load(renderedRequest(at(path), { waitFor, steps }, { timeoutMs }));
}

const hostile = `<link rel="preconnect" href="http://127.0.0.2:8099/"><link rel="dns-prefetch" href="//canary-a.example/">
  <link rel="prefetch" href="http://canary-b.example/"><script type="speculationrules">{"prerender":[{"urls":["http://canary-c.example/"]}]}</script>
  <script>
    const tries = [
      () => window.print(), () => (window.onbeforeunload = () => 'stay'), () => (location = 'file:///etc/passwd'), () => (location = 'chrome://version'),
      () => (location = 'data:text/html,<h1>elsewhere'), () => fetch('file:///etc/passwd'), () => fetch('http://127.0.0.2:8099/', { keepalive: true, method: 'POST', body: 'x' }),
      () => navigator.serviceWorker.register('/worker.js'), () => new WebSocket('ws://127.0.0.2:8099/'), () => new EventSource('http://127.0.0.2:8099/'),
      () => navigator.sendBeacon('http://127.0.0.2:8099/', 'x'), () => prompt('word'), () => navigator.clipboard.readText(), () => Notification.requestPermission(),
      () => { const a = document.createElement('a'); a.href = '/file.bin'; a.download = 'evil.sh'; document.body.append(a); a.click(); },
      () => { const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.2:8099' }, { urls: 'stun:canary-d.example:3478' }] }); p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o)); },
      () => { new WebTransport('https://127.0.0.2:8099/').ready.catch(() => 0); },
    ];
    for (const attempt of tries) try { Promise.resolve(attempt()).catch(() => 0); } catch { /* refused */ }
    setTimeout(() => { document.body.className = 'tried'; }, 1500);
  </script><p id="here">here</p>`;

describe('an attacker’s page', () => {
  it.each(installed)(
    'stays where it is, and sends no packet past the door, as the kernel saw it: %s',
    async (path) => {
      const trace = join(folder, `trace-${basename(path)}`);
      const wrapper = join(folder, `wrapped-${basename(path)}`);
      const calls = 'connect,close,sendto,sendmsg,sendmmsg';
      const words = canTrace ? `strace -f -qq -e trace=${calls} -o ${trace} ${path}` : path;
      await writeFile(wrapper, `#!/bin/sh\nexec ${words} "$@"\n`);
      await chmod(wrapper, 0o755);
      pages.set('/hostile', hostile);
      pages.set('/worker.js', `self.addEventListener('install', () => fetch('http://127.0.0.2:8099/'))`);
      const loader = loaderWith(wrapper);
      const page = await load(loader, '/hostile', 'body.tried');
      expect(page.ok ? [page.finalUrl, page.status] : page.message).toEqual([at('/hostile'), 200]);
      expect(page.ok && Buffer.from(page.body).toString()).toContain('id="here"');
      expect(page.rendering?.refused).toEqual(
        expect.arrayContaining([expect.objectContaining({ address: '127.0.0.2:8099', reason: 'address_denied' })]),
      );
      await loader.close();
      if (!canTrace) return;
      const all = readFileSync(trace, 'utf8').split('\n');
      const lines = all.filter((line) => /sa_family=AF_INET/.test(line));
      const toProxy = lines.filter((line) => line.includes('inet_addr("127.0.0.1")'));
      expect(toProxy.length).toBeGreaterThan(0);
      const others = lines.filter((line) => !toProxy.includes(line));
      const isProbe = (line: string): boolean => probed.some((text) => line.includes(text)) && !isSentBy(line, all);
      expect(others.filter((line) => !isProbe(line))).toEqual([]);
      expect(new Set(toProxy.map((line) => /htons\((\d+)\)/.exec(line)?.[1])).size).toBe(1);
    },
    120_000,
  );

  it.each(installed)(
    'runs no program of this machine by an address that the browser hands on, and has it on record: %s',
    async (path) => {
      const ran = join(folder, `ran-${basename(path)}`);
      const programs = await mkdtemp(join(folder, 'programs-'));
      for (const name of ['xdg-open', 'xdg-email', 'xdg-mime']) {
        await writeFile(join(programs, name), `#!/bin/sh\necho "$0 $*" >> ${ran}\n`, { mode: 0o755 });
      }
      const wrapper = join(folder, `handing-${basename(path)}`);
      const before = `PATH="\${PATH%/usr/bin:/bin}${programs}:/usr/bin:/bin"`;
      await writeFile(wrapper, `#!/bin/sh\nexport ${before}\nexec ${path} "$@"\n`, { mode: 0o755 });
      pages.set('/mail', `<a href="mailto:a@b?attach=/etc/passwd">a</a>`);
      const loader = loaderWith(wrapper);
      const steps = [{ do: 'click', selector: 'a' }] as const;
      const page = await loader.load(renderedRequest(at('/mail'), { steps, waitMs: 1_000 }, { timeoutMs: 45_000 }));
      await loader.close();
      expect(page.ok ? page.finalUrl : page.message).toBe(at('/mail'));
      const refused = page.rendering?.refused.map(({ address }) => address) ?? [];
      // One without a window knows no programs.
      expect(refused).toEqual(path.endsWith('headless-shell') ? [] : ['mailto:a@b?attach=/etc/passwd']);
      expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '').toBe('');
    },
    120_000,
  );

  it.each([
    '"></script><script>alert(1)</script>',
    'xpath=//*[contains(., document.cookie)]',
    'internal:control=enter-frame',
    '>>'.repeat(400),
    'css=p:has('.repeat(60),
    'text=/(a+)+$/',
    '_react=App',
    'p\u0000q',
  ])(
    'is touched by a step whose selector is %j without harm to the next one',
    async (selector) => {
      touched ??= loaderWith(executablePath);
      const loader = touched;
      pages.set('/long', `<p>${'a'.repeat(40)}!</p>`);
      const page = await load(loader, '/long', 'load', [{ do: 'click', selector }], 4_000);
      expect(page.ok ? 'ok' : page.reason).toMatch(/^(?:ok|step_failed|timed_out)$/);
      expect((await load(loader, '/calm')).ok).toBe(true);
    },
    60_000,
  );
});

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

const isRenderer = (pid: number): boolean => commandLine(pid).includes('--type=renderer');

/** Root processes of browsers below this one. */
function browsers(): readonly number[] {
  return processesBelow(process.pid).filter((pid) => {
    const line = commandLine(pid);
    return line.includes('--meerkat-process=') && !line.includes('--type=');
  });
}

describe('a site in a browser', () => {
  it('is left alone for a while after five failures in a row', async () => {
    const loader = loaderWith(executablePath);
    const reasons = [];
    for (let number = 0; number < 7; number += 1) {
      const page = await load(loader, '/away');
      reasons.push(page.ok ? 'ok' : [page.reason, page.status]);
    }
    expect(reasons).toEqual(Array.from({ length: 7 }, () => ['http_status', 500]));
    expect(asked.filter((path) => path === '/away').length).toBe(5);
  }, 90_000);

  it('is not left alone where it answers and its scripts take all the time', async () => {
    const loader = loaderWith(executablePath);
    pages.set('/loops', '<script>setTimeout(() => { for (;;); })</script>');
    for (let number = 0; number < 5; number += 1) {
      const page = await load(loader, '/loops', 'body.never', [], 5_000);
      // Where its time is over before its scripts begin, nothing has come that matches; else it hangs until it is ended.
      expect([
        ['timed_out', 200],
        ['wait_failed', null],
      ]).toContainEqual(page.ok ? 'ok' : [page.reason, page.status]);
    }
    expect(asked.filter((path) => path === '/loops').length).toBe(5);
    expect((await load(loader, '/calm')).ok).toBe(true);
  }, 180_000);

  it('is told to need a browser that went away', async () => {
    const link = join(folder, 'gone');
    await symlink(executablePath, link);
    const loader = loaderWith(link);
    await rm(link);
    expect(await load(loader, '/calm')).toMatchObject({ ok: false, reason: 'browser_unavailable' });
  }, 60_000);
});

describe('a browser that is killed', () => {
  it('is what a page comes to whose process ends before it is there, once more', async () => {
    const loader = loaderWith(executablePath);
    onHeld = () => {
      const renderers = browsers().flatMap((pid) => processesBelow(pid).filter(isRenderer));
      for (const pid of renderers) killBelow(pid);
      return true;
    };
    const page = await load(loader, '/held/renderer', 'load', [], 20_000);
    onHeld = null;
    expect(page.ok ? 'ok' : page.reason).toBe('browser_crashed');
    expect(asked.filter((path) => path === '/held/renderer').length).toBe(2);
  }, 90_000);

  it(
    `loses none of ${kills} pages, each killed once in the middle`,
    async () => {
      const loader = loaderWith(executablePath);
      const killed = new Set<string>();
      onHeld = (path) => {
        if (killed.has(path)) return false;
        killed.add(path);
        for (const pid of browsers()) killBelow(pid);
        return true;
      };
      const results = [];
      for (let number = 0; number < kills; number += 1) results.push((await load(loader, `/held/${number}`)).ok);
      onHeld = null;
      expect([results, killed.size]).toEqual([Array.from({ length: kills }, () => true), kills]);
    },
    60_000 + kills * 30_000,
  );
});

describe('Chromium’s own sandbox', () => {
  /** A capability: user namespaces for users without rights, who may read what was built. */
  const options = isRoot ? { uid: 65_534, gid: 65_534 } : {};
  const built = new URL('../../../dist/libs/page-loader/browser/browser.js', import.meta.url);
  const [isThere, mayRun] = [fileURLToPath(built), process.execPath].map(
    (path) => spawnSync('test', ['-r', path], options).status === 0,
  );
  const canUnshare =
    isThere === true && mayRun === true && spawnSync('unshare', ['--user', 'true'], options).status === 0;

  it('stays on for a user without rights, whose pages are rendered behind its filter', async () => {
    if (!canUnshare) return expect(existsSync('/proc/self/ns/user')).toBe(true);
    const profile = join(folder, 'profile');
    await chmod(folder, 0o777);
    const script = `
      import { readdirSync, readFileSync } from 'node:fs';
      import { createBrowserPageLoader } from ${JSON.stringify(built.href)};
      const never = () => Promise.reject(new Error('never'));
      const logger = { warn: (...words) => console.error(JSON.stringify(words)), info() {}, error() {}, debug() {} };
      const loader = createBrowserPageLoader({ http: { load: never, loadIfChanged: never, close: async () => {} },
        place: { ok: true, executablePath: ${JSON.stringify(executablePath)}, hasSandbox: true },
        door: { egressAllow: ['127.0.0.1/32'], egressProxyUrl: null }, logger, processes: 1 });
      const loading = loader.load(${JSON.stringify(renderedRequest(at('/calm'), { waitMs: 3_000 }, { timeoutMs: 30_000 }))});
      const renderers = () => readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).flatMap((pid) => {
        try { return [{ pid, line: readFileSync('/proc/' + pid + '/cmdline', 'utf8'), status: readFileSync('/proc/' + pid + '/status', 'utf8') }]; } catch { return []; }
      }).filter(({ line }) => line.includes('--user-data-dir=') || line.includes('--type=renderer'));
      let lines = [];
      const look = setInterval(() => { lines = lines.concat(renderers()); }, 200);
      const page = await loading;
      clearInterval(look);
      const mine = lines.filter(({ status }) => new RegExp('^Uid:\\\\s+' + process.getuid() + '\\\\b', 'm').test(status));
      const isOff = mine.some(({ line }) => line.includes('--no-sandbox'));
      const seen = Map.groupBy(mine.filter(({ line }) => line.includes('--type=renderer')), ({ pid }) => pid);
      const filterOf = ({ status }) => /^Seccomp:\\s+(\\d)/m.exec(status)?.[1];
      // One that was begun a moment ago sets its filter up before it is given a page: what it was last counts.
      const filters = [...seen.values()].flatMap((looks) => (looks.length > 1 ? [filterOf(looks.at(-1))] : []));
      console.log(JSON.stringify({ ok: page.ok, why: page.message, isOff, filters: [...new Set(filters)] }));
      await loader.close();
      process.exit(0);`;
    const file = join(folder, 'unprivileged.mjs');
    await writeFile(file, script);
    const { spawn } = await import('node:child_process');
    const child = spawn(process.execPath, [file], {
      ...options,
      env: { HOME: profile, TMPDIR: folder, PATH: '/usr/bin:/bin' },
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    expect(readdirSync(folder).length).toBeGreaterThan(0);
    expect(JSON.parse(out)).toEqual({ ok: true, isOff: false, filters: ['2'] });
  }, 90_000);
});

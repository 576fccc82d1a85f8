/** Pages that need scripts, and pages that mean harm, in the real Chromium. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { silentLogger } from '#runtime/logger';
import type { LoadedPage, LoadFailure, PageLoader, PageRequest, RenderSettings } from '../page-loader.js';
import { createBrowserPageLoader } from './browser.js';
import { findBrowser } from './find-browser.js';
import { renderedRequest } from './rendered-request.kit.js';

const place = findBrowser({ browser: process.env['CHROMIUM'] ?? 'auto', browserNoSandbox: process.getuid?.() === 0 });

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let site: Server;
let other: Server;
/** Listens where the door lets nobody through. */
let canary: TcpServer;
let touched: number;
/** Names that were asked for. */
let resolved: string[];
let answers: Map<string, Answer>;
let seen: { readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
let loader: PageLoader;

const portOf = (server: Server | TcpServer): number => (server.address() as AddressInfo).port;
const at = (path: string): string => `http://127.0.0.1:${portOf(site)}${path}`;

function html(body: string): Answer {
  return (_request, response) => {
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end(`<!DOCTYPE html><html><body>${body}</body></html>`);
  };
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    const url = request.url ?? '';
    seen.push({ url, headers: request.headers, body });
    const answer = answers.get(url.split('?')[0] ?? '');
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
}

beforeAll(async () => {
  if (!place.ok) throw new Error(place.why);
  site = createServer(serve);
  other = createServer(serve);
  canary = createTcpServer((socket) => {
    touched += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.2', resolve));
  loader = createBrowserPageLoader({
    http: { load: unused, loadIfChanged: unused, close: async () => undefined },
    place,
    door: {
      egressAllow: ['127.0.0.1/32'],
      egressProxyUrl: null,
      resolve: async (name) => {
        resolved.push(name);
        return ['127.0.0.2'];
      },
    },
    logger: silentLogger,
    processes: 1,
  });
}, 60_000);
afterAll(async () => {
  await loader.close();
  site.closeAllConnections();
  other.closeAllConnections();
  await Promise.all([site, other, canary].map((one) => new Promise((resolve) => one.close(resolve))));
}, 60_000);
beforeEach(() => {
  answers = new Map();
  seen = [];
  touched = 0;
  resolved = [];
});
afterEach(() => {
  if (touched > 0) throw new Error(`${touched} connections went past the door`);
});

const unused = (): Promise<never> => Promise.reject(new Error('no page here is loaded without a browser'));

const usual = { block: ['images', 'media', 'fonts', 'trackers'], takesScreenshot: true } as const;

function load(path: string, settings: Partial<RenderSettings> = {}, more: Partial<PageRequest> = {}) {
  const url = path.startsWith('http') ? path : at(path);
  return loader.load(renderedRequest(url, { ...usual, ...settings }, more));
}

function textOf(page: LoadedPage | LoadFailure): string {
  if (!page.ok) throw new Error(`${page.reason}: ${page.message}`);
  return Buffer.from(page.body).toString();
}

const reasonOf = (page: LoadedPage | LoadFailure): unknown => (page.ok ? 'ok' : page.reason);

describe('a rendered page', () => {
  it('is what its scripts have made of it', async () => {
    answers.set('/api', (_request, response) => void response.end('[{"name":"Kettle","price":39}]'));
    answers.set(
      '/shop',
      html(`<div id="root"></div><script>
        fetch('/api').then((a) => a.json()).then(([one]) => { root.innerHTML = '<h1>' + one.name + '</h1><p class="price">' + one.price + ' €</p>'; });
      </script>`),
    );
    const page = await load('/shop', { waitFor: '.price' });
    expect(textOf(page)).toContain('<p class="price">39 €</p>');
    expect(page).toMatchObject({ ok: true, status: 200, finalUrl: at('/shop'), contentKind: 'html' });
    const screenshot = Buffer.from((page.ok ? page.rendering?.screenshot : null) ?? []);
    expect([screenshot.toString('latin1', 1, 4), screenshot.readUInt32BE(16)]).toEqual(['PNG', 800]);
  });

  it('has a picture of all of it, up to 4,000 pixels', async () => {
    const heightOf = async (path: string): Promise<number> => {
      const page = await load(path);
      return Buffer.from((page.ok ? page.rendering?.screenshot : null) ?? []).readUInt32BE(20);
    };
    answers.set('/long', html('<body style="margin:0"><div style="height:3000px">'));
    answers.set('/tower', html('<body style="margin:0"><div style="height:90000px">'));
    expect(await heightOf('/long')).toBe(3_000);
    expect(await heightOf('/tower')).toBe(4_000);
  });

  it('goes on while an infinite list is scrolled by its own script', async () => {
    answers.set(
      '/list',
      html(`<ul id="list"></ul><script>
        let n = 0; const more = () => { for (let i = 0; i < 10; i += 1) list.insertAdjacentHTML('beforeend', '<li class="row">' + (n += 1) + '</li>'); if (n < 50) setTimeout(more, 5); else document.body.className = 'done'; }; more();
      </script>`),
    );
    expect(textOf(await load('/list', { waitFor: 'body.done' }))).toContain('<li class="row">50</li>');
  });

  it('is reached through a login form, whose password no failure names', async () => {
    answers.set(
      '/login',
      html(
        '<form method="post" action="/in"><input name="user"><input name="word" type="password"><button>In</button></form>',
      ),
    );
    answers.set('/in', html('<h1 id="inside">Welcome</h1>'));
    const fill = { do: 'fill', selector: '[name=word]', value: 'canary-word', isSecret: true } as const;
    const steps = [
      { do: 'fill', selector: '[name=user]', value: 'ada', isSecret: false },
      fill,
      { do: 'click', selector: 'button' },
      { do: 'wait', selector: '#inside', value: null },
    ] as const;
    const page = await load('/login', { steps });
    expect(textOf(page)).toContain('Welcome');
    expect(page).toMatchObject({ finalUrl: at('/in') });
    expect(seen.find(({ url }) => url === '/in')?.body).toBe('user=ada&word=canary-word');
    const failed = await load('/login', { steps: [{ ...fill, selector: 'button' }] });
    expect(failed).toMatchObject({ ok: false, reason: 'step_failed' });
    expect(failed.ok ? '' : failed.message).toMatch(/^Step 1 \(fill "button"\) failed: /);
    expect(JSON.stringify(failed.ok ? null : failed.message)).not.toContain('canary-word');
    expect(failed.rendering?.screenshot).not.toBeNull();
  });

  it('has none of what was filled in as a secret in its fields, its address and its picture', async () => {
    answers.set(
      '/form',
      html('<form action="/found"><input name="word"><input name="place"><button>Go</button></form>'),
    );
    answers.set('/found', html('<p id="found">found</p>'));
    const steps = [
      { do: 'fill', selector: '[name=word]', value: 'canary word', isSecret: true },
      { do: 'fill', selector: '[name=place]', value: 'Turin', isSecret: false },
    ] as const;
    const filled = await load('/form', { steps });
    expect(textOf(filled)).toContain('<input name="word" value="********"><input name="place" value="Turin">');
    const other = await load('/form', { steps: [{ ...steps[0], value: 'another one' }, steps[1]] });
    expect(filled.rendering?.screenshot).toEqual(other.rendering?.screenshot);
    const found = await load('/form', { steps: [...steps, { do: 'click', selector: 'button' }], waitFor: '#found' });
    expect(found).toMatchObject({ ok: true, finalUrl: at('/found?word=********&place=Turin') });
    expect(seen.at(-1)?.url).toBe('/found?word=canary+word&place=Turin');
  });

  it('begins with what the last visit left, and leaves out steps whose time is over on the word of what is there instead', async () => {
    const member = (request: IncomingMessage): boolean => /member=ada/.test(request.headers.cookie ?? '');
    answers.set('/account', (request, response) => {
      if (!member(request)) return void response.writeHead(302, { location: '/sign-in' }).end();
      html('<p id="balance">12 €</p><script>document.title = localStorage.getItem("seen")</script>')(request, response);
    });
    answers.set('/sign-in', html('<form action="/in"><input name="word" type="password"><button>In</button></form>'));
    answers.set('/in', (_request, response) => {
      response.writeHead(200, { 'set-cookie': 'member=ada; Path=/', 'content-type': 'text/html' });
      response.end('<script>localStorage.setItem("seen", "before"); location.href = "/account"</script>');
    });
    const steps = [
      { do: 'fill', selector: '[name=word]', value: 'open', isSecret: true },
      { do: 'click', selector: 'button' },
    ] as const;
    const visit = async (session: string | null) => {
      seen = [];
      const page = await load('/account', { steps, waitFor: '#balance', session });
      const signIns = seen.filter(({ url }) => url.startsWith('/in')).length;
      return { text: textOf(page), signIns, session: page.rendering?.session ?? null };
    };
    const first = await visit(null);
    expect([first.text.includes('12 €'), first.signIns]).toEqual([true, 1]);
    const second = await visit(first.session);
    expect([second.text.includes('<title>before</title>'), second.signIns]).toEqual([true, 0]);
    const over = JSON.stringify({ cookies: [], origins: [] });
    const third = await visit(over);
    expect([third.text.includes('12 €'), third.signIns]).toEqual([true, 1]);
    const other = await load('/account', { waitFor: '#balance' }, { timeoutMs: 3_000 });
    expect([reasonOf(other), other.rendering?.session]).toEqual(['wait_failed', undefined]);
  }, 60_000);

  it('is loaded without what the last visit left where that leads nowhere, and lets go of it where that is no better', async () => {
    answers.set('/form', (request, response) => {
      const isOver = /stale=1/.test(request.headers.cookie ?? '');
      html(isOver ? '<p>Your session is over.</p>' : '<input name="word"><p id="in">in</p>')(request, response);
    });
    const cookie = { name: 'stale', value: '1', domain: '127.0.0.1', path: '/', expires: -1 };
    const flags = { httpOnly: false, secure: false, sameSite: 'Lax' };
    const session = JSON.stringify({ cookies: [{ ...cookie, ...flags }], origins: [] });
    const fill = { do: 'fill', selector: '[name=word]', value: 'open', isSecret: true } as const;
    const page = await load('/form', { steps: [fill], session });
    expect(textOf(page)).toContain('id="in"');
    expect(page.rendering?.session).not.toContain('stale');
    const nowhere = await load('/form', { steps: [{ ...fill, selector: '#none' }], session }, { timeoutMs: 8_000 });
    expect([reasonOf(nowhere), nowhere.rendering?.session]).toEqual(['step_failed', null]);
    expect(textOf(await load('/form', { session: 'no JSON' }))).toContain('id="in"');
  }, 60_000);

  it('is seen behind a wall of cookies that a step clicks away', async () => {
    answers.set(
      '/wall',
      html(
        '<div id="wall"><button onclick="wall.remove(); shop.hidden = false">Accept</button></div><p id="shop" hidden>39 €</p>',
      ),
    );
    expect(textOf(await load('/wall'))).toContain('<p id="shop" hidden="" data-not-shown="">');
    const text = textOf(await load('/wall', { steps: [{ do: 'click', selector: 'text=Accept' }] }));
    expect(text).toContain('<p id="shop">39 €</p>');
    expect(text).not.toContain('Accept');
  });

  it('has its open shadow roots and frames in it, marked, with what was not shown', async () => {
    answers.set('/inner', html('<p class="in">framed</p><p style="display:none">dark</p>'));
    const far = `http://localhost:${portOf(other)}/far`;
    answers.set('/far', html('<b>far away</b>'));
    answers.set(
      '/outer',
      html(`<x-price><i>light</i></x-price><iframe src="/inner"></iframe><iframe src="${far}"></iframe><p style="visibility:hidden">ghost</p><script>
        customElements.define('x-price', class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<em>7 €</em><slot></slot>'; } });
      </script>`),
    );
    const text = textOf(await load('/outer'));
    expect(text).toContain('<x-price><div data-shadow-root=""><em>7 €</em><slot></slot></div><i>light</i></x-price>');
    expect(text).toContain(
      `</iframe><div data-frame="${at('/inner')}"><p class="in">framed</p><p style="display:none" data-not-shown="">dark</p></div>`,
    );
    expect(text).toContain('<b>far away</b>');
    expect(text).toContain('<p style="visibility:hidden" data-not-shown="">ghost</p>');
  });

  it('sends headers and body of the task to its own origin alone, over redirects too', async () => {
    const far = `http://localhost:${portOf(other)}/far`;
    answers.set('/own', html('<script>fetch("/own-data")</script><p>own</p>'));
    answers.set('/own-data', (_request, response) => void response.end('1'));
    answers.set('/away', (_request, response) => void response.writeHead(302, { location: far }).end());
    answers.set('/far', html('<p>far</p>'));
    const headers = { authorization: 'Bearer canary' };
    expect(textOf(await load('/own', { waitFor: 'networkidle' }, { headers }))).toContain('own');
    expect(textOf(await load('/away', {}, { headers }))).toContain('far');
    const sent = seen.map(({ url, headers: got }) => [url, got.authorization ?? null]);
    expect(sent.filter(([url]) => url !== '/favicon.ico')).toEqual([
      ['/own', 'Bearer canary'],
      ['/own-data', 'Bearer canary'],
      ['/away', 'Bearer canary'],
      ['/far', null],
    ]);
  });

  it('blocks what is not asked for, and lets everything through where nothing is blocked', async () => {
    answers.set('/pictures', html('<img src="/a.png"><p>x</p>'));
    answers.set('/a.png', (_request, response) => void response.setHeader('content-type', 'image/png').end());
    await load('/pictures', { waitFor: 'networkidle' });
    expect(seen.map(({ url }) => url)).not.toContain('/a.png');
    await load('/pictures', { waitFor: 'networkidle', block: [] });
    expect(seen.map(({ url }) => url)).toContain('/a.png');
  });
});

describe('what never comes', () => {
  it('ends with what was waited for', async () => {
    answers.set('/busy', html('<p>x</p><script>setInterval(() => fetch("/busy-data").catch(() => 0), 50)</script>'));
    answers.set('/busy-data', (_request, response) => void response.end('1'));
    const page = await load('/busy', { waitFor: 'networkidle' }, { timeoutMs: 4_000 });
    expect(page).toMatchObject({ ok: false, reason: 'wait_failed' });
    expect(page.ok ? '' : page.message).toContain('networkidle');
    const missing = await load('/busy', { waitFor: '#never' }, { timeoutMs: 3_000 });
    expect(missing.ok ? '' : missing.message).toContain('"#never"');
    answers.set('/silent', () => undefined);
    expect(reasonOf(await load('/silent', {}, { timeoutMs: 2_000 }))).toBe('timed_out');
  });

  it('is a status that is not taken, a download, or a server that is not there', async () => {
    expect(await load('/nowhere')).toMatchObject({ ok: false, reason: 'http_status', status: 404 });
    answers.set('/file', (_request, response) => {
      response.setHeader('content-type', 'application/octet-stream').setHeader('content-disposition', 'attachment');
      response.end('x');
    });
    expect(reasonOf(await load('/file'))).toBe('not_a_page');
    expect(reasonOf(await load('http://127.0.0.1:9/'))).toBe('connect_failed');
  });
});

describe('the door', () => {
  it('is passed by nothing that the page tries, and what it refused is on record', async () => {
    const inner = `127.0.0.2:${portOf(canary)}`;
    answers.set(
      '/moved',
      (_request, response) => void response.writeHead(302, { location: `http://${inner}/moved` }).end(),
    );
    answers.set(
      '/hostile',
      html(`<link rel="preconnect" href="http://${inner}"><link rel="dns-prefetch" href="//names.example"><link rel="prefetch" href="http://${inner}/prefetch">
        <img src="http://${inner}/img"><iframe src="http://${inner}/frame"></iframe><iframe src="file:///etc/passwd"></iframe><script>
        const tries = ['http://${inner}/fetch', '/moved', 'http://rebinds.example:${portOf(canary)}/', 'http://[::1]:${portOf(canary)}/', 'http://2130706434:${portOf(canary)}/', 'https://${inner}/'];
        for (const url of tries) fetch(url, { mode: 'no-cors' }).catch(() => 0);
        try { new WebSocket('ws://${inner}/'); } catch {}
        try { new EventSource('http://${inner}/events'); } catch {}
        navigator.sendBeacon('http://${inner}/beacon', 'x');
        new Worker(URL.createObjectURL(new Blob(["fetch('http://${inner}/worker').catch(() => 0); new WebSocket('ws://${inner}/')"])));
        const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${inner}' }, { urls: 'turn:${inner}?transport=tcp', username: 'u', credential: 'c' }] });
        peer.createDataChannel('x'); peer.createOffer().then((o) => peer.setLocalDescription(o));
        setTimeout(() => { document.body.className = 'tried'; }, 700);
      </script>`),
    );
    const page = await load('/hostile', { waitFor: 'body.tried', block: [] });
    expect(page.ok).toBe(true);
    expect(page.rendering?.refused).toEqual(
      expect.arrayContaining([
        { address: inner, reason: 'address_denied', count: expect.any(Number) },
        { address: `rebinds.example:${portOf(canary)}`, reason: 'address_denied', count: expect.any(Number) },
      ]),
    );
    expect(textOf(page)).not.toContain('root:');
    // What is resolved is resolved by the door, and nothing ahead of a request.
    expect([...new Set(resolved)]).toEqual(['rebinds.example']);
  });

  it('has on record where a page wanted to go that is no page', async () => {
    answers.set(
      '/elsewhere',
      html(`<iframe src="chrome://version"></iframe><script>
        setTimeout(() => { location = 'file:///etc/passwd'; location = 'data:text/html,<h1>elsewhere'; document.body.className = 'tried'; });
      </script>`),
    );
    const page = await load('/elsewhere', { waitFor: 'body.tried', waitMs: 300 });
    expect(page).toMatchObject({ ok: true, finalUrl: at('/elsewhere') });
    const addresses = ['chrome://version/', 'file:///etc/passwd', 'data:text/html,<h1>elsewhere'];
    for (const address of addresses)
      expect(page.rendering?.refused).toContainEqual({ address, reason: 'navigation', count: 1 });
  });

  it('ends the run where the page itself is refused, also after a redirect', async () => {
    const inner = `127.0.0.2:${portOf(canary)}`;
    answers.set('/moved', (_request, response) => void response.writeHead(302, { location: `http://${inner}/` }).end());
    answers.set('/goes', html(`<script>location = 'http://${inner}/'</script>`));
    expect(reasonOf(await load(`http://${inner}/`))).toBe('address_denied');
    expect(reasonOf(await load(`https://${inner}/`))).toBe('address_denied');
    expect(reasonOf(await load('/moved'))).toBe('address_denied');
    expect(reasonOf(await load('/goes', { waitMs: 1_000 }))).toBe('address_denied');
  });
});

describe('a page that means harm', () => {
  it('opens no windows, keeps nobody waiting by dialogs, and is granted nothing', async () => {
    answers.set(
      '/popups',
      html(`<script>for (let n = 0; n < 1000; n += 1) window.open('/popups?' + n); alert('x'); confirm('y');
        navigator.geolocation.getCurrentPosition(() => 0, () => { document.body.className = 'denied'; });</script><p>calm</p>`),
    );
    const page = await load('/popups', { waitFor: 'body.denied', block: [] }, { timeoutMs: 60_000 });
    expect(['ok', 'browser_limit']).toContain(reasonOf(page));
    expect(page.rendering?.refused).toContainEqual({ address: at('/popups?0'), reason: 'popup', count: 1 });
    expect(seen.filter(({ url }) => url.startsWith('/popups?'))).toEqual([]);
  }, 90_000);

  it('costs its run one more try where it crashes the browser, and the next page nothing', async () => {
    answers.set('/eats', html('<script>const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));</script>'));
    answers.set('/fine', html('<p>fine</p>'));
    const reason = reasonOf(await load('/eats', {}, { timeoutMs: 15_000 }));
    expect(['browser_limit', 'browser_crashed']).toContain(reason);
    expect(textOf(await load('/fine'))).toContain('fine');
  }, 60_000);

  it('is ended where it never gives the browser back', async () => {
    answers.set('/loops', html('<script>setTimeout(() => { for (;;); }, 10)</script><p>x</p>'));
    const reason = reasonOf(await load('/loops', { waitMs: 300 }, { timeoutMs: 3_000 }));
    expect(['timed_out', 'wait_failed', 'browser_crashed']).toContain(reason);
  }, 60_000);

  it('is refused a document that is larger than may be, or nested too deeply', async () => {
    answers.set('/large', html('<script>document.body.append("x".repeat(2_000_000))</script>'));
    answers.set(
      '/deep',
      html(
        '<script>let at = document.body; for (let n = 0; n < 2000; n += 1) { const d = document.createElement("div"); at.append(d); at = d; }</script>',
      ),
    );
    expect(reasonOf(await load('/large'))).toBe('too_large');
    expect(reasonOf(await load('/deep'))).toBe('browser_limit');
  });
});

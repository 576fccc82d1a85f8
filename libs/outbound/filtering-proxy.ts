/**
 * A proxy for a browser, on loopback or on the network that leads to it, so that every byte of it passes the same checks as ours: each host is resolved and judged
 * here, and only the checked address is connected to. Who has no credentials of a visit gets nowhere.
 */
import { randomBytes } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket, type SecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { createAddressPolicy, hostOfUrlHostname, type Host } from './addresses.js';
import { certificateOf, type ServerCertificate, type TrustSettings } from './certificates.js';
import { dial, secure } from './dial.js';
import { endpointOf, parseProxy, parseTarget, portOf, type Endpoint, type Proxy } from './endpoints.js';
import { Fault } from './failures.js';
import { defaultOutboundLimits } from './limits.js';
import type { OutboundFailureReason } from './outbound.js';
import { createResolve, type Resolve } from './resolve.js';
import { createThrowawayContext } from './throwaway-certificate.js';

/** What a visit did not get, and how often it asked. */
export interface RefusedAddress {
  readonly address: string;
  readonly reason: string;
  readonly count: number;
}

const mostRefused = 20;
const longestAddress = 300;
/** Hosts of one visit that are remembered as out of reach. */
const mostFaults = 200;

/** What was refused, the first twenty addresses of it. */
export class Refusals {
  readonly #counts = new Map<string, RefusedAddress>();

  note(address: string, reason: string): void {
    const shown = address.slice(0, longestAddress);
    const known = this.#counts.get(`${reason} ${shown}`);
    if (known === undefined && this.#counts.size >= mostRefused) return;
    this.#counts.set(`${reason} ${shown}`, { address: shown, reason, count: (known?.count ?? 0) + 1 });
  }

  get list(): readonly RefusedAddress[] {
    return [...this.#counts.values()];
  }
}

export interface VisitLimits {
  /** Both ways together. */
  readonly mostBytes: number;
  /** Connections and plain requests. */
  readonly mostRequests: number;
  /** Further proxy of the task; its address is checked too. */
  readonly proxyUrl: string | null;
  /** What is trusted at one host besides, or instead of, the usual authorities. */
  readonly trust?: { readonly hostname: string; readonly settings: TrustSettings } | null;
  readonly onLimit: (what: 'bytes' | 'requests') => void;
}

/** One visit of a browser: what it may take, and what it was refused. */
export interface Visit {
  readonly username: string;
  readonly password: string;
  readonly refusals: Refusals;
  readonly bytes: number;
  /** Certificates are judged here, as for plain pages, and the browser is shown one that it cannot: it must take any. */
  readonly judgesCertificates: boolean;
  /** What `host:port` has shown here; null where certificates are the browser's to judge. */
  certificateOf(authority: string): ServerCertificate | null;
  /** Why `host:port` was not reached the last time; null: it was, or nobody asked. */
  failureOf(authority: string): { readonly reason: OutboundFailureReason; readonly message: string } | null;
  end(): void;
}

export interface FilteringProxy {
  /** `http://<host>:<port>`. */
  readonly url: string;
  admit(limits: VisitLimits): Visit;
  close(): Promise<void>;
}

export interface FilteringProxyOptions {
  readonly egressAllow: readonly string[];
  readonly egressProxyUrl: string | null;
  /** PEM of authorities that are trusted besides the usual ones; null: none. */
  readonly authorities?: string | null;
  readonly refusedHosts?: readonly string[];
  readonly resolve?: Resolve;
  /** Where it listens; loopback where left out. */
  readonly host?: string;
}

/** Headers that speak of one connection (RFC 9110, section 7.6.1), and of the way to this proxy. */
const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

class OpenVisit implements Visit {
  readonly username = randomBytes(12).toString('base64url');
  readonly password = randomBytes(24).toString('base64url');
  readonly refusals = new Refusals();
  readonly limits: VisitLimits;
  readonly proxies: readonly Proxy[];
  readonly ending = new AbortController();
  readonly faults = new Map<string, Fault>();
  readonly certificates = new Map<string, ServerCertificate | null>();
  readonly judgesCertificates: boolean;
  readonly #sockets = new Set<Duplex>();
  readonly #onEnd: () => void;
  bytes = 0;
  #requests = 0;

  constructor(limits: VisitLimits, proxies: readonly Proxy[], judgesCertificates: boolean, onEnd: () => void) {
    this.limits = limits;
    this.judgesCertificates = judgesCertificates;
    this.proxies = proxies;
    this.#onEnd = onEnd;
  }

  failureOf(authority: string): Fault | null {
    return this.faults.get(authority) ?? null;
  }

  certificateOf(authority: string): ServerCertificate | null {
    return this.certificates.get(authority) ?? null;
  }

  trustAt(host: Host): TrustSettings | null {
    const { hostname, settings } = this.limits.trust ?? {};
    const own = hostname === undefined ? null : hostOfUrlHostname(hostname);
    return own !== null && isDeepStrictEqual(own, host) ? (settings ?? null) : null;
  }

  get authorization(): string {
    return `Basic ${Buffer.from(`${this.username}:${this.password}`).toString('base64')}`;
  }

  /** False: there were too many. */
  begin(): boolean {
    this.#requests += 1;
    if (this.#requests <= this.limits.mostRequests) return !this.ending.signal.aborted;
    this.#stop('requests');
    return false;
  }

  /** Ends with the visit. */
  hold(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    if (this.ending.signal.aborted) socket.destroy();
  }

  count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limits.mostBytes) this.#stop('bytes');
  }

  #stop(what: 'bytes' | 'requests'): void {
    if (this.ending.signal.aborted) return;
    this.end();
    this.limits.onLimit(what);
  }

  end(): void {
    this.#onEnd();
    this.ending.abort(new Fault('aborted', 'The visit has ended.'));
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** What is counted passes in both directions; the end of one is the end of the other. */
function join(visit: OpenVisit, near: Duplex, far: Duplex): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    visit.hold(from);
    from.on('data', (chunk: Buffer) => visit.count(chunk.length));
    from.pipe(to);
    from.once('close', () => to.destroy());
  }
}

function answerShort(socket: Duplex, status: string, headers = ''): void {
  socket.on('error', () => undefined);
  socket.end(`HTTP/1.1 ${status}\r\n${headers}Content-Length: 0\r\nConnection: close\r\n\r\n`);
}

/** RFC 8446, section 5.1: the first byte of a connection that asks for TLS. */
const handshake = 0x16;

/** Whether TLS is what comes, which stays to be read; never where nothing comes. */
function asksForTls(near: Duplex): Promise<boolean> {
  return new Promise((resolve) => {
    near.once('data', (chunk: Buffer) => {
      near.pause();
      near.unshift(chunk);
      resolve(chunk[0] === handshake);
    });
    near.once('close', () => resolve(false));
  });
}

const challenge = 'Proxy-Authenticate: Basic realm="meerkat"\r\n';

/** Throws a TypeError that names a bad entry of the options. */
export async function createFilteringProxy(options: FilteringProxyOptions): Promise<FilteringProxy> {
  const policy = createAddressPolicy(options.egressAllow);
  const resolve = options.resolve ?? createResolve();
  const refused = (options.refusedHosts ?? []).flatMap((text) => endpointOf(text) ?? []);
  const egressProxy = options.egressProxyUrl === null ? null : parseProxy(options.egressProxyUrl, true);
  const authorities = options.authorities ?? null;
  const { connectMs } = defaultOutboundLimits;
  const visits = new Map<string, OpenVisit>();
  /** Made with the first page that needs it. */
  let ownContext: SecureContext | null = null;

  const visitOf = (request: IncomingMessage): OpenVisit | null =>
    visits.get(request.headers['proxy-authorization'] ?? '') ?? null;

  function note(visit: OpenVisit, shown: string, error: unknown): void {
    if (!(error instanceof Fault)) return;
    if (visit.faults.size < mostFaults) visit.faults.set(shown, error);
    if (error.reason === 'address_denied') visit.refusals.note(shown, 'address_denied');
  }

  /** A checked connection; null: there is none, and what was refused is noted. */
  async function open(visit: OpenVisit, target: Endpoint, shown: string): Promise<Socket | null> {
    const trusted = { authorities, trust: null };
    try {
      const { signal } = visit.ending;
      const socket = await dial(target, visit.proxies, policy, refused, resolve, connectMs, signal, trusted);
      visit.faults.delete(shown);
      return socket;
    } catch (error) {
      note(visit, shown, error);
      return null;
    }
  }

  /** Ends the browser's TLS here and begins it anew, with a server whose certificate is judged as for plain pages. */
  async function joinSecured(visit: OpenVisit, near: Duplex, far: Socket, host: Host, shown: string): Promise<void> {
    if (!(await asksForTls(near))) return join(visit, near, far);
    try {
      const trusted = { authorities, trust: visit.trustAt(host) };
      const secured = await secure(far, host, connectMs, visit.ending.signal, trusted);
      if (visit.certificates.size < mostFaults) visit.certificates.set(shown, certificateOf(secured));
      ownContext ??= createThrowawayContext('meerkat.invalid');
      const opened = new TLSSocket(near, { isServer: true, secureContext: ownContext, ALPNProtocols: ['http/1.1'] });
      join(visit, opened, secured);
    } catch (error) {
      note(visit, shown, error);
      near.destroy();
    }
  }

  async function tunnel(request: IncomingMessage, near: Duplex, head: Buffer): Promise<void> {
    const visit = visitOf(request);
    if (visit === null) return answerShort(near, '407 Proxy Authentication Required', challenge);
    visit.hold(near);
    const shown = request.url ?? '';
    const endpoint = endpointOf(shown);
    if (endpoint === null) return answerShort(near, '400 Bad Request');
    if (!visit.begin()) return answerShort(near, '429 Too Many Requests');
    const far = await open(visit, { ...endpoint, tls: false, trusted: false }, shown);
    if (far === null) return answerShort(near, '403 Forbidden');
    near.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) near.unshift(head);
    if (visit.judgesCertificates) await joinSecured(visit, near, far, endpoint.host, shown);
    else join(visit, near, far);
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const visit = visitOf(request);
    if (visit === null) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="meerkat"' }).end();
      return;
    }
    const target = parseTarget(request.url ?? '');
    const host = target instanceof Fault ? null : hostOfUrlHostname(target.url.hostname);
    if (target instanceof Fault || host === null || target.url.protocol !== 'http:') {
      response.writeHead(400).end();
      return;
    }
    if (!visit.begin()) {
      response.writeHead(429).end();
      return;
    }
    const { url } = target;
    const port = portOf(url);
    const far = await open(visit, { host, port, tls: false, trusted: false }, `${url.hostname}:${port}`);
    if (far === null) {
      response.writeHead(403, { 'x-meerkat-refused': '1' }).end();
      return;
    }
    visit.hold(far);
    far.on('data', (chunk: Buffer) => visit.count(chunk.length));
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !hopHeaders.has(name)));
    const sending = httpRequest({
      createConnection: () => far,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, connection: 'close' },
      setHost: false,
      insecureHTTPParser: false,
    });
    sending.on('response', (answer) => {
      const kept = Object.entries(answer.headers).filter(([name]) => !hopHeaders.has(name));
      response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    sending.on('error', () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    request.on('data', (chunk: Buffer) => visit.count(chunk.length));
    request.pipe(sending);
  }

  const listeningHost = options.host ?? '127.0.0.1';
  const connections = new Set<Socket>();
  const server = createServer((request, response) => {
    void forward(request, response).catch(() => response.destroy());
  });
  server.on('connect', (request: IncomingMessage, near: Duplex, head: Buffer) => {
    void tunnel(request, near, head).catch(() => near.destroy());
  });
  server.on('upgrade', (_request: IncomingMessage, near: Duplex) => answerShort(near, '400 Bad Request'));
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolveListen, reject) => {
    server.once('error', reject);
    server.listen(0, listeningHost, resolveListen);
  });
  // It waits for nobody: the process may end while it listens.
  server.unref();
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${listeningHost.includes(':') ? `[${listeningHost}]` : listeningHost}:${port}`,
    admit(limits) {
      const own = limits.proxyUrl === null ? null : parseProxy(limits.proxyUrl, false);
      const proxies = [egressProxy, own].filter((proxy) => proxy !== null);
      const judges = authorities !== null || (limits.trust ?? null) !== null;
      const visit: OpenVisit = new OpenVisit(limits, proxies, judges, () => visits.delete(visit.authorization));
      visits.set(visit.authorization, visit);
      return visit;
    },
    async close() {
      for (const visit of visits.values()) visit.end();
      for (const socket of connections) socket.destroy();
      await new Promise<void>((resolveClose) => {
        server.close(() => resolveClose());
      });
    },
  };
}

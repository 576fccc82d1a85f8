/** The outbound door over undici's HTTP/1.1 client: one client per checked and pinned socket, kept alive and used again. */
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import { createAddressPolicy, hostOf, hostOfUrlHostname, type AddressPolicy, type Host } from './addresses.js';
import { Connections, type Pooled } from './connections.js';
import { Cookies } from './cookies.js';
import { bodySink, codingsOf, type BodyLimits, type BodyOwner, type BodySink } from './decode.js';
import { dial, endpointKey, endpointKeyOf, literalRefusal, parseProxy, portOf, type Proxy } from './dial.js';
import { exchangeFault, Fault } from './failures.js';
import { defaultOutboundLimits, type OutboundLimits } from './limits.js';
import type { ConnectResult, Outbound, OutboundAnswer, OutboundFailure, OutboundRequest } from './outbound.js';
import { nextHop, type Hop } from './redirects.js';
import { createResolve, type Resolve } from './resolve.js';
import { Run } from './run.js';

export interface OutboundOptions {
  /** CIDRs, addresses, host names and `*.suffix` that may be reached besides public addresses. */
  readonly egressAllow: readonly string[];
  /** Forward proxy for all HTTP requests: trusted, so it may stand at any address. */
  readonly egressProxyUrl: string | null;
  /** `host:port` of the operator's own servers; `connect` reaches them whatever their address, `request` does not. */
  readonly trustedHosts?: readonly string[];
  readonly userAgent: string;
  readonly resolve?: Resolve;
  readonly limits?: Partial<OutboundLimits>;
}

const maxRedirects = 5;
const maxHeaderBytes = 16_384;
/** A redirect's own body is read up to here for the sake of its connection; past that the connection is closed. */
const maxSkippedBytes = 65_536;
/** Each piece of a body costs time, however small it is; servers that flush every line stay far below this. */
const maxPieces = 250_000;
/** Answers before the answer (103 Early Hints and the like): servers send one or two. */
const maxHints = 20;
const idleMs = 4_000;
const maxIdleMs = 60_000;

/** Headers that belong to the connection, not to the request: the door sets them itself. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Methods that may be sent again, unseen, when a kept connection turns out to be closed. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS']);

const closed = new Fault('aborted', 'The service is shutting down.');

/** Throws a TypeError that names a bad entry of `egressAllow`, `egressProxyUrl` or `trustedHosts`. */
export function createOutbound(options: OutboundOptions): Outbound {
  return new UndiciOutbound(options);
}

type ClientClass = typeof Client;
let clientClass: ClientClass | null = null;

/** Loaded with the first connection: a start need not wait for what it does not use yet. */
async function loadClient(): Promise<ClientClass> {
  clientClass ??= (await import('undici')).Client;
  return clientClass;
}

/** One HTTP connection: a client over a socket that is open already, and never opens another. */
class Connection implements Pooled {
  readonly client: Client;
  reused = false;
  alive = true;
  readonly #onClose: (connection: Connection) => void;
  /** Until the client has taken it over. */
  #socket: Socket | null;

  constructor(HttpClient: ClientClass, origin: string, socket: Socket, onClose: (connection: Connection) => void) {
    this.#socket = socket;
    this.#onClose = onClose;
    this.client = new HttpClient(origin, {
      pipelining: 1,
      allowH2: false,
      useMilo: false,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0, // time is kept by `Run`
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: maxIdleMs,
      connect: (_options, callback) => {
        const ready = this.#socket;
        this.#socket = null;
        // Later, because the client does not look again while it is still asking for the connection.
        queueMicrotask(() => {
          if (ready === null) callback(new Fault('connect_failed', 'The server closed the connection.'), null);
          else callback(null, ready);
        });
      },
    });
    this.client.on('disconnect', this.#gone);
    this.client.on('connectionError', this.#gone);
  }

  close(): void {
    this.#socket?.on('error', () => undefined).destroy();
    void this.client.destroy(new Fault('aborted', 'The connection was closed.'));
    if (this.#socket !== null) this.#gone();
  }

  readonly #gone = (): void => {
    if (!this.alive) return;
    this.alive = false;
    void this.client.destroy();
    this.#onClose(this);
  };
}

interface HopAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly cut: boolean;
  readonly setCookies: readonly string[];
  /** What is asked next, or null. */
  readonly next: Hop | Fault | null;
}

/** One request on one connection. Settles once; what undici says after that is not heard. */
class Exchange implements Dispatcher.DispatchHandler, BodyOwner {
  readonly #connection: Connection;
  readonly #run: Run;
  readonly #hop: Hop;
  readonly #limits: BodyLimits;
  readonly #follows: boolean;
  readonly #resolve: (answer: HopAnswer) => void;
  readonly #reject: (fault: Fault) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #sink: BodySink | null = null;
  #skippedBytes = 0;
  #pieces = 0;
  #hints = 0;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  #setCookies: readonly string[] = [];
  #next: Hop | Fault | null = null;
  started = false;
  answered = false;
  /** The whole answer has come, and nothing of it is left on the connection. */
  atEnd = false;

  constructor(
    connection: Connection,
    run: Run,
    hop: Hop,
    limits: BodyLimits,
    follows: boolean,
    resolve: (answer: HopAnswer) => void,
    reject: (fault: Fault) => void,
  ) {
    this.#connection = connection;
    this.#run = run;
    this.#hop = hop;
    this.#limits = limits;
    this.#follows = follows;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) return controller.abort(closed);
    this.started = true;
    this.#run.requestSent();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#settled) return;
    if (status < 200) {
      this.#hints += 1;
      if (this.#hints > maxHints)
        this.bodyFailed(new Fault('protocol_error', 'The server announces an answer again and again, and sends none.'));
      return;
    }
    this.answered = true;
    this.#run.answerStarted();
    this.#status = status;
    this.#headers = joined(headers);
    this.#setCookies = [headers['set-cookie'] ?? []].flat();
    this.#next = this.#follows ? nextHop(this.#hop, status, this.#headers['location']) : null;
    if (this.#next !== null) return;
    const codings = codingsOf(this.#headers['content-encoding']);
    if (codings instanceof Fault) return this.bodyFailed(codings);
    const { maxBodyBytes, onBodyLimit } = this.#limits;
    if (codings.length === 0 && onBodyLimit === 'fail' && this.#hop.method !== 'HEAD') {
      const announced = Number(this.#headers['content-length']);
      if (announced > maxBodyBytes) {
        return this.bodyFailed(new Fault('too_large', `The answer is larger than ${maxBodyBytes} bytes.`));
      }
    }
    this.#sink = bodySink(codings, this.#limits, this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#run.bytesCame(chunk.length);
    this.#pieces += 1;
    if (this.#pieces > maxPieces) {
      return this.bodyFailed(new Fault('too_large', 'The answer comes in too many small pieces.'));
    }
    if (this.#sink !== null) {
      if (!this.#sink.write(chunk)) controller.pause();
      return;
    }
    this.#skippedBytes += chunk.length;
    if (this.#skippedBytes > maxSkippedBytes) this.#settle(() => this.#resolve(this.#answer(new Uint8Array(0), true)));
  }

  onResponseEnd(): void {
    this.atEnd = true;
    if (this.#settled) return;
    if (this.#sink === null) this.#settle(() => this.#resolve(this.#answer(new Uint8Array(0), false)));
    else this.#sink.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.bodyFailed(exchangeFault(error, this.answered));
  }

  bodyDone(body: Uint8Array, cut: boolean): void {
    this.#settle(() => this.#resolve(this.#answer(body, cut)));
  }

  bodyFailed(fault: Fault): void {
    this.#settle(() => this.#reject(fault));
  }

  resume(): void {
    if (!this.#settled) this.#controller?.resume();
  }

  #answer(body: Uint8Array, cut: boolean): HopAnswer {
    return { status: this.#status, headers: this.#headers, body, cut, setCookies: this.#setCookies, next: this.#next };
  }

  #settle(hand: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#sink?.drop();
    if (!this.atEnd) {
      this.#controller?.abort(closed);
      this.#connection.close();
    }
    hand();
  }
}

/** Repeated headers as one value each. */
function joined(headers: Record<string, string | string[] | undefined>): Readonly<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) entries.push([name, typeof value === 'string' ? value : value.join(', ')]);
  }
  return Object.fromEntries(entries);
}

class UndiciOutbound implements Outbound {
  readonly #policy: AddressPolicy;
  readonly #resolve: Resolve;
  readonly #egressProxy: Proxy | null;
  readonly #trustedHosts: ReadonlySet<string>;
  readonly #userAgent: string;
  readonly #limits: OutboundLimits;
  readonly #connections: Connections<Connection>;
  readonly #open = new Set<Connection>();
  readonly #runs = new Set<Run>();
  #closed = false;

  constructor(options: OutboundOptions) {
    this.#policy = createAddressPolicy(options.egressAllow);
    this.#resolve = options.resolve ?? createResolve();
    this.#egressProxy = options.egressProxyUrl === null ? null : parseProxy(options.egressProxyUrl, true);
    if (options.egressProxyUrl !== null && this.#egressProxy === null) {
      throw new TypeError('The proxy is not an address such as http://proxy.example.com:3128.');
    }
    this.#trustedHosts = new Set(
      (options.trustedHosts ?? []).map((text) => {
        const key = endpointKeyOf(text);
        if (key === null) throw new TypeError(`"${text}" is not host:port.`);
        return key;
      }),
    );
    this.#userAgent = options.userAgent;
    this.#limits = { ...defaultOutboundLimits, ...options.limits };
    this.#connections = new Connections(this.#limits.connectionsPerOrigin, this.#limits.idleConnections);
  }

  async request(request: OutboundRequest): Promise<OutboundAnswer | OutboundFailure> {
    const { firstByteMs } = request;
    const limits = firstByteMs === undefined ? this.#limits : { ...this.#limits, firstByteMs };
    const run = new Run(request.timeoutMs, limits, request.signal);
    this.#runs.add(run);
    try {
      if (this.#closed) throw closed;
      return await this.#follow(request, run);
    } catch (error) {
      return failureOf(error, run);
    } finally {
      run.dispose();
      this.#runs.delete(run);
    }
  }

  async connect(host: string, port: number, timeoutMs: number): Promise<ConnectResult> {
    const run = new Run(timeoutMs, { ...this.#limits, firstByteMs: timeoutMs }, undefined);
    this.#runs.add(run);
    const ending = new AbortController();
    run.whileWaiting((fault) => ending.abort(fault));
    try {
      if (this.#closed) throw closed;
      const parsed = hostOf(host);
      if (parsed === null) throw new Fault('invalid_url', 'The host name is not valid.');
      if (!Number.isInteger(port) || port < 1 || port > 65_535)
        throw new Fault('invalid_url', 'The port is not valid.');
      const trusted = this.#trustedHosts.has(endpointKey(parsed, port));
      const target = { host: parsed, port, tls: false, trusted, tunnel: true };
      const socket = await dial(target, [], this.#policy, this.#resolve, this.#limits.connectMs, ending.signal);
      return { ok: true, socket };
    } catch (error) {
      return failureOf(error, run);
    } finally {
      run.dispose();
      this.#runs.delete(run);
    }
  }

  refusalOf(url: string): string | null {
    const parsed = parseTarget(url);
    return parsed instanceof Fault ? parsed.message : literalRefusal(parsed.host, this.#policy);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const run of this.#runs) run.end(closed);
    await Promise.all([...this.#open].map((connection) => connection.client.destroy(closed)));
  }

  async #follow(request: OutboundRequest, run: Run): Promise<OutboundAnswer> {
    const limit = Math.min(request.maxRedirects, maxRedirects);
    const userProxy = request.proxyUrl === undefined ? null : parseProxy(request.proxyUrl, false);
    if (request.proxyUrl !== undefined && userProxy === null) {
      throw new Fault('invalid_url', 'The proxy is not an address such as http://proxy.example.com:3128.');
    }
    const proxies = [this.#egressProxy, userProxy].filter((proxy) => proxy !== null);
    const first = parseTarget(request.url);
    if (first instanceof Fault) throw first;
    const method = normalizedMethod(request.method);
    let hop: Hop = { method, url: first.url, headers: request.headers, body: request.body };
    const cookies = request.keepsCookies === true && limit > 0 ? new Cookies(request.headers) : null;
    for (let redirects = 0; ; redirects += 1) {
      const answer = await this.#ask(hop, request, run, proxies, limit > 0);
      if (answer.next === null) {
        return {
          ok: true,
          status: answer.status,
          headers: answer.headers,
          body: answer.body,
          bodyCut: answer.cut,
          finalUrl: hop.url.href,
          redirects,
          durationMs: Math.round(performance.now() - run.startedAt),
        };
      }
      if (answer.next instanceof Fault) throw answer.next;
      if (redirects >= limit) {
        throw new Fault('too_many_redirects', `The server redirects more than ${limit} times.`);
      }
      hop = cookies === null ? answer.next : cookies.follow(hop.url, answer.setCookies, answer.next);
    }
  }

  /** One hop. A kept connection that turns out to be closed is replaced once, where nobody can have seen the request twice. */
  async #ask(
    hop: Hop,
    request: OutboundRequest,
    run: Run,
    proxies: readonly Proxy[],
    follows: boolean,
  ): Promise<HopAnswer> {
    const host = hostOfUrlHostname(hop.url.hostname);
    if (host === null) throw new Fault('invalid_url', 'The host name is not valid.');
    const port = portOf(hop.url);
    if (port === 0) throw new Fault('invalid_url', 'Port 0 cannot be reached.');
    const key = proxies.length === 0 ? hop.url.origin : connectionKey(hop.url, proxies);
    const options = this.#dispatchOptions(hop, proxies);
    const limits: BodyLimits = {
      maxBodyBytes: request.maxBodyBytes,
      onBodyLimit: request.onBodyLimit,
      maxWireBytes: this.#limits.wireBytes,
      maxRatio: this.#limits.ratio,
      ratioFromBytes: this.#limits.ratioFromBytes,
    };
    for (;;) {
      const connection = await this.#obtain(key, hop.url, host, port, proxies, run);
      const sentBefore = run.sent;
      const { promise, resolve, reject } = Promise.withResolvers<HopAnswer>();
      const exchange = new Exchange(connection, run, hop, limits, follows, resolve, reject);
      run.whileWaiting((fault) => exchange.bodyFailed(fault));
      connection.client.dispatch(options, exchange);
      try {
        return await promise;
      } catch (error) {
        if (!isStale(error, connection, exchange, hop.method)) throw error;
        run.sent = sentBefore;
      } finally {
        // Whatever became of the body: a connection that is through with it is ready for the next.
        if (exchange.atEnd) {
          connection.reused = true;
          this.#connections.release(key, connection);
        }
      }
    }
  }

  async #obtain(
    key: string,
    url: URL,
    host: Host,
    port: number,
    proxies: readonly Proxy[],
    run: Run,
  ): Promise<Connection> {
    const idle = this.#connections.takeIdle(key);
    if (idle !== null) return idle;
    if (!this.#connections.mayOpen(key)) {
      const granted = await new Promise<Connection | null>((resolve, reject) => {
        const leaveLine = this.#connections.wait(key, resolve);
        run.whileWaiting((fault) => {
          leaveLine();
          reject(fault);
        });
      });
      if (granted !== null) return granted;
    }
    const ending = new AbortController();
    run.whileWaiting((fault) => ending.abort(fault));
    try {
      const tls = url.protocol === 'https:';
      const target = { host, port, tls, trusted: false, tunnel: tls };
      const { connectMs } = this.#limits;
      const HttpClient = await loadClient();
      const socket = await dial(target, proxies, this.#policy, this.#resolve, connectMs, ending.signal);
      const connection = new Connection(HttpClient, url.origin, socket, (gone) => {
        this.#open.delete(gone);
        this.#connections.leave(key, gone);
      });
      this.#open.add(connection);
      return connection;
    } catch (error) {
      this.#connections.leave(key, null);
      throw error;
    }
  }

  #dispatchOptions(hop: Hop, proxies: readonly Proxy[]): Dispatcher.DispatchOptions {
    const headers: string[] = [];
    let hasUserAgent = false;
    let hasAcceptEncoding = false;
    for (const name in hop.headers) {
      const lower = name.toLowerCase();
      if (ownHeaders.has(lower) || (lower === 'proxy-authorization' && proxies.length > 0)) continue;
      if (lower === 'user-agent') hasUserAgent = true;
      else if (lower === 'accept-encoding') hasAcceptEncoding = true;
      headers.push(lower, hop.headers[name] ?? '');
    }
    if (!hasUserAgent) headers.push('user-agent', this.#userAgent);
    if (!hasAcceptEncoding) headers.push('accept-encoding', 'gzip, deflate, br, zstd');
    let path = hop.url.pathname + hop.url.search;
    const last = proxies.at(-1);
    if (last !== undefined && hop.url.protocol === 'http:') {
      path = hop.url.origin + path;
      if (last.authorization !== null) headers.push('proxy-authorization', last.authorization);
    }
    return { path, method: hop.method, headers, body: hop.body ?? null };
  }
}

function connectionKey(url: URL, proxies: readonly Proxy[]): string {
  const via = proxies.map((proxy) => [endpointKey(proxy.host, proxy.port), proxy.tls, proxy.authorization]);
  return `${url.origin} ${JSON.stringify(via)}`;
}

function parseTarget(text: string): { readonly url: URL; readonly host: Host } | Fault {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return new Fault('invalid_url', 'The address is not valid.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return new Fault('invalid_url', 'The address must begin with http:// or https://.');
  }
  if (url.username !== '' || url.password !== '') {
    return new Fault('invalid_url', 'The address must not hold credentials: use a header for them.');
  }
  if (url.port === '0') return new Fault('invalid_url', 'Port 0 cannot be reached.');
  const host = hostOfUrlHostname(url.hostname);
  return host === null ? new Fault('invalid_url', 'The host name is not valid.') : { url, host };
}

const usualMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

function normalizedMethod(method: string): string {
  const upper = method.toUpperCase();
  if (usualMethods.has(upper)) return upper;
  if (upper === 'CONNECT' || upper === 'TRACE' || upper === 'TRACK') {
    throw new Fault('protocol_error', `The method ${upper} is not allowed.`);
  }
  return method;
}

/** True where a kept connection was closed by its server before the request could have had an effect. */
function isStale(error: unknown, connection: Connection, exchange: Exchange, method: string): boolean {
  if (!connection.reused || exchange.answered) return false;
  if (!(error instanceof Fault) || error.reason !== 'connect_failed') return false;
  return !exchange.started || repeatable.has(method);
}

function failureOf(error: unknown, run: Run): OutboundFailure {
  const fault = error instanceof Fault ? error : new Fault('protocol_error', 'The request could not be made.');
  return {
    ok: false,
    reason: fault.reason,
    message: fault.message,
    sent: run.sent,
    durationMs: Math.round(performance.now() - run.startedAt),
  };
}

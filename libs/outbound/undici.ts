/** The outbound port over undici's HTTP/1.1 client: one client per checked and pinned socket, kept alive and reused. */
import type { Socket } from 'node:net';
import { createAddressPolicy, hostOf, hostOfUrlHostname, type AddressPolicy, type Host } from './addresses.js';
import type { TrustSettings } from './certificates.js';
import { Connection, loadClient } from './connection.js';
import { ConnectionPool } from './connection-pool.js';
import { Cookies } from './cookies.js';
import type { BodyLimits } from './decode.js';
import { sendDatagram } from './datagram.js';
import { checkedAddresses, dial, literalRefusal } from './dial.js';
import { dispatchOptions, normalizedMethod } from './dispatch-options.js';
import {
  connectionKey,
  endpointKey,
  endpointKeyOf,
  endpointOf,
  isPeerAddress,
  parsePeer,
  parseProxy,
  parseTarget,
  portOf,
  type Endpoint,
  type Proxy,
} from './endpoints.js';
import { Exchange, type HopAnswer } from './exchange.js';
import { Fault } from './failures.js';
import { defaultOutboundLimits, type OutboundLimits } from './limits.js';
import type {
  ConnectResult,
  DatagramResult,
  Outbound,
  OutboundAnswer,
  OutboundFailure,
  OutboundRequest,
} from './outbound.js';
import type { Hop } from './redirects.js';
import { refuseOwnServers, type RefusedEndpoint } from './refused-endpoints.js';
import { RequestDeadline } from './request-deadline.js';
import { createResolve, type Resolve } from './resolve.js';

export interface OutboundOptions {
  /** CIDRs, addresses, host names and `*.suffix` that may be reached in addition to public addresses. */
  readonly egressAllow: readonly string[];
  /** Forward proxy for all HTTP requests: trusted, so it may stand at any address. */
  readonly egressProxyUrl: string | null;
  /** `host:port` of the operator's own servers; `connect` reaches them whatever their address, `request` does not. */
  readonly trustedHosts?: readonly string[];
  /** `host:port` of servers that are no target, whatever `egressAllow` says. */
  readonly refusedHosts?: readonly string[];
  /** PEM of authorities that are trusted besides the usual ones; null: none. */
  readonly authorities?: string | null;
  readonly userAgent: string;
  readonly resolve?: Resolve;
  readonly limits?: Partial<OutboundLimits>;
}

const maxRedirects = 5;

/** Methods that are sent again on a new connection where a reused one turns out to be closed. */
const retryable = new Set(['GET', 'HEAD', 'OPTIONS']);

const closed = new Fault('aborted', 'The service is shutting down.');

/** Throws a TypeError that names a bad entry of `egressAllow`, `egressProxyUrl`, `trustedHosts` or `refusedHosts`. */
export function createOutbound(options: OutboundOptions): Outbound {
  return new UndiciOutbound(options);
}

class UndiciOutbound implements Outbound {
  readonly #policy: AddressPolicy;
  readonly #resolve: Resolve;
  readonly #egressProxy: Proxy | null;
  readonly #trustedHosts: ReadonlySet<string>;
  readonly #refused: readonly RefusedEndpoint[];
  readonly #userAgent: string;
  readonly #authorities: string | null;
  readonly #limits: OutboundLimits;
  readonly #pool: ConnectionPool<Connection>;
  readonly #open = new Set<Connection>();
  readonly #running = new Set<RequestDeadline>();
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
    this.#refused = (options.refusedHosts ?? []).map((text) => {
      const endpoint = endpointOf(text);
      if (endpoint === null) throw new TypeError(`"${text}" is not host:port.`);
      return endpoint;
    });
    this.#userAgent = options.userAgent;
    this.#authorities = options.authorities ?? null;
    this.#limits = { ...defaultOutboundLimits, ...options.limits };
    this.#pool = new ConnectionPool(this.#limits.connectionsPerOrigin, this.#limits.idleConnections);
  }

  async request(request: OutboundRequest): Promise<OutboundAnswer | OutboundFailure> {
    const deadline = new RequestDeadline(request.timeoutMs, this.#limits, request.signal);
    return this.#within(deadline, () => this.#follow(request, deadline));
  }

  async connect(host: string, port: number, timeoutMs: number, tls?: TrustSettings): Promise<ConnectResult> {
    const deadline = new RequestDeadline(timeoutMs, this.#limits, undefined);
    return this.#within(deadline, async () => {
      const target = { ...this.#peer(host, port), tls: tls !== undefined };
      return { ok: true, socket: await this.#dial(target, [], deadline, tls ?? null) };
    });
  }

  async datagram(host: string, port: number, bytes: Uint8Array, timeoutMs: number): Promise<DatagramResult> {
    const deadline = new RequestDeadline(timeoutMs, this.#limits, undefined);
    return this.#within(deadline, async () => {
      const ending = new AbortController();
      deadline.whileWaiting((fault) => ending.abort(fault));
      const target = this.#peer(host, port);
      const addresses = await checkedAddresses(target, this.#policy, this.#resolve);
      await refuseOwnServers(target, addresses, this.#refused, this.#resolve);
      await sendDatagram(addresses[0] ?? '', port, bytes, ending.signal);
      return { ok: true };
    });
  }

  /** What speaks no HTTP, by its name and port. */
  #peer(host: string, port: number): Endpoint {
    const parsed = hostOf(host);
    if (parsed === null) throw new Fault('invalid_url', 'The host name is not valid.');
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Fault('invalid_url', 'The port is not valid.');
    const trusted = this.#trustedHosts.has(endpointKey(parsed, port));
    return { host: parsed, port, tls: false, trusted, isHttp: false };
  }

  refusalOf(url: string): string | null {
    const parsed = isPeerAddress(url) ? parsePeer(url) : parseTarget(url);
    return parsed instanceof Fault ? parsed.message : literalRefusal(parsed.host, this.#policy);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const deadline of this.#running) deadline.fail(closed);
    await Promise.all([...this.#open].map((connection) => connection.client.destroy(closed)));
  }

  async #within<T>(deadline: RequestDeadline, work: () => Promise<T>): Promise<T | OutboundFailure> {
    this.#running.add(deadline);
    try {
      if (this.#closed) throw closed;
      return await work();
    } catch (error) {
      return failureOf(error, deadline);
    } finally {
      deadline.dispose();
      this.#running.delete(deadline);
    }
  }

  #dial(
    target: Endpoint,
    proxies: readonly Proxy[],
    deadline: RequestDeadline,
    trust: TrustSettings | null,
  ): Promise<Socket> {
    const ending = new AbortController();
    deadline.whileWaiting((fault) => ending.abort(fault));
    const { connectMs } = this.#limits;
    const trusted = { authorities: this.#authorities, trust };
    return dial(target, proxies, this.#policy, this.#refused, this.#resolve, connectMs, ending.signal, trusted);
  }

  async #follow(request: OutboundRequest, deadline: RequestDeadline): Promise<OutboundAnswer> {
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
      const trust = hop.url.hostname === first.url.hostname ? (request.trust ?? null) : null;
      const { connection, answer } = await this.#requestHop(hop, request, deadline, proxies, limit > 0, trust);
      if (answer.next === null) {
        return {
          ok: true,
          status: answer.status,
          headers: answer.headers,
          body: answer.body,
          bodyCut: answer.cut,
          finalUrl: hop.url.href,
          certificate: connection.certificate,
          redirects,
          durationMs: Math.round(performance.now() - deadline.startedAt),
        };
      }
      if (answer.next instanceof Fault) throw answer.next;
      if (redirects >= limit) {
        throw new Fault('too_many_redirects', `The server redirects more than ${limit} times.`);
      }
      hop = cookies === null ? answer.next : cookies.follow(hop.url, answer.setCookies, answer.next);
    }
  }

  /** One hop. A reused connection that turns out to be closed is replaced, where the request cannot take effect twice. */
  async #requestHop(
    hop: Hop,
    request: OutboundRequest,
    deadline: RequestDeadline,
    proxies: readonly Proxy[],
    followsRedirects: boolean,
    trust: TrustSettings | null,
  ): Promise<{ readonly connection: Connection; readonly answer: HopAnswer }> {
    const host = hostOfUrlHostname(hop.url.hostname);
    if (host === null) throw new Fault('invalid_url', 'The host name is not valid.');
    const port = portOf(hop.url);
    if (port === 0) throw new Fault('invalid_url', 'Port 0 cannot be reached.');
    const key = connectionKey(hop.url, proxies, trust);
    const options = dispatchOptions(hop, proxies.length > 0, this.#userAgent);
    const limits: BodyLimits = {
      maxBodyBytes: request.maxBodyBytes,
      onBodyLimit: request.onBodyLimit,
      maxWireBytes: this.#limits.wireBytes,
      maxRatio: this.#limits.ratio,
      ratioFromBytes: this.#limits.ratioFromBytes,
    };
    for (;;) {
      const connection = await this.#connectionFor(key, hop.url, host, port, proxies, deadline, trust);
      const sentBefore = deadline.sent;
      const exchange = new Exchange(connection, deadline, hop, limits, followsRedirects, request.beforeBody ?? null);
      deadline.whileWaiting((fault) => exchange.bodyFailed(fault));
      connection.client.dispatch(options, exchange);
      try {
        return { connection, answer: await exchange.answer };
      } catch (error) {
        if (!isStale(error, connection, exchange, hop.method)) throw error;
        deadline.sent = sentBefore;
      } finally {
        // Even where the body was refused: a connection from which it was read completely is free for the next request.
        if (exchange.complete && exchange.closesConnection) connection.close();
        else if (exchange.complete) {
          connection.reused = true;
          this.#pool.release(key, connection);
        }
      }
    }
  }

  async #connectionFor(
    key: string,
    url: URL,
    host: Host,
    port: number,
    proxies: readonly Proxy[],
    deadline: RequestDeadline,
    trust: TrustSettings | null,
  ): Promise<Connection> {
    const idle = this.#pool.takeIdle(key);
    if (idle !== null) return idle;
    if (!this.#pool.tryReserve(key)) {
      const granted = await new Promise<Connection | null>((resolve, reject) => {
        const cancelWait = this.#pool.wait(key, resolve);
        deadline.whileWaiting((fault) => {
          cancelWait();
          reject(fault);
        });
      });
      if (granted !== null) return granted;
    }
    try {
      const tls = url.protocol === 'https:';
      const target = { host, port, tls, trusted: false };
      const HttpClient = await loadClient();
      const socket = await this.#dial(target, proxies, deadline, trust);
      const connection = new Connection(HttpClient, url.origin, socket, (gone) => {
        this.#open.delete(gone);
        this.#pool.remove(key, gone);
      });
      this.#open.add(connection);
      return connection;
    } catch (error) {
      this.#pool.remove(key, null);
      throw error;
    }
  }
}

/** True where the server closed a reused connection before the request could have taken effect. */
function isStale(error: unknown, connection: Connection, exchange: Exchange, method: string): boolean {
  if (!connection.reused || exchange.answered) return false;
  if (!(error instanceof Fault) || error.reason !== 'connect_failed') return false;
  return !exchange.started || retryable.has(method);
}

function failureOf(error: unknown, deadline: RequestDeadline): OutboundFailure {
  const fault = error instanceof Fault ? error : new Fault('protocol_error', 'The request could not be made.');
  return {
    ok: false,
    reason: fault.reason,
    message: fault.message,
    sent: deadline.sent,
    durationMs: Math.round(performance.now() - deadline.startedAt),
    ...(fault.network === undefined ? {} : { network: fault.network }),
  };
}

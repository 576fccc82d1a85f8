/** Opens sockets, to checked addresses only: TCP to the pinned address, then through proxies, then TLS under the real name. */
import { isIP, connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import { isLocalhost, loopbackAddresses, networkOf, type AddressPolicy, type Host } from './addresses.js';
import type { Endpoint, Proxy } from './endpoints.js';
import { certificateOf, normalFingerprint, trusting, type TrustSettings } from './certificates.js';
import { codeOf, connectFault, Fault, tlsFault } from './failures.js';
import { refuseOwnServers, type RefusedEndpoint } from './refused-endpoints.js';
import type { Resolve } from './resolve.js';

const maxProxyAnswerBytes = 16_384;

const operatorHint = 'The operator of this service can allow it with EGRESS_ALLOW.';

/** Why a host's literal spelling can never be reached, or null; names but `localhost` are judged when they resolve. */
export function literalRefusal(host: Host, policy: AddressPolicy): string | null {
  if (host.kind === 'address') {
    const kind = policy.refusalOfAddress(host.address);
    return kind === null ? null : `The address points to ${kind}, which is not reachable from here. ${operatorHint}`;
  }
  if (!isLocalhost(host.name)) return null;
  if (loopbackAddresses.some((address) => policy.refusalOfAddress(address, host.name) === null)) return null;
  return `The address points to this machine itself, which is not reachable from here. ${operatorHint}`;
}

/** Every address of a host, all of them checked. Throws a Fault if any is refused. */
export async function checkedAddresses(
  endpoint: Endpoint,
  policy: AddressPolicy,
  resolve: Resolve,
): Promise<readonly string[]> {
  const { host, trusted } = endpoint;
  const refusal = trusted ? null : literalRefusal(host, policy);
  if (refusal !== null) throw new Fault('address_denied', refusal);
  if (host.kind === 'address') return [host.address];
  if (isLocalhost(host.name)) {
    return loopbackAddresses.filter((address) => trusted || policy.refusalOfAddress(address, host.name) === null);
  }
  let addresses: readonly string[];
  try {
    addresses = await resolve(host.name);
  } catch (error) {
    throw new Fault(
      'dns_failed',
      ['ETIMEOUT', 'ETIMEDOUT', 'EAI_AGAIN', 'ESERVFAIL'].includes(codeOf(error))
        ? `The name servers did not answer for ${host.name}.`
        : `The host name ${host.name} does not exist.`,
    );
  }
  if (addresses.length === 0) throw new Fault('dns_failed', `The host name ${host.name} has no address.`);
  for (const address of addresses) {
    if (isIP(address) === 0)
      throw new Fault('dns_failed', `The name servers gave something for ${host.name} that is no address.`);
    if (!trusted && policy.refusalOfAddress(address, host.name) !== null) {
      throw new Fault(
        'address_denied',
        `The host name points to an address that is not public, so it is not reachable from here. ${operatorHint}`,
      );
    }
  }
  return addresses;
}

/** Whom TLS trusts besides the usual authorities. */
export interface Trusted {
  /** PEM, of the operator. */
  readonly authorities: string | null;
  /** Of the request, for its target alone. */
  readonly trust: TrustSettings | null;
}

/**
 * A connection to the target, over the proxies in order. Each host on the way is resolved and checked here, and only the
 * checked address is used. Throws a Fault; `signal` ends it with its reason.
 */
export async function dial(
  target: Endpoint,
  proxies: readonly Proxy[],
  policy: AddressPolicy,
  refused: readonly RefusedEndpoint[],
  resolve: Resolve,
  connectMs: number,
  signal: AbortSignal,
  { authorities, trust }: Trusted,
): Promise<Socket> {
  const addressesOf = async (endpoint: Endpoint): Promise<readonly string[]> => {
    const found = await checkedAddresses(endpoint, policy, resolve);
    await refuseOwnServers(endpoint, found, refused, resolve);
    return found;
  };
  const [first, ...rest] = proxies.length === 0 ? [target] : [...proxies, target];
  const [addresses, ...later] = await abortable(Promise.all([first, ...rest].map(addressesOf)), signal);
  let socket = await openTcp(addresses ?? [], first.port, connectMs, signal).catch((error: unknown) => {
    const [address] = addresses ?? [];
    if (error instanceof Fault && address !== undefined) error.network = networkOf(address);
    throw error;
  });
  try {
    for (const [index, proxy] of proxies.entries()) {
      if (proxy.tls) socket = await secure(socket, proxy.host, connectMs, signal, { authorities, trust: null });
      const next = rest[index] ?? target;
      const address = later[index]?.[0];
      if (address !== undefined) {
        await openTunnel(socket, proxy, address, next.port, connectMs, signal);
      }
    }
    if (target.tls) {
      socket = await secure(socket, target.host, connectMs, signal, { authorities, trust }, target.isHttp);
    }
    return socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(asError(signal.reason));
    const onAbort = (): void => reject(asError(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Fault('aborted', 'The request was given up.');
}

/** Waits for one step of a socket: `start` says when it is done; an error, a close, the time or the signal end it. */
function step(
  socket: Socket,
  timeoutMs: number,
  signal: AbortSignal,
  onTimeout: () => Fault,
  onError: (error: unknown) => Fault,
  start: (done: (fault?: Fault) => void) => () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      settle();
      socket.on('error', () => undefined).destroy();
      reject(error);
    };
    const onSocketError = (error: unknown): void => fail(onError(error));
    const onClose = (): void => fail(onError(null));
    const onAbort = (): void => fail(asError(signal.reason));
    const timer = setTimeout(() => fail(onTimeout()), timeoutMs);
    const stop = start((fault) => {
      if (fault !== undefined) return fail(fault);
      settle();
      resolve();
    });
    function settle(): void {
      clearTimeout(timer);
      stop();
      socket.off('error', onSocketError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
    }
    socket.on('error', onSocketError).on('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

async function openTcp(
  addresses: readonly string[],
  port: number,
  connectMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  const [only = ''] = addresses;
  const socket =
    addresses.length === 1
      ? connectTcp({ host: only, port })
      : connectTcp({
          host: 'checked.invalid', // never looked up: `lookup` below hands over the checked addresses
          port,
          autoSelectFamily: true,
          lookup: (_name, _options, callback) =>
            callback(
              null,
              addresses.map((address) => ({ address, family: isIP(address) })),
            ),
        });
  socket.setNoDelay(true);
  const late = (): Fault => new Fault('connect_failed', 'The server did not accept the connection in time.');
  await step(socket, connectMs, signal, late, connectFault, (done) => {
    const onConnect = (): void => done();
    socket.once('connect', onConnect);
    return () => socket.off('connect', onConnect);
  });
  return socket;
}

function contextOf(authorities: string | null, trust: TrustSettings | null): SecureContext | null {
  try {
    const further = [authorities, trust?.ca ?? null].filter((pem) => pem !== null);
    return trusting(further, trust?.identity ?? null);
  } catch {
    throw new Fault('tls_failed', 'The client certificate and its key cannot be used together.');
  }
}

/** TLS over an open connection, the certificate checked against the host as it was asked for. */
export async function secure(
  inner: Socket,
  host: Host,
  connectMs: number,
  signal: AbortSignal,
  { authorities, trust }: Trusted,
  isHttp = true,
): Promise<TLSSocket> {
  const pinned = trust?.fingerprint === undefined ? null : normalFingerprint(trust.fingerprint);
  const secureContext = contextOf(authorities, trust);
  const name = host.kind === 'name' ? host.name : host.address;
  const socket = connectTls({
    socket: inner,
    host: name,
    servername: host.kind === 'name' ? name : '',
    ...(isHttp ? { ALPNProtocols: ['http/1.1'] } : {}),
    // Where one certificate alone is taken, it is compared below, before anything is sent.
    rejectUnauthorized: pinned === null,
    ...(secureContext === null ? {} : { secureContext }),
  });
  const late = (): Fault => new Fault('tls_failed', 'The secure connection (TLS) was not agreed on in time.');
  await step(socket, connectMs, signal, late, tlsFault, (done) => {
    const onSecure = (): void => done();
    socket.once('secureConnect', onSecure);
    return () => socket.off('secureConnect', onSecure);
  });
  if (pinned !== null) {
    const shown = certificateOf(socket)?.fingerprint ?? 'no certificate';
    if (shown !== pinned) {
      socket.on('error', () => undefined).destroy();
      throw new Fault('tls_failed', `The server shows another certificate than fingerprint names: ${shown}.`);
    }
  }
  return socket;
}

/** Asks a proxy for a tunnel. The checked address is named, not the host: what the proxy would resolve is not ours to trust. */
async function openTunnel(
  socket: Socket,
  proxy: Proxy,
  address: string,
  port: number,
  connectMs: number,
  signal: AbortSignal,
): Promise<void> {
  const authority = isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
  const authorization = proxy.authorization === null ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`;
  const late = (): Fault => new Fault('connect_failed', 'The proxy did not open the connection in time.');
  const broken = (): Fault => new Fault('connect_failed', 'The proxy closed the connection.');
  await step(socket, connectMs, signal, late, broken, (done) => {
    let head = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) {
        if (head.length > maxProxyAnswerBytes) done(new Fault('connect_failed', 'The proxy does not speak HTTP.'));
        return;
      }
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1', 0, end))?.[1];
      if (status === undefined) return done(new Fault('connect_failed', 'The proxy does not speak HTTP.'));
      if (status === '407') return done(new Fault('connect_failed', 'The proxy wants other credentials (407).'));
      if (!status.startsWith('2')) {
        return done(new Fault('connect_failed', `The proxy refused to open the connection (${status}).`));
      }
      const early = head.subarray(end + 4);
      done();
      if (early.length > 0) socket.unshift(early);
    };
    // A tunnel within a tunnel: the one before left the socket paused.
    socket.on('data', onData).resume();
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`, 'latin1');
    return () => {
      socket.off('data', onData);
      socket.pause();
    };
  });
}

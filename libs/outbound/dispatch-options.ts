/** The request that undici is given for one hop. */
import type { Dispatcher } from 'undici';
import { Fault } from './failures.js';
import type { Hop } from './redirects.js';

/** Headers of the connection, not of the request: they are set here or by undici, never by the caller. */
const connectionHeaders = new Set([
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

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

/** Known methods in upper case, others as they are. Throws a Fault for methods that are about the connection. */
export function normalizedMethod(method: string): string {
  const upper = method.toUpperCase();
  if (knownMethods.has(upper)) return upper;
  if (upper === 'CONNECT' || upper === 'TRACE' || upper === 'TRACK') {
    throw new Fault('protocol_error', `The method ${upper} is not allowed.`);
  }
  return method;
}

/** The same with and without proxies: behind one, the connection is a tunnel. */
export function dispatchOptions(hop: Hop, hasProxy: boolean, userAgent: string): Dispatcher.DispatchOptions {
  const headers: string[] = [];
  let hasUserAgent = false;
  let hasAcceptEncoding = false;
  for (const name in hop.headers) {
    const lower = name.toLowerCase();
    if (connectionHeaders.has(lower) || (lower === 'proxy-authorization' && hasProxy)) continue;
    if (lower === 'user-agent') hasUserAgent = true;
    else if (lower === 'accept-encoding') hasAcceptEncoding = true;
    headers.push(lower, hop.headers[name] ?? '');
  }
  if (!hasUserAgent) headers.push('user-agent', userAgent);
  if (!hasAcceptEncoding) headers.push('accept-encoding', 'gzip, deflate, br, zstd');
  const path = hop.url.pathname + hop.url.search;
  return { path, method: hop.method, headers, body: hop.body ?? null };
}

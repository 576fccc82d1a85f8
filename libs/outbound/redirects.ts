/** What a redirect asks for next, as the Fetch standard says, and what it must not take along. */
import { Fault } from './failures.js';

export interface Hop {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string | undefined;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const bodyHeaders = new Set(['content-type', 'content-encoding', 'content-language', 'content-location']);
/** Headers that go along to another origin. Any other may carry a credential, whatever its name. */
const harmlessHeaders = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'if-modified-since',
  'if-none-match',
  'pragma',
  'range',
  'user-agent',
]);

/** From http to https at the same host, each at its standard port: its server had the headers already. */
function isUpgrade(from: URL, to: URL): boolean {
  const isStandard = from.port === '' && to.port === '';
  return from.protocol === 'http:' && to.protocol === 'https:' && isStandard && from.hostname === to.hostname;
}

/** The next hop, null where the answer is no redirect, or a Fault where it leads nowhere. */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | Fault | null {
  if (!redirectStatuses.has(status) || location === undefined) return null;
  let url: URL;
  try {
    // Header bytes are UTF-8 in practice where they are not ASCII.
    url = new URL(Buffer.from(location, 'latin1').toString('utf8'), hop.url);
  } catch {
    return new Fault('protocol_error', 'The server redirects to something that is no address.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return new Fault(
      'redirect_refused',
      `The server redirects to an address that is not http or https: ${url.protocol}`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    return new Fault('redirect_refused', 'The server redirects to an address with credentials in it.');
  }
  if (url.hash === '') url.hash = hop.url.hash;
  const dropsBody =
    ((status === 301 || status === 302) && hop.method === 'POST') ||
    (status === 303 && hop.method !== 'GET' && hop.method !== 'HEAD');
  const crosses = url.origin !== hop.url.origin && !isUpgrade(hop.url, url);
  if (crosses && !dropsBody && hop.body !== undefined) {
    return new Fault('redirect_refused', 'The server redirects the content of the request to another site.');
  }
  const headers = Object.fromEntries(
    Object.entries(hop.headers).filter(
      ([name]) =>
        !(crosses && !harmlessHeaders.has(name.toLowerCase())) && !(dropsBody && bodyHeaders.has(name.toLowerCase())),
    ),
  );
  return { method: dropsBody ? 'GET' : hop.method, url, headers, body: dropsBody ? undefined : hop.body };
}

/** The cookies of one exchange (RFC 6265): sent with the redirects after the one that set them, and forgotten after the last. */
import { hostOfUrlHostname, type Host } from './addresses.js';
import type { Hop } from './redirects.js';

interface Cookie {
  readonly name: string;
  readonly value: string;
  /** The host that set it, or the domain it named. */
  readonly domain: string;
  /** Set without a domain: for exactly that host. */
  readonly isHostOnly: boolean;
  readonly path: string;
  readonly isSecure: boolean;
}

const maxCookies = 50;
const maxCookieBytes = 4_096;
const maxHeaderBytes = 8_192;

/** Public suffixes of two labels under country domains: no cookie may be set for all of `co.uk`. */
const sharedSecondLevel =
  /^(?:ac|co|com|edu|gob|gov|gouv|govt|go|gv|id|in|k12|ltd|me|mil|muni|ne|net|nhs|nom|or|org|plc|police|sch|web)$/;

/** True for a domain that looks like a public suffix, under which unrelated owners register names. */
function isPublicSuffix(domain: string): boolean {
  const labels = domain.split('.');
  if (labels.length < 2) return true;
  const [second = '', top = ''] = labels;
  return labels.length === 2 && top.length === 2 && (sharedSecondLevel.test(second) || second.length <= 2);
}

function isUnder(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** RFC 6265 "default-path": the directory of the request path. */
function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

function isPathWithin(path: string, of: string): boolean {
  return path === of || (path.startsWith(of) && (of.endsWith('/') || path[of.length] === '/'));
}

function keyOf({ name, domain, path }: Cookie): string {
  return `${domain};${path};${name}`;
}

const hostName = (host: Host): string => (host.kind === 'name' ? host.name : host.address);

export class Cookies {
  readonly #kept = new Map<string, Cookie>();
  /** The Cookie header of the request itself, until a redirect leads to another origin. */
  #own: string | undefined;

  constructor(headers: Readonly<Record<string, string>>) {
    this.#own = Object.entries(headers).find(([name]) => name.toLowerCase() === 'cookie')?.[1];
  }

  /** The hop after an answer from `url` that set these cookies. */
  follow(url: URL, lines: readonly string[], next: Hop): Hop {
    const [host, nextHost] = [hostOfUrlHostname(url.hostname), hostOfUrlHostname(next.url.hostname)];
    if (host === null || nextHost === null) return next;
    if (lines.length > 0) this.#take(url, host, lines);
    if (url.origin !== next.url.origin) this.#own = undefined;
    const cookie = this.#headerFor(next.url, nextHost);
    const headers = Object.entries(next.headers).filter(([name]) => name.toLowerCase() !== 'cookie');
    if (cookie !== null) headers.push(['cookie', cookie]);
    return { ...next, headers: Object.fromEntries(headers) };
  }

  /** Ignores malformed cookies and cookies for other sites. */
  #take(url: URL, host: Host, lines: readonly string[]): void {
    for (const line of lines) {
      const read = readCookie(line, url, host);
      if (read === null) continue;
      const key = keyOf(read.cookie);
      this.#kept.delete(key);
      if (!read.isGone && this.#kept.size < maxCookies) this.#kept.set(key, read.cookie);
    }
  }

  /** The value of the `Cookie` header for `url`, with those of the request itself; null where there are none. */
  #headerFor(url: URL, host: Host): string | null {
    const name = hostName(host);
    const kept = [...this.#kept.values()]
      .filter(
        (cookie) =>
          (cookie.isHostOnly ? name === cookie.domain : isUnder(name, cookie.domain)) &&
          isPathWithin(url.pathname, cookie.path) &&
          (!cookie.isSecure || url.protocol === 'https:'),
      )
      .toSorted((a, b) => b.path.length - a.path.length);
    if (kept.length === 0) return this.#own ?? null;
    const names = new Set(kept.map((cookie) => cookie.name));
    const brought = (this.#own ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair !== '' && !names.has(pair.slice(0, Math.max(0, pair.indexOf('=')))));
    let header = brought.join('; ');
    for (const cookie of kept) {
      const pair = cookie.name === '' ? cookie.value : `${cookie.name}=${cookie.value}`;
      const next = header === '' ? pair : `${header}; ${pair}`;
      if (next.length > maxHeaderBytes) break;
      header = next;
    }
    return header;
  }
}

/** null: to be ignored. `isGone`: it deletes the cookie that was set before. */
function readCookie(line: string, url: URL, host: Host): { readonly cookie: Cookie; readonly isGone: boolean } | null {
  if (line.length > maxCookieBytes || /[\0-\x08\x0a-\x1f\x7f]/.test(line)) return null;
  const [pair = '', ...attributes] = line.split(';');
  const equals = pair.indexOf('=');
  const name = equals === -1 ? '' : pair.slice(0, equals).trim();
  const value = pair.slice(equals + 1).trim();
  if (name === '' && value === '') return null;
  const own = hostName(host);
  const cookie = { name, value, domain: own, isHostOnly: true, path: directoryOf(url.pathname), isSecure: false };
  let expiresAt: number | null = null;
  let maxAge: number | null = null;
  for (const attribute of attributes) {
    const at = attribute.indexOf('=');
    const key = (at === -1 ? attribute : attribute.slice(0, at)).trim().toLowerCase();
    const given = at === -1 ? '' : attribute.slice(at + 1).trim();
    if (key === 'secure') cookie.isSecure = true;
    else if (key === 'path') cookie.path = given.startsWith('/') ? given : directoryOf(url.pathname);
    else if (key === 'max-age' && /^-?\d{1,15}$/.test(given)) maxAge = Number(given);
    else if (key === 'expires' && !Number.isNaN(Date.parse(given))) expiresAt = Date.parse(given);
    else if (key === 'domain' && given !== '') {
      const domain = given.replace(/^\./, '').toLowerCase();
      if (domain === own) cookie.isHostOnly = host.kind === 'address' || isPublicSuffix(domain);
      else if (host.kind === 'address' || isPublicSuffix(domain) || !isUnder(own, domain)) return null;
      else cookie.isHostOnly = false;
      cookie.domain = domain;
    }
  }
  if (cookie.isSecure && url.protocol !== 'https:') return null;
  if (name.startsWith('__Secure-') && !cookie.isSecure) return null;
  if (name.startsWith('__Host-') && !(cookie.isSecure && cookie.isHostOnly && cookie.path === '/')) return null;
  const isGone = maxAge === null ? expiresAt !== null && expiresAt <= Date.now() : maxAge <= 0;
  return { cookie, isGone };
}

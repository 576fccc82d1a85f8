/** `URL` after the WHATWG URL standard. */
import {
  leftInFragment,
  leftInQuery,
  leftInSpecialQuery,
  leftInUserinfo,
  parseHost,
  percentEncode,
} from './url-host.js';
import {
  specialPorts,
  parsePath,
  parseUrl,
  pathText,
  hostText,
  urlText,
  isSpecialScheme,
  isRemote,
} from './url-record.js';
import type { UrlRecord } from './url-record.js';
import { URLSearchParams } from './url-search-params.js';

/** Tabs and line breaks are passed over wherever they stand. */
function given(value: unknown): string {
  return String(value).replace(/[\t\n\r]/g, '');
}

export class URL {
  #record: UrlRecord;
  /** Made when asked for: most addresses are never asked. */
  #params: URLSearchParams | null = null;

  constructor(url: unknown, base?: unknown) {
    const baseRecord = base === undefined ? null : parseUrl(String(base), null);
    const record = base !== undefined && baseRecord === null ? null : parseUrl(String(url), baseRecord);
    if (record === null) throw new TypeError(`Failed to construct 'URL': Invalid URL: ${String(url)}`);
    this.#record = record;
  }

  static canParse(url: unknown, base?: unknown): boolean {
    return URL.parse(url, base) !== null;
  }
  static parse(url: unknown, base?: unknown): URL | null {
    try {
      return new URL(url, base);
    } catch {
      return null;
    }
  }

  #setQuery(query: string | null): void {
    this.#record.query = query;
    if (this.#params !== null) URLSearchParams.reread(this.#params, query ?? '');
  }

  get href(): string {
    return urlText(this.#record);
  }
  set href(value: string) {
    const record = parseUrl(String(value), null);
    if (record === null) throw new TypeError(`Invalid URL: ${String(value)}`);
    this.#record = record;
    this.#setQuery(record.query);
  }
  get origin(): string {
    const { scheme } = this.#record;
    const isTuple = Object.hasOwn(specialPorts, scheme) && scheme !== 'file';
    if (scheme === 'blob') {
      const inner = URL.parse(pathText(this.#record));
      return inner !== null && /^https?:$/.test(inner.protocol) ? inner.origin : 'null';
    }
    return isTuple ? `${scheme}://${hostText(this.#record)}` : 'null';
  }
  get protocol(): string {
    return `${this.#record.scheme}:`;
  }
  set protocol(value: string) {
    const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*)(?::|$)/.exec(given(value))?.[1]?.toLowerCase();
    const record = this.#record;
    if (scheme === undefined || Object.hasOwn(specialPorts, scheme) !== isSpecialScheme(record)) return;
    const isLocal = record.username === '' && record.password === '' && record.port === '';
    if ((scheme === 'file' && !isLocal) || (record.scheme === 'file' && !record.host)) return;
    record.scheme = scheme;
    if (record.port === specialPorts[scheme]) record.port = '';
  }
  get username(): string {
    return this.#record.username;
  }
  set username(value: string) {
    if (isRemote(this.#record)) this.#record.username = percentEncode(String(value), leftInUserinfo);
  }
  get password(): string {
    return this.#record.password;
  }
  set password(value: string) {
    if (isRemote(this.#record)) this.#record.password = percentEncode(String(value), leftInUserinfo);
  }
  get host(): string {
    return hostText(this.#record);
  }
  set host(value: string) {
    const [, host = '', port] = /^(\[[^\]]*\]?|[^:]*)(?::(.*))?$/s.exec(this.#hostIn(value)) ?? [];
    if (this.#record.scheme === 'file' && port !== undefined) return;
    if (this.#setHost(host, port !== undefined) && port !== undefined && port !== '') this.port = port;
  }
  /** What of a text given for a host belongs to it. */
  #hostIn(value: unknown): string {
    return given(value).split(isSpecialScheme(this.#record) ? /[/\\?#]/ : /[/?#]/)[0] ?? '';
  }
  #setHost(text: string, hasPort: boolean): boolean {
    const record = this.#record;
    if (typeof record.path === 'string') return false;
    const isSpecial = isSpecialScheme(record);
    if (text === '') {
      if (isSpecial && record.scheme !== 'file') return false;
      if (hasPort || record.username !== '' || record.password !== '' || record.port !== '') return false;
      record.host = '';
      return true;
    }
    const host = parseHost(text, isSpecial);
    if (host === undefined) return false;
    record.host = record.scheme === 'file' && host === 'localhost' ? '' : host;
    return true;
  }
  get hostname(): string {
    return this.#record.host ?? '';
  }
  set hostname(value: string) {
    const text = this.#hostIn(value);
    if (text.startsWith('[') || !text.includes(':')) this.#setHost(text, false);
  }
  get port(): string {
    return this.#record.port;
  }
  set port(value: string) {
    const text = given(value);
    if (!isRemote(this.#record)) return;
    const port = /^\d+/.exec(text)?.[0];
    if (String(value) === '') this.#record.port = '';
    else if (port !== undefined && Number(port) <= 65_535) {
      this.#record.port = String(Number(port)) === specialPorts[this.#record.scheme] ? '' : String(Number(port));
    }
  }
  get pathname(): string {
    return pathText(this.#record);
  }
  set pathname(value: string) {
    const record = this.#record;
    if (typeof record.path === 'string') return;
    const isSpecial = isSpecialScheme(record);
    const text = given(value);
    const path = text.replace(isSpecial ? /^[/\\]/ : /^\//, '');
    record.path =
      text === '' && !isSpecial && record.host !== null ? [] : parsePath(path, [], isSpecial, record.scheme);
  }
  get search(): string {
    return this.#record.query === null || this.#record.query === '' ? '' : `?${this.#record.query}`;
  }
  set search(value: string) {
    const text = given(value);
    const left = isSpecialScheme(this.#record) ? leftInSpecialQuery : leftInQuery;
    this.#setQuery(String(value) === '' ? null : percentEncode(text.replace(/^\?/, ''), left));
  }
  get searchParams(): URLSearchParams {
    return (this.#params ??= URLSearchParams.bound(
      this.#record.query ?? '',
      (text) => (this.#record.query = text === '' ? null : text),
    ));
  }
  get hash(): string {
    return this.#record.fragment === null || this.#record.fragment === '' ? '' : `#${this.#record.fragment}`;
  }
  set hash(value: string) {
    const text = given(value).replace(/^#/, '');
    this.#record.fragment = String(value) === '' ? null : percentEncode(text, leftInFragment);
  }
  toString(): string {
    return this.href;
  }
  toJSON(): string {
    return this.href;
  }
  get [Symbol.toStringTag](): string {
    return 'URL';
  }
}

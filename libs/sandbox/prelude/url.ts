/** `URL` and `URLSearchParams` after the WHATWG URL standard; names of hosts beyond ASCII are lower-cased and punycoded. */
import {
  leftInFragment,
  leftInOpaque,
  leftInPath,
  leftInQuery,
  leftInSpecialQuery,
  leftInUserinfo,
  parseHost,
  percentDecode,
  percentEncode,
} from './url-host.js';

const specialPorts: Readonly<Record<string, string>> = {
  http: '80',
  https: '443',
  ws: '80',
  wss: '443',
  ftp: '21',
  file: '',
};

interface UrlRecord {
  scheme: string;
  username: string;
  password: string;
  host: string | null;
  port: string;
  /** A string for addresses like `mailto:`, whose path has no parts. */
  path: string[] | string;
  query: string | null;
  fragment: string | null;
}

function isDriveLetter(part: string): boolean {
  return /^[a-zA-Z][:|]$/.test(part);
}

/** A path that begins with a drive, `C:/` or `C|`. */
const startsWithDrive = /^[a-zA-Z][:|](?:[/\\]|$)/;

function parsePath(text: string, base: string[], isSpecial: boolean, scheme: string): string[] {
  const path = [...base];
  const parts = text.split(isSpecial ? /[/\\]/ : /\//);
  parts.forEach((part, at) => {
    const isLast = at === parts.length - 1;
    const dots = part.replace(/%2e/gi, '.');
    if (dots === '..') {
      if (!(scheme === 'file' && path.length === 1 && isDriveLetter(path[0] ?? ''))) path.pop();
      if (isLast) path.push('');
    } else if (dots === '.') {
      if (isLast) path.push('');
    } else {
      const isDrive = scheme === 'file' && path.length === 0 && isDriveLetter(part);
      path.push(isDrive ? `${part.charAt(0)}:` : percentEncode(part, leftInPath));
    }
  });
  return path;
}

function parseAuthority(record: UrlRecord, authority: string, isSpecial: boolean): boolean {
  const at = authority.lastIndexOf('@');
  if (at >= 0) {
    const userinfo = authority.slice(0, at);
    const colon = userinfo.indexOf(':');
    record.username = percentEncode(colon < 0 ? userinfo : userinfo.slice(0, colon), leftInUserinfo);
    record.password = colon < 0 ? '' : percentEncode(userinfo.slice(colon + 1), leftInUserinfo);
  }
  const hostPort = authority.slice(at + 1);
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(hostPort);
  if (match === null) return false;
  const [, hostText = '', portText = ''] = match;
  if (hostText === '' && (isSpecial || at >= 0 || match[2] !== undefined)) return false;
  const host = hostText === '' ? '' : parseHost(hostText, isSpecial);
  if (host === undefined) return false;
  record.host = host;
  if (portText !== '') {
    const port = Number(portText);
    if (port > 65_535) return false;
    record.port = String(port) === specialPorts[record.scheme] ? '' : String(port);
  }
  return true;
}

function parseUrl(input: string, base: UrlRecord | null): UrlRecord | null {
  let rest = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
  const record: UrlRecord = {
    scheme: '',
    username: '',
    password: '',
    host: null,
    port: '',
    path: [],
    query: null,
    fragment: null,
  };
  const hash = rest.indexOf('#');
  if (hash >= 0) {
    record.fragment = percentEncode(rest.slice(hash + 1), leftInFragment);
    rest = rest.slice(0, hash);
  }
  const schemeMatch = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(rest);
  const scheme = schemeMatch?.[1]?.toLowerCase();
  let isRelative = scheme === undefined;
  if (scheme !== undefined) {
    rest = rest.slice(scheme.length + 1);
    record.scheme = scheme;
    const isSame = base !== null && base.scheme === scheme && Object.hasOwn(specialPorts, scheme);
    if (isSame && !/^[/\\]{2}/.test(rest)) isRelative = true;
  }
  if (isRelative) {
    if (base === null) return null;
    record.scheme = base.scheme;
    if (typeof base.path === 'string') {
      if (rest !== '' || hash < 0) return null;
      return { ...base, fragment: record.fragment };
    }
  }
  const isSpecial = Object.hasOwn(specialPorts, record.scheme);
  const takeQuery = (): boolean => {
    const mark = rest.indexOf('?');
    if (mark < 0) return false;
    record.query = percentEncode(rest.slice(mark + 1), isSpecial ? leftInSpecialQuery : leftInQuery);
    rest = rest.slice(0, mark);
    return true;
  };
  const hasQuery = takeQuery();
  const slashes = isSpecial ? /^[/\\]{2}/ : /^\/\//;
  const hasAuthority = slashes.test(rest) || (isSpecial && !isRelative && record.scheme !== 'file');
  if (hasAuthority) {
    rest = isSpecial && record.scheme !== 'file' ? rest.replace(/^[/\\]*/, '') : rest.slice(2);
    const end = rest.search(isSpecial ? /[/\\]/ : /\//);
    const authority = end < 0 ? rest : rest.slice(0, end);
    rest = end < 0 ? '' : rest.slice(end);
    if (record.scheme === 'file') {
      const isDrive = isDriveLetter(authority);
      const host = isDrive || authority === '' ? '' : parseHost(authority, true);
      if (host === undefined) return null;
      record.host = host === 'localhost' ? '' : host;
      if (isDrive) rest = `/${authority}${rest}`;
    } else if (!parseAuthority(record, authority, isSpecial)) return null;
    const path = rest.replace(isSpecial ? /^[/\\]/ : /^\//, '');
    record.path = rest === '' ? (isSpecial ? [''] : []) : parsePath(path, [], isSpecial, record.scheme);
    return record;
  }
  if (record.scheme === 'file' && !isRelative) {
    record.host = '';
    record.path = parsePath(rest.replace(/^[/\\]/, ''), [], true, 'file');
    return record;
  }
  const isAbsolute = rest.startsWith('/') || (isSpecial && rest.startsWith('\\'));
  if (!isRelative) {
    const opaque = hasQuery || hash >= 0 ? rest.replace(/ $/, '%20') : rest;
    record.path = isAbsolute ? parsePath(rest.slice(1), [], false, record.scheme) : percentEncode(opaque, leftInOpaque);
    return record;
  }
  if (base === null || typeof base.path === 'string') return null;
  record.username = base.username;
  record.password = base.password;
  record.host = base.host;
  record.port = base.port;
  const isFile = record.scheme === 'file';
  const drive = isFile && isDriveLetter(base.path[0] ?? '') ? base.path.slice(0, 1) : [];
  if (isFile && startsWithDrive.test(rest)) record.path = parsePath(rest, [], true, 'file');
  else if (isAbsolute) {
    const kept = startsWithDrive.test(rest.slice(1)) ? [] : drive;
    record.path = parsePath(rest.slice(1), kept, isSpecial, record.scheme);
  } else if (rest === '') {
    record.path = [...base.path];
    if (!hasQuery) record.query = base.query;
  } else {
    const folder = base.path.length === 1 ? drive : base.path.slice(0, -1);
    record.path = parsePath(rest, folder, isSpecial, record.scheme);
  }
  return record;
}

function pathText(record: UrlRecord): string {
  if (typeof record.path === 'string') return record.path;
  return record.path.length === 0 ? '' : `/${record.path.join('/')}`;
}

function hostText(record: UrlRecord): string {
  return record.host === null ? '' : `${record.host}${record.port === '' ? '' : `:${record.port}`}`;
}

function urlText(record: UrlRecord): string {
  let text = `${record.scheme}:`;
  if (record.host !== null) {
    text += '//';
    if (record.username !== '' || record.password !== '') {
      text += `${record.username}${record.password === '' ? '' : `:${record.password}`}@`;
    }
    text += hostText(record);
  } else if (typeof record.path !== 'string' && record.path.length > 1 && record.path[0] === '') text += '/.';
  text += pathText(record);
  if (record.query !== null) text += `?${record.query}`;
  if (record.fragment !== null) text += `#${record.fragment}`;
  return text;
}

const leftInForm = (mark: string): boolean => /[A-Za-z0-9*\-._]/.test(mark);

function formEncode(text: string): string {
  return percentEncode(text, (mark) => mark === ' ' || leftInForm(mark)).replaceAll(' ', '+');
}

function formDecode(text: string): string {
  return percentDecode(text.replaceAll('+', ' '));
}

type Pair = [string, string];

export class URLSearchParams {
  #pairs: Pair[] = [];
  #onChange: (text: string) => void = () => undefined;

  constructor(init?: unknown) {
    if (init === undefined || init === null) return;
    if (typeof init === 'object' && Symbol.iterator in init) {
      for (const pair of init as Iterable<Iterable<unknown>>) {
        const both = [...pair];
        if (both.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
        this.#pairs.push([String(both[0]), String(both[1])]);
      }
    } else if (typeof init === 'object') {
      for (const name of Object.keys(init)) this.#pairs.push([name, String((init as Record<string, unknown>)[name])]);
    } else this.#read(String(init).replace(/^\?/, ''));
  }

  static bound(query: string, onChange: (text: string) => void): URLSearchParams {
    const params = new URLSearchParams();
    params.#read(query);
    params.#onChange = onChange;
    return params;
  }

  static reread(params: URLSearchParams, query: string): void {
    params.#pairs = [];
    params.#read(query);
  }

  #read(text: string): void {
    for (const part of text.split('&')) {
      if (part === '') continue;
      const equals = part.indexOf('=');
      const name = equals < 0 ? part : part.slice(0, equals);
      this.#pairs.push([formDecode(name), equals < 0 ? '' : formDecode(part.slice(equals + 1))]);
    }
  }

  get size(): number {
    return this.#pairs.length;
  }
  append(name: unknown, value: unknown): void {
    this.#pairs.push([String(name), String(value)]);
    this.#onChange(this.toString());
  }
  delete(name: unknown, value?: unknown): void {
    this.#pairs = this.#pairs.filter(
      ([key, held]) => key !== String(name) || (value !== undefined && held !== String(value)),
    );
    this.#onChange(this.toString());
  }
  get(name: unknown): string | null {
    return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null;
  }
  getAll(name: unknown): string[] {
    return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
  }
  has(name: unknown, value?: unknown): boolean {
    return this.#pairs.some(([key, held]) => key === String(name) && (value === undefined || held === String(value)));
  }
  set(name: unknown, value: unknown): void {
    const at = this.#pairs.findIndex(([key]) => key === String(name));
    if (at < 0) this.#pairs.push([String(name), String(value)]);
    else {
      this.#pairs = this.#pairs.filter(([key], index) => index <= at || key !== String(name));
      this.#pairs[at] = [String(name), String(value)];
    }
    this.#onChange(this.toString());
  }
  sort(): void {
    this.#pairs.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
    this.#onChange(this.toString());
  }
  forEach(visit: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    for (const [name, value] of this.#pairs) visit.call(self, value, name, this);
  }
  *entries(): Generator<Pair> {
    for (const [name, value] of this.#pairs) yield [name, value];
  }
  *keys(): Generator<string> {
    for (const [name] of this.#pairs) yield name;
  }
  *values(): Generator<string> {
    for (const [, value] of this.#pairs) yield value;
  }
  [Symbol.iterator](): Generator<Pair> {
    return this.entries();
  }
  toString(): string {
    return this.#pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('&');
  }
  get [Symbol.toStringTag](): string {
    return 'URLSearchParams';
  }
}

function isSpecialScheme({ scheme }: UrlRecord): boolean {
  return Object.hasOwn(specialPorts, scheme);
}

/** Whether it can have a user, a password and a port. */
function isRemote({ host, scheme }: UrlRecord): boolean {
  return host !== null && host !== '' && scheme !== 'file';
}

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

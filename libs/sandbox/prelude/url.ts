/** `URL` and `URLSearchParams` after the WHATWG URL standard; names of hosts beyond ASCII are lower-cased and punycoded. */

const specialPorts: Readonly<Record<string, string>> = {
  http: '80',
  https: '443',
  ws: '80',
  wss: '443',
  ftp: '21',
  file: '',
};

const encodeBytes = (text: string): number[] => {
  const bytes: number[] = [];
  for (const mark of text) {
    const code = mark.codePointAt(0) ?? 0;
    const safe = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
    if (safe < 0x80) bytes.push(safe);
    else if (safe < 0x800) bytes.push(0xc0 | (safe >> 6), 0x80 | (safe & 63));
    else if (safe < 0x10000) bytes.push(0xe0 | (safe >> 12), 0x80 | ((safe >> 6) & 63), 0x80 | (safe & 63));
    else bytes.push(0xf0 | (safe >> 18), 0x80 | ((safe >> 12) & 63), 0x80 | ((safe >> 6) & 63), 0x80 | (safe & 63));
  }
  return bytes;
};

/** UTF-8 with U+FFFD for what is none. */
export function decodeUtf8(bytes: ArrayLike<number>, from = 0): string {
  let text = '';
  let at = from;
  while (at < bytes.length) {
    const first = bytes[at++] ?? 0;
    if (first < 0x80) {
      text += String.fromCharCode(first);
      continue;
    }
    const needed =
      first >= 0xc2 && first <= 0xdf ? 1 : first >= 0xe0 && first <= 0xef ? 2 : first >= 0xf0 && first <= 0xf4 ? 3 : 0;
    let code = needed === 1 ? first & 0x1f : needed === 2 ? first & 0x0f : first & 0x07;
    let low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    let high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    let isGood = needed > 0;
    for (let more = 0; more < needed; more++) {
      const next = bytes[at];
      if (next === undefined || next < low || next > high) {
        isGood = false;
        break;
      }
      low = 0x80;
      high = 0xbf;
      code = (code << 6) | (next & 0x3f);
      at++;
    }
    text += isGood ? String.fromCodePoint(code) : '\ufffd';
  }
  return text;
}

export function encodeUtf8(text: string): number[] {
  return encodeBytes(text);
}

function percentEncode(text: string, isLeft: (mark: string) => boolean): string {
  let encoded = '';
  for (const mark of text) {
    if (isLeft(mark)) encoded += mark;
    else for (const byte of encodeBytes(mark)) encoded += `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`;
  }
  return encoded;
}

function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  const bytes: number[] = [];
  const source = encodeBytes(text);
  for (let at = 0; at < source.length; at++) {
    const byte = source[at] ?? 0;
    const hex = byte === 0x25 ? String.fromCharCode(source[at + 1] ?? 0, source[at + 2] ?? 0) : '';
    if (/^[0-9a-fA-F]{2}$/.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      at += 2;
    } else bytes.push(byte);
  }
  return decodeUtf8(bytes);
}

const isPlain = (mark: string): boolean => mark >= '!' && mark <= '~';
const leftIn =
  (encoded: string) =>
  (mark: string): boolean =>
    isPlain(mark) && !encoded.includes(mark);
const leftInFragment = leftIn(' "<>`');
const leftInQuery = leftIn(' "#<>');
const leftInSpecialQuery = leftIn(' "#<>\'');
const leftInPath = leftIn(' "#<>?`{}^');
const leftInUserinfo = leftIn(' "#<>?`{}/:;=@[\\]^|');
const leftInOpaque = (mark: string): boolean => mark >= ' ' && mark <= '~';

function punycode(label: string): string {
  const points = Array.from(label, (mark) => mark.codePointAt(0) ?? 0);
  const basic = points.filter((point) => point < 128);
  let output = String.fromCharCode(...basic);
  let handled = basic.length;
  if (handled > 0) output += '-';
  let current = 128;
  let delta = 0;
  let bias = 72;
  const adapt = (value: number, count: number, isFirst: boolean): number => {
    let rest = isFirst ? Math.floor(value / 700) : value >> 1;
    rest += Math.floor(rest / count);
    let k = 0;
    for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
    return k + Math.floor((36 * rest) / (rest + 38));
  };
  const digit = (value: number): string => String.fromCharCode(value < 26 ? value + 97 : value + 22);
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= current));
    delta += (next - current) * (handled + 1);
    current = next;
    for (const point of points) {
      if (point < current) delta++;
      if (point !== current) continue;
      let rest = delta;
      for (let k = 36; ; k += 36) {
        const threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (rest < threshold) break;
        output += digit(threshold + ((rest - threshold) % (36 - threshold)));
        rest = Math.floor((rest - threshold) / (36 - threshold));
      }
      output += digit(rest);
      bias = adapt(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled++;
    }
    delta++;
    current++;
  }
  return `xn--${output}`;
}

function ipv4Part(part: string): number {
  if (part === '') return Number.NaN;
  if (/^0[xX][0-9a-fA-F]*$/.test(part)) return part.length === 2 ? 0 : Number.parseInt(part.slice(2), 16);
  if (/^0[0-7]*$/.test(part)) return Number.parseInt(part, 8);
  return /^[1-9]\d*$/.test(part) ? Number(part) : Number.NaN;
}

/** An address for a host that ends in a number, null for a name; undefined for a number that is no address. */
function ipv4Host(host: string): string | null | undefined {
  const parts = host.split('.');
  if (parts.at(-1) === '' && parts.length > 1) parts.pop();
  const last = parts.at(-1) ?? '';
  if (!/^\d+$/.test(last) && Number.isNaN(ipv4Part(last))) return null;
  if (parts.length > 4) return undefined;
  const numbers = parts.map(ipv4Part);
  if (numbers.some(Number.isNaN)) return undefined;
  const lowest = numbers.pop() ?? 0;
  if (numbers.some((number) => number > 255) || lowest >= 256 ** (4 - numbers.length)) return undefined;
  let address = lowest;
  numbers.forEach((number, at) => (address += number * 256 ** (3 - at)));
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

function ipv6Host(text: string): string | undefined {
  let source = text;
  const dotted = /(?:^|:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(source);
  if (dotted !== null) {
    const bytes = dotted.slice(1, 5).map(Number);
    if (bytes.some((byte) => byte > 255)) return undefined;
    const [a = 0, b = 0, c = 0, d = 0] = bytes;
    const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
    source = source.slice(0, source.length - dotted[0].length) + (dotted[0].startsWith(':') ? ':' : '') + tail;
  }
  const halves = source.split('::');
  if (halves.length > 2) return undefined;
  const groupsOf = (half: string | undefined): string[] => (half === undefined || half === '' ? [] : half.split(':'));
  const head = groupsOf(halves[0]);
  const tail = groupsOf(halves[1]);
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: halves.length === 2 ? missing : 0 }, () => '0'), ...tail];
  if (groups.some((group) => !/^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  const numbers = groups.map((group) => Number.parseInt(group, 16));
  let bestAt = -1;
  let bestLength = 1;
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (numbers[at + length] === 0) length++;
    if (length > bestLength) [bestAt, bestLength] = [at, length];
  }
  const written = numbers.map((number) => number.toString(16));
  if (bestAt < 0) return `[${written.join(':')}]`;
  return `[${written.slice(0, bestAt).join(':')}::${written.slice(bestAt + bestLength).join(':')}]`;
}

function parseHost(text: string, isSpecial: boolean): string | undefined {
  if (text.startsWith('[')) return text.endsWith(']') ? ipv6Host(text.slice(1, -1)) : undefined;
  if (!isSpecial) return /[\0\t\n\r #/:<>?@[\\\]^|]/.test(text) ? undefined : percentEncode(text, leftInOpaque);
  const decoded = percentDecode(text)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u3002\uff0e\uff61]/g, '.')
    .replaceAll('\u00ad', '');
  const ascii = decoded
    .split('.')
    .map((label) => (/[^\0-\x7f]/.test(label) ? punycode(label) : label))
    .join('.');
  if (ascii === '' || /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(ascii)) return undefined;
  const address = ipv4Host(ascii);
  return address === null ? ascii : address;
}

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
  if (hostText === '' && (isSpecial || at >= 0 || portText !== '')) return false;
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
    record.path = isAbsolute ? parsePath(rest.slice(1), [], false, record.scheme) : percentEncode(rest, leftInOpaque);
    return record;
  }
  if (base === null || typeof base.path === 'string') return null;
  record.username = base.username;
  record.password = base.password;
  record.host = base.host;
  record.port = base.port;
  if (isAbsolute) record.path = parsePath(rest.slice(1), [], isSpecial, record.scheme);
  else if (rest === '') {
    record.path = [...base.path];
    if (!hasQuery) record.query = base.query;
  } else record.path = parsePath(rest, base.path.slice(0, -1), isSpecial, record.scheme);
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
  return percentEncode(text.replaceAll(' ', '\0'), (mark) => mark === '\0' || leftInForm(mark)).replaceAll('\0', '+');
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
    const params = new URLSearchParams(query);
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

export class URL {
  #record: UrlRecord;
  #params: URLSearchParams;

  constructor(url: unknown, base?: unknown) {
    const baseRecord = base === undefined ? null : parseUrl(String(base), null);
    const record = base !== undefined && baseRecord === null ? null : parseUrl(String(url), baseRecord);
    if (record === null) throw new TypeError(`Failed to construct 'URL': Invalid URL: ${String(url)}`);
    this.#record = record;
    this.#params = URLSearchParams.bound(
      record.query ?? '',
      (text) => (this.#record.query = text === '' ? null : text),
    );
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
    URLSearchParams.reread(this.#params, query ?? '');
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
    return isTuple ? `${scheme}://${hostText(this.#record)}` : 'null';
  }
  get protocol(): string {
    return `${this.#record.scheme}:`;
  }
  set protocol(value: string) {
    const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*/.exec(String(value))?.[0]?.toLowerCase();
    if (scheme === undefined) return;
    if (Object.hasOwn(specialPorts, scheme) !== Object.hasOwn(specialPorts, this.#record.scheme)) return;
    this.#record.scheme = scheme;
    if (this.#record.port === specialPorts[scheme]) this.#record.port = '';
  }
  get username(): string {
    return this.#record.username;
  }
  set username(value: string) {
    if (this.#record.host) this.#record.username = percentEncode(String(value), leftInUserinfo);
  }
  get password(): string {
    return this.#record.password;
  }
  set password(value: string) {
    if (this.#record.host) this.#record.password = percentEncode(String(value), leftInUserinfo);
  }
  get host(): string {
    return hostText(this.#record);
  }
  set host(value: string) {
    const [host = '', port] = String(value).split(/:(?=\d*$)/);
    this.hostname = host;
    if (port !== undefined && port !== '') this.port = port;
  }
  get hostname(): string {
    return this.#record.host ?? '';
  }
  set hostname(value: string) {
    if (typeof this.#record.path === 'string') return;
    const host = parseHost(String(value), Object.hasOwn(specialPorts, this.#record.scheme));
    if (host !== undefined) this.#record.host = host;
  }
  get port(): string {
    return this.#record.port;
  }
  set port(value: string) {
    const port = /^\d+/.exec(String(value))?.[0];
    if (String(value) === '') this.#record.port = '';
    else if (port !== undefined && Number(port) <= 65_535) {
      this.#record.port = String(Number(port)) === specialPorts[this.#record.scheme] ? '' : String(Number(port));
    }
  }
  get pathname(): string {
    return pathText(this.#record);
  }
  set pathname(value: string) {
    if (typeof this.#record.path === 'string') return;
    const isSpecial = Object.hasOwn(specialPorts, this.#record.scheme);
    this.#record.path = parsePath(
      String(value).replace(isSpecial ? /^[/\\]/ : /^\//, ''),
      [],
      isSpecial,
      this.#record.scheme,
    );
  }
  get search(): string {
    return this.#record.query === null || this.#record.query === '' ? '' : `?${this.#record.query}`;
  }
  set search(value: string) {
    const text = String(value).replace(/^\?/, '');
    const left = Object.hasOwn(specialPorts, this.#record.scheme) ? leftInSpecialQuery : leftInQuery;
    this.#setQuery(text === '' ? null : percentEncode(text, left));
  }
  get searchParams(): URLSearchParams {
    return this.#params;
  }
  get hash(): string {
    return this.#record.fragment === null || this.#record.fragment === '' ? '' : `#${this.#record.fragment}`;
  }
  set hash(value: string) {
    const text = String(value).replace(/^#/, '');
    this.#record.fragment = text === '' ? null : percentEncode(text, leftInFragment);
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

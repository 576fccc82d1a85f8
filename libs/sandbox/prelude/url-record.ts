/** Addresses as the WHATWG URL standard parses and serializes them; host names beyond ASCII are lower-cased and punycoded. */
import {
  leftInFragment,
  leftInOpaque,
  leftInPath,
  leftInQuery,
  leftInSpecialQuery,
  leftInUserinfo,
  parseHost,
  percentEncode,
} from './url-host.js';

export const specialPorts: Readonly<Record<string, string>> = {
  http: '80',
  https: '443',
  ws: '80',
  wss: '443',
  ftp: '21',
  file: '',
};

export interface UrlRecord {
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

export function parsePath(text: string, base: string[], isSpecial: boolean, scheme: string): string[] {
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

export function parseUrl(input: string, base: UrlRecord | null): UrlRecord | null {
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

export function pathText(record: UrlRecord): string {
  if (typeof record.path === 'string') return record.path;
  return record.path.length === 0 ? '' : `/${record.path.join('/')}`;
}

export function hostText(record: UrlRecord): string {
  return record.host === null ? '' : `${record.host}${record.port === '' ? '' : `:${record.port}`}`;
}

export function urlText(record: UrlRecord): string {
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

export function isSpecialScheme({ scheme }: UrlRecord): boolean {
  return Object.hasOwn(specialPorts, scheme);
}

/** Whether it can have a user, a password and a port. */
export function isRemote({ host, scheme }: UrlRecord): boolean {
  return host !== null && host !== '' && scheme !== 'file';
}

/** What channels share when they build requests: bodies, header names, and credentials in addresses. */
import type { FormPart } from './binary-body.js';
import type { HttpOutgoing } from './channel.js';

export const usualTimeoutMs = 10_000;

/** Lower-case names; of two that differ by case alone the last counts. */
export function lowerHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The address without user name and password, and these as the value of `authorization`. */
export function splitCredentials(address: string): { url: string; authorization: string | null } {
  const url = new URL(address);
  const { username, password } = url;
  if (username === '' && password === '') return { url: url.href, authorization: null };
  url.username = '';
  url.password = '';
  const pair = `${decode(username)}:${decode(password)}`;
  return { url: url.href, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** A lone `%` in a password is meant as it stands. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Headers = Readonly<Record<string, string>>;

export function jsonRequest(url: string, body: unknown, headers: Headers = {}, method = 'POST'): HttpOutgoing {
  const all = { 'content-type': 'application/json', ...headers };
  return { method, url, headers: all, body: JSON.stringify(body), timeoutMs: usualTimeoutMs };
}

export function formRequest(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Headers = {},
): HttpOutgoing {
  const all = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
  const body = new URLSearchParams(fields).toString();
  return { method: 'POST', url, headers: all, body, timeoutMs: usualTimeoutMs };
}

export function multipartRequest(url: string, parts: readonly FormPart[], headers: Headers = {}): HttpOutgoing {
  return { method: 'POST', url, headers, body: null, binary: { kind: 'form', parts }, timeoutMs: usualTimeoutMs };
}

/** The fields of a form, each as a part. */
export function fieldParts(fields: Readonly<Record<string, string>>): FormPart[] {
  return Object.entries(fields).map(([name, value]) => ({ name, value }));
}

export function getRequest(url: string, headers: Headers = {}): HttpOutgoing {
  return { method: 'GET', url, headers, body: null, timeoutMs: usualTimeoutMs };
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** An address below a server's, which may stand under a path itself. */
export function below(server: string, path: string): string {
  return `${server.replace(/\/+$/, '')}${path}`;
}

/** What is kept of where an attempt went, and of what came back: never a secret, of an address only what does not tell it. */
import type { RequestSummary } from '#contracts/delivery';
import type { Json, JsonObject } from '#runtime/json';
import { isSealed } from '#vault/vault';
import { decode } from './http-request.js';

const keptBytes = 2_048;
const mask = '********';

/** Long words of letters and digits in a path are what services hand out in place of a password. */
function isToken(segment: string): boolean {
  return segment.length >= 20 && /[0-9]/.test(segment) && /[A-Za-z]/.test(segment);
}

/** Origin and path: no user name, password, query or fragment, and no token within the path. */
export function httpSummary(method: string, url: string): RequestSummary {
  if (!URL.canParse(url)) return { method, url: '' };
  const { origin, pathname } = new URL(url);
  const path = pathname
    .split('/')
    .map((segment) => (isToken(segment) ? '…' : segment))
    .join('/');
  return { method, url: `${origin}${path}`.slice(0, 500) };
}

/** `a…@example.com`: enough to tell one mailbox from another, not enough to write to it. */
export function maskMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 1 ? '…' : `${address.slice(0, 1)}…${address.slice(at)}`;
}

export function mailSummary(recipients: readonly string[]): RequestSummary {
  const shown = recipients.slice(0, 3).map(maskMailbox);
  const more = recipients.length - shown.length;
  return { method: 'smtp', url: more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ') };
}

/** Every sealed text, with the name it stands by. */
function collect(name: string, stored: Json | undefined, opened: Json | undefined, secrets: Map<string, string>): void {
  if (isSealed(stored)) {
    if (typeof opened === 'string') secrets.set(opened, name);
  } else if (Array.isArray(stored) && Array.isArray(opened)) {
    stored.forEach((entry: Json, index) => collect(name, entry, opened[index] as Json, secrets));
  } else if (typeof stored === 'object' && stored !== null && typeof opened === 'object' && opened !== null) {
    for (const [member, entry] of Object.entries(stored as JsonObject)) {
      collect(name === '' ? member : name, entry, (opened as JsonObject)[member], secrets);
    }
  }
}

/** The pieces of an address that give access: user name and password, query, its values, and tokens in the path. */
function secretsOfUrl(text: string): string[] {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return [];
  const url = new URL(text);
  const { username, password, pathname, search } = url;
  return [
    decode(username),
    decode(password),
    `${decode(username)}:${decode(password)}`,
    `${username}:${password}`,
    ...(search === '' ? [] : [`${pathname}${search}`, search.slice(1)]),
    ...url.searchParams.values(),
    ...pathname.split('/').filter(isToken),
  ].filter((piece) => piece !== ':');
}

/** Ways in which a receiver may write a text back to us. */
function spellings(secret: string): string[] {
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(secret).toString('hex'),
    secret.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),
  ];
}

/** Shorter ones are part of ordinary words, and nobody's secret. */
const shortestSecret = 4;

/** Takes what was sealed out of a text, however the other side wrote it; mailboxes stay recognisable. */
export function createRedactor(stored: JsonObject, opened: JsonObject): (text: string) => string {
  const sealed = new Map<string, string>();
  collect('', stored, opened, sealed);
  const replacements = new Map<string, string>();
  for (const [secret, name] of sealed) {
    const isMailbox = /^[^\s@]+@[^\s@]+$/.test(secret) && !secret.includes('/');
    // Of a webhook's own address, origin and path are shown; of everything else that is sealed, nothing is.
    const whole = name === 'url' ? [] : [secret, ...secret.split(/\s+/)];
    const words = isMailbox ? [secret] : [...whole, ...secretsOfUrl(secret)];
    // Of a webhook's signing secret, the key inside is the secret.
    if (secret.startsWith('whsec_')) words.push(secret.slice('whsec_'.length));
    for (const word of words) {
      if (word.length < shortestSecret) continue;
      for (const spelling of spellings(word)) replacements.set(lower(spelling), isMailbox ? maskMailbox(secret) : mask);
    }
  }
  // Longest first, so that a secret inside another does not leave the rest of it standing.
  const words = [...replacements].sort(([a], [b]) => b.length - a.length);
  return (text) => words.reduce((redacted, [word, replacement]) => replaceAll(redacted, word, replacement), text);
}

/** Lower case without a change of length, so that places in the one are places in the other. */
function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** `word` in lower case. By search and not by a pattern: secrets together may be longer than a pattern can be. */
function replaceAll(text: string, word: string, replacement: string): string {
  const haystack = lower(text);
  let place = haystack.indexOf(word);
  if (place < 0) return text;
  let replaced = '';
  let from = 0;
  for (; place >= 0; place = haystack.indexOf(word, from)) {
    replaced += text.slice(from, place) + replacement;
    from = place + word.length;
  }
  return replaced + text.slice(from);
}

/** At most 2 KiB, whole characters, no control characters but line break and tab. */
export function keep(text: string): string {
  // Control characters are what must not pass
  const plain = text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (character) => (character === '\r' ? '' : '\ufffd'));
  const bytes = Buffer.from(plain);
  if (bytes.length <= keptBytes) return plain;
  let end = keptBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

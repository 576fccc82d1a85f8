/** What is kept of an answer: never a secret, and no more than a person reads. */
import type { ChannelDeclaration } from '#channels/declaration';
import { decode } from '#channels/http-request';
import { isToken, maskMailbox } from '#channels/summary';
import { isJsonObject, type Json, type JsonObject } from '#runtime/json';
import { secretMask } from '#runtime/secret-mask';
import { isSealed } from '#vault/vault';
import { createTextRedactor } from './text-redactor.js';

const keptBytes = 2_048;

/** Every sealed text, with the name it stands by. */
function collect(name: string, stored: Json | undefined, opened: Json | undefined, secrets: Map<string, string>): void {
  if (isSealed(stored)) {
    if (typeof opened === 'string') secrets.set(opened, name);
  } else if (Array.isArray(stored) && Array.isArray(opened)) {
    stored.forEach((entry: Json, index) => collect(name, entry, opened[index] as Json, secrets));
  } else if (isJsonObject(stored) && isJsonObject(opened)) {
    for (const [member, entry] of Object.entries(stored)) {
      collect(name === '' ? member : name, entry, opened[member], secrets);
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

/**
 * What the path of an address ends in, where that is what a service gave out in place of a password: by its looks it may be a word
 * like any other, and at some services its owner chooses it. With a query, that is what gives access.
 */
function endOfSecretAddress(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { pathname, search } = new URL(text);
  const end = pathname.split('/').findLast((segment) => segment !== '');
  return search !== '' || end === undefined ? [] : [end, decode(end)];
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

/**
 * Takes what was sealed out of a text, however the other side wrote it; mailboxes stay recognizable. `characters`: how much of a
 * text is read; what lies behind is left out.
 */
export function createRedactor(
  stored: JsonObject,
  opened: JsonObject,
  { addresses, secretAddresses }: Pick<ChannelDeclaration, 'addresses' | 'secretAddresses'>,
  characters?: number,
): (text: string) => string {
  const sealed = new Map<string, string>();
  collect('', stored, opened, sealed);
  const replacements = new Map<string, string>();
  for (const [secret, name] of sealed) {
    const isMailbox = /^[^\s@]+@[^\s@]+$/.test(secret) && !secret.includes('/');
    // Of the receiver's address, origin and path are shown; of everything else that is sealed, nothing is.
    const whole = addresses.includes(name) ? [] : [secret, ...secret.split(/\s+/)];
    const end = secretAddresses.includes(name) ? endOfSecretAddress(secret) : [];
    const words = isMailbox ? [secret] : [...whole, ...secretsOfUrl(secret), ...end];
    // Of a webhook's signing secret, the key inside is the secret.
    if (secret.startsWith('whsec_')) words.push(secret.slice('whsec_'.length));
    for (const word of words) {
      if (word.length < shortestSecret) continue;
      for (const spelling of spellings(word)) replacements.set(spelling, isMailbox ? maskMailbox(secret) : secretMask);
    }
  }
  return createTextRedactor(replacements, characters);
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

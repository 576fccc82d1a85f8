/** Addresses and files in settings: how they are written, and what a fault of theirs says. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseEngineAddress, parseKafkaAddress } from './engine-address.js';

function isEngineAddress(value: string, schemes: readonly string[]): boolean {
  const parsed = parseEngineAddress(value);
  if (parsed === null || !schemes.includes(parsed.scheme)) return false;
  return parsed.scheme !== 'kafka' || parseKafkaAddress(value) !== null;
}

/** What separates the parts of an address, and stands in a password only as its percent-encoding (RFC 3986, section 3.2.1). */
const separators = ['@', '/', '?', '#'];

/** Of an address that may hold a password: one that is written plainly would lead elsewhere. null: there is none. */
function unescapedIn(address: string): string | null {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/s.exec(address) ?? [];
  const [authority = ''] = rest.split(/[/?#]/, 1);
  // Options of an engine may have such a character; a mail server and a proxy have nothing behind their name.
  const hasOptions = !/^(?:smtp|http)s?$/.test(scheme) && authority.includes('@');
  const told = hasOptions ? authority : rest;
  const credentials = told.includes('@') ? told.slice(0, told.lastIndexOf('@')) : '';
  const found = separators.filter((separator) => credentials.includes(separator));
  const lonePercent = /%(?![0-9A-Fa-f]{2})/.test(credentials) ? ['%'] : [];
  const all = [...found, ...lonePercent];
  if (all.length === 0) return null;
  const written = all.map((character) => `${character} as ${encodeURIComponent(character)}`).join(', ');
  const meaning = found.length === 0 ? 'begins a percent-encoding' : 'separates';
  return `has a user name or password with a character that ${meaning}; write ${written}`;
}

const unescaped = ({ input }: { readonly input?: unknown }): string =>
  (typeof input === 'string' ? unescapedIn(input) : null) ?? 'has a character that has to be percent-encoded';

/** An address that may hold a user name and a password. */
export const credentialed = <Schema extends z.ZodType<string, string>>(schema: Schema) =>
  z
    .string()
    .refine((value) => unescapedIn(value) === null, { error: unescaped, abort: true })
    .pipe(schema);

export const engineUrl = (schemes: readonly string[], example: string) =>
  credentialed(
    z.string().refine((value) => value === 'sqlite' || isEngineAddress(value, schemes), {
      error: `must be \`sqlite\` or an address such as ${example}`,
    }),
  );

export const addressRange = /^(?:[0-9a-fA-F:.]+(?:\/[0-9]{1,3})?|(?:\*\.)?[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)$/;

/** The text of a file of certificates. Whether each can be read is found at the first connection that needs them. */
export const authoritiesFile = z.string().transform((path, { addIssue }) => {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
    addIssue({
      code: 'custom',
      message: `names ${path}, which has no certificate in PEM (-----BEGIN CERTIFICATE-----)`,
    });
  } catch {
    addIssue({ code: 'custom', message: `names ${path}, which cannot be read` });
  }
  return z.NEVER;
});

export function isPrivateKey(text: string): boolean {
  try {
    createPrivateKey(text);
    return true;
  } catch {
    return false;
  }
}

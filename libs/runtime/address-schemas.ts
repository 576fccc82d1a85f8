/** Addresses and files in settings: how they are written, and what a fault of theirs says. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { encodingFault, type BehindHost } from './address-credentials.js';
import { parseEngineAddress, parseKafkaAddress } from './engine-address.js';

function isEngineAddress(value: string, schemes: readonly string[]): boolean {
  const parsed = parseEngineAddress(value);
  if (parsed === null || !schemes.includes(parsed.scheme)) return false;
  return parsed.scheme !== 'kafka' || parseKafkaAddress(value) !== null;
}

/** An address that may hold a user name and a password. */
export const credentialed = <Schema extends z.ZodType<string, string>>(schema: Schema, behind: BehindHost) =>
  z
    .string()
    .refine((value) => encodingFault(value, behind) === null, {
      error: ({ input }) => encodingFault(String(input), behind) ?? 'has a character that has to be percent-encoded',
      abort: true,
    })
    .pipe(schema);

export const engineUrl = (schemes: readonly string[], example: string) =>
  credentialed(
    z.string().refine((value) => value === 'sqlite' || isEngineAddress(value, schemes), {
      error: `must be \`sqlite\` or an address such as ${example}`,
    }),
    'options',
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

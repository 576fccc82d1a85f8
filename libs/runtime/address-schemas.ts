/** Addresses and files in settings: how they are written, and what a fault of theirs says. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { encodingFault, type BehindHost } from './address-credentials.js';
import { parseEngineAddress, parseKafkaAddress } from './engine-address.js';
import { list } from './setting-schemas.js';

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

const ipv4 = z.ipv4();
/** An address, or a range of them: `10.0.0.0/8`. */
const range = z.union([ipv4, z.ipv6(), z.cidrv4(), z.cidrv6()]);
const isAddressRange = (text: string): boolean => range.safeParse(text).success;

/** A host name, or all below one: `*.example.com`. Of digits alone it would be an address in every URL. */
function isHostName(text: string): boolean {
  const [, name] = /^(?:\*\.)?((?:[A-Za-z0-9-]{1,63}\.)*[A-Za-z0-9-]{1,63})$/.exec(text) ?? [];
  if (name === undefined || name.length > 253) return false;
  const hostname = URL.parse(`http://${name}/`)?.hostname;
  return hostname !== undefined && !ipv4.safeParse(hostname).success;
}

export const addressRanges = list.pipe(
  z.array(z.string().refine(isAddressRange, { error: 'must be CIDRs such as 10.0.0.0/8' })),
);

export const addressRangesAndNames = list.pipe(
  z.array(
    z.string().refine((text) => isAddressRange(text) || isHostName(text), {
      error: 'must be CIDRs or host names such as 10.0.0.0/8,intranet.example',
    }),
  ),
);

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

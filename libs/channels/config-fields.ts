/** Settings that many channels have. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { secretMask } from '#runtime/secret-mask';

const longestAddress = 2_048;

/** A secret that is sent in a header or an address: one word of ASCII. */
export function secretWord(description: string, longest = 500) {
  return z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[\u0021-\u007e]+$/, { error: 'must be one word of ASCII, as the service shows it' })
    .meta({ writeOnly: true, description });
}

export function secretText(description: string, longest = 500) {
  return z.string().min(1).max(longest).meta({ writeOnly: true, description });
}

/** A word that becomes part of an address or a header, and is no secret. */
export function plainWord(description: string, pattern: RegExp, error: string) {
  return z.string().regex(pattern, { error }).describe(description);
}

export const titleTemplate = z.string().min(1).max(500).optional().describe('Template: the headline.');
export const textTemplate = z
  .string()
  .min(1)
  .max(65_536)
  .optional()
  .describe('Template: the text; without it a plain text says what there is.');

/** Of a server of one's own, which may stand under a path. */
export function serverAddress(description: string, example: string) {
  return z
    .string()
    .min(1)
    .max(longestAddress)
    .refine(
      (value) => {
        if (!URL.canParse(value) || !/^https?:\/\//i.test(value)) return false;
        const { username, password, search, hash } = new URL(value);
        return username + password + search + hash === '';
      },
      { error: `must be the address of a server such as ${example}, without credentials or a query` },
    )
    .describe(description);
}

interface SecretAddress {
  readonly description: string;
  readonly example: string;
  readonly isAllowed: (url: URL) => boolean;
  /** Addresses that a service gave out once and that no longer work, with what to do. */
  readonly retired?: { readonly is: (url: URL) => boolean; readonly error: string };
}

/** An address whose path or query holds a token: a secret as a whole. */
export function secretAddress({ description, example, isAllowed, retired }: SecretAddress) {
  const parsed = (value: string): URL | null => (URL.canParse(value) ? new URL(value) : null);
  return z
    .string()
    .max(longestAddress)
    .superRefine((value, context) => {
      if (value === secretMask) return;
      const url = parsed(value);
      if (url !== null && retired?.is(url) === true) return context.addIssue(retired.error);
      const isGood = url !== null && url.username + url.password === '' && isAllowed(url);
      if (!isGood) context.addIssue(`must be an address such as ${example}`);
    })
    .meta({ writeOnly: true, description });
}

/** An address at one of these hosts, whose path is like this, over TLS. */
export function atHosts(hosts: RegExp, path: RegExp): (url: URL) => boolean {
  return ({ protocol, host, pathname }) => protocol === 'https:' && hosts.test(host) && path.test(pathname);
}

/** At a server of one's own. */
export function atAnyHost(path: RegExp): (url: URL) => boolean {
  return ({ protocol, pathname }) => /^https?:$/.test(protocol) && path.test(pathname);
}

/** One choice for each kind of message. */
export function byKind<Schema extends z.ZodType>(choice: Schema, description: string) {
  return z
    .strictObject({
      triggered: choice.optional().describe('Of what became true.'),
      recovered: choice.optional().describe('Of what is over.'),
      error: choice.optional().describe('Of a check that fails.'),
    })
    .optional()
    .describe(description);
}

/** A phone number as the world writes it. */
export const phoneNumber = z
  .string()
  .regex(/^\+[1-9][0-9]{6,14}$/, { error: 'must be a phone number such as +4915112345678' });

/** Of something that speaks no HTTP: scheme, host and perhaps a port. */
export function peerAddress(schemes: readonly string[], description: string, example: string) {
  return z
    .string()
    .min(1)
    .max(longestAddress)
    .refine(
      (value) => {
        if (!URL.canParse(value)) return false;
        const { protocol, hostname, pathname, search, hash, username, password } = new URL(value);
        const isBare = username + password + search + hash === '' && /^\/?$/.test(pathname);
        return schemes.includes(protocol.slice(0, -1)) && hostname !== '' && isBare;
      },
      { error: `must be an address such as ${example}, without credentials or a path` },
    )
    .describe(description);
}

/** What is trusted beside the usual authorities, where TLS is spoken. */
export const tlsFields = {
  ca: z
    .string()
    .max(65_536)
    .regex(/-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/, { error: 'must be a certificate as PEM' })
    .optional()
    .describe('PEM: an authority that its certificate may be signed by.'),
  fingerprint: z
    .string()
    .regex(/^(?:[0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$/, { error: 'must be a SHA-256 in hexadecimal' })
    .optional()
    .describe('Just this certificate: its SHA-256.'),
  clientCertificate: z
    .string()
    .max(65_536)
    .regex(/-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/, { error: 'must be a certificate as PEM' })
    .optional()
    .describe('PEM: shown to a receiver that asks who comes. With `clientKey`.'),
  clientKey: z
    .string()
    .max(65_536)
    .regex(/-----BEGIN (?:RSA |EC )?PRIVATE KEY-----[\s\S]+-----END (?:RSA |EC )?PRIVATE KEY-----|^\*{8}$/, {
      error: 'must be a private key as PEM, without a passphrase',
    })
    .optional()
    .meta({ writeOnly: true, description: 'PEM: the key of `clientCertificate`, without a passphrase.' }),
};

interface TlsSettings {
  readonly serverUrl: string;
  readonly clientCertificate?: string | undefined;
  readonly clientKey?: string | undefined;
}

function belongTogether(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** What a channel with `tlsFields` demands of them together. */
export function tlsFaultOf({ serverUrl, clientCertificate, clientKey }: TlsSettings, scheme: string): string | null {
  if (clientCertificate === undefined && clientKey === undefined) return null;
  if (clientCertificate === undefined || clientKey === undefined)
    return 'must be given with its other half: clientCertificate and clientKey';
  if (!serverUrl.toLowerCase().startsWith(`${scheme}:`) && serverUrl !== secretMask)
    return `needs an address that begins with ${scheme}://`;
  // Masked, or refused by its own schema.
  if (!clientKey.includes('PRIVATE KEY') || belongTogether(clientCertificate, clientKey)) return null;
  return 'must be a certificate whose key is clientKey';
}

/** Certificates of servers: which are trusted besides the usual ones, and what is known of one that was shown. */
import { createHash, X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext, type TLSSocket } from 'node:tls';
import { createLru } from '#concurrency/lru';

/** What a server proved with. Times RFC 3339, UTC; names as OpenSSL writes them, one part a line. */
export interface ServerCertificate {
  readonly validFrom: string;
  readonly validTo: string;
  readonly issuer: string;
  readonly subject: string;
  /** SHA-256, bytes in capital hexadecimal with colons between them. */
  readonly fingerprint: string;
}

/** What a connection trusts besides, or instead of, the usual authorities. */
export interface TrustSettings {
  /** PEM of further authorities, or of the server's own certificate. */
  readonly ca?: string;
  /** Just this certificate, whatever signed it and whatever it is for: SHA-256 in hexadecimal. */
  readonly fingerprint?: string;
  /** Shown to a server that asks who comes. */
  readonly identity?: ClientIdentity;
}

/** PEM, the key without a passphrase. */
export interface ClientIdentity {
  readonly certificate: string;
  readonly key: string;
}

const oneCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a PEM text. Throws where there is none, or one that cannot be read. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const found = pem.match(oneCertificate) ?? [];
  if (found.length === 0) throw new TypeError('There is no certificate in it.');
  return found.map((text) => new X509Certificate(text));
}

/** As `ServerCertificate` has it, from any usual way of writing it. */
export function normalFingerprint(text: string): string {
  const digits = text
    .replace(/^sha-?256[:= ]/i, '')
    .replace(/[^0-9a-f]/gi, '')
    .toUpperCase();
  return digits.match(/../g)?.join(':') ?? '';
}

function serverCertificate(certificate: X509Certificate): ServerCertificate {
  return {
    validFrom: new Date(certificate.validFrom).toISOString(),
    validTo: new Date(certificate.validTo).toISOString(),
    issuer: certificate.issuer,
    subject: certificate.subject,
    fingerprint: certificate.fingerprint256,
  };
}

/** From its DER. */
export function certificateFrom(raw: Uint8Array): ServerCertificate {
  return serverCertificate(new X509Certificate(raw));
}

/** What the server of an open connection has shown; null where it is not known. Not by `getPeerX509Certificate`, which Node 24 answers once. */
export function certificateOf(socket: TLSSocket): ServerCertificate | null {
  const { raw } = socket.getPeerCertificate() as { raw?: Buffer };
  return raw === undefined ? null : certificateFrom(raw);
}

/** By what they trust: reading the authorities again for each connection would cost more than the connection. */
const contexts = createLru<string, SecureContext>(100);

/** null: the usual authorities alone, and nothing to show. `further`: PEM texts. Throws where the identity is none. */
export function trusting(further: readonly string[], identity: ClientIdentity | null = null): SecureContext | null {
  if (further.length === 0 && identity === null) return null;
  const usual = getCACertificates('default');
  const key = createHash('sha256')
    .update(JSON.stringify([usual.length, further, identity]))
    .digest('base64');
  const known =
    contexts.get(key) ??
    createSecureContext({
      ...(further.length === 0 ? {} : { ca: [...usual, ...further] }),
      ...(identity === null ? {} : { cert: identity.certificate, key: identity.key }),
    });
  contexts.set(key, known);
  return known;
}

/** What a receiver says by TLS of the certificate that it was shown, or that it misses: with TLS 1.3 only after the handshake. */

const alerts: Readonly<Record<string, string>> = {
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'wants a client certificate: set clientCertificate and clientKey',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
    'refused the secure connection: it may want a client certificate (clientCertificate, clientKey)',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'refused the client certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: 'does not know the client certificate',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'says that the client certificate has expired',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: 'says that the client certificate was revoked',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'does not trust the authority of the client certificate',
  ERR_SSL_TLSV1_ALERT_ACCESS_DENIED: 'does not let the client certificate in',
};

/** null: it is about something else. */
export function refusedIdentity(error: unknown, who: string): string | null {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  const said = typeof code === 'string' ? alerts[code] : undefined;
  return said === undefined ? null : `The ${who} ${said}.`;
}

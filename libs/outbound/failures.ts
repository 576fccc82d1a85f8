/** Faults of outbound requests, each with its reason and a sentence for the user: thrown within this library, returned as values by the port. */
import type { OutboundFailureReason } from './outbound.js';

export class Fault extends Error {
  readonly reason: OutboundFailureReason;
  /** The address block of the server that could not be connected to. */
  network?: string;

  constructor(reason: OutboundFailureReason, message: string) {
    super(message);
    this.name = 'Fault';
    this.reason = reason;
  }
}

/** The code of a system, TLS or HTTP client error; '' where it has none. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** What a failed TCP connection means. An error over several addresses counts as its last one. */
export function connectFault(error: unknown): Fault {
  const code = error instanceof AggregateError ? codeOf(error.errors.at(-1)) || codeOf(error) : codeOf(error);
  switch (code) {
    case 'ECONNREFUSED':
      return new Fault('connect_failed', 'The server refused the connection: nothing listens on that port.');
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return new Fault('connect_failed', 'The server cannot be reached: there is no route to it.');
    case 'ETIMEDOUT':
      return new Fault('connect_failed', 'The server did not accept the connection in time.');
    default:
      return new Fault('connect_failed', 'The connection to the server failed.');
  }
}

/** What a failed TLS handshake means. */
export function tlsFault(error: unknown): Fault {
  const code = codeOf(error);
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return new Fault('tls_failed', "The server's certificate has expired.");
    case 'CERT_NOT_YET_VALID':
      return new Fault('tls_failed', "The server's certificate is not valid yet.");
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return new Fault('tls_failed', "The server's certificate is self-signed, so it cannot be trusted.");
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return new Fault(
        'tls_failed',
        "The issuer of the server's certificate is not known, or the chain is incomplete.",
      );
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return new Fault('tls_failed', "The server's certificate is for another host name.");
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'ERR_SSL_HTTP_REQUEST':
      return new Fault('tls_failed', 'What answers there does not speak TLS.');
    default:
      return new Fault('tls_failed', 'The server and this service could not agree on a secure connection (TLS).');
  }
}

/** What an error of the HTTP client means, given how far the answer had come. */
export function exchangeFault(error: unknown, answered: boolean): Fault {
  if (error instanceof Fault) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new Fault('too_large', "The answer's headers are larger than 16 KB.");
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return new Fault('protocol_error', 'The request has a method or a header that HTTP does not allow.');
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return new Fault('protocol_error', 'The answer is shorter or longer than the server announced (Content-Length).');
  }
  if (error instanceof Error && error.name === 'HTTPParserError') {
    return new Fault('protocol_error', 'The answer does not follow the HTTP protocol.');
  }
  if (answered) return new Fault('protocol_error', 'The server closed the connection in the middle of its answer.');
  if (error instanceof Error && error.message.startsWith('bad ')) {
    return new Fault('protocol_error', 'The server answered with something that does not belong to the request.');
  }
  return new Fault('connect_failed', 'The server closed the connection before it answered.');
}

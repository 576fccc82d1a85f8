/** The outbound port: the one door to the network. Every page, webhook, custom request and mail connection goes through it. */
import type { Socket } from 'node:net';
import type { ServerCertificate, TrustSettings } from './certificates.js';

export const outboundFailureReasons = [
  'invalid_url',
  'address_denied',
  'dns_failed',
  'connect_failed',
  'tls_failed',
  'timed_out',
  'too_large',
  'too_many_redirects',
  'redirect_refused',
  'protocol_error',
  'bad_encoding',
  'aborted',
] as const;
export type OutboundFailureReason = (typeof outboundFailureReasons)[number];

export interface OutboundFailure {
  readonly ok: false;
  readonly reason: OutboundFailureReason;
  /** One sentence for the user: what happened and, where there is one, what to do. Never a secret, never an inner address. */
  readonly message: string;
  /** True once request bytes may have reached the other side: a repeat may be seen twice. */
  readonly sent: boolean;
  readonly durationMs: number;
  /** The address block of a server that could not be connected to; for counting, never to be shown. */
  readonly network?: string;
}

export interface OutboundAnswer {
  readonly ok: true;
  readonly status: number;
  /** Lower-case names; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decompressed. */
  readonly body: Uint8Array;
  /** True where `onBodyLimit` is `cut` and more came than was read. */
  readonly bodyCut: boolean;
  readonly finalUrl: string;
  /** Of the server that answered; null or absent without TLS. */
  readonly certificate?: ServerCertificate | null;
  readonly redirects: number;
  readonly durationMs: number;
}

export interface OutboundRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Whole exchange, redirects included; the other side may take all of it to begin its answer. */
  readonly timeoutMs: number;
  /** Decoded bytes of the answer's body. */
  readonly maxBodyBytes: number;
  /** What to do past `maxBodyBytes`: fail with `too_large`, or stop reading and hand over what came. */
  readonly onBodyLimit: 'fail' | 'cut';
  /** 0: a redirect is an answer like any other. At most 5; each target is checked anew and credentials are dropped across origins. */
  readonly maxRedirects: number;
  /** Cookies that one redirect sets go with the next ones, within this exchange and by their domain, path and `Secure`. */
  readonly keepsCookies?: boolean;
  /** `http://user:pass@host:port` for this request alone; its address is checked too. */
  readonly proxyUrl?: string;
  /** What is trusted at the host of `url`; hosts that it redirects to are judged as usual. */
  readonly trust?: TrustSettings;
  /**
   * Called when the final answer has begun, before anything of its body is read: the caller may wait for the memory that the
   * body takes. That time is not the other side's. null: go on at once. A rejection ends the request as `aborted`.
   */
  readonly beforeBody?: () => Promise<void> | null;
  readonly signal?: AbortSignal;
}

export type ConnectResult = { readonly ok: true; readonly socket: Socket } | OutboundFailure;

export type DatagramResult = { readonly ok: true } | OutboundFailure;

export interface Outbound {
  /** One HTTP exchange. Never rejects: what went wrong is a value. */
  request(request: OutboundRequest): Promise<OutboundAnswer | OutboundFailure>;
  /**
   * A connection to a checked and pinned address, for protocols other than HTTP. With `tls` it is agreed on and the certificate
   * checked; without it TLS, where there is any, is the caller's (mail).
   */
  connect(host: string, port: number, timeoutMs: number, tls?: TrustSettings): Promise<ConnectResult>;
  /** One datagram to a checked address. That it was sent says nothing of whether it arrived. */
  datagram(host: string, port: number, bytes: Uint8Array, timeoutMs: number): Promise<DatagramResult>;
  /** Why an address given by a user can never be reached (checked when saved: literals and schemes only, no DNS), or null. */
  refusalOf(url: string): string | null;
  close(): Promise<void>;
}

export const OUTBOUND = Symbol('Outbound');

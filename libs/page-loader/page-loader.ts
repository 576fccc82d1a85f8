/** The page-loader port: a task's fetch settings in, a decoded page or a named failure out. */
import type { ContentKind } from '#sandbox/sandbox';

export const loadFailureReasons = [
  'dns_failed',
  'connect_failed',
  'tls_failed',
  'timed_out',
  'http_status',
  'too_large',
  'too_many_redirects',
  'protocol_error',
  'bad_encoding',
  'address_denied',
  'browser_unavailable',
] as const;
export type LoadFailureReason = (typeof loadFailureReasons)[number];

export interface PageRequest {
  readonly url: string;
  readonly mode: 'http' | 'browser';
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly followRedirects: boolean;
  /** Statuses (`"404"`) and classes (`"2xx"`). */
  readonly acceptStatus: readonly string[];
  readonly userAgent: string | null;
  readonly proxyUrl: string | null;
  readonly retry: {
    /** The first included. */
    readonly attempts: number;
    readonly strategy: 'fixed' | 'exponential';
    readonly baseMs: number;
  };
  readonly signal?: AbortSignal;
}

export interface LoadedPage {
  readonly ok: true;
  /** The address asked for. */
  readonly url: string;
  /** Where redirects ended, with the fragment of the task's address. */
  readonly finalUrl: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentKind: ContentKind;
  /** The name of the encoding the site used, by the WHATWG Encoding standard. */
  readonly encoding: string;
  /** UTF-8. */
  readonly body: Uint8Array;
  /** `sha256:` and the hexadecimal digest of `body`. */
  readonly contentHash: string;
  readonly attempts: number;
  readonly fetchMs: number;
}

export interface LoadFailure {
  readonly ok: false;
  readonly reason: LoadFailureReason;
  readonly message: string;
  /** The status where one was answered. */
  readonly status: number | null;
  readonly finalUrl: string;
  readonly attempts: number;
  readonly fetchMs: number;
}

export interface PageLoader {
  /** Loads one page, retries included. Never rejects for what the site does. */
  load(request: PageRequest): Promise<LoadedPage | LoadFailure>;
  close(): Promise<void>;
}

export const PAGE_LOADER = Symbol('PageLoader');

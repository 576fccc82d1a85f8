/** The page-loader port: a task's fetch settings in, a decoded page or a named failure out. */
import type { ServerCertificate, TrustSettings } from '#outbound/certificates';
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
  /** Nearly all sites are out of reach at once: it is this side's network, not the site. */
  'own_network',
  'browser_unavailable',
  /** A step before the page is read, or what was waited for. */
  'step_failed',
  'wait_failed',
  /** It crashed or hung, twice. */
  'browser_crashed',
  'browser_limit',
  /** A download. */
  'not_a_page',
] as const;
export type LoadFailureReason = (typeof loadFailureReasons)[number];

export type PageStep =
  | { readonly do: 'goto'; readonly value: string }
  | { readonly do: 'click'; readonly selector: string }
  | { readonly do: 'fill' | 'select'; readonly selector: string; readonly value: string; readonly isSecret: boolean }
  | { readonly do: 'press'; readonly selector: string | null; readonly value: string }
  | { readonly do: 'wait'; readonly selector: string | null; readonly value: string | null };

export const blockable = ['images', 'media', 'fonts', 'trackers'] as const;

/** How a browser renders the page. */
export interface RenderSettings {
  /** Whose page it is: a browser process holds one of them at a time. */
  readonly owner: string;
  /** `load`, `networkidle` or a selector. */
  readonly waitFor: string;
  readonly waitMs: number;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly steps: readonly PageStep[];
  readonly block: readonly (typeof blockable)[number][];
  readonly takesScreenshot: boolean;
  /** What the last visit left, if it is kept: text that only the loader reads; null: nothing yet. Absent: it is not kept. */
  readonly session?: string | null;
  /** Write the places of elements into this attribute; null: none. */
  readonly boxAttribute: string | null;
}

/** What the door refused while a page loaded. */
export interface RefusedAddress {
  readonly address: string;
  readonly reason: string;
  readonly count: number;
}

/** What a browser leaves besides the document. */
export interface Rendering {
  readonly refused: readonly RefusedAddress[];
  /** PNG; null: none could be taken. */
  readonly screenshot: Uint8Array | null;
  /** For the next visit; null: what was kept is of no use any more. Absent: it stays as it is. */
  readonly session?: string | null;
}

export interface PageRequest {
  readonly url: string;
  readonly mode: 'http' | 'browser';
  /** Of mode `browser`. */
  readonly render?: RenderSettings;
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
  /** Of the page's own host; absent: as usual. */
  readonly trust?: TrustSettings;
  readonly retry: {
    /** The first included. */
    readonly attempts: number;
    readonly strategy: 'fixed' | 'exponential';
    readonly baseMs: number;
  };
  readonly signal?: AbortSignal;
  /** What the load takes before it reads a body, so that one which waits for a slow site takes nothing from others. */
  readonly slot?: LoadSlot;
  /** Ends the wait for the site's limits: the load then rejects with its reason. A load that has begun is not ended. */
  readonly waitSignal?: AbortSignal;
}

/** A share of what all loads have in common: memory, and afterwards processor time. */
export interface LoadSlot {
  /** null: it is held. Else it is waited for, in time that is not the site's; a rejection ends the load with it. */
  take(): Promise<void> | null;
  /** The attempt was in vain, and the next one may have to wait. */
  giveBack(): void;
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
  /** Of https; null or absent otherwise. */
  readonly certificate?: ServerCertificate | null;
  /** The name of the encoding the site used, by the WHATWG Encoding standard. */
  readonly encoding: string;
  /** UTF-8. */
  readonly body: Uint8Array;
  /** `sha256:` and the hexadecimal digest of `body`. */
  readonly contentHash: string;
  readonly attempts: number;
  readonly fetchMs: number;
  /** Absent: no browser rendered it. */
  readonly rendering?: Rendering;
}

/** What a page is known again by: what the server gave with it, and where redirects ended then. */
export interface KnownPage {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly finalUrl: string;
}

/** The server says that the page is as it was when it was known: its content was not sent again. */
export interface UnchangedPage {
  readonly ok: true;
  readonly unchanged: true;
  readonly finalUrl: string;
  /** Of this answer: what they do not name is as it was. */
  readonly headers: Readonly<Record<string, string>>;
  readonly certificate?: ServerCertificate | null;
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
  readonly rendering?: Rendering;
}

export interface PageLoader {
  /** Loads one page, retries included. Never rejects for what the site does, but where `waitSignal` or `slot` says so. */
  load(request: PageRequest): Promise<LoadedPage | LoadFailure>;
  /** As `load`, but asks the server for the page only if it is not the known one. `request` must be what that was loaded with. */
  loadIfChanged(request: PageRequest, known: KnownPage): Promise<LoadedPage | UnchangedPage | LoadFailure>;
  close(): Promise<void>;
}

export const PAGE_LOADER = Symbol('PageLoader');

/** Whether pages can be rendered here; `why` follows "Pages cannot be rendered: ". */
export interface BrowserSupport {
  readonly why: string | null;
}

export const BROWSER_SUPPORT = Symbol('BrowserSupport');

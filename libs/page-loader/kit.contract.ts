/** What the suites of the page loader share: a loader per test, servers on loopback, requests with defaults. */
import { afterEach } from '@jest/globals';
import type { Loopback } from '#outbound/loopback.contract';
import type { LoadedPage, LoadFailure, PageLoader, PageRequest } from './page-loader.js';

export interface LoaderContractOptions {
  /** Time limits that a spec lowers, so that it need not wait for the real ones. */
  readonly limits?: { readonly trickleWindowMs?: number };
  readonly egressAllow?: readonly string[];
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random?: () => number;
}

/** A loader, and how to close it with all that it stands on. */
export interface LoaderUnderTest {
  readonly loader: PageLoader;
  close(): Promise<void>;
}

export type CreateLoader = (options: LoaderContractOptions) => LoaderUnderTest;

interface Kit {
  /** A server that is closed after the test. */
  readonly up: (server: Promise<Loopback>) => Promise<Loopback>;
  readonly loader: (options?: LoaderContractOptions) => PageLoader;
  readonly ask: (url: string, extra?: Partial<PageRequest>) => PageRequest;
  readonly pageOf: (from: PageLoader, url: string, extra?: Partial<PageRequest>) => Promise<LoadedPage>;
  readonly failureOf: (from: PageLoader, url: string, extra?: Partial<PageRequest>) => Promise<LoadFailure>;
  readonly textOf: (page: LoadedPage) => string;
}

/** `mode` is what all requests ask for. */
export function createKit(mode: PageRequest['mode'], create: CreateLoader): Kit {
  const closers: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function up(server: Promise<Loopback>): Promise<Loopback> {
    const loopback = await server;
    closers.push(() => loopback.close());
    return loopback;
  }

  function loader(options: LoaderContractOptions = {}): PageLoader {
    const made = create({ egressAllow: ['127.0.0.1'], sleep: () => Promise.resolve(), ...options });
    closers.push(() => made.close());
    return made.loader;
  }

  const ask = (url: string, extra: Partial<PageRequest> = {}): PageRequest => ({
    url,
    mode,
    method: 'GET',
    headers: {},
    body: null,
    timeoutMs: 20_000,
    maxBytes: 1_000_000,
    followRedirects: true,
    acceptStatus: ['2xx'],
    userAgent: null,
    proxyUrl: null,
    retry: { attempts: 1, strategy: 'fixed', baseMs: 1_000 },
    ...extra,
  });

  async function pageOf(from: PageLoader, url: string, extra: Partial<PageRequest> = {}): Promise<LoadedPage> {
    const page = await from.load(ask(url, extra));
    if (!page.ok) throw new Error(`${page.reason}: ${page.message}`);
    return page;
  }

  async function failureOf(from: PageLoader, url: string, extra: Partial<PageRequest> = {}): Promise<LoadFailure> {
    const page = await from.load(ask(url, extra));
    if (page.ok) throw new Error(`loaded ${page.status}`);
    return page;
  }

  const textOf = (page: LoadedPage): string => new TextDecoder().decode(page.body);

  return { up, loader, ask, pageOf, failureOf, textOf };
}

/** An installation of the product: started, killed and started again on the same data. Specs know this and not how it is made. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewEvent, RecordedEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import { createApi, type Api } from './api.js';
import { startProduct, type Ending, type Product } from './product.js';
import { until } from './until.js';

export const ownerEmail = 'owner@example.com';
export const ownerPassword = 'correct horse battery staple';
export const ownerApiKey = 'mk_Ab3dEf9h_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd3qYUag';

export interface Installation {
  /** Where it listens now. */
  readonly url: string;
  readonly apiKey: string;
  readonly api: Api;
  /** What all its processes wrote so far. */
  readonly lines: readonly string[];
  /** Process id, for faults that are made from outside. */
  readonly pid: number;
  /** Starts it, or starts it again on the same data; resolves once it is ready. */
  start(): Promise<void>;
  /** Sends the signal and resolves with how it ended. */
  kill(signal: NodeJS.Signals): Promise<Ending>;
  /** Every event, in order; while it is stopped. */
  recordedEvents(): Promise<readonly RecordedEvent[]>;
  /** Every byte it keeps, by name; while it is stopped. */
  storedFiles(): Promise<readonly string[]>;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
}

export interface InstallationOptions {
  readonly smtpUrl?: string;
  /** Further settings; an empty one is unset. */
  readonly settings?: Readonly<Record<string, string>>;
}

const endsWithinMs = 60_000;

/** Everything in one process, in a data folder of its own. */
export async function embeddedInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-e2e-'));
  const dataDir = join(folder, 'data');
  const settings: Record<string, string> = {
    DATA_DIR: dataDir,
    PORT: '0',
    OWNER_EMAIL: ownerEmail,
    OWNER_PASSWORD: ownerPassword,
    OWNER_API_KEY: ownerApiKey,
    EGRESS_ALLOW: '127.0.0.0/8',
    MIN_INTERVAL_SECONDS: '1',
    LOG_FORMAT: 'json',
    ...(options.smtpUrl === undefined ? {} : { SMTP_URL: options.smtpUrl }),
    ...options.settings,
  };
  const lines: string[] = [];
  let product: Product | null = null;
  let url = '';
  const current = (): Product => {
    if (product === null) throw new Error('the installation was not started');
    return product;
  };
  return {
    apiKey: ownerApiKey,
    api: createApi(() => url, ownerApiKey),
    get url() {
      return url;
    },
    get lines() {
      return [...lines, ...(product?.lines ?? [])];
    },
    get pid() {
      return current().pid;
    },
    async start() {
      product = startProduct(settings, folder);
      url = await product.ready();
    },
    async kill(signal) {
      const ending = current();
      ending.signal(signal);
      const how = await endOf(ending);
      lines.push(...ending.lines);
      product = null;
      return how;
    },
    async recordedEvents() {
      // A copy: what is looked at must not change by being looked at.
      const copy = await mkdtemp(join(tmpdir(), 'meerkat-e2e-events-'));
      try {
        for (const name of await readdir(dataDir)) {
          if (name.startsWith('events.db')) await cp(join(dataDir, name), join(copy, name));
        }
        return await allEvents(join(copy, 'events.db'));
      } finally {
        await rm(copy, { recursive: true, force: true });
      }
    },
    async storedFiles() {
      const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    },
    async remove() {
      if (product !== null) {
        product.signal('SIGKILL');
        await product.ended;
        product = null;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A process that is told to end and does not is a fault; it is not left behind either. */
async function endOf(product: Product): Promise<Ending> {
  let ending: Ending | null = null;
  void product.ended.then((how) => (ending = how));
  try {
    return await until('the process ends', () => ending, endsWithinMs);
  } catch (error) {
    product.signal('SIGKILL');
    throw error;
  }
}

/** What stands behind everything else in the copy, so that a reader knows the end. */
const endMark: NewEvent = {
  id: '00000000-0000-4000-8000-000000000000',
  type: 'copy.ended',
  version: 1,
  data: {},
  metadata: { organizationId: '', actor: 'system:e2e', requestId: '', causationId: null, at: '' },
};

async function allEvents(copiedFile: string): Promise<readonly RecordedEvent[]> {
  const store = createSqliteEventStore(copiedFile, { checked: true });
  const { signal } = new AbortController();
  const events: RecordedEvent[] = [];
  try {
    await store.append('copy-end', [endMark], 'none');
    for await (const batch of store.subscribe({ prefixes: [''], after: null, signal })) {
      events.push(...batch.events);
      if (events.at(-1)?.id === endMark.id) break;
    }
    return events.slice(0, -1);
  } finally {
    await store.close();
  }
}

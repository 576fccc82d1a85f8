/** An installation of the product: started, killed and started again on the same data. Specs know this and not how it is made. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtemp } from 'node:fs/promises';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import type { ViewStore } from '#read-store/read-store';
import type { Api } from './api.js';
import type { CommandEnd, RunningCommand } from './command-line.js';
import type { Ending, Product } from './product.js';
import { until } from './until.js';

export const ownerEmail = 'owner@example.com';
export const ownerPassword = 'correct horse battery staple';
export const ownerApiKey = 'mk_Ab3dEf9h_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd3qYUag';

/** Something that is kept, under the name by which a person finds it. */
export interface StoredBytes {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Installation {
  /** Where it listens now. */
  readonly url: string;
  /** All its doors; the one above is the first. */
  readonly urls: readonly string[];
  readonly apiKey: string;
  /** Through any of its doors. */
  readonly api: Api;
  /** What all its processes wrote so far. */
  readonly lines: readonly string[];
  /** Starts it, or starts it again on the same data; resolves once it is ready. */
  start(): Promise<void>;
  /** Sends the signal to all of it and resolves with how it ended: as the one of its processes that ended worst. */
  kill(signal: NodeJS.Signals): Promise<Ending>;
  /** From now on nothing can be appended to its event store; what is there can be read or not. */
  breakEventStore(): Promise<void>;
  mendEventStore(): Promise<void>;
  /** Every event, in order; while it is stopped. */
  recordedEvents(): Promise<readonly RecordedEvent[]>;
  /** Appends what an earlier time would have recorded, each to its stream; while it is stopped. */
  appendEvents(events: readonly RecordedEvent[]): Promise<void>;
  /** Runs the command line with its settings, to the command's end. */
  command(words: readonly string[]): Promise<CommandEnd>;
  /** The same, of a command that goes on until it is ended. */
  startCommand(words: readonly string[]): RunningCommand;
  /** Further settings, from its next start on; an empty one is unset. */
  set(settings: Readonly<Record<string, string>>): void;
  /** What it seals and signs with now. */
  secretKey(): Promise<Uint8Array>;
  /** Changes its secret key, while it is stopped; it is set to the new one when it succeeds. */
  rotateSecretKey(): Promise<CommandEnd>;
  /** Its views; while it is stopped. */
  openReadStore(): Promise<ViewStore>;
  /** Every byte it keeps. */
  stored(): Promise<readonly StoredBytes[]>;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
}

export interface InstallationOptions {
  readonly smtpUrl?: string;
  /** Further settings; an empty one is unset. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** What every installation of a spec is set to, in whatever mode. */
export function commonSettings({ smtpUrl, settings }: InstallationOptions): Readonly<Record<string, string>> {
  return {
    OWNER_EMAIL: ownerEmail,
    OWNER_PASSWORD: ownerPassword,
    OWNER_API_KEY: ownerApiKey,
    EGRESS_ALLOW: '127.0.0.0/8',
    MIN_INTERVAL_SECONDS: '1',
    LOG_FORMAT: 'json',
    ...(smtpUrl === undefined ? {} : { SMTP_URL: smtpUrl }),
    ...settings,
  };
}

export const scratchFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'meerkat-e2e-'));

export async function appendTo(
  store: Pick<EventStore, 'append' | 'close'>,
  events: readonly RecordedEvent[],
): Promise<void> {
  try {
    for (const { stream, revision, id, type, version, data, metadata } of events) {
      const expected = revision === 0 ? 'none' : revision - 1;
      const appended = await store.append(stream, [{ id, type, version, data, metadata }], expected);
      if (!appended.ok) throw new Error(`${stream}@${revision} was not taken`);
    }
  } finally {
    await store.close();
  }
}

const endsWithinMs = 60_000;

/** A process that does not end when asked is a fault; it is killed all the same. */
export async function endOf(product: Product): Promise<Ending> {
  let ending: Ending | null = null;
  void product.ended.then((how) => (ending = how));
  try {
    return await until('the process ends', () => ending, endsWithinMs);
  } catch (error) {
    product.signal('SIGKILL');
    throw error;
  }
}

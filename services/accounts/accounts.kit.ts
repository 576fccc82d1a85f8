/** For specs: this service's ports over given stores, with a clock that is set by hand. */
import type { AppendResult, EventStore, ExpectedRevision, NewEvent, RecordedEvent } from '#event-store/event-store';
import { createSoleLeases } from '#leases/sole';
import { startProjection } from '#eventing/projection';
import type { ViewStore } from '#read-store/read-store';
import { createIds } from '#runtime/ids';
import { silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import { createEventVault } from '#vault/event-vault';
import { createAttempts } from './attempts.js';
import { accountProjections } from './accounts-views.js';
import { createAccountViews } from './await-account-views.js';
import { createKeyCopies } from './key-copies.js';
import { createPasswords } from './passwords.js';
import type { Letter, PostOffice } from './post-office.js';
import type { AccountPorts } from './ports.js';

export interface AccountsKit {
  readonly ports: AccountPorts;
  /** What was mailed. */
  readonly letters: readonly Letter[];
  /** Resolves once what was to be mailed by now is. */
  mailed(): Promise<void>;
  readonly time: { ms: number };
  /** Every event of the store. */
  allEvents(): Promise<readonly RecordedEvent[]>;
  stop(): Promise<void>;
}

export const kitStartMs = Date.parse('2026-11-01T00:00:00.000Z');
export const kitMasterKey = Buffer.alloc(32, 9);
export const kitPepper = new Uint8Array(32).fill(5);

export function createAccountsKit(eventStore: EventStore, readStore: ViewStore): AccountsKit {
  const time = { ms: kitStartMs };
  const clock = { now: () => time.ms };
  const leases = createSoleLeases();
  const sharedState = createDocumentState(readStore);
  const vault = createEventVault(eventStore, kitMasterKey);
  const letters: Letter[] = [];
  const writing = new Set<Promise<void>>();
  const postOffice: PostOffice = {
    isOpen: true,
    send: (_, write) => void writing.add(write().then((written) => void letters.push(...written))),
    close: () => Promise.resolve(),
  };
  const projections = accountProjections.map((projection) =>
    startProjection({ ...projection, eventStore, readStore, sharedState, leases, logger: silentLogger }),
  );
  return {
    time,
    letters,
    async mailed() {
      await Promise.all(writing);
    },
    ports: {
      eventStore,
      sharedState,
      postOffice,
      providers: new Map(),
      address: { baseUrl: () => Promise.resolve('https://meerkat.example.com') },
      keysShowOnce: false,
      keyCopies: createKeyCopies(sharedState, vault, clock, { keepsNone: false }),
      readStore,
      clock,
      ids: createIds(clock.now),
      pepper: kitPepper,
      linkPepper: kitPepper,
      plan: 'enterprise',
      vault,
      passwords: createPasswords(),
      attempts: createAttempts(sharedState, clock),
      views: createAccountViews(readStore, eventStore, createDocumentState(readStore)),
      logger: silentLogger,
    },
    allEvents: () => allEvents(eventStore),
    async stop() {
      await Promise.all(projections.map((projection) => projection.stop()));
    },
  };
}

/** Appends a mark, and reads everything up to it. */
async function allEvents(eventStore: EventStore): Promise<readonly RecordedEvent[]> {
  const id = crypto.randomUUID();
  const metadata = { organizationId: '', actor: 'system:kit', requestId: id, causationId: null, at: '' };
  await eventStore.append(`mark-${id}`, [{ id, type: 'mark', version: 1, data: {}, metadata }], 'none');
  const events: RecordedEvent[] = [];
  const ending = new AbortController();
  for await (const batch of eventStore.subscribe({ prefixes: [''], after: null, signal: ending.signal })) {
    events.push(...batch.events);
    if (events.some((event) => event.id === id)) ending.abort();
  }
  return events.filter((event) => event.type !== 'mark');
}

export class Crash extends Error {}

/** A store whose process dies around its appends to some streams: `before` they are written, or `after`, without an answer. */
export function crashing(store: EventStore, prefix: string, when: 'before' | 'after'): EventStore {
  return {
    append: async (stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> => {
      if (!stream.startsWith(prefix)) return store.append(stream, events, expected);
      if (when === 'after') await store.append(stream, events, expected);
      throw new Crash(`${when} ${stream}`);
    },
    read: (stream, from) => store.read(stream, from),
    readLast: (stream) => store.readLast(stream),
    subscribe: (subscription) => store.subscribe(subscription),
    lastPosition: () => store.lastPosition(),
    close: () => store.close(),
  };
}

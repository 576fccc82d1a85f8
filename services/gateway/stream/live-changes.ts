/** Follows the events of the installation while anybody reads along, and hands each reader what changed for it. */
import { Inject, Injectable } from '@nestjs/common';
import { sleep } from '#concurrency/sleep';
import { deliveriesView } from '#contracts/delivery';
import { recentRunsView } from '#contracts/recent-runs';
import { executionsView } from '#contracts/run';
import { tasksView } from '#contracts/task';
import { EVENT_STORE, type EventBatch, type EventStore, type RecordedEvent } from '#event-store/event-store';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { LOGGER, type Logger } from '#runtime/logger';
import { VAULT, type Vault } from '#vault/vault';
import { changesOf, streamPrefixes, type Change } from './changes.js';
import { framesFor } from './frames.js';
import type { StreamReader } from './stream-reader.js';

/** A view that is further behind makes a gap. */
const viewWaitMs = 5_000;
/** A reader that missed more than this reads its lists again: that is less work than all that happened. */
const mostMissedEvents = 20_000;
const catchUpMs = 5_000;
const beatEveryMs = 15_000;
const retryMs = 1_000;

interface WaitedView {
  /** Of the events that it is made of: others may leave its checkpoint where it is. */
  readonly prefixes: readonly string[];
  readonly waiter: PositionWaiter;
}

@Injectable()
export class LiveChanges {
  readonly #eventStore: EventStore;
  readonly #readStore: ReadStore;
  readonly #vault: Vault;
  readonly #logger: Logger;
  readonly #views: readonly WaitedView[];
  readonly #readers = new Set<StreamReader>();
  #following: AbortController | null = null;
  /** What was handed over last; null: nobody follows. */
  #position: number | null = null;
  #beats: NodeJS.Timeout | null = null;

  constructor(
    @Inject(EVENT_STORE) eventStore: EventStore,
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(VAULT) vault: Vault,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#eventStore = eventStore;
    this.#readStore = readStore;
    this.#vault = vault;
    this.#logger = logger;
    this.#views = [
      { prefixes: ['task-', 'run-', 'schedule-'], waiter: createPositionWaiter(readStore, tasksView) },
      { prefixes: ['run-', 'schedule-', 'claim-'], waiter: createPositionWaiter(readStore, executionsView) },
      { prefixes: ['run-'], waiter: createPositionWaiter(readStore, recentRunsView) },
      { prefixes: ['dlv-'], waiter: createPositionWaiter(readStore, deliveriesView) },
    ];
  }

  /** `lastEventId`: what the reader has seen last; it gets what it missed, or a gap. Resolves once it is caught up. */
  async join(reader: StreamReader, lastEventId: string | undefined, signal: AbortSignal): Promise<void> {
    reader.hold();
    const position = await this.#follow();
    this.#readers.add(reader);
    try {
      if (lastEventId !== undefined && lastEventId !== '') await this.#catchUp(reader, lastEventId, position, signal);
      // A first answer at once: proxies and clients take the stream for open.
      else reader.take([], position);
    } catch (error) {
      this.#logger.warn({ error: String(error) }, 'a stream could not be resumed; its reader reads again');
      reader.gap(position);
    }
    reader.release();
    reader.beat(position);
  }

  leave(reader: StreamReader): void {
    if (!this.#readers.delete(reader)) return;
    reader.end();
    if (this.#readers.size > 0) return;
    this.#following?.abort();
    this.#following = null;
    this.#position = null;
    if (this.#beats !== null) clearInterval(this.#beats);
    this.#beats = null;
  }

  /** Begins where the events end now, unless it follows already. Returns the position from which on readers are told. */
  async #follow(): Promise<number> {
    if (this.#position !== null) return this.#position;
    const last = (await this.#eventStore.lastPosition()) ?? -1;
    // Another reader may have come meanwhile.
    if (this.#position !== null) return this.#position;
    this.#position = last;
    const following = new AbortController();
    this.#following = following;
    this.#beats = setInterval(() => {
      for (const reader of this.#readers) reader.beat(this.#position);
    }, beatEveryMs).unref();
    void this.#run(following.signal);
    return last;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const after = this.#position === -1 ? null : this.#position;
        for await (const batch of this.#eventStore.subscribe({ prefixes: streamPrefixes, after, signal })) {
          await this.#hand(batch);
          if (signal.aborted) return;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#logger.warn({ error: String(error) }, 'the stream cannot go on; trying again');
        await sleep(retryMs, signal);
      }
    }
  }

  async #hand({ events, position }: EventBatch): Promise<void> {
    const readers = [...this.#readers];
    const byOrganization = this.#changesFor(new Set(readers.map(({ wants }) => wants.organizationId)), events);
    if (byOrganization.size > 0) {
      const isSeen = await this.#areShown(events);
      for (const [organizationId, changes] of byOrganization) {
        const own = readers.filter(({ wants }) => wants.organizationId === organizationId);
        if (!isSeen) {
          for (const reader of own) reader.gap(position);
          continue;
        }
        const frames = await this.#framesFor(organizationId, changes);
        for (const reader of own) reader.take(frames, position);
      }
    }
    this.#position = position;
  }

  #changesFor(organizations: ReadonlySet<string>, events: readonly RecordedEvent[]): ReadonlyMap<string, Change[]> {
    const found = new Map<string, Change[]>();
    for (const event of events) {
      const { organizationId } = event.metadata;
      if (!organizations.has(organizationId)) continue;
      const changes = found.get(organizationId) ?? [];
      changes.push(...changesOf(event));
      found.set(organizationId, changes);
    }
    return found;
  }

  #framesFor(organizationId: string, changes: readonly Change[]) {
    return framesFor({ readStore: this.#readStore, vault: this.#vault }, organizationId, changes);
  }

  /** Whether each view has seen the events that it is made of. */
  async #areShown(events: readonly RecordedEvent[]): Promise<boolean> {
    const reached = await Promise.all(
      this.#views.map(async ({ prefixes, waiter }) => {
        const last = events.findLast(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
        return last === undefined || waiter.reached(last.position, viewWaitMs);
      }),
    );
    return !reached.includes(false);
  }

  /** What happened between the event that the reader saw last and `until`, each document once, as it is now. */
  async #catchUp(reader: StreamReader, lastEventId: string, until: number, signal: AbortSignal): Promise<void> {
    const after = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null;
    if (after === null || after > until) return reader.gap(until);
    if (after === until) return undefined;
    const { organizationId } = reader.wants;
    const ending = AbortSignal.any([signal, AbortSignal.timeout(catchUpMs)]);
    const missed: RecordedEvent[] = [];
    let isThere = false;
    for await (const batch of this.#eventStore.subscribe({ prefixes: streamPrefixes, after, signal: ending })) {
      missed.push(...batch.events);
      if (missed.length > mostMissedEvents) break;
      isThere = batch.position >= until;
      if (isThere) break;
    }
    if (!isThere || !(await this.#areShown(missed))) return reader.gap(until);
    const changes = this.#changesFor(new Set([organizationId]), missed).get(organizationId) ?? [];
    return reader.take(await this.#framesFor(organizationId, changes), until);
  }
}

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
import { framesFor, type Frame } from './frames.js';
import { gapAt, mostWaiting, mostWaitingBytes, type StreamReader } from './stream-reader.js';

/** A view that is further behind makes a gap. */
const viewWaitMs = 5_000;
/** A reader that missed more than this reads its lists again: that is less work than all that happened. */
const mostMissedEvents = 20_000;
/** Documents that are read at once for readers. */
const changesAtOnce = 50;
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
    // Before anything is waited for: with a reader there is somebody to follow for.
    this.#readers.add(reader);
    const position = await this.#follow();
    const hasSeen = lastEventId !== undefined && lastEventId !== '';
    let missed: readonly string[] = [];
    try {
      if (hasSeen) missed = await this.#missedBy(reader, lastEventId, position, signal);
    } catch (error) {
      this.#logger.warn({ error: String(error) }, 'a stream could not be resumed; its reader reads again');
      missed = [gapAt(position)];
    }
    reader.begin(missed);
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
    // Another reader may have come meanwhile, or all of them gone.
    if (this.#position !== null || this.#readers.size === 0) return this.#position ?? last;
    this.#position = last;
    const following = new AbortController();
    this.#following = following;
    this.#beats = setInterval(() => {
      for (const reader of this.#readers) if (this.#position !== null) reader.beat(this.#position);
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
          // The next follower begins where the events end then.
          if (signal.aborted) return;
          this.#position = batch.position;
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
      for (const [organizationId, all] of byOrganization) {
        const changes = distinct(all);
        const own = readers.filter(({ wants }) => wants.organizationId === organizationId);
        if (!isSeen) {
          for (const reader of own) reader.gap(position);
          continue;
        }
        for await (const { frames, isLast } of this.#framesFor(organizationId, changes)) {
          for (const reader of own) reader.take(frames, isLast ? position : null);
          if (own.every(({ isBehind }) => isBehind)) break;
        }
      }
    }
  }

  #changesFor(
    organizations: ReadonlySet<string>,
    events: readonly RecordedEvent[],
  ): ReadonlyMap<string, readonly Change[]> {
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

  /** Some at a time: their documents may be large. */
  async *#framesFor(
    organizationId: string,
    changes: readonly Change[],
  ): AsyncGenerator<{ readonly frames: readonly Frame[]; readonly isLast: boolean }> {
    for (let from = 0; from < changes.length; from += changesAtOnce) {
      const some = changes.slice(from, from + changesAtOnce);
      const frames = await framesFor({ readStore: this.#readStore, vault: this.#vault }, organizationId, some);
      yield { frames, isLast: from + changesAtOnce >= changes.length };
    }
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

  /** What happened between the event that the reader saw last and `until`: each document once, as it is now, or a gap. */
  async #missedBy(
    reader: StreamReader,
    lastEventId: string,
    until: number,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const gap = [gapAt(until)];
    const after = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null;
    if (after === null) return gap;
    // Another gateway may be ahead of this one; an id ahead of all events was never given.
    if (after >= until) return after <= ((await this.#eventStore.lastPosition()) ?? -1) ? [] : gap;
    const { organizationId } = reader.wants;
    const ending = AbortSignal.any([signal, AbortSignal.timeout(catchUpMs)]);
    const missed: RecordedEvent[] = [];
    let [count, isThere] = [0, false];
    for await (const batch of this.#eventStore.subscribe({ prefixes: streamPrefixes, after, signal: ending })) {
      count += batch.events.length;
      if (count > mostMissedEvents) break;
      missed.push(...batch.events.filter(({ metadata }) => metadata.organizationId === organizationId));
      isThere = batch.position >= until;
      if (isThere) break;
    }
    const changes = distinct(missed.flatMap(changesOf));
    if (!isThere || changes.length > mostWaiting || !(await this.#areShown(missed))) return gap;
    const texts: string[] = [];
    let bytes = 0;
    for await (const { frames, isLast } of this.#framesFor(organizationId, changes)) {
      const rendered = reader.render(frames, isLast ? until : null);
      bytes += rendered.reduce((sum, text) => sum + text.length, 0);
      if (bytes > mostWaitingBytes) return gap;
      texts.push(...rendered);
    }
    return texts;
  }
}

/** In the order in which each is changed first. */
function distinct(changes: readonly Change[]): readonly Change[] {
  return [...new Map(changes.map((change) => [`${change.kind} ${change.id}`, change])).values()];
}

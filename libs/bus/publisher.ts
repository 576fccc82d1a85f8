/** Publishes a service's own events: follows the store from a checkpoint, so that nothing is appended and published in one breath. */
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { startFollower } from '#event-store/follower';
import type { LeasedWork, Leases } from '#leases/leases';
import type { ReadStore, ViewDefinition } from '#read-store/read-store';
import type { Logger } from '#runtime/logger';
import type { Bus, BusMessage } from './bus.js';

export interface PublisherOptions {
  /** Names its checkpoint. */
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly topic: string;
  readonly eventStore: EventStore;
  readonly readStore: ReadStore;
  readonly bus: Bus;
  readonly leases: Leases;
  readonly logger: Logger;
  /** What others are told of an event; `[]`: nothing. */
  toMessages(event: RecordedEvent): readonly BusMessage[];
}

/** A crash publishes again, under the same ids, what was published within this time: the price of not storing a place per event. */
const storeEveryMs = 250;

interface Mark {
  reach(position: number): void;
  /** Stores the newest position. Never rejects. */
  settle(): Promise<void>;
}

/** How far something has come: stored at once, and then now and then while it moves. What could not be stored is tried again. */
function createMark(store: (position: number) => Promise<void>, onFault: (error: unknown) => void): Mark {
  let newest: number | null = null;
  let stored: number | null = null;
  let storing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isFailing = false;
  const storeNewest = async (): Promise<void> => {
    const position = newest;
    if (position === null || position === stored) return;
    try {
      await store(position);
      stored = position;
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFault(error);
      isFailing = true;
    }
  };
  const storeOnce = (): Promise<void> => {
    storing ??= storeNewest().finally(() => (storing = null));
    return storing;
  };
  const run = (): void => {
    timer = null;
    if (newest === stored) return;
    void storeOnce();
    timer = setTimeout(run, storeEveryMs);
  };
  return {
    reach(position) {
      newest = position;
      if (timer === null) run();
    },
    async settle() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await storing;
      await storeOnce();
    },
  };
}

export function startPublisher(options: PublisherOptions): LeasedWork {
  const { name, topic, readStore, bus, logger, toMessages } = options;
  const checkpoint: ViewDefinition = { name: `published_${name}`, fields: [], indexes: [] };
  const mark = createMark(
    (position) => readStore.save(checkpoint, [], position),
    (error) => logger.warn({ publisher: name, error: String(error) }, 'how far it has published could not be stored'),
  );
  return startFollower({
    ...options,
    name: `publisher-${name}`,
    after: () => readStore.checkpoint(checkpoint),
    async handle({ events, position }) {
      // Published before the checkpoint moves: a crash in between publishes again.
      await bus.publish(topic, events.flatMap(toMessages));
      mark.reach(position);
    },
    ended: () => mark.settle(),
  });
}

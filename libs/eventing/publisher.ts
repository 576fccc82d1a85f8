/** Publishes a service's own events: follows the store from a checkpoint, so that nothing is appended and published in one breath. */
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { startFollower } from './follower.js';
import type { LeasedWork, Leases } from '#leases/leases';
import { resetAfterRewind } from './store-rewind.js';
import type { SeenEvent, ViewDefinition, ViewStore } from '#read-store/read-store';
import type { Logger } from '#runtime/logger';
import type { Bus, BusMessage } from '#bus/bus';

export interface PublisherOptions {
  /** Names its checkpoint. */
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly topic: string;
  readonly eventStore: EventStore;
  readonly readStore: ViewStore;
  readonly bus: Bus;
  readonly leases: Leases;
  readonly logger: Logger;
  /** What others are told of an event; `[]`: nothing. */
  toMessages(event: RecordedEvent): readonly BusMessage[];
}

/** A crash publishes again, under the same ids, what was published within this time: the price of not storing a place per event. */
const storeEveryMs = 1_000;

/** Where its place is lost, with the views say, what happened within so long is published again; what came before is old news. */
const newsMs = 3_600_000;

/** Holds the place up to which the events are published, and no documents. */
export const placeOf = (name: string): ViewDefinition => ({ name: `published_${name}`, fields: [], indexes: [] });

interface Place {
  readonly position: number;
  /** The last event up to there. */
  readonly event: SeenEvent | undefined;
}

interface Mark {
  reach(place: Place): void;
  /** Stores the newest place. Never rejects. */
  settle(): Promise<void>;
}

/** How far something has come: stored at once, and then now and then while it moves. What could not be stored is tried again. */
function createMark(store: (place: Place) => Promise<void>, onFault: (error: unknown) => void): Mark {
  let newest: Place | null = null;
  let stored: Place | null = null;
  let storing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isFailing = false;
  const storeNewest = async (): Promise<void> => {
    const place = newest;
    if (place === null || place === stored) return;
    try {
      await store(place);
      stored = place;
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
    reach(place) {
      newest = { ...place, event: place.event ?? newest?.event };
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
  const place = placeOf(name);
  let newsSinceMs = -Infinity;
  const mark = createMark(
    ({ position, event }) => readStore.save(place, [], position, undefined, event),
    (error) =>
      logger.warn(
        { publisher: name, error: String(error) },
        'how far it has published could not be stored; trying again',
      ),
  );
  return startFollower({
    ...options,
    name: `publisher-${name}`,
    async after() {
      await resetAfterRewind(options, place);
      const known = await readStore.checkpoint(place);
      newsSinceMs = known === null ? Date.now() - newsMs : -Infinity;
      return known;
    },
    async handle({ events, position }) {
      // Published before the checkpoint moves: a crash in between publishes again.
      const news = events.filter(({ metadata }) => !(Date.parse(metadata.at) < newsSinceMs));
      await bus.publish(topic, news.flatMap(toMessages));
      mark.reach({ position, event: events.at(-1) });
    },
    ended: () => mark.settle(),
  });
}

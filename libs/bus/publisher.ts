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

export function startPublisher(options: PublisherOptions): LeasedWork {
  const { name, topic, readStore, bus, toMessages } = options;
  const checkpoint: ViewDefinition = { name: `published_${name}`, fields: [], indexes: [] };
  return startFollower({
    ...options,
    name: `publisher-${name}`,
    after: () => readStore.checkpoint(checkpoint),
    async handle({ events, position }) {
      // Published before the checkpoint moves: a crash in between publishes again, under the same ids.
      await bus.publish(topic, events.flatMap(toMessages));
      await readStore.save(checkpoint, [], position);
    },
  });
}

/** Publishes a service's own events: follows the store from a checkpoint, so that nothing is appended and published in one breath. */
import type { EventStore, RecordedEvent } from '#event-store/event-store';
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
  readonly logger: Logger;
  /** What others are told of an event; `[]`: nothing. */
  toMessages(event: RecordedEvent): readonly BusMessage[];
}

export interface Publisher {
  stop(): Promise<void>;
}

const retryMs = 500;

export function startPublisher(options: PublisherOptions): Publisher {
  const { name, prefixes, topic, eventStore, readStore, bus, logger, toMessages } = options;
  const checkpoint: ViewDefinition = { name: `published_${name}`, fields: [], indexes: [] };
  const ending = new AbortController();
  const { signal } = ending;

  const follow = async (): Promise<void> => {
    const after = await readStore.checkpoint(checkpoint);
    for await (const { events, position } of eventStore.subscribe({ prefixes, after, signal })) {
      // Published before the checkpoint moves: a crash in between publishes again, under the same ids.
      await bus.publish(topic, events.flatMap(toMessages));
      await readStore.save(checkpoint, [], position);
    }
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (signal.aborted) return;
        logger.error({ publisher: name, error: String(error) }, 'cannot publish; trying again from the checkpoint');
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, retryMs);
          signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
        });
      }
    }
  };

  const running = run();
  return {
    async stop() {
      ending.abort();
      await running;
    },
  };
}

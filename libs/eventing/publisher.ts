/** Publishes a service's own events as messages: follows the event store from a checkpoint, so that no handler both appends and publishes. */
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { sleep } from '#concurrency/sleep';
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
  /** The messages of an event; `[]`: none. */
  toMessages(event: RecordedEvent): readonly BusMessage[];
}

/** After a crash, what was published within this time is published again under the same ids: the price of not saving a checkpoint per event. */
const saveEveryMs = 1_000;

/** Where the checkpoint is lost, with the views for example, only events of this last time are published again. */
const republishWindowMs = 3_600_000;

/** A view without documents, for its checkpoint alone. */
export const publisherCheckpoint = (name: string): ViewDefinition => ({
  name: `published_${name}`,
  fields: [],
  indexes: [],
});

interface Progress {
  readonly position: number;
  /** The last event up to there. */
  readonly event: SeenEvent | undefined;
}

interface CheckpointSaver {
  advance(progress: Progress): void;
  /** Saves the newest checkpoint. Never rejects. */
  settle(): Promise<void>;
}

/** Saves a checkpoint at once, and then at intervals while it advances. A save that failed is tried again. */
function createCheckpointSaver(
  save: (progress: Progress) => Promise<void>,
  onFault: (error: unknown) => void,
): CheckpointSaver {
  let newest: Progress | null = null;
  let saved: Progress | null = null;
  let saving: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isFailing = false;
  const saveNewest = async (): Promise<void> => {
    const progress = newest;
    if (progress === null || progress === saved) return;
    try {
      await save(progress);
      saved = progress;
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFault(error);
      isFailing = true;
    }
  };
  const saveOnce = (): Promise<void> => {
    saving ??= saveNewest().finally(() => (saving = null));
    return saving;
  };
  const run = (): void => {
    timer = null;
    if (newest === saved) return;
    void saveOnce();
    timer = setTimeout(run, saveEveryMs);
  };
  return {
    advance(progress) {
      newest = { ...progress, event: progress.event ?? newest?.event };
      if (timer === null) run();
    },
    async settle() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await saving;
      await saveOnce();
    },
  };
}

/** Many may wait to be saved: what an event holds is not kept for that. */
function seenOf(event: RecordedEvent | undefined): SeenEvent | undefined {
  if (event === undefined) return undefined;
  const { stream, revision, id, position } = event;
  return { stream, revision, id, position };
}

/** Where a batch that was relayed stands: its progress counts once it is settled, and all before it are. */
interface RelayedBatch {
  readonly progress: Progress;
  isSettled: boolean;
}

/** Batches may be settled in any order. */
function createRelayedProgress(saver: CheckpointSaver) {
  let batches: RelayedBatch[] = [];
  return {
    /** To be called once the batch is settled. */
    take(progress: Progress): () => void {
      const batch: RelayedBatch = { progress, isSettled: false };
      const among = batches;
      among.push(batch);
      return () => {
        batch.isSettled = true;
        // Begun again meanwhile, from the checkpoint.
        if (among !== batches) return;
        const open = batches.findIndex(({ isSettled }) => !isSettled);
        const settled = batches.splice(0, open === -1 ? batches.length : open);
        for (const { progress: reached } of settled) saver.advance(reached);
      };
    },
    get open(): number {
      return batches.length;
    },
    begin(): void {
      batches = [];
    },
  };
}

/** Batches behind the first one that is not settled: after a crash they are handed over again. */
const relayedMost = 20_000;
const relayAgainMs = 50;

export function startPublisher(options: PublisherOptions): LeasedWork {
  const { name, topic, readStore, bus, logger, toMessages } = options;
  const checkpoint = publisherCheckpoint(name);
  let publishSinceMs = -Infinity;
  const saver = createCheckpointSaver(
    ({ position, event }) => readStore.save(checkpoint, [], position, undefined, event),
    (error) =>
      logger.warn(
        { publisher: name, error: String(error) },
        'the checkpoint of published events could not be saved; trying again',
      ),
  );
  const relayed = createRelayedProgress(saver);
  return startFollower({
    ...options,
    name: `publisher-${name}`,
    async after() {
      await resetAfterRewind(options, checkpoint);
      relayed.begin();
      const known = await readStore.checkpoint(checkpoint);
      publishSinceMs = known === null ? Date.now() - republishWindowMs : -Infinity;
      return known;
    },
    async handle({ events, position }, signal) {
      const recent = events.filter(({ metadata }) => !(Date.parse(metadata.at) < publishSinceMs));
      const messages = recent.flatMap(toMessages);
      const progress = { position, event: seenOf(events.at(-1)) };
      if (bus.relay === null) {
        // Published before the checkpoint moves: a crash in between publishes again.
        await bus.publish(topic, messages);
        return saver.advance(progress);
      }
      while (relayed.open >= relayedMost && !signal.aborted) await sleep(relayAgainMs, signal);
      await bus.relay(topic, messages, relayed.take(progress), signal);
    },
    ended: () => saver.settle(),
  });
}

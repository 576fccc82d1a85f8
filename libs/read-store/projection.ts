/** A projection follows the events and keeps one view: documents and checkpoint in one write, guarded by position. */
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import type { JsonObject } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import type { DocumentWrite, ReadStore, ViewDefinition } from './read-store.js';

export interface ProjectionOptions<Document extends object = JsonObject> {
  readonly view: ViewDefinition<Document>;
  /** Streams that feed it. */
  readonly prefixes: readonly string[];
  readonly eventStore: EventStore;
  readonly readStore: ReadStore;
  readonly logger: Logger;
  /** Which document an event is about; null: none. */
  idOf(event: RecordedEvent): string | null;
  /** The document after the event; null removes it. Pure: no clock, no randomness, so that a rebuild gives the same bytes. */
  reduce(document: Document | null, event: RecordedEvent): Document | null;
  /** Called after each write, with what was written. */
  saved?(writes: readonly DocumentWrite<Document>[]): void;
}

export interface Projection {
  /** Ends after the batch in hand. */
  stop(): Promise<void>;
}

/** How long to wait before the events are read again after a fault of the store. */
const retryMs = 500;

/** What a batch of events makes of the documents it touches. */
export async function projectBatch<Document extends object>(
  { view, readStore, idOf, reduce }: Pick<ProjectionOptions<Document>, 'view' | 'readStore' | 'idOf' | 'reduce'>,
  events: readonly RecordedEvent[],
): Promise<DocumentWrite<Document>[]> {
  const writes = new Map<string, DocumentWrite<Document>>();
  for (const event of events) {
    const id = idOf(event);
    if (id === null) continue;
    const current = writes.get(id);
    const before = current === undefined ? await readStore.get(view, id) : current.document;
    const document = reduce(before, event);
    if (document === before) continue;
    writes.set(id, { id, revision: event.position, document });
  }
  return [...writes.values()];
}

export function startProjection<Document extends object>(options: ProjectionOptions<Document>): Projection {
  const { view, prefixes, eventStore, readStore, logger, saved } = options;
  const ending = new AbortController();
  const { signal } = ending;

  const follow = async (): Promise<void> => {
    const after = await readStore.checkpoint(view);
    for await (const { events, position } of eventStore.subscribe({ prefixes, after, signal })) {
      const writes = await projectBatch(options, events);
      await readStore.save(view, writes, position);
      saved?.(writes);
    }
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (signal.aborted) return;
        logger.error(
          { view: view.name, error: String(error) },
          'a view cannot go on; trying again from its checkpoint',
        );
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

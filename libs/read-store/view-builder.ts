/** Builds a view from the first event on, as the only one who writes it: what was written is remembered, not read again. */
import type { RecordedEvent } from '#event-store/event-store';
import { settled, type Projected } from './projection.js';
import type { DocumentWrite, ReadStore, ViewDefinition } from './read-store.js';

export interface ViewBuilder {
  /** Applies the events of one batch. Writes when enough has gathered. */
  apply(events: readonly RecordedEvent[]): Promise<void>;
  /** Writes what has gathered, and that everything up to `position` is in it. */
  flush(position: number): Promise<void>;
}

/** So many changed documents gather before they are written: a task that ran a hundred times is written once. */
const gatheredLimit = 4_000;
/** In one write, so that whatever else this process does waits for no more than that. */
const writtenAtOnce = 500;
const rememberedLimit = 8_000;

/** `built` must be empty and nobody else's. */
export function createViewBuilder<Document extends object>(
  { idOf, reduce }: Pick<Projected<Document>, 'idOf' | 'reduce'>,
  built: ViewDefinition<Document>,
  readStore: ReadStore,
): ViewBuilder {
  /** By id; those used last stand last. A removed document is remembered until it is written. */
  const known = new Map<string, DocumentWrite<Document>>();
  const changed = new Set<string>();

  const loadUnknown = async (ids: ReadonlySet<string>): Promise<void> => {
    const unknown = [...ids].filter((id) => !known.has(id));
    if (unknown.length === 0) return;
    for (const [id, write] of await readStore.load(built, unknown)) known.set(id, write);
  };

  const forget = (): void => {
    for (const id of known.keys()) {
      if (known.size <= rememberedLimit) return;
      known.delete(id);
    }
  };

  const write = async (): Promise<void> => {
    const writes = [...changed].flatMap((id) => known.get(id) ?? []);
    changed.clear();
    for (let start = 0; start < writes.length; start += writtenAtOnce) {
      await readStore.save(built, writes.slice(start, start + writtenAtOnce), null);
      await new Promise((resolve) => setImmediate(resolve));
    }
    forget();
  };

  return {
    async apply(events) {
      const about = events.flatMap((event) => {
        const id = idOf(event);
        return id === null ? [] : [{ id, event }];
      });
      await loadUnknown(new Set(about.map(({ id }) => id)));
      for (const { id, event } of about) {
        const current = known.get(id);
        if (current !== undefined && event.position <= current.revision) continue;
        const before = current?.document ?? null;
        const document = reduce(before, event);
        if (document === before) continue;
        known.delete(id);
        known.set(id, { id, revision: event.position, document: settled(document) });
        changed.add(id);
      }
      if (changed.size >= gatheredLimit) await write();
    },

    async flush(position) {
      await write();
      await readStore.save(built, [], position);
    },
  };
}

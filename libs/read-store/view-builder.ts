/** Builds a view from the first event on, as the only one who writes it: what was written is remembered, not read again. */
import type { RecordedEvent } from '#event-store/event-store';
import { settled, type Projected } from './projected.js';
import type { DocumentWrite, ReadStore, ViewDefinition } from './read-store.js';

export interface ViewBuilder {
  /** Applies the events of one batch, and writes what has not changed for the longest. */
  apply(events: readonly RecordedEvent[]): Promise<void>;
  /** Writes what has gathered, and that everything up to `position` is in it. */
  flush(position: number): Promise<void>;
}

/** So many changed documents are kept back, those that changed last: a task that ran a hundred times is written once. */
const keptBack = 2_000;
/** Whatever else this process does waits for no more than one write of so many, or so many events. */
const writtenAtOnce = 500;
const appliedAtOnce = 1_000;
const rememberedLimit = 8_000;

const markBits = 24;

/**
 * Remembers in two megabytes which ids were ever written, whatever their number. `mayHave` may be wrong about an id that was
 * not, never about one that was: most documents are new, and need not be looked for.
 */
function createMarks() {
  const marks = new Uint8Array(2 ** (markBits - 3));
  const bitOf = (id: string): number => {
    let hash = 0x811c9dc5;
    for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> (32 - markBits);
  };
  return {
    add(id: string): void {
      const bit = bitOf(id);
      marks[bit >>> 3] = (marks[bit >>> 3] ?? 0) | (1 << (bit & 7));
    },
    mayHave(id: string): boolean {
      const bit = bitOf(id);
      return ((marks[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `built` must be empty and nobody else's. */
export function createViewBuilder<Document extends object>(
  { idOf, reduce }: Pick<Projected<Document>, 'idOf' | 'reduce'>,
  built: ViewDefinition<Document>,
  readStore: ReadStore,
): ViewBuilder {
  /** By id; those used last stand last. A removed document is remembered until it is written. */
  const known = new Map<string, DocumentWrite<Document>>();
  const changed = new Set<string>();
  const written = createMarks();
  let applied = -1;
  let last: RecordedEvent | undefined;

  const loadUnknown = async (ids: ReadonlySet<string>): Promise<void> => {
    const unknown = [...ids].filter((id) => !known.has(id) && written.mayHave(id));
    if (unknown.length === 0) return;
    for (const [id, write] of await readStore.load(built, unknown)) known.set(id, write);
  };

  /** Those used last stay, so also those that are not written yet. */
  const forget = (): void => {
    for (const id of known.keys()) {
      if (known.size <= rememberedLimit) return;
      known.delete(id);
    }
  };

  const write = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      changed.delete(id);
      written.add(id);
    }
    await readStore.save(
      built,
      ids.flatMap((id) => known.get(id) ?? []),
      null,
    );
  };

  const applySome = async (events: readonly RecordedEvent[]): Promise<void> => {
    const about = events.flatMap((event) => {
      // Handed over again: what was removed meanwhile would be made anew.
      if (event.position <= applied) return [];
      const id = idOf(event);
      return id === null ? [] : [{ id, event }];
    });
    last = events.at(-1) ?? last;
    applied = last?.position ?? applied;
    await loadUnknown(new Set(about.map(({ id }) => id)));
    for (const { id, event } of about) {
      const current = known.get(id);
      const before = current?.document ?? null;
      const document = reduce(before, event);
      if (document === before) continue;
      known.delete(id);
      known.set(id, { id, revision: event.position, document: settled(document) });
      changed.delete(id);
      changed.add(id);
    }
    for (let over = changed.size - keptBack; over > 0; over = changed.size - keptBack) {
      await write([...changed].slice(0, Math.min(over, writtenAtOnce)));
      if (over > writtenAtOnce) await turn();
    }
    forget();
  };

  return {
    async apply(events) {
      for (let start = 0; start < events.length; start += appliedAtOnce) {
        if (start > 0) await turn();
        await applySome(events.slice(start, start + appliedAtOnce));
      }
    },

    async flush(position) {
      while (changed.size > 0) {
        await write([...changed].slice(0, writtenAtOnce));
        await turn();
      }
      await readStore.save(built, [], position, undefined, last);
    },
  };
}

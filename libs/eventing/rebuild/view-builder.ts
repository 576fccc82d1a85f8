/** Builds a view from the first event on as its only writer: documents it wrote are remembered, not read again. */
import type { RecordedEvent } from '#event-store/event-store';
import { aboutEach, settled, type Projected } from '../projected.js';
import { stepsOfEach, type Step } from '../sums.js';
import type { ForgottenDocuments, ReadStore, ViewAdmin, ViewDefinition } from '#read-store/read-store';
import { createBloomFilter } from './bloom-filter.js';

/** Where documents of a view under construction are kept. */
export type BuiltDocuments = Pick<ReadStore, 'save' | 'load'>;

export interface ViewBuilder {
  /** Applies the events of one batch, and writes the documents that have not changed for the longest. */
  apply(events: readonly RecordedEvent[]): Promise<void>;
  /** Writes all unwritten documents and the checkpoint `position`. */
  flush(position: number): Promise<void>;
  /**
   * What the events have made others forget. It stands among the documents until `forget`, which wants the view's indexes:
   * a build has none before its end.
   */
  forgotten(): readonly ForgottenDocuments[];
  forget(readStore: Pick<ViewAdmin, 'forget'>): Promise<void>;
}

/** Where the build goes on from. */
export interface BegunBuild {
  readonly position: number;
  readonly forgotten: readonly ForgottenDocuments[];
}

/** The same but for its bounds: the later one takes the place of the earlier. */
const keyOf = ({ where }: ForgottenDocuments): string =>
  JSON.stringify(where.map((filter) => ('to' in filter ? { ...filter, to: '' } : filter)));

/**
 * A cache of two generations, each of this many documents: recently used, and used before those. A document that falls out
 * is written then, once: a task that ran a hundred times meanwhile costs one write. Small at first, because what falls out
 * soon is collected while it is young; doubled whenever a tenth of a generation had to be loaded again.
 */
const minCapacity = 500;
const maxCapacity = 4_000;
/** Upper bounds of what runs between two turns of the event loop. */
const maxWritesPerTurn = 500;
const maxEventsPerTurn = 1_000;

const yieldTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Known<Document extends object> {
  readonly id: string;
  revision: number;
  document: Document | null;
  /** Differs from what is stored. */
  isChanged: boolean;
}

/** `built` must have no other writer. It is empty, or holds everything up to a position, from which building continues. */
export function createViewBuilder<Document extends object>(
  projected: Pick<Projected<Document>, 'idOf' | 'reduce' | 'forgets' | 'removes' | 'sums'>,
  built: ViewDefinition<Document>,
  readStore: BuiltDocuments,
  begun: BegunBuild | null = null,
): ViewBuilder {
  const { reduce, forgets, sums } = projected;
  const after = begun?.position ?? null;
  const toForget = new Map((begun?.forgotten ?? []).map((one) => [keyOf(one), one]));
  /** The two generations. A removed document is remembered until it is written. */
  let recent = new Map<string, Known<Document>>();
  let earlier = new Map<string, Known<Document>>();
  /** Most documents are new: looking each one up in the store would take as long as the writes before it. */
  const written = createBloomFilter();
  const mayBeWritten = (id: string): boolean => after !== null || written.mayContain(id);
  let capacity = minCapacity;
  /** Documents loaded again since the last generation was dropped. */
  let missed = 0;
  let applied = after ?? -1;
  let last: RecordedEvent | undefined;

  const find = (id: string): Known<Document> | undefined => {
    const used = recent.get(id);
    if (used !== undefined) return used;
    const known = earlier.get(id);
    if (known === undefined) return undefined;
    earlier.delete(id);
    recent.set(id, known);
    return known;
  };

  /** Each document by its id, or the id where it is not cached; loads those that may be in the store. */
  const loadAll = async <About extends { readonly id: string }>(
    wanted: readonly About[],
  ): Promise<(About & { readonly one: Known<Document> | string })[]> => {
    const unknown = new Set<string>();
    const about = wanted.map((want) => {
      const known = find(want.id);
      if (known === undefined && mayBeWritten(want.id)) unknown.add(want.id);
      return { ...want, one: known ?? want.id };
    });
    if (unknown.size > 0) {
      for (const [id, write] of await readStore.load(built, [...unknown])) {
        recent.set(id, { ...write, isChanged: false });
        missed += 1;
      }
    }
    return about;
  };

  const change = (
    { id, one }: { readonly id: string; readonly one: Known<Document> | string },
    revision: number,
    document: Document | null,
  ): void => {
    // Not cached before the batch: it may have been loaded, or created by an earlier event of it.
    const known = typeof one === 'string' ? find(id) : one;
    if (known === undefined) recent.set(id, { id, revision, document, isChanged: true });
    else {
      known.revision = revision;
      known.document = document;
      known.isChanged = true;
    }
  };

  const applySteps = async (steps: readonly Step<Document>[]): Promise<void> => {
    if (sums === undefined) return;
    const wanted = [...stepsOfEach(sums, steps)].map(([id, its]) => ({ id, its }));
    for (const { id, its, one } of await loadAll(wanted)) {
      const before = (typeof one === 'string' ? find(one) : one)?.document ?? null;
      const after = sums.changed(before, id, its);
      if (after !== null) change({ id, one }, after.revision, after.document);
    }
  };

  const write = async (documents: Iterable<Known<Document>>): Promise<void> => {
    let writes: Known<Document>[] = [];
    const save = async (): Promise<void> => {
      await readStore.save(built, writes, null);
      for (const { id } of writes) written.add(id);
      writes = [];
    };
    for (const known of documents) {
      // Created and removed between two writes: never stored.
      if (!known.isChanged || (known.document === null && !mayBeWritten(known.id))) continue;
      known.isChanged = false;
      writes.push(known);
      if (writes.length < maxWritesPerTurn) continue;
      await save();
      await yieldTurn();
    }
    if (writes.length > 0) await save();
  };

  const dropEarlier = async (): Promise<void> => {
    await write(earlier.values());
    earlier = recent;
    recent = new Map();
    if (missed > capacity / 10) capacity = Math.min(2 * capacity, maxCapacity);
    missed = 0;
  };

  const applyChunk = async (events: readonly RecordedEvent[]): Promise<void> => {
    // Delivered again: a document removed meanwhile would come back.
    const unseen = events.filter(({ position }) => position > applied);
    for (const event of unseen) {
      for (const where of forgets?.(event) ?? []) {
        const forgotten = { where, revision: event.position };
        toForget.set(keyOf(forgotten), forgotten);
      }
    }
    const steps: Step<Document>[] = [];
    for (const { id, event, goes, one } of await loadAll(aboutEach(projected, unseen))) {
      // What goes may be a sum of what came before.
      if (goes && steps.length > 0) await applySteps(steps.splice(0));
      const before = (typeof one === 'string' ? find(one) : one)?.document ?? null;
      const document = goes ? null : reduce(before, event);
      if (document === before) continue;
      const after = settled(document);
      change({ id, one }, event.position, after);
      if (sums !== undefined) steps.push({ revision: event.position, before, after });
    }
    await applySteps(steps);
    last = events.at(-1) ?? last;
    applied = last?.position ?? applied;
    if (recent.size > capacity) await dropEarlier();
  };

  return {
    async apply(events) {
      for (let start = 0; start < events.length; start += maxEventsPerTurn) {
        if (start > 0) await yieldTurn();
        await applyChunk(events.slice(start, start + maxEventsPerTurn));
      }
    },

    async flush(position) {
      await write(earlier.values());
      await write(recent.values());
      await readStore.save(built, [], position, undefined, last);
    },

    forgotten: () => [...toForget.values()],

    async forget({ forget }) {
      for (const one of toForget.values()) await forget(built, one);
      toForget.clear();
    },
  };
}

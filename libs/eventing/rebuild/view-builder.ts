/** Builds a view from the first event on, as the only one who writes it: what was written is remembered, not read again. */
import type { RecordedEvent } from '#event-store/event-store';
import { settled, type Projected } from '../projected.js';
import type { ReadStore, ViewDefinition } from '#read-store/read-store';

/** Where documents of a view that is being built are kept. */
export type BuiltDocuments = Pick<ReadStore, 'save' | 'load'>;

export interface ViewBuilder {
  /** Applies the events of one batch, and writes what has not changed for the longest. */
  apply(events: readonly RecordedEvent[]): Promise<void>;
  /** Writes what has gathered, and that everything up to `position` is in it. */
  flush(position: number): Promise<void>;
}

/**
 * So many documents that were used are remembered, and as many of those used before them. What has not been used for so long
 * is written then, once: a task that ran a hundred times meanwhile costs one write. Few at first, because what is forgotten
 * soon is collected while it is young; twice as many whenever a tenth of them was asked for again.
 */
const rememberedAtFirst = 500;
const rememberedAtMost = 4_000;
/** Whatever else this process does waits for no more than one write of so many, or so many events. */
const writtenAtOnce = 500;
const appliedAtOnce = 1_000;

const markBits = 24;
const marksPerId = 4;

/**
 * Remembers in two megabytes which ids were ever written, whatever their number (a Bloom filter; four marks for each, by the
 * double hashing of Kirsch and Mitzenmacher). `mayHave` may be wrong about an id that was not, once in 12,000 after 400,000
 * of them, never about one that was: most documents are new, and need not be looked for, which takes as long as the writes
 * before it.
 */
function createMarks() {
  const marks = new Uint8Array(2 ** (markBits - 3));
  /** The place of each mark lies `step` behind the last one's. */
  const placesOf = (id: string): { readonly first: number; readonly step: number } => {
    let first = 0x811c9dc5;
    let step = 0x9747b28c;
    for (let index = 0; index < id.length; index += 1) {
      const code = id.charCodeAt(index);
      first = Math.imul(first ^ code, 0x01000193);
      step = Math.imul(step ^ code, 0x5bd1e995);
    }
    // Odd, so that the four are not one.
    return { first: first ^ (first >>> 15), step: (step ^ (step >>> 13)) | 1 };
  };
  const bitAt = (first: number, step: number, mark: number): number => (first + mark * step) >>> (32 - markBits);
  return {
    add(id: string): void {
      const { first, step } = placesOf(id);
      for (let mark = 0; mark < marksPerId; mark += 1) {
        const bit = bitAt(first, step, mark);
        marks[bit >>> 3] = (marks[bit >>> 3] ?? 0) | (1 << (bit & 7));
      }
    },
    mayHave(id: string): boolean {
      const { first, step } = placesOf(id);
      for (let mark = 0; mark < marksPerId; mark += 1) {
        const bit = bitAt(first, step, mark);
        if (((marks[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
      }
      return true;
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Known<Document extends object> {
  readonly id: string;
  revision: number;
  document: Document | null;
  /** Not written as it is now. */
  isChanged: boolean;
}

/**
 * `built` must be nobody else's, and empty; or, where everything up to the position `after` is in it already, it is gone on
 * with from there.
 */
export function createViewBuilder<Document extends object>(
  { idOf, reduce }: Pick<Projected<Document>, 'idOf' | 'reduce'>,
  built: ViewDefinition<Document>,
  readStore: BuiltDocuments,
  after: number | null = null,
): ViewBuilder {
  /** What was used last, and what was used before that. A removed document is remembered until it is written. */
  let recent = new Map<string, Known<Document>>();
  let earlier = new Map<string, Known<Document>>();
  const marks = createMarks();
  const written = { add: marks.add, mayHave: (id: string) => after !== null || marks.mayHave(id) };
  let remembered = rememberedAtFirst;
  /** How many were asked for again since the last were forgotten. */
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

  /** What each of the events is about, or its id where that is not known; once what was written is remembered again. */
  const loadFor = async (events: readonly RecordedEvent[]): Promise<(Known<Document> | string | null)[]> => {
    const unknown = new Set<string>();
    const about = events.map((event) => {
      // Handed over again: what was removed meanwhile would be made anew.
      const id = event.position <= applied ? null : idOf(event);
      if (id === null) return null;
      const known = find(id);
      if (known === undefined && written.mayHave(id)) unknown.add(id);
      return known ?? id;
    });
    if (unknown.size > 0) {
      for (const [id, write] of await readStore.load(built, [...unknown])) {
        recent.set(id, { ...write, isChanged: false });
        missed += 1;
      }
    }
    return about;
  };

  const write = async (documents: Iterable<Known<Document>>): Promise<void> => {
    let writes: Known<Document>[] = [];
    const save = async (): Promise<void> => {
      await readStore.save(built, writes, null);
      for (const { id } of writes) written.add(id);
      writes = [];
    };
    for (const known of documents) {
      // What was made and removed meanwhile was never there.
      if (!known.isChanged || (known.document === null && !written.mayHave(known.id))) continue;
      known.isChanged = false;
      writes.push(known);
      if (writes.length < writtenAtOnce) continue;
      await save();
      await turn();
    }
    if (writes.length > 0) await save();
  };

  const forgetEarlier = async (): Promise<void> => {
    await write(earlier.values());
    earlier = recent;
    recent = new Map();
    if (missed > remembered / 10) remembered = Math.min(2 * remembered, rememberedAtMost);
    missed = 0;
  };

  const applySome = async (events: readonly RecordedEvent[]): Promise<void> => {
    const about = await loadFor(events);
    for (const [index, event] of events.entries()) {
      const one = about[index] ?? null;
      if (one === null) continue;
      const id = typeof one === 'string' ? one : one.id;
      // What was not known before the batch may have been loaded, or made by an earlier event of it.
      const known = typeof one === 'string' ? find(id) : one;
      const before = known?.document ?? null;
      const document = reduce(before, event);
      if (document === before) continue;
      const revision = event.position;
      if (known === undefined) recent.set(id, { id, revision, document: settled(document), isChanged: true });
      else {
        known.revision = revision;
        known.document = settled(document);
        known.isChanged = true;
      }
    }
    last = events.at(-1) ?? last;
    applied = last?.position ?? applied;
    if (recent.size > remembered) await forgetEarlier();
  };

  return {
    async apply(events) {
      for (let start = 0; start < events.length; start += appliedAtOnce) {
        if (start > 0) await turn();
        await applySome(events.slice(start, start + appliedAtOnce));
      }
    },

    async flush(position) {
      await write(earlier.values());
      await write(recent.values());
      await readStore.save(built, [], position, undefined, last);
    },
  };
}

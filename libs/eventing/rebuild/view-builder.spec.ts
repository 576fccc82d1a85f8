import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '#event-store/event-store';
import type { DocumentWrite, ViewDefinition } from '#read-store/read-store';
import { createViewBuilder, type BuiltDocuments } from './view-builder.js';

interface Counter {
  readonly seen: number;
}

const view: ViewDefinition<Counter> = { name: 'counters', fields: [], indexes: [] };
const metadata = { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: '' };
const eventOf = (id: string, position: number): RecordedEvent => ({
  stream: `counter-${id}`,
  revision: 0,
  position,
  id: `${position}`,
  type: 'counter.seen',
  version: 1,
  data: {},
  metadata,
});

/** What was written, and the ids that were looked for. */
function keptInMemory() {
  const documents = new Map<string, DocumentWrite<Counter>>();
  const lookedFor: string[] = [];
  const store = {
    async save(_view: unknown, writes: readonly DocumentWrite<Counter>[]) {
      for (const write of writes) documents.set(write.id, { ...write });
    },
    async load(_view: unknown, ids: readonly string[]) {
      lookedFor.push(...ids);
      return new Map(ids.flatMap((id) => (documents.has(id) ? [[id, documents.get(id)] as const] : [])));
    },
  } as unknown as BuiltDocuments;
  return { documents, lookedFor, store };
}

describe('the view builder', () => {
  it('updates a document that was written long before, and rarely looks up one that never was', async () => {
    const { documents, lookedFor, store } = keptInMemory();
    const builder = createViewBuilder<Counter>(
      {
        idOf: ({ stream }) => stream.slice('counter-'.length),
        reduce: (before) => ({ seen: (before?.seen ?? 0) + 1 }),
      },
      view,
      store,
    );
    const ids = Array.from(
      { length: 40_000 },
      (_, number) => `exe_01kaj3v0wq5c8m7d2r4n${String(number * 7).padStart(6, '0')}`,
    );
    const old = ids.filter((_, number) => number % 10 === 0 && number < 20_000);
    await builder.apply([...ids, ...old].map(eventOf));
    await builder.flush(ids.length + old.length);
    expect(documents.size).toBe(ids.length);
    const twice = new Set(old);
    expect([...documents.values()].filter(({ id, document }) => document?.seen !== (twice.has(id) ? 2 : 1))).toEqual(
      [],
    );
    expect(old.filter((id) => !lookedFor.includes(id))).toEqual([]);
    // 40,000 of 2^24 marks, four for each: about one in 100 million is taken for one that was.
    expect(lookedFor.length - old.length).toBeLessThan(5);
  });

  it('keeps more documents in memory once it reads back those that it dropped', async () => {
    const { documents, lookedFor, store } = keptInMemory();
    const builder = createViewBuilder<Counter>(
      { idOf: ({ stream }) => stream, reduce: (before) => ({ seen: (before?.seen ?? 0) + 1 }) },
      view,
      store,
    );
    const ids = Array.from({ length: 3_000 }, (_, number) => `task-${number}`);
    const rounds = 20;
    for (let round = 0; round < rounds; round += 1) {
      if (round === rounds / 2) lookedFor.length = 0;
      await builder.apply(ids.map((id, index) => eventOf(id, round * ids.length + index)));
    }
    await builder.flush(rounds * ids.length);
    expect([...documents.values()].filter(({ document }) => document?.seen !== rounds)).toEqual([]);
    expect(lookedFor).toEqual([]);
  });
});

/**
 * Shared state in the documents of an engine that also keeps views: the same connection, tables and collections. A version
 * is the revision of a document. No collection here has a checkpoint, so no rebuild touches it.
 */
import type { ReadStore, ViewDefinition } from '#read-store/read-store';
import type { Expiring, SharedState, StateCollection, Versioned } from './shared-state.js';

/** The part of a read store that this needs. */
type DocumentEngine = Pick<ReadStore, 'load' | 'save' | 'page'>;

const maxRemovedAtOnce = 500;

/** The documents' definition as the engine takes it. */
export function toDefinition<V extends object>({ name, indexedBy }: StateCollection<V>): ViewDefinition<V> {
  const fields = indexedBy === null ? [] : [indexedBy];
  return { name, fields, indexes: indexedBy === null ? [] : [fields] };
}

export function createDocumentState(engine: DocumentEngine): SharedState {
  const load = async <V extends object>(
    collection: StateCollection<V>,
    keys: readonly string[],
  ): Promise<Map<string, Versioned<V>>> => {
    const found = await engine.load(toDefinition(collection), keys);
    return new Map(
      [...found].map(([key, { revision, document }]) => [key, { key, version: revision, value: document }]),
    );
  };

  const save = <V extends object>(collection: StateCollection<V>, writes: readonly Versioned<V>[]): Promise<void> =>
    engine.save(
      toDefinition(collection),
      writes.map(({ key, version, value }) => ({ id: key, revision: version, document: value })),
      null,
    );

  return {
    load,
    save,

    async list(collection, limit) {
      const query = { where: [], sort: [], limit, offset: 0, count: false };
      return (await engine.page(toDefinition(collection), query)).documents;
    },

    async removeExpired<V extends Expiring>(collection: StateCollection<V>, nowMs: number) {
      for (;;) {
        const { documents } = await engine.page(toDefinition(collection), {
          where: [{ field: 'expiresAtMs', to: nowMs }],
          sort: [{ field: 'expiresAtMs', descending: false }],
          limit: maxRemovedAtOnce,
          offset: 0,
          count: false,
        });
        const keys = documents.map(({ id }) => id);
        const expired = [...(await load(collection, keys)).values()];
        const writes = expired.map(({ key, version }) => ({ key, version: version + 1, value: null }));
        if (writes.length > 0) await save(collection, writes);
        if (documents.length < maxRemovedAtOnce) return;
      }
    },
  };
}

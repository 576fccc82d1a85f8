/**
 * Remembers the documents that were written or loaded last of views which say so, so that who changes them again need not read
 * them. For a store that has no other writer of views than this process.
 */
import { createLru, type Lru } from '#concurrency/lru';
import { charactersOf } from '#runtime/json-size';
import type { AnyView, DocumentWrite, SeenEvent, ViewDefinition, ViewStore } from './read-store.js';

/** Of each view. */
const most = { documents: 4_096, characters: 4_000_000 };
interface Remembered {
  readonly documents: Lru<string, DocumentWrite<object>>;
  /** Looked for since the last write, and not there: what is written of them is new. */
  readonly absent: Set<string>;
}

export function rememberDocuments(store: ViewStore): ViewStore {
  const views = new Map<string, Remembered>();
  const rememberedOf = ({ name, isRemembered }: AnyView): Remembered | null => {
    if (isRemembered !== true) return null;
    const known = views.get(name);
    if (known !== undefined) return known;
    const weights = {
      maxWeight: most.characters,
      weightOf: (write: DocumentWrite<object>) => charactersOf(write.document),
    };
    const remembered = {
      documents: createLru<string, DocumentWrite<object>>(most.documents, weights),
      absent: new Set<string>(),
    };
    views.set(name, remembered);
    return remembered;
  };
  const drop = (view: AnyView): void => void views.delete(view.name);
  /** Whatever becomes of it, what was known before says nothing any more. */
  const forgetting = async (view: AnyView, work: Promise<void>): Promise<void> => {
    drop(view);
    try {
      await work;
    } finally {
      drop(view);
    }
  };

  return {
    ...store,

    async save<D extends object>(
      view: ViewDefinition<D>,
      writes: readonly DocumentWrite<D>[],
      checkpoint: number | null,
      after?: number | null,
      event?: SeenEvent,
    ) {
      const remembered = rememberedOf(view);
      try {
        await store.save(view, writes, checkpoint, after, event);
      } catch (error) {
        drop(view);
        throw error;
      }
      if (remembered === null) return;
      const { documents, absent } = remembered;
      for (const write of writes) {
        const known = documents.get(write.id);
        // Of others the store may hold a newer one.
        if (known === undefined ? !absent.has(write.id) : write.revision <= known.revision) continue;
        if (write.document === null) documents.delete(write.id);
        else documents.set(write.id, write);
      }
      absent.clear();
    },

    async get<D extends object>(view: ViewDefinition<D>, id: string) {
      const known = rememberedOf(view)?.documents.get(id);
      return known === undefined ? store.get(view, id) : (known.document as D | null);
    },

    async load<D extends object>(view: ViewDefinition<D>, ids: readonly string[]) {
      const remembered = rememberedOf(view);
      if (remembered === null) return store.load(view, ids);
      const { documents, absent } = remembered;
      const found = new Map<string, DocumentWrite<D>>();
      const others = ids.filter((id) => {
        const known = documents.get(id) as DocumentWrite<D> | undefined;
        if (known !== undefined) found.set(id, known);
        return known === undefined;
      });
      if (others.length === 0) return found;
      const loaded = await store.load(view, others);
      for (const id of others) {
        const write = loaded.get(id);
        if (write === undefined) absent.add(id);
        else {
          documents.set(id, write);
          found.set(id, write);
        }
      }
      return found;
    },

    forget: (view, documents) => forgetting(view, store.forget(view, documents)),

    reset: (view) => forgetting(view, store.reset(view)),

    replace: (view, built) => forgetting(view, store.replace(view, built)),
  };
}

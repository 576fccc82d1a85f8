/**
 * Which positions somebody in this process waits for a view to reach. A projection collects events for a moment to write them
 * together; where somebody waits, it does not.
 */
import type { AnyView, ReadStore } from './read-store.js';

interface Awaited {
  position: number;
  readonly listeners: Set<() => void>;
}

export interface AwaitedView {
  /** The furthest position that anybody has waited for. */
  readonly position: number;
  /** Calls the listener each time that somebody waits for one that is further, until what it returns is called. */
  onFurther(listener: () => void): () => void;
}

const views = new WeakMap<Pick<ReadStore, 'checkpoint'>, Map<string, Awaited>>();

function entryOf(readStore: Pick<ReadStore, 'checkpoint'>, { name }: AnyView): Awaited {
  const ofStore = views.get(readStore) ?? new Map<string, Awaited>();
  views.set(readStore, ofStore);
  const entry = ofStore.get(name) ?? { position: -1, listeners: new Set() };
  ofStore.set(name, entry);
  return entry;
}

/** Somebody waits until the view has seen the position. */
export function awaitView(readStore: Pick<ReadStore, 'checkpoint'>, view: AnyView, position: number): void {
  const entry = entryOf(readStore, view);
  if (position <= entry.position) return;
  entry.position = position;
  for (const listener of entry.listeners) listener();
}

export function awaitedOf(readStore: Pick<ReadStore, 'checkpoint'>, view: AnyView): AwaitedView {
  const entry = entryOf(readStore, view);
  return {
    get position() {
      return entry.position;
    },
    onFurther(listener) {
      entry.listeners.add(listener);
      return () => void entry.listeners.delete(listener);
    },
  };
}

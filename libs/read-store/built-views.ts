/** Whether the views can answer: one that has seen nothing of a history is still being built from it. */
import type { EventStore } from '#event-store/event-store';
import type { AnyView, ReadStore } from './read-store.js';

export interface BuiltViews {
  /**
   * Names of the views that have seen nothing although there are events; none from the first time on that there was none. Of
   * those that few read the ones that are asked for.
   */
  unbuilt(asked?: readonly string[]): Promise<readonly string[]>;
}

export const BUILT_VIEWS = Symbol('BuiltViews');

export function createBuiltViews(
  readStore: Pick<ReadStore, 'checkpoint'>,
  eventStore: Pick<EventStore, 'lastPosition'>,
  views: readonly AnyView[],
): BuiltViews {
  let missing: readonly AnyView[] = views;

  const look = async (): Promise<void> => {
    if ((await eventStore.lastPosition()) === null) missing = [];
    // Another look may have ended meanwhile: what was seen belongs to the views that were asked for here.
    const asked = missing;
    const seen = await Promise.all(asked.map((view) => readStore.checkpoint(view)));
    const found = new Set(asked.filter((_view, index) => seen[index] !== null));
    missing = missing.filter((view) => !found.has(view));
  };

  return {
    async unbuilt(asked = []) {
      if (missing.length > 0) await look();
      return missing.filter((view) => view.readByFew !== true || asked.includes(view.name)).map(({ name }) => name);
    },
  };
}

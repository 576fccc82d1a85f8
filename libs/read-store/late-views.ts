/** Whether the views have seen what had happened before this process was started. */
import type { EventStore } from '#event-store/event-store';
import type { AnyView, ReadStore } from './read-store.js';

export interface LateViews {
  /**
   * Names of the views that have not yet. One that stands still for half a minute is named no more: nobody keeps it now, and
   * what it has is better than nothing. Those that few or only sweeps read are not looked at.
   */
  late(): Promise<readonly string[]>;
}

/** Longer than it takes to notice that the process which kept a view is dead, and to take its place. */
const standsStillMs = 30_000;

/** Of the events; null: there were none. */
interface End {
  readonly position: number | null;
}

interface Stand {
  readonly position: number | null;
  readonly sinceMs: number;
}

/** Called at the start. `nowMs`: of a clock that is never set back. */
export function createLateViews(
  readStore: Pick<ReadStore, 'checkpoint'>,
  eventStore: Pick<EventStore, 'lastPosition'>,
  views: readonly AnyView[],
  nowMs: () => number = () => performance.now(),
): LateViews {
  let left: readonly AnyView[] = views.filter((view) => view.readByFew !== true && view.isReadBySweeps !== true);
  const stands = new Map<AnyView, Stand>();
  const look = async (): Promise<End> => ({ position: await eventStore.lastPosition() });
  // A server that does not answer now is asked again by who wants to know.
  let end: Promise<End | null> = look().catch(() => null);

  const lookAgain = async (): Promise<End> => {
    const found = await look();
    end = Promise.resolve(found);
    return found;
  };

  const standsStill = (view: AnyView, position: number | null): boolean => {
    const stand = stands.get(view);
    if (stand?.position === position) return nowMs() - stand.sinceMs >= standsStillMs;
    stands.set(view, { position, sinceMs: nowMs() });
    return false;
  };

  return {
    async late() {
      if (left.length === 0) return [];
      const { position: until } = (await end) ?? (await lookAgain());
      // Another look may end meanwhile: what is seen belongs to the views that are asked for here.
      const asked = left;
      const seen = await Promise.all(asked.map((view) => readStore.checkpoint(view)));
      const over = new Set(
        asked.filter((view, index) => {
          const position = seen[index] ?? null;
          return until === null || (position !== null && position >= until) || standsStill(view, position);
        }),
      );
      left = left.filter((view) => !over.has(view));
      return left.map(({ name }) => name);
    },
  };
}

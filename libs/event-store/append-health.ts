/** Whether events can be written now, as the last ones that were to be written tell: a store that answers reads may take none. */
import { AppError } from '#runtime/errors';
import type { AppendResult, EventStore } from './event-store.js';

export interface AppendHealth {
  /** The last append failed, a moment ago: after that it has to be tried again to be known. */
  readonly isFailing: boolean;
}

export const APPEND_HEALTH = Symbol('AppendHealth');

/** A process that gets no work because of it would never find out that it is over. */
const forgottenAfterMs = 15_000;

/** `monotonicMs`: a clock that only goes forward. */
export function watchAppends<Store extends EventStore>(
  eventStore: Store,
  monotonicMs: () => number = () => performance.now(),
): { readonly eventStore: Store; readonly health: AppendHealth } {
  let failedAtMs: number | null = null;
  const append = async (...args: Parameters<EventStore['append']>): Promise<AppendResult> => {
    try {
      const appended = await eventStore.append(...args);
      failedAtMs = null;
      return appended;
    } catch (error) {
      // What is refused for what it is says nothing of the store.
      if (error instanceof AppError && error.reason === 'event_store_unavailable') failedAtMs = monotonicMs();
      throw error;
    }
  };
  return {
    eventStore: { ...eventStore, append },
    health: {
      get isFailing() {
        return failedAtMs !== null && monotonicMs() - failedAtMs < forgottenAfterMs;
      },
    },
  };
}

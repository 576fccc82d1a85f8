/** For specs: what a service that keeps everything is given. */
import type { EventArchive } from '#event-store/event-store';
import type { Retention } from './folding.js';

/** Nothing of these events is sealed. */
export function storedIn(eventStore: Pick<EventArchive, 'read' | 'truncate'>): Retention['stored'] {
  return {
    read: (stream, fromRevision) => eventStore.read(stream, fromRevision),
    truncate: (stream, before) => eventStore.truncate(stream, before),
    open: async (events) => events,
  };
}

export const keepingAll: Retention = {
  keepRunsDays: 0,
  keepDeliveriesDays: 0,
  archiveDir: null,
  stored: {
    async *read() {
      yield* [];
    },
    truncate: async () => undefined,
    open: async (events) => events,
  },
};

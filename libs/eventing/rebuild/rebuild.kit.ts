/** For specs of rebuilds: a view of counts, its projection, and what the view must hold by the events. */
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { LeasedWork } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import type { ViewDefinition, ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import type { JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import { found } from '#runtime/probe.kit';
import { createDocumentState } from '#shared-state/document-state';
import type { SharedState } from '#shared-state/shared-state';
import { startProjection } from '../projection.js';
import { rebuildOf, type Rebuild } from './requests.js';

export const view: ViewDefinition = { name: 'counts', fields: ['count'], indexes: [['count']] };
export const requestedAt = '2026-01-01T00:00:00.000Z';
export const list = { where: [], sort: [], limit: 10_000, offset: 0, count: true };
const metadata = { organizationId: 'o', actor: 'a', requestId: 'r', causationId: null, at: requestedAt };

function idOf({ stream }: RecordedEvent): string {
  return stream.slice('count-'.length);
}

/** Keeps a count and the last note; every seventh event removes the document. */
function reduce(document: JsonObject | null, event: RecordedEvent): JsonObject | null {
  if (event.type === 'poison' && event.data['isDeadly'] === true) throw new Error('an event that nobody can read');
  if (event.revision % 7 === 6) return null;
  const note: unknown = event.revision % 3 === 0 ? undefined : event.data['note'];
  return { ...document, count: Number(document?.['count'] ?? 0) + 1, note, at: event.position } as JsonObject;
}

export class RebuildKit {
  readonly eventStore: EventStore = createSqliteEventStore(':memory:');
  readonly readStore: ViewStore = createSqliteReadStore(':memory:');
  readonly sharedState: SharedState = createDocumentState(this.readStore);
  /** The last one that was started; it is stopped at the end. */
  projection: LeasedWork | undefined;
  appended = 0;
  readonly #revisions = new Map<string, number>();

  async append(count: number, type = 'counted', data: JsonObject = {}): Promise<number> {
    let position = 0;
    for (let index = 0; index < count; index += 1) {
      this.appended += 1;
      // Now and then a stream that the view does not follow: positions have gaps.
      const stream = this.appended % 5 === 0 ? `other-${this.appended}` : `count-${this.appended % 37}`;
      const event = {
        id: crypto.randomUUID(),
        type,
        version: 1,
        data: { note: `n${this.appended}`, ...data },
        metadata,
      };
      const result = await this.eventStore.append(stream, [event], this.#revisions.get(stream) ?? 'none');
      if (!result.ok) throw new Error('a lost race');
      this.#revisions.set(stream, result.revision);
      position = result.position;
    }
    return position;
  }

  start(store: ViewStore = this.readStore, state: SharedState = this.sharedState): LeasedWork {
    return startProjection({
      view,
      prefixes: ['count-'],
      eventStore: this.eventStore,
      readStore: store,
      sharedState: state,
      leases: createSoleLeases(),
      logger: silentLogger,
      lookEveryMs: 500,
      idOf,
      reduce,
    });
  }

  ended(): Promise<Rebuild> {
    return found(async () => {
      const rebuild = await rebuildOf(this.sharedState, view.name);
      return rebuild?.state === 'done' || rebuild?.state === 'failed' ? rebuild : null;
    });
  }

  caughtUp(position: number): Promise<boolean> {
    return found(
      async () =>
        ((await this.readStore.checkpoint(view)) ?? 0) >= position - 1 &&
        (await this.bytes()) === (await this.replayed()),
    );
  }

  async bytes(): Promise<string> {
    return JSON.stringify((await this.readStore.page(view, list)).documents);
  }

  /** The view by the events alone, applied one by one, each document stored and read between. */
  async replayed(): Promise<string> {
    const documents = new Map<string, string | null>();
    const ending = new AbortController();
    let last = 0;
    for await (const { events, position } of this.eventStore.subscribe({
      prefixes: [''],
      after: null,
      signal: ending.signal,
    })) {
      for (const event of events) {
        if (!event.stream.startsWith('count-')) continue;
        const known = documents.get(idOf(event)) ?? null;
        const next = reduce(known === null ? null : (JSON.parse(known) as JsonObject), event);
        documents.set(idOf(event), next === null ? null : JSON.stringify(next));
      }
      last += events.length;
      if (last >= this.appended || position >= this.appended) break;
    }
    ending.abort();
    const kept = [...documents].filter(([, text]) => text !== null).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `[${kept.map(([, text]) => text).join(',')}]`;
  }

  async close(): Promise<void> {
    await this.projection?.stop();
    await this.readStore.close();
    await this.eventStore.close();
  }
}

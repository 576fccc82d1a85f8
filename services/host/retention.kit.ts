/** For specs: an installation of one task whose days are folded, and what its views make of any events. */
import { deliveriesView } from '#contracts/delivery';
import { schedulesView } from '#contracts/schedule';
import { figuresView, statsStream, type FoldEvent, type RunsFolded } from '#contracts/retention';
import { decodeEvent } from '#eventing/codec';
import type { EventArchive, RecordedEvent } from '#event-store/event-store';
import { everyEvent } from '#event-store/read-through';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { ViewStore } from '#read-store/read-store';
import { createSqliteReadStore } from '#read-store/sqlite';
import { silentLogger } from '#runtime/logger';
import { createDocumentState } from '#shared-state/document-state';
import { playedTaskId, playEvents, type PlayedStep } from '../execution/figures.kit.js';
import { dropFolded } from '../execution/retention/drop-events.js';
import { foldOldDays, type FoldingDeps } from '../execution/retention/folding.js';
import { storedIn } from '../execution/retention/retention.kit.js';
import { undeliveredView } from '../execution/undelivered-view.js';
import { keptViews } from './projections.js';

export const playedFromMs = Date.parse('2026-10-01T05:30:00.000Z');

const asked = [figuresView.name, schedulesView.name, deliveriesView.name, undeliveredView.name];

/** An installation of one task, in memory. */
export class Played {
  readonly eventStore: EventArchive = createSqliteEventStore(':memory:');
  readonly readStore: ViewStore = createSqliteReadStore(':memory:');
  /** Every event that there ever was. */
  readonly events: RecordedEvent[] = [];
  nowMs = playedFromMs;
  #played = 0;

  /** From the beginning on; of steps that were played before, those that are new. */
  async play(steps: readonly PlayedStep[]): Promise<void> {
    const { recorded, endMs } = playEvents(steps, playedFromMs);
    for (const { stream, revision, ...event } of recorded.slice(this.#played)) {
      await this.eventStore.append(stream, [event], revision === 0 ? 'none' : revision - 1);
    }
    this.#played = recorded.length;
    const after = this.events.at(-1)?.position ?? 0;
    this.events.push(...(await everyEvent(this.eventStore)).filter(({ position }) => position > after));
    this.nowMs = endMs;
    await this.project();
  }

  deps(more: Partial<FoldingDeps> = {}): FoldingDeps {
    const { eventStore, readStore } = this;
    return {
      eventStore,
      readStore,
      stored: storedIn(eventStore),
      sharedState: createDocumentState(readStore),
      clock: { now: () => this.nowMs },
      logger: silentLogger,
      keepRunsDays: 2,
      keepDeliveriesDays: 3,
      archiveDir: null,
      ...more,
    };
  }

  /** The views that folding asks, from the first event on. */
  async project(): Promise<void> {
    for (const { build, name } of keptViews) {
      if (!asked.includes(name)) continue;
      const builder = await build(this.readStore);
      await builder.apply(this.events);
      await builder.flush(this.events.at(-1)?.position ?? 0);
    }
  }

  /** Returns what was folded. */
  async fold(more: Partial<FoldingDeps> = {}): Promise<readonly RunsFolded[]> {
    const after = this.events.at(-1)?.position ?? 0;
    await foldOldDays(this.deps(more));
    const folds = (await Array.fromAsync(this.eventStore.read(statsStream(playedTaskId)))).filter(
      ({ position }) => position > after,
    );
    this.events.push(...folds);
    await this.project();
    return folds.flatMap((recorded) => {
      const event = decodeEvent<FoldEvent>(recorded);
      return event.type === 'runs.folded' ? [event.data] : [];
    });
  }

  drop(): Promise<void> {
    const folds = this.events.filter(({ stream }) => stream === statsStream(playedTaskId));
    const { eventStore, readStore } = this;
    const forget = async (): Promise<void> => undefined;
    return dropFolded({ eventStore, readStore, stored: eventStore, snapshots: { forget } } as never, folds);
  }

  async close(): Promise<void> {
    await this.readStore.close();
    await this.eventStore.close();
  }
}

/** Every document of every view as these events make it, in text. */
export function viewsOf(events: readonly RecordedEvent[]): Record<string, Record<string, string>> {
  return Object.fromEntries(
    keptViews.map(({ name, replay }) => [
      name,
      Object.fromEntries(
        [...replay(events)]
          .map(([id, document]) => [id, JSON.stringify(document)] as const)
          .toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ),
    ]),
  );
}

export async function withPlayed(steps: readonly PlayedStep[], work: (played: Played) => Promise<void>): Promise<void> {
  const played = new Played();
  try {
    await played.play(steps);
    await work(played);
  } finally {
    await played.close();
  }
}

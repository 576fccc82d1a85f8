/** The worker's side of a backfill: one pass over the events; every document is sent back to be written. */
import type { MessagePort } from 'node:worker_threads';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordedEvent } from '#event-store/event-store';
import type { AnyView, DocumentWrite, SeenEvent, ViewDefinition } from '#read-store/read-store';
import type { BuiltRow, Call, FromWorker, NamedBuild, ToWorker } from '#read-store/sqlite-backfill';
import { plainValues } from '#read-store/indexed-fields';
import { storedDocument } from '#read-store/stored-document';
import type { BuiltDocuments, ViewBuilder } from './view-builder.js';

/** A view that the worker can build; its documents are stored under the name `built`. */
export interface BackfillTarget {
  readonly name: string;
  /** Whether the view reads events of the stream. */
  isFedBy(stream: string): boolean;
  builder(built: string, documents: BuiltDocuments): ViewBuilder;
}

/** Every event up to a position, oldest first. */
export type HistoryReader = (
  end: number,
) => Iterable<{ readonly events: readonly RecordedEvent[]; readonly position: number }>;

const reportEveryMs = 100;
/** Unanswered writes of 500 documents at most: they are written while the next events are read. */
const maxPendingWrites = 16;

function toRow(view: AnyView, { id, revision, document }: DocumentWrite<object>): BuiltRow {
  return document === null
    ? [id, revision, null]
    : [id, revision, storedDocument(view, document), ...plainValues(view, document)];
}

const toSeen = ({ stream, revision, id, position }: SeenEvent): SeenEvent => ({ stream, revision, id, position });

type Answered = readonly DocumentWrite<object>[];

/** Calls to the thread that stores the documents. */
function createCalls(port: MessagePort) {
  const waiting = new Map<number, PromiseWithResolvers<Answered>>();
  let count = 0;
  return {
    call(built: string, asked: Call): Promise<Answered> {
      count += 1;
      const answer = Promise.withResolvers<Answered>();
      waiting.set(count, answer);
      port.postMessage({ kind: 'call', built, call: count, asked } satisfies FromWorker);
      return answer.promise;
    },
    answered({ call, documents }: Extract<ToWorker, { kind: 'answer' }>): void {
      if (documents === null) waiting.get(call)?.reject(new Error('the documents could not be written'));
      else waiting.get(call)?.resolve(documents);
      waiting.delete(call);
    },
  };
}

/** Calls are answered in order, so a load sees every earlier write. */
function createDocuments(calls: ReturnType<typeof createCalls>, built: string): BuiltDocuments {
  const pending = new Set<Promise<unknown>>();
  return {
    async save<D extends object>(
      view: ViewDefinition<D>,
      writes: readonly DocumentWrite<D>[],
      checkpoint: number | null,
      _after?: number | null,
      event?: SeenEvent,
    ): Promise<void> {
      const rows = writes.map((write) => toRow(view, write));
      const last = event === undefined ? null : toSeen(event);
      const written = calls.call(built, { what: 'save', rows, checkpoint, event: last });
      pending.add(written);
      void written.then(
        () => pending.delete(written),
        () => undefined,
      );
      if (checkpoint !== null) await Promise.all(pending);
      else if (pending.size >= maxPendingWrites) await Promise.race(pending);
    },
    async load<D extends object>(_view: ViewDefinition<D>, ids: readonly string[]) {
      const documents = (await calls.call(built, { what: 'load', ids })) as readonly DocumentWrite<D>[];
      return new Map(documents.map((write) => [write.id, write]));
    },
  };
}

interface Building {
  readonly built: string;
  readonly builder: ViewBuilder;
  isFedBy(stream: string): boolean;
  events: number;
}

/** Serves the thread that started the worker until it is terminated. */
export function serveBackfills(port: MessagePort, targets: readonly BackfillTarget[], read: HistoryReader): void {
  const calls = createCalls(port);
  const left = new Set<string>();
  const send = (message: FromWorker): void => port.postMessage(message);

  const begin = async (builds: readonly NamedBuild[], end: number): Promise<void> => {
    const building = new Set<Building>();
    for (const { view, built } of builds) {
      const found = targets.find(({ name }) => name === view);
      if (found === undefined) send({ kind: 'ended', built, isWhole: false, events: 0, forgotten: [] });
      else {
        const { isFedBy, builder } = found;
        building.add({ built, isFedBy, builder: builder(built, createDocuments(calls, built)), events: 0 });
      }
    }
    /** One failing build leaves the others alone. */
    const each = async (work: (one: Building) => Promise<void>): Promise<void> => {
      for (const one of building) {
        try {
          if (left.has(one.built)) building.delete(one);
          else await work(one);
        } catch {
          building.delete(one);
          send({ kind: 'ended', built: one.built, isWhole: false, events: one.events, forgotten: [] });
        }
      }
    };
    let reportedMs = -Infinity;
    for (const { events, position } of read(end)) {
      await each(async (one) => {
        const fed = events.filter(({ stream }) => one.isFedBy(stream));
        one.events += fed.length;
        await one.builder.apply(fed);
      });
      if (building.size === 0) return;
      // Lets a `leave` message in.
      await nextTurn();
      if (performance.now() - reportedMs < reportEveryMs) continue;
      reportedMs = performance.now();
      for (const { built, events: count } of building) send({ kind: 'progress', built, position, events: count });
    }
    await each(async ({ built, builder, events }) => {
      await builder.flush(end);
      send({ kind: 'ended', built, isWhole: true, events, forgotten: builder.forgotten() });
    });
  };

  port.on('message', (message: ToWorker) => {
    if (message.kind === 'answer') calls.answered(message);
    else if (message.kind === 'leave') left.add(message.built);
    else void begin(message.builds, message.end);
  });
  send({ kind: 'ready' });
}

/** The thread's side of builds that go ahead: one pass over the events, and every document that it makes handed back. */
import type { MessagePort } from 'node:worker_threads';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordedEvent } from '#event-store/event-store';
import type { AnyView, DocumentWrite, SeenEvent, ViewDefinition } from '../read-store.js';
import type { BuiltRow, Call, FromThread, NamedBuild, ToThread } from './sqlite-backfill.js';
import { plainValues } from '../indexed-fields.js';
import type { BuiltDocuments, ViewBuilder } from './view-builder.js';

/** What can be built here: a builder for documents of the view that are kept under the name `built`. */
export interface BackfillTarget {
  readonly name: string;
  /** Whether events of the stream feed it. */
  isFedBy(stream: string): boolean;
  builder(built: string, documents: BuiltDocuments): ViewBuilder;
}

/** Every event up to a position, oldest first. */
export type HistoryReader = (
  end: number,
) => Iterable<{ readonly events: readonly RecordedEvent[]; readonly position: number }>;

const tellEveryMs = 100;
/** Writes on their way, of 500 documents at most: those that come together are written while the next events are read. */
const writesAtOnce = 16;

function toRow(view: AnyView, { id, revision, document }: DocumentWrite<object>): BuiltRow {
  return document === null
    ? [id, revision, null]
    : [id, revision, JSON.stringify(document), ...plainValues(view, document)];
}

const toSeen = ({ stream, revision, id, position }: SeenEvent): SeenEvent => ({ stream, revision, id, position });

type Answered = readonly DocumentWrite<object>[];

/** Calls of whoever has the documents. */
function createCalls(port: MessagePort) {
  const waiting = new Map<number, PromiseWithResolvers<Answered>>();
  let count = 0;
  return {
    call(built: string, asked: Call): Promise<Answered> {
      count += 1;
      const answered = Promise.withResolvers<Answered>();
      waiting.set(count, answered);
      port.postMessage({ kind: 'call', built, call: count, asked } satisfies FromThread);
      return answered.promise;
    },
    answered({ call, documents }: Extract<ToThread, { kind: 'answer' }>): void {
      if (documents === null) waiting.get(call)?.reject(new Error('what was built could not be written'));
      else waiting.get(call)?.resolve(documents);
      waiting.delete(call);
    },
  };
}

/** Writes are answered in their order, so what is loaded is as it was written last. */
function createDocuments(calls: ReturnType<typeof createCalls>, built: string): BuiltDocuments {
  const underWay = new Set<Promise<unknown>>();
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
      underWay.add(written);
      void written.then(
        () => underWay.delete(written),
        () => undefined,
      );
      if (checkpoint !== null) await Promise.all(underWay);
      else if (underWay.size >= writesAtOnce) await Promise.race(underWay);
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

/** Answers whoever started the thread, until it is ended. */
export function serveBackfills(port: MessagePort, buildables: readonly BackfillTarget[], read: HistoryReader): void {
  const calls = createCalls(port);
  const left = new Set<string>();
  const say = (message: FromThread): void => port.postMessage(message);

  const begin = async (builds: readonly NamedBuild[], end: number): Promise<void> => {
    const building = new Set<Building>();
    for (const { view, built } of builds) {
      const found = buildables.find(({ name }) => name === view);
      if (found === undefined) say({ kind: 'ended', built, isWhole: false, events: 0 });
      else {
        const { isFedBy, builder } = found;
        building.add({ built, isFedBy, builder: builder(built, createDocuments(calls, built)), events: 0 });
      }
    }
    /** Of several that are built together one may fail. */
    const each = async (work: (one: Building) => Promise<void>): Promise<void> => {
      for (const one of building) {
        try {
          if (left.has(one.built)) building.delete(one);
          else await work(one);
        } catch {
          building.delete(one);
          say({ kind: 'ended', built: one.built, isWhole: false, events: one.events });
        }
      }
    };
    let toldMs = -Infinity;
    for (const { events, position } of read(end)) {
      await each(async (one) => {
        const fed = events.filter(({ stream }) => one.isFedBy(stream));
        one.events += fed.length;
        await one.builder.apply(fed);
      });
      if (building.size === 0) return;
      // Who leaves is heard.
      await nextTurn();
      if (performance.now() - toldMs < tellEveryMs) continue;
      toldMs = performance.now();
      for (const { built, events: count } of building) say({ kind: 'come', built, position, events: count });
    }
    await each(async ({ built, builder, events }) => {
      await builder.flush(end);
      say({ kind: 'ended', built, isWhole: true, events });
    });
  };

  port.on('message', (message: ToThread) => {
    if (message.kind === 'answer') calls.answered(message);
    else if (message.kind === 'leave') left.add(message.built);
    else void begin(message.builds, message.end);
  });
  say({ kind: 'ready' });
}

/** Between domain events and stored ones: checks, versions, ids. The only place that upcasts. */
import { eventCatalogue } from '#contracts/catalogue';
import { derivedEventId } from '#runtime/ids';
import type { JsonObject } from '#runtime/json';
import type { DomainEvent } from './decider.js';
import type { EventMetadata, NewEvent, RecordedEvent } from './event-store.js';

type Upcast = (data: JsonObject) => JsonObject;

/** Per event type, the steps from version 1 to 2, 2 to 3 …; a step once added is never edited. */
export type Upcasters = Readonly<Record<string, readonly Upcast[]>>;

/** A stored event that this version of the program cannot read. */
export class UnreadableEvent extends Error {
  constructor(event: Pick<RecordedEvent, 'type' | 'version' | 'stream' | 'revision'>, why: string) {
    super(`${event.stream}@${event.revision}: cannot read ${event.type} v${event.version}: ${why}`);
    this.name = 'UnreadableEvent';
  }
}

export interface EventSource {
  /** Id of the command, run or message that caused them: event ids are derived from it. */
  readonly commandId: string;
  readonly metadata: EventMetadata;
}

/** The id of the `ordinal`-th event that a command wrote, from 0. */
export function eventIdOf(commandId: string, ordinal: number): string {
  return derivedEventId(commandId, String(ordinal));
}

export function createCodec(catalogue: typeof eventCatalogue, upcasters: Upcasters) {
  return {
    /** Throws where an event does not fit its own schema: a defect of the caller, never of a user. */
    encodeEvents(events: readonly DomainEvent[], { commandId, metadata }: EventSource): NewEvent[] {
      return events.map((event, ordinal) => {
        const entry = catalogue[event.type];
        if (entry === undefined) throw new Error(`${event.type} is not in the event catalogue`);
        return {
          id: eventIdOf(commandId, ordinal),
          type: event.type,
          version: entry.version,
          data: entry.schema.parse(event.data) as JsonObject,
          metadata,
        };
      });
    },

    /** The event in its newest shape. Throws `UnreadableEvent`. */
    decodeEvent<Event extends DomainEvent>(recorded: RecordedEvent): Event {
      const entry = catalogue[recorded.type];
      if (entry === undefined) throw new UnreadableEvent(recorded, 'the type is unknown');
      if (recorded.version > entry.version) throw new UnreadableEvent(recorded, 'it was written by a newer version');
      const steps = recorded.version < entry.version ? (upcasters[recorded.type] ?? []) : [];
      const data = steps.slice(recorded.version - 1).reduce((older, step) => step(older), recorded.data);
      return { type: recorded.type, data } as DomainEvent as Event;
    },
  };
}

/** Steps of this installation's events; empty while every event is at version 1. */
const upcasters: Upcasters = {};

export const { encodeEvents, decodeEvent } = createCodec(eventCatalogue, upcasters);

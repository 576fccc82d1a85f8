/**
 * Between domain events and stored ones: schemas, versions, ids. What is written is always checked. What is read is checked
 * where it can be wrong: after an upcast here, and by `checkEvent` where others may have written it, which is when a history
 * comes from another installation (migration). Events of the present version that this installation wrote itself were
 * checked on the way in; checking them on every read would only slow down replays.
 */
import { eventCatalogue } from '#contracts/catalogue';
import type { EventCatalogue, EventDefinition } from '#contracts/event';
import { derivedEventId } from '#runtime/ids';
import type { JsonObject } from '#runtime/json';
import type { DomainEvent } from './decider.js';
import type { EventMetadata, NewEvent, RecordedEvent } from '#event-store/event-store';

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

function definitionOf(catalogue: EventCatalogue, recorded: RecordedEvent): EventDefinition {
  const definition = catalogue[recorded.type];
  if (definition === undefined) throw new UnreadableEvent(recorded, 'the type is unknown');
  if (recorded.version > definition.version) throw new UnreadableEvent(recorded, 'it was written by a newer version');
  return definition;
}

function upcast(definition: EventDefinition, recorded: RecordedEvent): JsonObject {
  try {
    return definition.upcast.slice(recorded.version - 1).reduce((older, step) => step(older), recorded.data);
  } catch (error) {
    throw new UnreadableEvent(recorded, `its upcaster failed: ${String(error)}`);
  }
}

/** The data in the newest shape, as the schema has it. */
function parse(definition: EventDefinition, recorded: RecordedEvent): object {
  const parsed = definition.schema.safeParse(upcast(definition, recorded));
  if (parsed.success) return parsed.data as object;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new UnreadableEvent(recorded, issues.join('; '));
}

export function createCodec(catalogue: EventCatalogue) {
  /** Throws where an event does not fit its own schema: a defect of the caller, never of a user. */
  const encodeEvent = (event: DomainEvent, id: string, metadata: EventMetadata): NewEvent => {
    const definition = catalogue[event.type];
    if (definition === undefined) throw new Error(`${event.type} is not in the event catalogue`);
    const { type, version, schema } = definition;
    return { id, type, version, data: schema.parse(event.data) as JsonObject, metadata };
  };

  return {
    encodeEvent,

    encodeEvents(events: readonly DomainEvent[], { commandId, metadata }: EventSource): NewEvent[] {
      return events.map((event, ordinal) => encodeEvent(event, eventIdOf(commandId, ordinal), metadata));
    },

    /** The event in its newest shape. Throws `UnreadableEvent`. */
    decodeEvent<Event extends DomainEvent>(recorded: RecordedEvent): Event {
      const definition = definitionOf(catalogue, recorded);
      const { data } = recorded;
      const isCurrent = recorded.version === definition.version;
      const newest = isCurrent ? (definition.complete?.(data) ?? data) : parse(definition, recorded);
      return { type: recorded.type, data: newest } as DomainEvent as Event;
    },

    /** Whether an event that others may have written can be read, whatever its version. Throws `UnreadableEvent`. */
    checkEvent(recorded: RecordedEvent): void {
      parse(definitionOf(catalogue, recorded), recorded);
    },
  };
}

export const { encodeEvent, encodeEvents, decodeEvent, checkEvent } = createCodec(eventCatalogue);

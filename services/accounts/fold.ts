/** Reads an aggregate from its stream. */
import { decodeEvent } from '#event-store/codec';
import type { Decider, DomainEvent } from '#event-store/decider';
import type { EventStore } from '#event-store/event-store';

/** The state that the events lead to, and when the stream began (null: not yet). */
export async function fold<State, Command, Event extends DomainEvent>(
  eventStore: EventStore,
  decider: Decider<State, Command, Event>,
  stream: string,
): Promise<{ readonly state: State; readonly beganAt: string | null }> {
  let state = decider.initial;
  let beganAt: string | null = null;
  for await (const recorded of eventStore.read(stream)) {
    beganAt ??= recorded.metadata.at;
    state = decider.evolve(state, decodeEvent<Event>(recorded));
  }
  return { state, beganAt };
}

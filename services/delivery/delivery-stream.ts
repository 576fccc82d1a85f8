/** The stream of one delivery: read once, then changed at the revision that was read. */
import { deliveryStream } from '#contracts/delivery';
import { decodeEvent, encodeEvents } from '#eventing/codec';
import type { EventMetadata, EventStore, NewEvent } from '#event-store/event-store';
import { runCommand, type CommandOutcome } from '#eventing/run-command';
import { deliveryDecider, type Delivery, type DeliveryCommand, type DeliveryEvent } from './domain/delivery.js';

export function deliveryIdOf(stream: string): string {
  return stream.slice('dlv-'.length);
}

export interface LoadedDelivery {
  readonly id: string;
  readonly state: Delivery;
  readonly revision: number;
  /** Of its first event: organization and request id stand on every later one. */
  readonly metadata: EventMetadata;
  /** Its first events, where they are not stored yet: what changes it first is stored with them. */
  readonly unstored?: readonly NewEvent[];
}

/** null: there is no such stream. */
export async function loadDelivery(eventStore: EventStore, id: string): Promise<LoadedDelivery | null> {
  const { initial, evolve } = deliveryDecider;
  let loaded: LoadedDelivery | null = null;
  for await (const event of eventStore.read(deliveryStream(id))) {
    const { state, metadata }: Pick<LoadedDelivery, 'state' | 'metadata'> = loaded ?? { ...event, state: initial };
    loaded = { id, state: evolve(state, decodeEvent<DeliveryEvent>(event)), revision: event.revision, metadata };
  }
  return loaded;
}

type Change = Exclude<DeliveryCommand, { readonly type: 'requestDelivery' }>;
type Changed = Pick<CommandOutcome<Delivery, DeliveryEvent>, 'state' | 'revision' | 'events'>;

/** Decides on the state that was loaded. Reads the stream again only where somebody has appended since. */
export async function changeDelivery(
  eventStore: EventStore,
  loaded: LoadedDelivery,
  command: Change,
  commandId: string,
): Promise<Changed> {
  const changed = await changeUnlessMoved(eventStore, loaded, command, commandId);
  if (changed !== null) return changed;
  const { id, metadata: first } = loaded;
  const metadata = { ...first, actor: 'system:delivery', at: command.at };
  const stream = deliveryStream(id);
  return runCommand(eventStore, deliveryDecider, { stream, command, commandId, metadata, from: 'all' });
}

/**
 * null: somebody has appended since it was loaded, and nothing was written. A `commandId` that fences has to be like no other:
 * a store answers the same events at the same revision as it did the first time.
 */
export async function changeUnlessMoved(
  eventStore: EventStore,
  { id, state, revision, metadata: first, unstored }: LoadedDelivery,
  command: Change,
  commandId: string,
): Promise<Changed | null> {
  const stream = deliveryStream(id);
  const metadata = { ...first, actor: 'system:delivery', at: command.at };
  const events = deliveryDecider.decide(command, state);
  if (events.length === 0) return { state, revision, events };
  const encoded = encodeEvents(events, { commandId, metadata });
  const appended =
    unstored === undefined
      ? await eventStore.append(stream, encoded, revision)
      : await eventStore.append(stream, [...unstored, ...encoded], 'none');
  if (!appended.ok) return null;
  return { state: events.reduce<Delivery>(deliveryDecider.evolve, state), revision: appended.revision, events };
}

/** How far this installation's setup is, read from the streams themselves: views may lag. */
import { decodeEvent } from '#event-store/codec';
import type { Decider, DomainEvent } from '#event-store/decider';
import type { EventStore } from '#event-store/event-store';
import { installationDecider, installationStream, type Installation } from './domain/installation.js';
import { organizationDecider, organizationStream, type Organization } from './domain/organization.js';
import { keyStream } from './domain/api-key.js';

export interface InstallationState {
  readonly installation: Installation;
  readonly organization: Organization;
  /** RFC 3339; null where there is no organisation. */
  readonly organizationCreatedAt: string | null;
  /** Organisation, owner and, where one was asked for, the first key: all there. */
  readonly complete: boolean;
}

/** An aggregate folded from its stream, and when the stream began. */
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

/** Rejects as the event store does. */
export async function readInstallation(eventStore: EventStore): Promise<InstallationState> {
  const { state } = await fold(eventStore, installationDecider, installationStream);
  const none = { installation: state, organization: organizationDecider.initial, organizationCreatedAt: null };
  if (state.claim === null) return { ...none, complete: false };
  const { state: found, beganAt } = await fold(
    eventStore,
    organizationDecider,
    organizationStream(state.claim.organizationId),
  );
  if (found.status === 'none') return { ...none, complete: false };
  const complete = found.setupKeyId === null || (await eventStore.readLast(keyStream(found.setupKeyId))) !== null;
  return { installation: state, organization: found, organizationCreatedAt: beganAt, complete };
}

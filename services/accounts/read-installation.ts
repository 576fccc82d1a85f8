/** How far this installation's setup is, read from the streams themselves: views may lag. */
import type { EventStore } from '#event-store/event-store';
import { foldStream } from '#eventing/fold-stream';
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

/** Rejects as the event store does. */
export async function readInstallation(eventStore: EventStore): Promise<InstallationState> {
  const { state } = await foldStream(eventStore, installationDecider, installationStream);
  const none = { installation: state, organization: organizationDecider.initial, organizationCreatedAt: null };
  if (state.claim === null) return { ...none, complete: false };
  const { state: found, recorded } = await foldStream(
    eventStore,
    organizationDecider,
    organizationStream(state.claim.organizationId),
  );
  if (found.status === 'none') return { ...none, complete: false };
  const complete = found.setupKeyId === null || (await eventStore.readLast(keyStream(found.setupKeyId))) !== null;
  return {
    installation: state,
    organization: found,
    organizationCreatedAt: recorded[0]?.metadata.at ?? null,
    complete,
  };
}

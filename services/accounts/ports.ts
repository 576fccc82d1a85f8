/** What the accounts service needs from outside; the command line puts it together as well, without a running server. */
import type { Plan } from '#contracts/account';
import type { RequestContext } from '#bus/bus';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Ids } from '#runtime/ids';
import type { Vault } from '#vault/vault';
import type { Passwords } from './passwords.js';

/** Enough to make keys. */
export interface KeyPorts {
  readonly eventStore: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** `pepperOf` the instance's secret key. */
  readonly pepper: Uint8Array;
}

export interface AccountPorts extends KeyPorts {
  readonly vault: Vault;
  readonly passwords: Passwords;
  /** Of the first organisation. */
  readonly plan: Plan;
}

/** Who asks, and since when. */
export type Asking = Pick<RequestContext, 'actor' | 'requestId'>;

/** Metadata of the events that a person's request causes. */
export function metadataOf(ports: Pick<KeyPorts, 'clock'>, organizationId: string, asking: Asking): EventMetadata {
  const { actor, requestId } = asking;
  return { organizationId, actor, requestId, causationId: null, at: toTimestamp(ports.clock.now()) };
}

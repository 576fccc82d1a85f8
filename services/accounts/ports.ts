/** What the accounts service needs from outside; the command line puts a part together as well, without a running server. */
import type { Plan } from '#contracts/account';
import type { RequestContext } from '#bus/bus';
import type { EventMetadata, EventStore } from '#event-store/event-store';
import type { ReadStore } from '#read-store/read-store';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Ids } from '#runtime/ids';
import type { Logger } from '#runtime/logger';
import type { Vault } from '#vault/vault';
import type { PublicAddress } from '#runtime/config';
import type { SharedState } from '#shared-state/shared-state';
import type { Attempts } from './attempts.js';
import type { AccountViews } from './await-account-views.js';
import type { KeyCopies } from './key-copies.js';
import type { SignInProviders } from './oidc/provider.js';
import type { Passwords } from './passwords.js';
import type { PostOffice } from './post-office.js';

/** Enough to make keys, and to change organisations. */
export interface KeyPorts {
  readonly keyCopies: KeyCopies;
  readonly eventStore: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** `pepperOf` the instance's secret key. */
  readonly pepper: Uint8Array;
}

export interface AccountPorts extends KeyPorts {
  /** What links are signed with. */
  readonly linkPepper: Uint8Array;
  readonly sharedState: SharedState;
  readonly postOffice: PostOffice;
  /** By their ids. */
  readonly providers: SignInProviders;
  readonly address: PublicAddress;
  /** KEYS_SHOW_ONCE */
  readonly keysShowOnce: boolean;
  readonly readStore: ReadStore;
  readonly vault: Vault;
  readonly passwords: Passwords;
  readonly attempts: Attempts;
  readonly views: AccountViews;
  readonly logger: Logger;
  /** Of organisations for which none is named. */
  readonly plan: Plan;
}

export const ACCOUNT_PORTS = Symbol('AccountPorts');

/** Who asks, and in which request. */
export type Asking = Pick<RequestContext, 'actor' | 'requestId'>;

/** Metadata of the events that a person's request causes. */
export function metadataOf(ports: Pick<KeyPorts, 'clock'>, organizationId: string, asking: Asking): EventMetadata {
  const { actor, requestId } = asking;
  return { organizationId, actor, requestId, causationId: null, at: toTimestamp(ports.clock.now()) };
}

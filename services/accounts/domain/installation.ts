/** This installation: before setup its one-time token, after it the ids of its organisation. One stream, `installation`. */
import type { AccountEvent } from '#contracts/account-events';
import type { Decider } from '#eventing/decider';
import { reject, unreachable } from '#runtime/errors';

export const installationStream = 'installation';

export interface OwnerKey {
  readonly keyId: string;
  readonly hash: string;
}

export interface Installation {
  /** The setup token is made of it; null: no link was ever printed. */
  readonly salt: string | null;
  readonly claim: { readonly organizationId: string; readonly ownerId: string } | null;
  /** The key that OWNER_API_KEY stands for. */
  readonly ownerKey: OwnerKey | null;
  /** Keys that OWNER_API_KEY stood for before. */
  readonly formerOwnerKeyIds: readonly string[];
}

export type InstallationCommand =
  | { readonly type: 'openInstallation'; readonly salt: string }
  | { readonly type: 'claimInstallation'; readonly organizationId: string; readonly ownerId: string }
  | { readonly type: 'chooseOwnerKey'; readonly keyId: string; readonly hash: string };

export type InstallationEvent = Extract<
  AccountEvent,
  { readonly type: 'installation.opened' | 'installation.claimed' | 'installation.owner_key_chosen' }
>;

export const installationDecider: Decider<Installation, InstallationCommand, InstallationEvent> = {
  initial: { salt: null, claim: null, ownerKey: null, formerOwnerKeyIds: [] },

  evolve(state, event) {
    switch (event.type) {
      case 'installation.opened':
        return { ...state, salt: event.data.salt };
      case 'installation.claimed':
        return { ...state, claim: event.data };
      case 'installation.owner_key_chosen':
        return {
          ...state,
          ownerKey: event.data,
          formerOwnerKeyIds:
            state.ownerKey === null ? state.formerOwnerKeyIds : [...state.formerOwnerKeyIds, state.ownerKey.keyId],
        };
      default:
        return unreachable(event);
    }
  },

  decide(command, state) {
    switch (command.type) {
      case 'openInstallation':
        if (state.salt !== null || state.claim !== null) return [];
        return [{ type: 'installation.opened', data: { salt: command.salt } }];
      case 'claimInstallation': {
        // A second setup goes on with the ids of the first: that is what makes one organisation of two setups.
        if (state.claim !== null) return [];
        const { organizationId, ownerId } = command;
        return [{ type: 'installation.claimed', data: { organizationId, ownerId } }];
      }
      case 'chooseOwnerKey': {
        if (state.claim === null) throw reject('not_set_up', 'This instance has no organisation yet: set it up first.');
        // The same key again, even one that somebody has revoked since: a restart brings no key back to life.
        if (state.ownerKey?.hash === command.hash) return [];
        const { keyId, hash } = command;
        return [{ type: 'installation.owner_key_chosen', data: { keyId, hash } }];
      }
      default:
        return unreachable(command);
    }
  },
};

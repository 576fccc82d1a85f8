/** An API key: made once, followed by another, revoked for good. One stream each, `key-<id>`. Its text is in no event. */
import type { AccountEvent } from '#contracts/account-events';
import type { Decider } from '#eventing/decider';
import { notFound, reject, unreachable } from '#runtime/errors';

export type KeyEvent = Extract<AccountEvent, { readonly type: `key.${string}` }>;

type KeyFields = Extract<AccountEvent, { readonly type: 'key.created' }>['data']['key'];

export type Key =
  | { readonly status: 'none' }
  /** `successorId`: of the key that takes its place; null: of none. */
  | { readonly status: 'active'; readonly key: KeyFields; readonly successorId: string | null }
  | { readonly status: 'revoked'; readonly key: KeyFields };

export type KeyCommand =
  | { readonly type: 'createKey'; readonly key: KeyFields; readonly createdBy: string; readonly at: string }
  | {
      readonly type: 'rotateKey';
      readonly organizationId: string;
      readonly successorId: string;
      /** Until then both are good. */
      readonly endsAt: string;
      readonly at: string;
    }
  | { readonly type: 'revealKey'; readonly organizationId: string }
  | { readonly type: 'revokeKey'; readonly organizationId: string };

export const keyStream = (id: string): string => `key-${id}`;

export const keyDecider: Decider<Key, KeyCommand, KeyEvent> = {
  initial: { status: 'none' },

  evolve(state, event) {
    switch (event.type) {
      case 'key.created':
        return { status: 'active', key: event.data.key, successorId: null };
      case 'key.rotated': {
        if (state.status !== 'active') return state;
        const { successorId, endsAt } = event.data;
        return { ...state, key: { ...state.key, expiresAt: endsAt }, successorId };
      }
      case 'key.revealed':
        return state;
      case 'key.revoked':
        return state.status === 'none' ? state : { status: 'revoked', key: state.key };
      default:
        return unreachable(event);
    }
  },

  decide(command, state) {
    switch (command.type) {
      case 'createKey': {
        const { key, createdBy, at } = command;
        if (state.status !== 'none') {
          if (state.key.hash === key.hash) return [];
          throw reject('key_exists', 'A key with this id exists already.');
        }
        if (key.expiresAt !== null && key.expiresAt <= at) {
          throw reject('expires_in_past', 'The key would be expired from the start.', [
            { field: 'expiresAt', rule: 'future', message: 'must be in the future' },
          ]);
        }
        return [{ type: 'key.created', data: { key, createdBy } }];
      }
      case 'rotateKey': {
        if (state.status !== 'active' || state.key.organizationId !== command.organizationId) throw notFound('API key');
        const { successorId, endsAt, at } = command;
        if (state.successorId !== null) throw reject('key_rotated', 'Another key has taken its place already.');
        const { id, publicId, expiresAt } = state.key;
        if (expiresAt !== null && expiresAt <= at) throw reject('key_expired', 'The key has expired: make a new one.');
        const sooner = expiresAt !== null && expiresAt < endsAt ? expiresAt : endsAt;
        return [{ type: 'key.rotated', data: { id, publicId, successorId, endsAt: sooner } }];
      }
      case 'revealKey': {
        if (state.status !== 'active' || state.key.organizationId !== command.organizationId) throw notFound('API key');
        return [{ type: 'key.revealed', data: { id: state.key.id, publicId: state.key.publicId } }];
      }
      case 'revokeKey':
        if (state.status === 'none' || state.key.organizationId !== command.organizationId) throw notFound('API key');
        if (state.status === 'revoked') return [];
        return [{ type: 'key.revoked', data: { id: state.key.id, publicId: state.key.publicId } }];
      default:
        return unreachable(command);
    }
  },
};

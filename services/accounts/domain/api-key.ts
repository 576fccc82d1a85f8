/** An API key: made once, revoked for good. One stream each, `key-<id>`. Its text is stored nowhere. */
import type { AccountEvent } from '#contracts/account';
import type { Decider } from '#eventing/decider';
import { notFound, reject, unreachable } from '#runtime/errors';

export type KeyEvent = Extract<AccountEvent, { readonly type: 'key.created' | 'key.revoked' }>;

type KeyFields = Extract<AccountEvent, { readonly type: 'key.created' }>['data']['key'];

export type Key =
  | { readonly status: 'none' }
  | { readonly status: 'active'; readonly key: KeyFields }
  | { readonly status: 'revoked'; readonly key: KeyFields };

export type KeyCommand =
  | { readonly type: 'createKey'; readonly key: KeyFields; readonly createdBy: string; readonly at: string }
  | { readonly type: 'revokeKey'; readonly organizationId: string };

export const keyStream = (id: string): string => `key-${id}`;

export const keyDecider: Decider<Key, KeyCommand, KeyEvent> = {
  initial: { status: 'none' },

  evolve(state, event) {
    switch (event.type) {
      case 'key.created':
        return { status: 'active', key: event.data.key };
      case 'key.revoked':
        return state.status === 'none' ? state : { ...state, status: 'revoked' };
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
      case 'revokeKey':
        if (state.status === 'none' || state.key.organizationId !== command.organizationId) throw notFound('API key');
        if (state.status === 'revoked') return [];
        return [{ type: 'key.revoked', data: { id: state.key.id, publicId: state.key.publicId } }];
      default:
        return unreachable(command);
    }
  },
};

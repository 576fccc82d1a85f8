/** A signed-in member's session: opened by a password, closed by its member or by time. One stream each, `session-<id>`. */
import type { AccountEvent } from '#contracts/account';
import type { Decider } from '#eventing/decider';
import { reject, unreachable } from '#runtime/errors';

export type SessionEvent = Extract<AccountEvent, { readonly type: 'session.opened' | 'session.closed' }>;

type SessionFields = Extract<AccountEvent, { readonly type: 'session.opened' }>['data'];

export type Session =
  | { readonly status: 'none' }
  | { readonly status: 'open'; readonly session: SessionFields }
  | { readonly status: 'closed'; readonly session: SessionFields };

export type SessionCommand =
  { readonly type: 'openSession'; readonly session: SessionFields } | { readonly type: 'closeSession' };

export const sessionStream = (id: string): string => `session-${id}`;

export const sessionDecider: Decider<Session, SessionCommand, SessionEvent> = {
  initial: { status: 'none' },

  evolve(state, event) {
    switch (event.type) {
      case 'session.opened':
        return { status: 'open', session: event.data };
      case 'session.closed':
        return state.status === 'none' ? state : { ...state, status: 'closed' };
      default:
        return unreachable(event);
    }
  },

  decide(command, state) {
    switch (command.type) {
      case 'openSession':
        if (state.status !== 'none') throw reject('session_exists', 'A session with this id exists already.');
        return [{ type: 'session.opened', data: command.session }];
      case 'closeSession':
        if (state.status !== 'open') return [];
        return [{ type: 'session.closed', data: { id: state.session.id } }];
      default:
        return unreachable(command);
    }
  },
};

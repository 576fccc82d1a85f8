/** A signed-in member's session: opened, closed by its member or by time, followed by another. One stream each, `session-<id>`. */
import type { AccountEvent } from '#contracts/account-events';
import type { Decider } from '#eventing/decider';
import { reject, unreachable } from '#runtime/errors';

export type SessionEvent = Extract<AccountEvent, { readonly type: `session.${string}` }>;

type SessionFields = Extract<AccountEvent, { readonly type: 'session.opened' }>['data'];

export type Session =
  | { readonly status: 'none' }
  | { readonly status: 'open'; readonly session: SessionFields }
  | {
      readonly status: 'superseded';
      readonly session: SessionFields;
      readonly successorId: string;
      readonly endsAt: string;
    }
  | { readonly status: 'closed'; readonly session: SessionFields };

export type SessionCommand =
  | { readonly type: 'openSession'; readonly session: SessionFields }
  | { readonly type: 'supersedeSession'; readonly successorId: string; readonly endsAt: string }
  | { readonly type: 'closeSession' };

export const sessionStream = (id: string): string => `session-${id}`;

export const sessionDecider: Decider<Session, SessionCommand, SessionEvent> = {
  initial: { status: 'none' },

  evolve(state, event) {
    switch (event.type) {
      case 'session.opened':
        return { status: 'open', session: event.data };
      case 'session.superseded':
        if (state.status === 'none') return state;
        return { ...event.data, status: 'superseded', session: state.session };
      case 'session.closed':
        return state.status === 'none' ? state : { status: 'closed', session: state.session };
      default:
        return unreachable(event);
    }
  },

  decide(command, state) {
    switch (command.type) {
      case 'openSession':
        if (state.status !== 'none') throw reject('session_exists', 'A session with this id exists already.');
        return [{ type: 'session.opened', data: command.session }];
      case 'supersedeSession':
        // Another request was faster: one session follows, not two.
        if (state.status !== 'open') throw reject('session_superseded', 'Another session follows this one already.');
        return [
          {
            type: 'session.superseded',
            data: { id: state.session.id, successorId: command.successorId, endsAt: command.endsAt },
          },
        ];
      case 'closeSession':
        if (state.status === 'none' || state.status === 'closed') return [];
        return [{ type: 'session.closed', data: { id: state.session.id } }];
      default:
        return unreachable(command);
    }
  },
};

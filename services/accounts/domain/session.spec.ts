import { describe, it } from '@jest/globals';
import { given } from '#eventing/given';
import { sessionDecider, type SessionEvent } from './session.js';

const fields = {
  id: 'hash',
  userId: 'usr_1',
  organizationId: 'org_1',
  role: 'owner' as const,
  expiresAt: '2026-11-08T00:00:00.000Z',
  idleExpiresAt: '2026-11-02T00:00:00.000Z',
  epoch: 0,
  provider: null,
};
const supersede = { type: 'supersedeSession', successorId: 'next', endsAt: '2026-11-01T01:01:00.000Z' } as const;
const superseded: SessionEvent = {
  type: 'session.superseded',
  data: { id: 'hash', successorId: 'next', endsAt: supersede.endsAt },
};
const opened: SessionEvent = { type: 'session.opened', data: fields };
const closed: SessionEvent = { type: 'session.closed', data: { id: 'hash' } };

describe('a session', () => {
  it('is opened once', () => {
    given(sessionDecider).when({ type: 'openSession', session: fields }).then(opened);
    given(sessionDecider, opened).when({ type: 'openSession', session: fields }).thenRejected('session_exists');
    given(sessionDecider, opened, closed).when({ type: 'openSession', session: fields }).thenRejected('session_exists');
  });

  it('is closed for good', () => {
    given(sessionDecider, opened).when({ type: 'closeSession' }).then(closed).andAgainNothing();
    given(sessionDecider).when({ type: 'closeSession' }).thenNothing();
  });

  it('is followed by one other, not by two', () => {
    given(sessionDecider, opened).when(supersede).then(superseded);
    for (const before of [[], [opened, superseded], [opened, closed]]) {
      given(sessionDecider, ...before)
        .when({ ...supersede, successorId: 'other' })
        .thenRejected('session_superseded');
    }
    given(sessionDecider, opened, superseded).when({ type: 'closeSession' }).then(closed).andAgainNothing();
  });
});

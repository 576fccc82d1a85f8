import { describe, it } from '@jest/globals';
import { given } from '#eventing/given';
import { sessionDecider, type SessionEvent } from './session.js';

const fields = {
  id: 'hash',
  userId: 'usr_1',
  organizationId: 'org_1',
  role: 'owner' as const,
  expiresAt: '2026-11-08T00:00:00.000Z',
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
});

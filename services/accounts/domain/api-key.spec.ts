import { describe, it } from '@jest/globals';
import { given } from '#eventing/given';
import { keyDecider, type KeyCommand, type KeyEvent } from './api-key.js';

const at = '2026-11-01T00:00:00.000Z';
const key = {
  id: 'key_1',
  publicId: 'Ab3dEf9h',
  organizationId: 'org_1',
  name: 'CI',
  scopes: ['write' as const],
  hash: 'h1',
  expiresAt: null,
  allowedCidrs: [],
};
const create: KeyCommand = { type: 'createKey', key, createdBy: 'user:usr_1', at };
const revoke: KeyCommand = { type: 'revokeKey', organizationId: 'org_1' };
const created: KeyEvent = { type: 'key.created', data: { key, createdBy: 'user:usr_1' } };
const revoked: KeyEvent = { type: 'key.revoked', data: { id: 'key_1', publicId: 'Ab3dEf9h' } };

describe('an API key', () => {
  it('is created once', () => {
    given(keyDecider).when(create).then(created).andAgainNothing();
  });

  it('never takes the place of another', () => {
    given(keyDecider, created)
      .when({ ...create, key: { ...key, hash: 'h2' } })
      .thenRejected('key_exists');
    given(keyDecider, created, revoked)
      .when({ ...create, key: { ...key, hash: 'h2' } })
      .thenRejected('key_exists');
  });

  it('is not created expired', () => {
    given(keyDecider)
      .when({ ...create, key: { ...key, expiresAt: at } })
      .thenRejected('expires_in_past');
    const later = { ...key, expiresAt: '2026-11-01T00:00:00.001Z' };
    given(keyDecider)
      .when({ ...create, key: later })
      .then({ type: 'key.created', data: { key: later, createdBy: 'user:usr_1' } });
  });

  it('is revoked for good', () => {
    given(keyDecider, created).when(revoke).then(revoked).andAgainNothing();
    given(keyDecider, created, revoked).when(create).thenNothing();
  });

  it('is unknown to other organisations', () => {
    given(keyDecider).when(revoke).thenRejected('not_found');
    given(keyDecider, created).when({ type: 'revokeKey', organizationId: 'org_2' }).thenRejected('not_found');
  });

  it('is followed by one other, at the latest when it would have ended', () => {
    const ends = (endsAt: string): KeyEvent => ({
      type: 'key.rotated',
      data: { id: 'key_1', publicId: 'Ab3dEf9h', successorId: 'key_2', endsAt },
    });
    const rotate: KeyCommand = {
      type: 'rotateKey',
      organizationId: 'org_1',
      successorId: 'key_2',
      endsAt: '2026-11-02T00:00:00.000Z',
      at,
    };
    given(keyDecider, created).when(rotate).then(ends(rotate.endsAt));
    const expiresAt = '2026-11-01T12:00:00.000Z';
    const ending: KeyEvent = { type: 'key.created', data: { key: { ...key, expiresAt }, createdBy: 'user:usr_1' } };
    given(keyDecider, ending).when(rotate).then(ends(expiresAt));
    given(keyDecider, ending)
      .when({ ...rotate, at: expiresAt })
      .thenRejected('key_expired');
    given(keyDecider, created, ends(rotate.endsAt)).when(rotate).thenRejected('key_rotated');
    given(keyDecider, created, revoked).when(rotate).thenRejected('not_found');
    given(keyDecider, created)
      .when({ ...rotate, organizationId: 'org_2' })
      .thenRejected('not_found');
    given(keyDecider, created, ends(rotate.endsAt)).when(revoke).then(revoked);
  });

  it('is shown again by its own organisation while it is good, each time on record', () => {
    const revealed: KeyEvent = { type: 'key.revealed', data: { id: 'key_1', publicId: 'Ab3dEf9h' } };
    given(keyDecider, created).when({ type: 'revealKey', organizationId: 'org_1' }).then(revealed);
    given(keyDecider, created, revealed).when({ type: 'revealKey', organizationId: 'org_1' }).then(revealed);
    given(keyDecider, created).when({ type: 'revealKey', organizationId: 'org_2' }).thenRejected('not_found');
    given(keyDecider, created, revoked).when({ type: 'revealKey', organizationId: 'org_1' }).thenRejected('not_found');
  });
});

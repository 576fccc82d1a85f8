import { describe, expect, it } from '@jest/globals';
import { given } from '#eventing/given';
import type { MemberCommand } from './member.js';
import { organizationDecider, type OrganizationEvent } from './organization.js';

const at = '2026-11-01T00:00:00.000Z';
const expiresAt = '2026-11-08T00:00:00.000Z';
const organizationId = 'org_1';
const identity = (id: string, role: 'owner' | 'admin' | 'editor' | 'viewer' = 'editor') => ({
  id,
  email: { $sealed: id },
  emailHash: `hash of ${id}`,
  role,
});
const made: OrganizationEvent = {
  type: 'organization.created',
  data: { id: organizationId, name: 'Acme', plan: 'free', setupKeyId: null },
};
const owner: OrganizationEvent = {
  type: 'member.added',
  data: { ...identity('usr_1', 'owner'), organizationId, passwordHash: 'p1', operator: true },
};
const begun = [made, owner];
const invited: OrganizationEvent = {
  type: 'member.invited',
  data: { ...identity('usr_2'), organizationId, expiresAt },
};
const joined: OrganizationEvent = { type: 'member.joined', data: { id: 'usr_2', organizationId, passwordHash: 'p2' } };
const join: MemberCommand = { type: 'joinMember', memberId: 'usr_2', passwordHash: 'p2', at, expiresAt };
const changed = (id: string, role: 'owner' | 'admin' | 'editor' | 'viewer', operator = false): OrganizationEvent => ({
  type: 'member.changed',
  data: { id, organizationId, role, operator },
});
const two = [...begun, invited, joined];
const change = (memberId: string, more: object): MemberCommand => ({
  type: 'changeMember',
  memberId,
  keepsOperator: true,
  byOwner: true,
  ...more,
});

describe('an invitation', () => {
  const invite: MemberCommand = { type: 'inviteMember', member: identity('usr_2'), expiresAt, byOwner: true };

  it('is taken once, before it ends', () => {
    given(organizationDecider, ...begun)
      .when(invite)
      .then(invited);
    given(organizationDecider, ...begun, invited)
      .when(join)
      .then(joined);
    given(organizationDecider, ...two)
      .when(join)
      .thenRejected('not_found');
    given(organizationDecider, ...begun, invited)
      .when({ ...join, at: expiresAt })
      .thenRejected('not_found');
  });

  it('is replaced by a later one to the same address', () => {
    const later = '2026-11-09T00:00:00.000Z';
    const again: OrganizationEvent = {
      type: 'member.invited',
      data: { ...identity('usr_2', 'viewer'), organizationId, expiresAt: later },
    };
    given(organizationDecider, ...begun, invited)
      .when({ ...invite, member: identity('usr_2', 'viewer'), expiresAt: later })
      .then(again);
    given(organizationDecider, ...begun, invited, again)
      .when(join)
      .thenRejected('not_found');
  });

  it('goes to nobody who is a member already', () => {
    given(organizationDecider, ...two)
      .when(invite)
      .thenRejected('already_exists');
    given(organizationDecider, ...begun)
      .when({ ...invite, member: { ...identity('usr_9'), emailHash: 'hash of usr_1' } })
      .thenRejected('already_exists');
  });
});

describe('a member', () => {
  it('is changed and removed', () => {
    given(organizationDecider, ...two)
      .when(change('usr_2', { role: 'admin' }))
      .then(changed('usr_2', 'admin'))
      .andAgainNothing();
    given(organizationDecider, ...two)
      .when({ type: 'removeMember', memberId: 'usr_2', keepsOperator: true, byOwner: true, byOperator: true })
      .then({ type: 'member.removed', data: { id: 'usr_2', organizationId } });
    given(organizationDecider, ...begun)
      .when(change('usr_2', { role: 'admin' }))
      .thenRejected('not_found');
  });

  it('becomes an owner, and is one no more, by an owner alone', () => {
    const other = [...two, changed('usr_2', 'owner')];
    const notByOwner: readonly (readonly [readonly OrganizationEvent[], MemberCommand])[] = [
      [two, change('usr_2', { role: 'owner', byOwner: false })],
      [other, change('usr_2', { role: 'viewer', byOwner: false })],
      [other, { type: 'removeMember', memberId: 'usr_2', keepsOperator: true, byOwner: false, byOperator: true }],
      [begun, { type: 'inviteMember', member: identity('usr_2', 'owner'), expiresAt, byOwner: false }],
      [
        [...begun, { type: 'member.invited', data: { ...identity('usr_2', 'owner'), organizationId, expiresAt } }],
        { type: 'inviteMember', member: identity('usr_2', 'viewer'), expiresAt, byOwner: false },
      ],
    ];
    for (const [before, command] of notByOwner) {
      given(organizationDecider, ...before)
        .when(command)
        .thenRejected('owner_required');
    }
    given(organizationDecider, ...two)
      .when(change('usr_2', { role: 'owner' }))
      .then(changed('usr_2', 'owner'));
    given(organizationDecider, ...two)
      .when(change('usr_2', { role: 'admin', byOwner: false }))
      .then(changed('usr_2', 'admin'));
  });

  it('who is an operator is removed by an operator alone', () => {
    const before = [...two, changed('usr_2', 'editor', true)];
    const remove = { type: 'removeMember', memberId: 'usr_2', keepsOperator: true, byOwner: true } as const;
    given(organizationDecider, ...before)
      .when({ ...remove, byOperator: false })
      .thenRejected('missing_scope');
    given(organizationDecider, ...before)
      .when({ ...remove, byOperator: true })
      .then({ type: 'member.removed', data: { id: 'usr_2', organizationId } });
  });

  it('who is the last owner stays one; somebody who has not joined is none', () => {
    const operated = changed('usr_2', 'editor', true);
    for (const before of [[], [invited], [invited, changed('usr_2', 'owner')], [invited, joined, operated]]) {
      given(organizationDecider, ...begun, ...before)
        .when(change('usr_1', { role: 'admin' }))
        .thenRejected('last_owner');
      given(organizationDecider, ...begun, ...before)
        .when({ type: 'removeMember', memberId: 'usr_1', keepsOperator: false, byOwner: true, byOperator: true })
        .thenRejected('last_owner');
    }
    given(organizationDecider, ...two, changed('usr_2', 'owner'))
      .when(change('usr_1', { role: 'admin' }))
      .then(changed('usr_1', 'admin', true));
  });

  it('who is the last operator stays one where the instance keeps its operators', () => {
    const before = [...two, changed('usr_2', 'owner')];
    given(organizationDecider, ...before)
      .when({ type: 'removeMember', memberId: 'usr_1', keepsOperator: true, byOwner: true, byOperator: true })
      .thenRejected('last_operator');
    given(organizationDecider, ...before)
      .when({ type: 'removeMember', memberId: 'usr_1', keepsOperator: false, byOwner: true, byOperator: true })
      .then({ type: 'member.removed', data: { id: 'usr_1', organizationId } });
    given(organizationDecider, ...before)
      .when(change('usr_1', { operator: false }))
      .thenRejected('last_operator');
  });

  it('changes the password that was checked, and no other', () => {
    const command: MemberCommand = {
      type: 'changePassword',
      memberId: 'usr_1',
      passwordHash: 'p3',
      by: 'reset',
      epoch: 0,
    };
    const event: OrganizationEvent = {
      type: 'member.password_changed',
      data: { id: 'usr_1', organizationId, passwordHash: 'p3', by: 'reset' },
    };
    given(organizationDecider, ...begun)
      .when(command)
      .then(event);
    given(organizationDecider, ...begun, event)
      .when(command)
      .thenRejected('not_found');
    given(organizationDecider, ...begun, invited)
      .when({ ...command, memberId: 'usr_2' })
      .thenRejected('not_found');
  });

  it('has a second factor from its confirmation on, and each recovery code once', () => {
    const who = { id: 'usr_1', organizationId };
    const factor: OrganizationEvent = {
      type: 'member.second_factor_begun',
      data: { ...who, secret: { $sealed: 's' }, recoveryHashes: ['a', 'b'] },
    };
    const confirmed: OrganizationEvent = { type: 'member.second_factor_confirmed', data: who };
    const used: OrganizationEvent = { type: 'member.recovery_code_used', data: { ...who, hash: 'a' } };
    const begin: MemberCommand = {
      type: 'beginSecondFactor',
      memberId: 'usr_1',
      secret: { $sealed: 's' },
      recoveryHashes: ['a', 'b'],
    };
    const confirm: MemberCommand = { type: 'confirmSecondFactor', memberId: 'usr_1' };
    const use: MemberCommand = { type: 'useRecoveryCode', memberId: 'usr_1', hash: 'a' };
    given(organizationDecider, ...begun)
      .when(confirm)
      .thenRejected('second_factor_off');
    given(organizationDecider, ...begun)
      .when(begin)
      .then(factor);
    given(organizationDecider, ...begun, factor)
      .when(confirm)
      .then(confirmed)
      .andAgainNothing();
    given(organizationDecider, ...begun, factor, confirmed)
      .when(begin)
      .thenRejected('second_factor_on');
    given(organizationDecider, ...begun, factor, confirmed)
      .when(use)
      .then(used);
    given(organizationDecider, ...begun, factor, confirmed, used)
      .when(use)
      .thenRejected('wrong_code');
    given(organizationDecider, ...begun, factor, confirmed)
      .when({ type: 'removeSecondFactor', memberId: 'usr_1' })
      .then({ type: 'member.second_factor_removed', data: who })
      .andAgainNothing();
  });

  it('of a provider joins without a password, and is linked again only after another provider', () => {
    const linked = {
      type: 'member.linked',
      data: { id: 'usr_1', organizationId, provider: 'corp', subjectHash: 's' },
    } satisfies OrganizationEvent;
    const link: MemberCommand = { type: 'linkMember', memberId: 'usr_1', provider: 'corp', subjectHash: 's' };
    given(organizationDecider, ...begun)
      .when(link)
      .then(linked)
      .andAgainNothing();
    // Found by the provider that they came by last, whichever that is.
    const byAnother: OrganizationEvent = { ...linked, data: { ...linked.data, provider: 'other', subjectHash: 't' } };
    given(organizationDecider, ...begun, linked, byAnother)
      .when(link)
      .then(linked)
      .andAgainNothing();
    given(organizationDecider, ...begun)
      .when({ type: 'signUpMember', member: identity('usr_2'), at })
      .then(
        { type: 'member.invited', data: { ...identity('usr_2'), organizationId, expiresAt: at } },
        { type: 'member.joined', data: { id: 'usr_2', organizationId, passwordHash: null } },
      );
    given(organizationDecider, ...two)
      .when({ type: 'signUpMember', member: identity('usr_2'), at })
      .thenRejected('already_exists');
  });
});

describe('an organisation', () => {
  const founded: OrganizationEvent[] = [
    { type: 'organization.created', data: { id: 'org_1', name: 'Acme', plan: 'pro', setupKeyId: null } },
    { type: 'member.invited', data: { ...identity('usr_1', 'owner'), organizationId, expiresAt } },
  ];

  it('that an operator makes begins with an owner who is invited', () => {
    const { role: _, ...first } = identity('usr_1', 'owner');
    const found = {
      type: 'foundOrganization',
      id: 'org_1',
      name: 'Acme',
      plan: 'pro',
      owner: first,
      expiresAt,
    } as const;
    given(organizationDecider)
      .when(found)
      .then(...founded);
    given(organizationDecider, ...founded)
      .when(found)
      .thenRejected('organization_exists');
  });

  it('is changed as a whole', () => {
    given(organizationDecider, ...begun)
      .when({ type: 'changeOrganization', plan: 'pro', rateLimit: 7 })
      .then({ type: 'organization.changed', data: { id: 'org_1', name: 'Acme', plan: 'pro', rateLimit: 7 } })
      .andAgainNothing();
    given(organizationDecider).when({ type: 'changeOrganization', name: 'x' }).thenRejected('not_found');
  });

  it('folds to its members as they are', () => {
    const state = [...two, changed('usr_2', 'admin')].reduce(
      (current, event) => organizationDecider.evolve(current, event),
      organizationDecider.initial,
    );
    expect(state).toMatchObject({
      members: [
        { id: 'usr_1', role: 'owner', operator: true, status: 'active', epoch: 0 },
        { id: 'usr_2', role: 'admin', operator: false, status: 'active', passwordHash: 'p2', expiresAt: null },
      ],
    });
  });
});

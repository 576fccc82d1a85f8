import { describe, expect, it } from '@jest/globals';
import { given } from '#eventing/given';
import { organizationDecider, type OrganizationEvent } from './organization.js';

const owner = { id: 'usr_1', email: { $sealed: 'x' }, emailHash: 'e', passwordHash: 'p' };
const create = {
  type: 'createOrganization',
  id: 'org_1',
  name: 'Acme',
  plan: 'enterprise',
  setupKeyId: 'key_1',
  owner,
} as const;
const created: OrganizationEvent = {
  type: 'organization.created',
  data: { id: 'org_1', name: 'Acme', plan: 'enterprise', setupKeyId: 'key_1' },
};
const added: OrganizationEvent = {
  type: 'member.added',
  data: { ...owner, organizationId: 'org_1', role: 'owner', operator: true },
};

describe('an organisation', () => {
  it('begins with its owner, in one step', () => {
    given(organizationDecider).when(create).then(created, added);
  });

  it('begins once: a second setup is refused, whatever its input', () => {
    given(organizationDecider, created, added).when(create).thenRejected('organization_exists');
    given(organizationDecider, created, added)
      .when({ ...create, owner: { ...owner, passwordHash: 'other' } })
      .thenRejected('organization_exists');
  });

  it('holds its members', () => {
    const state = [created, added].reduce(
      (current, event) => organizationDecider.evolve(current, event),
      organizationDecider.initial,
    );
    expect(state).toMatchObject({ status: 'active', setupKeyId: 'key_1', members: [{ id: 'usr_1', role: 'owner' }] });
  });
});

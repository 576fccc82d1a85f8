/** An organisation and its members. One stream each, `org-<id>`. */
import type { Plan } from '#contracts/account';
import type { AccountEvent } from '#contracts/account-events';
import type { Decider } from '#eventing/decider';
import { notFound, reject } from '#runtime/errors';
import { decideMember, evolveMembers, type Member, type MemberCommand, type MemberIdentity } from './member.js';

export type { Member } from './member.js';

export type Organization =
  | { readonly status: 'none' }
  | {
      readonly status: 'active';
      readonly id: string;
      readonly name: string;
      readonly plan: Plan;
      readonly rateLimit: number | null;
      readonly setupKeyId: string | null;
      readonly members: readonly Member[];
    };

export type OrganizationCommand =
  | {
      readonly type: 'createOrganization';
      readonly id: string;
      readonly name: string;
      readonly plan: Plan;
      readonly setupKeyId: string | null;
      readonly owner: Omit<MemberIdentity, 'role'> & { readonly passwordHash: string };
    }
  | {
      readonly type: 'foundOrganization';
      readonly id: string;
      readonly name: string;
      readonly plan: Plan;
      readonly owner: Omit<MemberIdentity, 'role'>;
      readonly expiresAt: string;
    }
  | {
      readonly type: 'changeOrganization';
      readonly name?: string | undefined;
      readonly plan?: Plan | undefined;
      readonly rateLimit?: number | null | undefined;
    }
  | MemberCommand;

export type OrganizationEvent = Extract<AccountEvent, { readonly type: `organization.${string}` | `member.${string}` }>;

export const organizationStream = (id: string): string => `org-${id}`;

export const organizationDecider: Decider<Organization, OrganizationCommand, OrganizationEvent> = {
  initial: { status: 'none' },

  evolve(state, event) {
    if (event.type === 'organization.created') {
      return { status: 'active', ...event.data, rateLimit: null, members: [] };
    }
    if (state.status === 'none') return state;
    if (event.type === 'organization.changed') {
      const { name, plan, rateLimit } = event.data;
      return { ...state, name, plan, rateLimit };
    }
    return { ...state, members: evolveMembers(state.members, event) };
  },

  decide(command, state) {
    if (command.type === 'createOrganization' || command.type === 'foundOrganization') {
      // Never a repeat: two setups share the ids but not the salt of the password, and only one owner may come of it.
      if (state.status !== 'none') throw reject('organization_exists', 'This organisation exists already.');
      const { id, name, plan } = command;
      const setupKeyId = command.type === 'createOrganization' ? command.setupKeyId : null;
      return [{ type: 'organization.created', data: { id, name, plan, setupKeyId } }, firstOwner(command)];
    }
    if (state.status === 'none') throw notFound('organisation');
    if (command.type === 'changeOrganization') {
      const { name = state.name, plan = state.plan, rateLimit = state.rateLimit } = command;
      if (name === state.name && plan === state.plan && rateLimit === state.rateLimit) return [];
      return [{ type: 'organization.changed', data: { id: state.id, name, plan, rateLimit } }];
    }
    return decideMember(command, state.members, state.id);
  },
};

type Beginning = Extract<OrganizationCommand, { readonly type: 'createOrganization' | 'foundOrganization' }>;

/** Of a setup, who looks after the instance too; else somebody who is invited. */
function firstOwner(command: Beginning): OrganizationEvent {
  const { id: organizationId } = command;
  if (command.type === 'foundOrganization') {
    const { owner, expiresAt } = command;
    return { type: 'member.invited', data: { ...owner, organizationId, role: 'owner', expiresAt } };
  }
  return { type: 'member.added', data: { ...command.owner, organizationId, role: 'owner', operator: true } };
}

/** An organisation and its members. One stream each, `org-<id>`. */
import type { AccountEvent, Plan, Role } from '#contracts/account';
import type { Decider } from '#eventing/decider';
import { reject, unreachable } from '#runtime/errors';

export interface Member {
  readonly id: string;
  readonly email: { readonly $sealed: string };
  readonly emailHash: string;
  readonly passwordHash: string;
  readonly role: Role;
}

export type Organization =
  | { readonly status: 'none' }
  | {
      readonly status: 'active';
      readonly id: string;
      readonly name: string;
      readonly plan: Plan;
      readonly setupKeyId: string | null;
      readonly members: readonly Member[];
    };

export type OrganizationCommand = {
  readonly type: 'createOrganization';
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly setupKeyId: string | null;
  readonly owner: Omit<Member, 'role'>;
};

export type OrganizationEvent = Extract<AccountEvent, { readonly type: 'organization.created' | 'member.added' }>;

export const organizationStream = (id: string): string => `org-${id}`;

export const organizationDecider: Decider<Organization, OrganizationCommand, OrganizationEvent> = {
  initial: { status: 'none' },

  evolve(state, event) {
    switch (event.type) {
      case 'organization.created':
        return { status: 'active', ...event.data, members: [] };
      case 'member.added': {
        if (state.status === 'none') return state;
        const { organizationId: _, ...member } = event.data;
        return { ...state, members: [...state.members, member] };
      }
      default:
        return unreachable(event);
    }
  },

  decide(command, state) {
    switch (command.type) {
      case 'createOrganization': {
        // Never a repeat: two setups share the ids but not the salt of the password, and only one owner may come of it.
        if (state.status !== 'none') throw reject('organization_exists', 'This organisation exists already.');
        const { id, name, plan, setupKeyId, owner } = command;
        return [
          { type: 'organization.created', data: { id, name, plan, setupKeyId } },
          { type: 'member.added', data: { ...owner, organizationId: id, role: 'owner' } },
        ];
      }
      default:
        return unreachable(command.type);
    }
  },
};

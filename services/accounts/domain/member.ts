/** A member of an organisation: invited, joined, changed, gone. Part of the organisation's stream, which keeps an owner in it. */
import type { Role } from '#contracts/account';
import type { AccountEvent } from '#contracts/account-events';
import { AppError, notFound, reject, unreachable } from '#runtime/errors';

interface Sealed {
  readonly $sealed: string;
}

export type SecondFactor =
  | { readonly state: 'off' }
  | { readonly state: 'pending' | 'on'; readonly secret: Sealed; readonly recoveryHashes: readonly string[] };

export interface MemberIdentity {
  readonly id: string;
  readonly email: Sealed;
  readonly emailHash: string;
  readonly role: Role;
}

export interface Member extends MemberIdentity {
  readonly operator: boolean;
  readonly status: 'invited' | 'active';
  /** null: none was set; a provider vouches for the member, or the invitation is open. */
  readonly passwordHash: string | null;
  /** Of the invitation; null once it was taken. */
  readonly expiresAt: string | null;
  /** Grows with each change of the password: what was made for an earlier one is no longer good. */
  readonly epoch: number;
  readonly secondFactor: SecondFactor;
  /** Of the provider that the member signed in by last: by it they are found there. */
  readonly subjectHash: string | null;
}

/** Only an owner makes an owner, or takes it from one: who administers members would else make themselves one. */
interface Rank {
  readonly byOwner: boolean;
}

export type MemberCommand =
  | ({ readonly type: 'inviteMember'; readonly member: MemberIdentity; readonly expiresAt: string } & Rank)
  | {
      readonly type: 'joinMember';
      readonly memberId: string;
      readonly passwordHash: string | null;
      readonly at: string;
      /** Of the invitation that is taken: a later one has replaced the earlier. null: a provider vouches for the member. */
      readonly expiresAt: string | null;
    }
  /** A provider vouches for somebody who was not invited. */
  | { readonly type: 'signUpMember'; readonly member: MemberIdentity; readonly at: string }
  | ({
      readonly type: 'changeMember';
      readonly memberId: string;
      readonly role?: Role | undefined;
      readonly operator?: boolean | undefined;
      /** This is where the instance has its operators: the last one stays. */
      readonly keepsOperator: boolean;
    } & Rank)
  | ({
      readonly type: 'removeMember';
      readonly memberId: string;
      readonly keepsOperator: boolean;
      readonly byOperator: boolean;
    } & Rank)
  | {
      readonly type: 'changePassword';
      readonly memberId: string;
      readonly passwordHash: string;
      readonly by: 'member' | 'reset' | 'printed_link';
      /** Of the member when the password was checked: another change in between wins. */
      readonly epoch: number;
    }
  | { readonly type: 'requestReset'; readonly memberId: string; readonly expiresAt: string }
  | {
      readonly type: 'beginSecondFactor';
      readonly memberId: string;
      readonly secret: Sealed;
      readonly recoveryHashes: readonly string[];
    }
  | { readonly type: 'confirmSecondFactor'; readonly memberId: string }
  | { readonly type: 'removeSecondFactor'; readonly memberId: string }
  | { readonly type: 'useRecoveryCode'; readonly memberId: string; readonly hash: string }
  | { readonly type: 'linkMember'; readonly memberId: string; readonly provider: string; readonly subjectHash: string };

export type MemberEvent = Extract<AccountEvent, { readonly type: `member.${string}` }>;

const off: SecondFactor = { state: 'off' };

function invited({ id, email, emailHash, role }: MemberIdentity, expiresAt: string | null): Member {
  const none = { passwordHash: null, epoch: 0, secondFactor: off, subjectHash: null };
  return { id, email, emailHash, role, operator: false, status: 'invited', expiresAt, ...none };
}

/** The member after an event that is about them; null: gone. */
function evolveMember(member: Member, event: Exclude<MemberEvent, { type: 'member.added' | 'member.invited' }>) {
  switch (event.type) {
    case 'member.joined':
      return { ...member, status: 'active' as const, expiresAt: null, passwordHash: event.data.passwordHash };
    case 'member.changed':
      return { ...member, role: event.data.role, operator: event.data.operator };
    case 'member.removed':
      return null;
    case 'member.password_changed':
      return { ...member, passwordHash: event.data.passwordHash, epoch: member.epoch + 1 };
    case 'member.reset_requested':
      return member;
    case 'member.second_factor_begun': {
      const { secret, recoveryHashes } = event.data;
      return { ...member, secondFactor: { state: 'pending' as const, secret, recoveryHashes } };
    }
    case 'member.second_factor_confirmed':
      if (member.secondFactor.state === 'off') return member;
      return { ...member, secondFactor: { ...member.secondFactor, state: 'on' as const } };
    case 'member.second_factor_removed':
      return { ...member, secondFactor: off };
    case 'member.recovery_code_used': {
      if (member.secondFactor.state === 'off') return member;
      const recoveryHashes = member.secondFactor.recoveryHashes.filter((hash) => hash !== event.data.hash);
      return { ...member, secondFactor: { ...member.secondFactor, recoveryHashes } };
    }
    case 'member.linked':
      return { ...member, subjectHash: event.data.subjectHash };
    default:
      return unreachable(event);
  }
}

export function evolveMembers(members: readonly Member[], event: MemberEvent): readonly Member[] {
  const { id } = event.data;
  if (event.type === 'member.added') {
    const { passwordHash, operator } = event.data;
    return [...members, { ...invited(event.data, null), status: 'active', passwordHash, operator }];
  }
  if (event.type === 'member.invited') {
    return [...members.filter((one) => one.id !== id), invited(event.data, event.data.expiresAt)];
  }
  return members.flatMap((one) => {
    const after = one.id === id ? evolveMember(one, event) : one;
    return after === null ? [] : [after];
  });
}

const isActiveOwner = ({ status, role }: Member): boolean => status === 'active' && role === 'owner';
const isActiveOperator = ({ status, operator }: Member): boolean => status === 'active' && operator;

/** Refuses what would leave nobody who may do what owners, or operators, do. */
function keepOne(
  members: readonly Member[],
  before: Member,
  after: Member | null,
  { keepsOperator }: { readonly keepsOperator: boolean },
): void {
  const others = members.filter(({ id }) => id !== before.id);
  const isLast = (holds: (member: Member) => boolean): boolean =>
    holds(before) && (after === null || !holds(after)) && !others.some(holds);
  if (isLast(isActiveOwner)) {
    throw reject('last_owner', 'An organisation keeps an owner: make somebody else one first.');
  }
  if (keepsOperator && isLast(isActiveOperator)) {
    throw reject('last_operator', 'The instance keeps an operator: make somebody else one first.');
  }
}

function keepRank(roles: readonly Role[], { byOwner }: Rank): void {
  if (byOwner || !roles.includes('owner')) return;
  throw new AppError('FORBIDDEN', 'owner_required', 'Only an owner may make an owner, or change or remove one.');
}

/** The events of a command on the members of the organisation. */
export function decideMember(
  command: MemberCommand,
  members: readonly Member[],
  organizationId: string,
): readonly MemberEvent[] {
  const active = (memberId: string): Member => {
    const member = members.find(({ id }) => id === memberId);
    if (member?.status !== 'active') throw notFound('member');
    return member;
  };
  switch (command.type) {
    case 'inviteMember': {
      const { member, expiresAt } = command;
      const known = members.find(({ emailHash }) => emailHash === member.emailHash);
      if (known?.status === 'active' || (known !== undefined && known.id !== member.id)) {
        throw reject('already_exists', 'There is a member with this e-mail address.', [
          { field: 'email', rule: 'unique', message: 'belongs to a member' },
        ]);
      }
      keepRank(known === undefined ? [member.role] : [member.role, known.role], command);
      return [{ type: 'member.invited', data: { ...member, organizationId, expiresAt } }];
    }
    case 'joinMember': {
      const { memberId: id, passwordHash, at, expiresAt } = command;
      const member = members.find((one) => one.id === id);
      if (member?.status !== 'invited' || member.expiresAt === null || member.expiresAt <= at) {
        throw notFound('invitation');
      }
      if (expiresAt !== null && expiresAt !== member.expiresAt) throw notFound('invitation');
      return [{ type: 'member.joined', data: { id, organizationId, passwordHash } }];
    }
    case 'signUpMember': {
      const { member, at } = command;
      const { id } = member;
      if (members.some(({ emailHash }) => emailHash === member.emailHash)) {
        throw reject('already_exists', 'There is a member with this e-mail address.');
      }
      return [
        { type: 'member.invited', data: { ...member, organizationId, expiresAt: at } },
        { type: 'member.joined', data: { id, organizationId, passwordHash: null } },
      ];
    }
    case 'changeMember': {
      const before = members.find(({ id }) => id === command.memberId);
      if (before === undefined) throw notFound('member');
      const { role = before.role, operator = before.operator } = command;
      if (role === before.role && operator === before.operator) return [];
      keepOne(members, before, { ...before, role, operator }, command);
      keepRank([before.role, role], command);
      return [{ type: 'member.changed', data: { id: before.id, organizationId, role, operator } }];
    }
    case 'removeMember': {
      const before = members.find(({ id }) => id === command.memberId);
      if (before === undefined) throw notFound('member');
      keepOne(members, before, null, command);
      keepRank([before.role], command);
      if (before.operator && !command.byOperator) {
        throw new AppError('FORBIDDEN', 'missing_scope', 'Only an operator may remove an operator.');
      }
      return [{ type: 'member.removed', data: { id: before.id, organizationId } }];
    }
    case 'changePassword': {
      const { id, epoch } = active(command.memberId);
      if (epoch !== command.epoch) throw notFound('link');
      const { passwordHash, by } = command;
      return [{ type: 'member.password_changed', data: { id, organizationId, passwordHash, by } }];
    }
    case 'requestReset': {
      const { id } = active(command.memberId);
      return [{ type: 'member.reset_requested', data: { id, organizationId, expiresAt: command.expiresAt } }];
    }
    case 'beginSecondFactor':
    case 'confirmSecondFactor':
    case 'removeSecondFactor':
    case 'useRecoveryCode':
    case 'linkMember':
      return decideProof(command, active(command.memberId), organizationId);
    default:
      return unreachable(command);
  }
}

/** How a member proves who they are besides a password. */
type ProofCommand = Extract<
  MemberCommand,
  { readonly type: `${string}SecondFactor` | 'useRecoveryCode' | 'linkMember' }
>;

function decideProof(
  command: ProofCommand,
  { id, secondFactor, subjectHash: known }: Member,
  organizationId: string,
): readonly MemberEvent[] {
  const who = { id, organizationId };
  switch (command.type) {
    case 'beginSecondFactor': {
      if (secondFactor.state === 'on') throw reject('second_factor_on', 'A second factor is on: turn it off first.');
      const { secret, recoveryHashes } = command;
      return [{ type: 'member.second_factor_begun', data: { ...who, secret, recoveryHashes: [...recoveryHashes] } }];
    }
    case 'confirmSecondFactor':
      if (secondFactor.state === 'on') return [];
      if (secondFactor.state === 'off')
        throw reject('second_factor_off', 'No second factor was begun: begin one first.');
      return [{ type: 'member.second_factor_confirmed', data: who }];
    case 'removeSecondFactor':
      return secondFactor.state === 'off' ? [] : [{ type: 'member.second_factor_removed', data: who }];
    case 'useRecoveryCode':
      if (secondFactor.state === 'off' || !secondFactor.recoveryHashes.includes(command.hash)) {
        throw new AppError('UNAUTHORIZED', 'wrong_code', 'The code is wrong, or was used before.');
      }
      return [{ type: 'member.recovery_code_used', data: { ...who, hash: command.hash } }];
    case 'linkMember': {
      const { provider, subjectHash } = command;
      if (subjectHash === known) return [];
      return [{ type: 'member.linked', data: { ...who, provider, subjectHash } }];
    }
    default:
      return unreachable(command);
  }
}

/** Runs commands on organisations and their members; each is answered once the views have reached it. */
import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import type {
  AcceptInvitationInput,
  ChangeMemberInput,
  ChangeOrganizationInput,
  ChangePasswordInput,
  FinishProviderSignIn,
  MemberInput,
  OrganizationInput,
  RemoveMemberInput,
  ResetPasswordInput,
} from '#contracts/member';
import { unreachable } from '#runtime/errors';
import { viewBehind } from './change-account.js';
import { changePassword, requestReset, resetPassword } from './change-password.js';
import { acceptInvitation, changeMember, inviteMember, removeMember, showMember } from './members.js';
import { finishProviderSignIn } from './oidc/sign-in.js';
import { changeOrganizationItself, foundOrganization } from './organizations.js';
import { askingMember, checkPasswordAgain } from './own-account.js';
import { ACCOUNT_PORTS, type AccountPorts } from './ports.js';
import { beginSecondFactor, confirmSecondFactor, removeSecondFactor, showSecondFactor } from './second-factor.js';
import { sessionIdOf, type Opened } from './sessions.js';

interface PasswordAgain {
  readonly password: string;
  readonly address: string;
}

export type MembersChange =
  | { readonly type: 'foundOrganization'; readonly input: OrganizationInput }
  | { readonly type: 'changeOrganization'; readonly input: ChangeOrganizationInput }
  | { readonly type: 'inviteMember'; readonly input: MemberInput }
  | { readonly type: 'changeMember'; readonly input: ChangeMemberInput }
  | { readonly type: 'removeMember'; readonly input: RemoveMemberInput }
  | { readonly type: 'acceptInvitation'; readonly input: AcceptInvitationInput }
  | { readonly type: 'finishProviderSignIn'; readonly input: FinishProviderSignIn }
  | { readonly type: 'changePassword'; readonly input: ChangePasswordInput }
  | { readonly type: 'requestReset'; readonly email: string }
  | { readonly type: 'resetPassword'; readonly input: ResetPasswordInput }
  | { readonly type: 'beginSecondFactor'; readonly input: PasswordAgain }
  | { readonly type: 'confirmSecondFactor'; readonly code: string }
  | { readonly type: 'removeSecondFactor'; readonly input: PasswordAgain & { readonly code: string } };

export class ChangeMembers {
  constructor(
    readonly change: MembersChange,
    readonly context: RequestContext,
  ) {}
}

@CommandHandler(ChangeMembers)
export class ChangeMembersHandler implements ICommandHandler<ChangeMembers, object> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: AccountPorts) {}

  async execute({ change, context }: ChangeMembers): Promise<object> {
    const { ports } = this;
    const { organizationId, requestId } = context;
    switch (change.type) {
      case 'foundOrganization': {
        const { position, ...founded } = await foundOrganization(ports, change.input, context);
        await ports.views.reachOrganization(position);
        return founded;
      }
      case 'changeOrganization': {
        const { organization, position } = await changeOrganizationItself(ports, change.input, context);
        await this.#reach(position);
        return organization;
      }
      case 'inviteMember': {
        const { invited, position } = await inviteMember(ports, organizationId, change.input, context);
        // Answered even where the view is late: no other answer holds the link.
        await ports.views.reachOrganization(position);
        return invited;
      }
      case 'changeMember': {
        await this.#reach((await changeMember(ports, context, change.input)).position);
        return showMember(ports, organizationId, change.input.memberId);
      }
      case 'removeMember': {
        await this.#reach(await removeMember(ports, context, change.input));
        return { id: change.input.memberId, deleted: true };
      }
      case 'acceptInvitation':
        return this.#signedIn(await acceptInvitation(ports, change.input, requestId));
      case 'finishProviderSignIn': {
        const { to, ...signedIn } = await finishProviderSignIn(ports, change.input, requestId);
        return { ...(await this.#signedIn(signedIn)), to };
      }
      case 'changePassword':
        return this.#signedIn(await changePassword(ports, change.input, requestId));
      case 'requestReset':
        requestReset(ports, change.email, requestId);
        return { sent: true };
      case 'resetPassword':
        await this.#reach(await resetPassword(ports, change.input, requestId));
        return { changed: true };
      case 'beginSecondFactor':
      case 'confirmSecondFactor':
      case 'removeSecondFactor':
        return this.#secondFactor(change, context);
      default:
        return unreachable(change);
    }
  }

  async #secondFactor(
    change: Extract<MembersChange, { readonly type: `${string}SecondFactor` }>,
    context: RequestContext,
  ): Promise<object> {
    const { ports } = this;
    const found = await askingMember(ports, context);
    switch (change.type) {
      case 'beginSecondFactor': {
        await checkPasswordAgain(ports, found, { ...change.input, field: 'password' });
        const { begun, position } = await beginSecondFactor(ports, found, context);
        await ports.views.reachOrganization(position);
        return begun;
      }
      case 'confirmSecondFactor':
        await this.#reach(await confirmSecondFactor(ports, found, change.code, context));
        break;
      case 'removeSecondFactor':
        await checkPasswordAgain(ports, found, { ...change.input, field: 'password' });
        await this.#reach(await removeSecondFactor(ports, found, change.input.code, context));
        break;
      default:
        return unreachable(change);
    }
    return showSecondFactor((await askingMember(ports, context)).member);
  }

  /** Gateways let sessions in by the members' view. */
  async #signedIn({ opened, position, organization }: Opened & { readonly organization: number | null }) {
    const { views } = this.ports;
    await Promise.all([
      views.reachOrganization(organization),
      views.reachSession(position, sessionIdOf(this.ports, opened)),
    ]);
    return opened;
  }

  async #reach(position: number | null): Promise<void> {
    if (await this.ports.views.reachOrganization(position)) return;
    throw viewBehind('It is changed, but may not be felt everywhere for another moment; read it again.');
  }
}

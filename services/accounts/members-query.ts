/** Answers questions about members and about links that people were sent. */
import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import { unreachable } from '#runtime/errors';
import { showReset } from './change-password.js';
import { listMembers, showInvitation } from './members.js';
import { beginProviderSignIn } from './oidc/sign-in.js';
import { askingMember } from './own-account.js';
import { ACCOUNT_PORTS, type AccountPorts } from './ports.js';
import { showSecondFactor } from './second-factor.js';

export type MembersQuestion =
  | { readonly type: 'listMembers'; readonly limit: number; readonly offset: number }
  | { readonly type: 'showInvitation' | 'showReset'; readonly token: string }
  | { readonly type: 'beginProviderSignIn'; readonly id: string; readonly to: string }
  | { readonly type: 'showSecondFactor' };

export class MembersQuery {
  constructor(
    readonly question: MembersQuestion,
    readonly context: RequestContext,
  ) {}
}

@QueryHandler(MembersQuery)
export class MembersQueryHandler implements IQueryHandler<MembersQuery, object> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: AccountPorts) {}

  async execute({ question, context }: MembersQuery): Promise<object> {
    const { ports } = this;
    switch (question.type) {
      case 'listMembers':
        return listMembers(ports, context.organizationId, question);
      case 'showInvitation':
        return showInvitation(ports, question.token);
      case 'showReset':
        return showReset(ports, question.token);
      case 'beginProviderSignIn':
        return beginProviderSignIn(ports, question);
      case 'showSecondFactor':
        return showSecondFactor((await askingMember(ports, context)).member);
      default:
        return unreachable(question);
    }
  }
}

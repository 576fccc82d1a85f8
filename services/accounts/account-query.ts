/** Answers questions about keys and sessions from their streams. */
import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import type { ApiKey, Session } from '#contracts/account';
import { unreachable } from '#runtime/errors';
import { ACCOUNT_PORTS, type AccountPorts } from './ports.js';
import { showSession } from './sessions.js';
import { showKey } from './show-key.js';

export type AccountQuestion =
  { readonly type: 'showKey'; readonly keyId: string } | { readonly type: 'showSession'; readonly token: string };

export class AccountQuery {
  constructor(
    readonly question: AccountQuestion,
    readonly context: RequestContext,
  ) {}
}

@QueryHandler(AccountQuery)
export class AccountQueryHandler implements IQueryHandler<AccountQuery, ApiKey | Session> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: AccountPorts) {}

  async execute({ question, context }: AccountQuery): Promise<ApiKey | Session> {
    switch (question.type) {
      case 'showKey':
        return showKey(this.ports, context.organizationId, question.keyId);
      case 'showSession':
        return showSession(this.ports, question.token);
      default:
        return unreachable(question);
    }
  }
}

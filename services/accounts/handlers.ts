/** The front door to this service's aggregates: each command is carried out, and answered once the views know of it. */
import { Inject } from '@nestjs/common';
import { CommandHandler, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import {
  keysView,
  membersView,
  organizationsView,
  sessionsView,
  type ApiKey,
  type CreatedKey,
  type KeyInput,
  type OpenedSession,
  type OpenSessionInput,
  type Session,
  type SetupAnswer,
  type SetupInput,
} from '#contracts/account';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import type { ReadStore, ViewDefinition, ViewStore } from '#read-store/read-store';
import { unavailable } from '#runtime/errors';
import { createKey } from './create-key.js';
import { showKey } from './show-key.js';
import { revokeKey } from './revoke-key.js';
import { closeSession, openSession, showSession, type SessionPorts } from './sessions.js';
import { setUpByToken, type SetupPositions } from './setup.js';

/** Ports of the handlers, put together by the module. */
export const ACCOUNT_PORTS = Symbol('AccountPorts');

export interface HandlerPorts extends SessionPorts {
  readonly readStore: ViewStore;
  readonly views: AccountViews;
}

const patienceMs = 5_000;

export interface AccountViews {
  /** Resolves once keys, organisations and members of a setup are known; false where that took too long. */
  knowSetup(positions: SetupPositions): Promise<boolean>;
  knowKey(position: number | null): Promise<boolean>;
  knowSession(position: number | null): Promise<boolean>;
}

export function createAccountViews(readStore: ReadStore): AccountViews {
  const waiterOf = (view: ViewDefinition): PositionWaiter => createPositionWaiter(readStore, view);
  const keys = waiterOf(keysView);
  const sessions = waiterOf(sessionsView);
  const organizations = [waiterOf(organizationsView), waiterOf(membersView)];
  const know = async (waiters: readonly PositionWaiter[], position: number | null): Promise<boolean> => {
    if (position === null) return true;
    const reached = await Promise.all(waiters.map((waiter) => waiter.reached(position, patienceMs)));
    return reached.every(Boolean);
  };
  return {
    async knowSetup({ organization, key }) {
      const known = await Promise.all([know(organizations, organization), know([keys], key)]);
      return known.every(Boolean);
    },
    knowKey: (position) => know([keys], position),
    knowSession: (position) => know([sessions], position),
  };
}

export class SetUp {
  constructor(
    readonly input: SetupInput,
    readonly context: RequestContext,
  ) {}
}

@CommandHandler(SetUp)
export class SetUpHandler implements ICommandHandler<SetUp, SetupAnswer> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: HandlerPorts) {}

  async execute({ input, context }: SetUp): Promise<SetupAnswer> {
    const { answer, positions } = await setUpByToken(this.ports, input, context.requestId);
    await this.ports.views.knowSetup(positions);
    return answer;
  }
}

export class CreateKey {
  constructor(
    readonly input: KeyInput,
    readonly context: RequestContext,
  ) {}
}

@CommandHandler(CreateKey)
export class CreateKeyHandler implements ICommandHandler<CreateKey, CreatedKey> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: HandlerPorts) {}

  async execute({ input, context }: CreateKey): Promise<CreatedKey> {
    const { created, position } = await createKey(this.ports, context.organizationId, input, context);
    // Answered even where the view is late: the key stands nowhere else.
    await this.ports.views.knowKey(position);
    return created;
  }
}

export class RevokeKey {
  constructor(
    readonly keyId: string,
    readonly context: RequestContext,
  ) {}
}

@CommandHandler(RevokeKey)
export class RevokeKeyHandler implements ICommandHandler<RevokeKey, void> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: HandlerPorts) {}

  async execute({ keyId, context }: RevokeKey): Promise<void> {
    const position = await revokeKey(this.ports, context.organizationId, keyId, context);
    if (await this.ports.views.knowKey(position)) return;
    throw unavailable('view_behind', 'The key is revoked, but may let requests in for another moment; try again.', 2);
  }
}

export class ShowKey {
  constructor(
    readonly keyId: string,
    readonly organizationId: string,
  ) {}
}

@QueryHandler(ShowKey)
export class ShowKeyHandler implements IQueryHandler<ShowKey, ApiKey> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: HandlerPorts) {}

  async execute({ keyId, organizationId }: ShowKey): Promise<ApiKey> {
    return showKey(this.ports, organizationId, keyId);
  }
}

export class OpenSession {
  constructor(
    readonly input: OpenSessionInput,
    readonly context: RequestContext,
  ) {}
}

@CommandHandler(OpenSession)
export class OpenSessionHandler implements ICommandHandler<OpenSession, OpenedSession> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: HandlerPorts) {}

  async execute({ input, context }: OpenSession): Promise<OpenedSession> {
    const { opened, position } = await openSession(this.ports, input, context.requestId);
    await this.ports.views.knowSession(position);
    return opened;
  }
}

export class CloseSession {
  constructor(
    readonly token: string,
    readonly context: RequestContext,
  ) {}
}

@CommandHandler(CloseSession)
export class CloseSessionHandler implements ICommandHandler<CloseSession, void> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: HandlerPorts) {}

  async execute({ token, context }: CloseSession): Promise<void> {
    if (await this.ports.views.knowSession(await closeSession(this.ports, token, context.requestId))) return;
    throw unavailable('view_behind', 'The session is closed, but may be good for another moment; try again.', 2);
  }
}

export class ShowSession {
  constructor(readonly token: string) {}
}

@QueryHandler(ShowSession)
export class ShowSessionHandler implements IQueryHandler<ShowSession, Session> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: HandlerPorts) {}

  async execute({ token }: ShowSession): Promise<Session> {
    return showSession(this.ports, token);
  }
}

/** Runs commands on the setup, on keys and on sessions; each is answered once the views have reached it. */
import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import type { KeyInput, OpenSessionInput, RevealKeyInput, RotateKeyInput, SetupInput } from '#contracts/account';
import type { ActivityEvent } from '#contracts/activity';
import { unavailable, unreachable } from '#runtime/errors';
import { createKey } from './create-key.js';
import { ACCOUNT_PORTS, type AccountPorts } from './ports.js';
import { recordActivity } from './record-activity.js';
import { revealKey } from './reveal-key.js';
import { revokeKey } from './revoke-key.js';
import { rotateKey } from './rotate-key.js';
import { closeSession, openSession, rotateSession, sessionIdOf } from './sessions.js';
import { setUpByToken } from './setup.js';

export type AccountChange =
  | { readonly type: 'setUp'; readonly input: SetupInput }
  | { readonly type: 'createKey'; readonly input: KeyInput }
  | { readonly type: 'revokeKey'; readonly keyId: string }
  | { readonly type: 'rotateKey'; readonly input: RotateKeyInput }
  | { readonly type: 'revealKey'; readonly input: RevealKeyInput }
  | { readonly type: 'recordActivity'; readonly activity: ActivityEvent }
  | { readonly type: 'openSession'; readonly input: OpenSessionInput }
  | { readonly type: 'rotateSession'; readonly token: string }
  | { readonly type: 'closeSession'; readonly token: string };

export class ChangeAccount {
  constructor(
    readonly change: AccountChange,
    readonly context: RequestContext,
  ) {}
}

@CommandHandler(ChangeAccount)
export class ChangeAccountHandler implements ICommandHandler<ChangeAccount, object> {
  constructor(@Inject(ACCOUNT_PORTS) private readonly ports: AccountPorts) {}

  async execute({ change, context }: ChangeAccount): Promise<object> {
    const { ports } = this;
    const { organizationId, requestId } = context;
    switch (change.type) {
      case 'setUp': {
        const { answer, positions } = await setUpByToken(ports, change.input, requestId);
        await ports.views.reachSetup(positions);
        return answer;
      }
      case 'createKey': {
        const { created, position } = await createKey(ports, organizationId, change.input, context);
        // Answered even where the view cannot be had: no other answer holds the key.
        await ports.views.reachKey(position, created.id);
        return created;
      }
      case 'revokeKey': {
        const position = await revokeKey(ports, organizationId, change.keyId, context);
        if (await ports.views.reachKey(position, change.keyId)) return { id: change.keyId, deleted: true };
        throw viewBehind('The key is revoked, but may let requests in for another moment; try again.');
      }
      case 'rotateKey': {
        const { created, position } = await rotateKey(ports, change.input, context);
        await ports.views.reachKey(position, created.id, change.input.keyId);
        return created;
      }
      case 'recordActivity':
        return { position: await recordActivity(ports, change.activity, context) };
      case 'revealKey':
        return revealKey(ports, change.input, context);
      case 'openSession': {
        const { opened, position } = await openSession(ports, change.input, requestId);
        await ports.views.reachSession(position, sessionIdOf(ports, opened));
        return opened;
      }
      case 'rotateSession': {
        const { opened, position } = await rotateSession(ports, change.token, requestId);
        await ports.views.reachSession(position, sessionIdOf(ports, opened));
        return opened;
      }
      case 'closeSession': {
        const position = await closeSession(ports, change.token, requestId);
        if (await ports.views.reachSession(position)) return { closed: true };
        throw viewBehind('The session is closed, but may be good for another moment; try again.');
      }
      default:
        return unreachable(change);
    }
  }
}

export const viewBehind = (message: string) => unavailable('view_behind', message, 2);

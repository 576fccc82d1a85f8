/** From a notification to what is to be sent: templates are rendered, code of the user's own is run. */
import {
  refusal,
  type BuildContext,
  type HttpBatch,
  type Mail,
  type NothingToSend,
  type OpenNotification,
  type ScriptFirst,
} from '#channels/channel';
import { channels } from '#channels/channels';
import type { ActionType } from '#channels/declarations';
import type { PeerOutgoing } from '#channels/peer';
import type { Clock } from '#runtime/clock';
import { AppError } from '#runtime/errors';
import { defaultSandboxLimits, type Sandbox, type SandboxLimits } from '#sandbox/sandbox';
import type { MessageBuilder } from './message-builder.js';

export interface OutgoingOptions {
  readonly sandbox: Sandbox;
  readonly builder: Pick<MessageBuilder, 'build'>;
  readonly clock: Clock;
  readonly mailFrom: string;
  readonly sandboxLimits?: SandboxLimits;
}

export type Outgoing = HttpBatch | Mail | PeerOutgoing | NothingToSend;

/** What earlier messages and tries were given by the receiver. */
export type Earlier = Required<Pick<BuildContext, 'opened' | 'receipts'>>;
export const nothingEarlier: Earlier = { opened: null, receipts: [] };

export type MakeOutgoing = (
  type: ActionType,
  notification: OpenNotification,
  linkBase: string,
  earlier?: Earlier,
) => Promise<Outgoing>;

export function createOutgoing({ sandbox, builder, clock, mailFrom, sandboxLimits }: OutgoingOptions): MakeOutgoing {
  const limits = sandboxLimits ?? defaultSandboxLimits;

  const runScript = async (method: string, { script, finish }: ScriptFirst): Promise<HttpBatch | NothingToSend> => {
    const checked = await sandbox.check(script.code);
    if (checked.ok) return finish(await sandbox.runScript({ ...script, form: checked.form, limits }));
    const { line, column, message } = checked;
    return refusal({ method, url: '' }, 'syntax_error', `Line ${line}, column ${column}: ${message}`);
  };

  return async (type, notification, linkBase, earlier = nothingEarlier) => {
    const context = { nowMs: clock.now(), linkBase, mailFrom, ...earlier };
    const built = await builder.build(type, notification, context);
    return built.kind === 'script' ? runScript(channels[type].method, built) : built;
  };
}

/** A template that cannot be rendered, a key that was dropped: the same on every try. */
export function isFinal(error: unknown): error is AppError {
  return error instanceof AppError && ['template_failed', 'secret_unreadable'].includes(error.reason);
}

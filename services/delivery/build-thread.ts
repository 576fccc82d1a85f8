/** The thread in which messages are built whose texts are templates: it can be ended in the middle of one. */
import type { Mail, HttpBatch, NothingToSend, OpenNotification } from '#channels/channel';
import type { ActionType } from '#channels/declarations';
import type { PeerOutgoing } from '#channels/peer';
import { answerRequests } from '#concurrency/answer-requests';
import { AppError } from '#runtime/errors';
import { buildMessage, type MessageContext } from './build-message.js';

export interface BuildRequest {
  readonly type: ActionType;
  readonly notification: OpenNotification;
  readonly context: MessageContext;
}

/** What is built of templates alone is data; a channel that runs code has none. */
export type BuiltMessage = HttpBatch | Mail | PeerOutgoing | NothingToSend;

export type BuildReply =
  | { readonly ok: true; readonly built: BuiltMessage }
  /** `reason` null: not an error of the template. */
  | { readonly ok: false; readonly reason: string | null; readonly message: string };

answerRequests<BuildRequest, BuildReply>(({ type, notification, context }) => {
  try {
    const built = buildMessage(type, notification, context);
    return built.kind === 'script'
      ? { ok: false, reason: null, message: `${type} runs code and has no templates` }
      : { ok: true, built };
  } catch (error) {
    if (error instanceof AppError) return { ok: false, reason: error.reason, message: error.message };
    return { ok: false, reason: null, message: String(error) };
  }
});

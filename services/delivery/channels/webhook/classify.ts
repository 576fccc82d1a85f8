/** Webhook: 410 says that the receiver is gone for good; everything else means what it means for any HTTP answer. */
import type { OutboundAnswer, OutboundFailure } from '#outbound/outbound';
import type { Verdict } from '../channel.js';
import { classifyHttp } from '../http-answer.js';

/** The reason that also disables the action. */
export const goneReason = 'gone';

export function classifyWebhook(answer: OutboundAnswer | OutboundFailure, nowMs: number): Verdict {
  const verdict = classifyHttp(answer, nowMs);
  if (!answer.ok || answer.status !== 410) return verdict;
  return {
    state: 'refused',
    reason: goneReason,
    message: 'The receiver answered 410: it is gone for good, and the action was disabled.',
    response: verdict.response,
    unreachable: false,
  };
}

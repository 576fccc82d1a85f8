/** Webhook: 410 says that the receiver is gone for good; everything else means what it means for any HTTP answer. */
import type { HttpAnswer, Verdict } from '../channel.js';
import { classifyHttp, gone } from '../http-answer.js';

export function classifyWebhook(answer: HttpAnswer, nowMs: number): Verdict {
  const verdict = classifyHttp(answer, nowMs);
  return answer.ok && answer.status === 410
    ? gone(verdict, 'The receiver answered 410: it is gone for good, and the action was disabled.')
    : verdict;
}

/** Discord: what the answers of a webhook mean. Errors have a `code` of Discord's own in addition to the status. */
import type { HttpAnswer, Verdict } from '../channel.js';
import { answerObject, classifyHttp, gone, notBefore, unexpectedAnswer } from '../http-answer.js';

const unknownWebhook = 10015;
const invalidToken = 50027;
/** Where neither header nor body says when, as in the answers of the network in front of Discord. */
const shortWaitMs = 60_000;
const longestWaitSeconds = 86_400;

export function classifyDiscord(answer: HttpAnswer, nowMs: number): Verdict {
  const verdict = classifyHttp(answer, nowMs);
  if (!answer.ok) return verdict;
  const { status } = answer;
  const body = answerObject(verdict);
  if (verdict.state === 'delivered') {
    return status === 204 || typeof body?.['id'] === 'string'
      ? verdict
      : unexpectedAnswer(verdict, `The receiver answered ${status}, but not as Discord does.`);
  }
  const code = body?.['code'];
  if (status === 401 || code === invalidToken || (status === 404 && code === unknownWebhook)) {
    return gone(verdict, `Discord answered ${status}: the webhook is gone, and the action was disabled.`);
  }
  if (status !== 429 || verdict.state !== 'retry') return verdict;
  const seconds = body?.['retry_after'];
  const isTime = typeof seconds === 'number' && seconds >= 0 && seconds <= longestWaitSeconds;
  // The body says it to the millisecond, the header in whole seconds.
  if (isTime) return notBefore(verdict, Math.ceil(seconds * 1_000));
  return verdict.retryAfterMs === null ? notBefore(verdict, shortWaitMs) : verdict;
}

/** ntfy: what a server's answers mean. Its errors have a code of five digits, the first three of them the status. */
import type { HttpAnswer, Verdict } from '../channel.js';
import { answerObject, classifyHttp, gone, notBefore, unexpectedAnswer } from '../http-answer.js';

/** Quotas of a day, renewed at 00:00 UTC: bandwidth, messages. */
const quotasOfTheDay: ReadonlySet<unknown> = new Set([42905, 42908]);
const dayMs = 86_400_000;
/** No Retry-After is sent; a request comes back every 5 s. */
const shortWaitMs = 60_000;
/** A topic of UnifiedPush to which nobody subscribes. */
const noSubscriberStatus = 507;
const longWaitMs = 3_600_000;

export function classifyNtfy(answer: HttpAnswer, nowMs: number): Verdict {
  const verdict = classifyHttp(answer, nowMs);
  if (!answer.ok) return verdict;
  const { status } = answer;
  const body = answerObject(verdict);
  if (verdict.state === 'delivered') {
    return typeof body?.['id'] === 'string'
      ? verdict
      : unexpectedAnswer(verdict, `The receiver answered ${status}, but not as an ntfy server does: check serverUrl.`);
  }
  switch (status) {
    case 401:
    case 403:
      return gone(verdict, `ntfy answered ${status}: it does not let this action publish, which was disabled.`);
    case 429: {
      const isForToday = quotasOfTheDay.has(body?.['code']);
      return notBefore(verdict, isForToday ? dayMs - (nowMs % dayMs) : shortWaitMs);
    }
    case noSubscriberStatus:
      return notBefore(verdict, longWaitMs);
    default:
      return verdict;
  }
}

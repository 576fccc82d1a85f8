/** What an HTTP answer means for a message: arrived, to be tried again, or refused for good. */
import { retryAfterMs } from '#concurrency/retry-after';
import { goneReason, type HttpAnswer, type Verdict } from './channel.js';

/** Client errors that may pass: timeout, too early, too many. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);
/** Failures of the address itself: it will not get better by waiting. */
const finalFailures: ReadonlySet<string> = new Set(['address_denied', 'invalid_url']);
/** Our own doing, or an answer that came but could not be read: the receiver is there. */
const reachedFailures: ReadonlySet<string> = new Set(['aborted', 'too_large', 'bad_encoding', ...finalFailures]);

export function classifyHttp(answer: HttpAnswer, nowMs: number): Verdict {
  if (!answer.ok) {
    const { reason, message } = answer;
    return finalFailures.has(reason)
      ? { state: 'refused', reason, message, response: null, unreachable: false }
      : {
          state: 'retry',
          reason,
          message,
          retryAfterMs: null,
          response: null,
          unreachable: !reachedFailures.has(reason),
        };
  }
  const { status } = answer;
  const reached = { response: { status, body: new TextDecoder().decode(answer.body) }, unreachable: false };
  if (status >= 200 && status < 300) return { state: 'delivered', ...reached };
  const retryAfter = retryAfterMs(answer.headers['retry-after'], nowMs);
  if (status >= 300 && status < 400) {
    const message = `The receiver answered ${status}: redirects are not followed. Set the final address.`;
    return { state: 'retry', reason: 'redirected', message, retryAfterMs: retryAfter, ...reached };
  }
  const message = `The receiver answered ${status}.`;
  if (status >= 400 && status < 500 && !passingStatuses.has(status))
    return { state: 'refused', reason: 'http_status', message, ...reached };
  return { state: 'retry', reason: 'http_status', message, retryAfterMs: retryAfter, ...reached };
}

/** The verdict on an answer that says that the address or the credential is dead: it also disables the action. */
export function gone({ response }: Verdict, message: string): Verdict {
  return { state: 'refused', reason: goneReason, message, response, unreachable: false };
}

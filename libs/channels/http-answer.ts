/** What an HTTP answer means for a message: arrived, to be tried again, or refused for good. */
import { retryAfterMs } from '#concurrency/retry-after';
import { isJsonObject, type JsonObject } from '#runtime/json';
import { goneReason, type HttpAnswer, type Verdict } from './channel.js';

/** Client errors that may pass: timeout, too early, too many. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);
/** Failures of the address itself: it will not get better by waiting. */
const finalFailures: ReadonlySet<string> = new Set(['address_denied', 'invalid_url']);
/** Our own doing, or an answer that came but could not be read: the receiver is there. */
const reachedFailures: ReadonlySet<string> = new Set(['aborted', 'too_large', 'bad_encoding', ...finalFailures]);

/** A receiver that asks for more is asked daily: it may have meant something else, and messages live for up to a week. */
const longestWaitMs = 86_400_000;

/** For how long the receiver asks to be left alone, a day at most; null: it does not. */
export function askedWaitMs(header: string | undefined, nowMs: number): number | null {
  const asked = retryAfterMs(header, nowMs);
  return asked === null ? null : Math.min(asked, longestWaitMs);
}

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
  const retryAfter = askedWaitMs(answer.headers['retry-after'], nowMs);
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

/** The body where it is one JSON object: what vendors say beyond the status. */
export function answerObject({ response }: Verdict): JsonObject | null {
  try {
    const body: unknown = JSON.parse(response?.body ?? '');
    return isJsonObject(body) ? body : null;
  } catch {
    return null;
  }
}

/** A success that is not the vendor's own, such as the page of a proxy: nothing says that the message arrived. */
export function unexpectedAnswer({ response }: Verdict, message: string): Verdict {
  return { state: 'retry', reason: 'unexpected_answer', message, retryAfterMs: null, response, unreachable: false };
}

/** A verdict to try again, no sooner than after `ms`; any other as it is. */
export function notBefore(verdict: Verdict, ms: number): Verdict {
  return verdict.state === 'retry' ? { ...verdict, retryAfterMs: Math.max(verdict.retryAfterMs ?? 0, ms) } : verdict;
}

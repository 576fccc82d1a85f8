/** What an HTTP answer means for a message: arrived, to be tried again, or refused for good. */
import type { OutboundAnswer, OutboundFailure } from '#outbound/outbound';
import type { Verdict } from './channel.js';

/** Client errors that may pass: timeout, too early, too many. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);
/** Failures of the address itself: it will not get better by waiting. */
const finalFailures: ReadonlySet<string> = new Set(['address_denied', 'invalid_url']);
/** Our own doing, or an answer that came but could not be read: the receiver is there. */
const reachedFailures: ReadonlySet<string> = new Set(['aborted', 'too_large', 'bad_encoding', ...finalFailures]);

/** Seconds or an HTTP date; null where there is none or it cannot be read. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^[0-9]{1,12}$/.test(text)) return Number(text) * 1_000;
  const dateMs = /^[A-Za-z]{3},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}

export function classifyHttp(answer: OutboundAnswer | OutboundFailure, nowMs: number): Verdict {
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
  const response = { status, body: new TextDecoder().decode(answer.body) };
  const told = { response, unreachable: false };
  if (status >= 200 && status < 300) return { state: 'delivered', ...told };
  const retryAfter = retryAfterMs(answer.headers['retry-after'], nowMs);
  if (status >= 300 && status < 400) {
    const message = `The receiver answered ${status}: redirects are not followed. Set the final address.`;
    return { state: 'retry', reason: 'redirected', message, retryAfterMs: retryAfter, ...told };
  }
  const message = `The receiver answered ${status}.`;
  if (status >= 400 && status < 500 && !passingStatuses.has(status))
    return { state: 'refused', reason: 'http_status', message, ...told };
  return { state: 'retry', reason: 'http_status', message, retryAfterMs: retryAfter, ...told };
}

/** E-mail: what a mail server's answers mean, recipient by recipient. */
import type { MailAnswer, PartVerdict, Verdict } from '../channel.js';

/** RFC 5321: every 5yz is for good, but 503 says that the session was out of step, not that the message is unwanted. */
function isFinal(code: number): boolean {
  return code >= 500 && code < 600 && code !== 503;
}

function verdictOfCode(code: number | null, text: string): Verdict {
  const response = code === null ? null : { status: code, body: text };
  const message = code === null ? text : `The mail server answered ${code}.`;
  // Without a code the client found the address or the message unfit: the same would happen again.
  return code === null || isFinal(code)
    ? { state: 'refused', reason: 'smtp_refused', message, response, unreachable: false }
    : { state: 'retry', reason: 'smtp_deferred', message, retryAfterMs: null, response, unreachable: false };
}

/**
 * One mail goes to all recipients at once. Those the server takes are settled and not sent again; those it puts off are
 * tried again by themselves; those it refuses are settled as refused. A refused login is the operator's to mend, so it is
 * tried again although its code says for good.
 */
export function classifyMail(
  answer: MailAnswer,
  recipients: readonly { part: number; address: string }[],
): PartVerdict[] {
  if (answer.kind === 'not_taken' && answer.about !== 'message') {
    const { reason, code, text, about } = answer;
    const verdict: Verdict = {
      state: 'retry',
      reason,
      message:
        about === 'login'
          ? 'The mail server refused the login; the operator has to check SMTP_URL.'
          : code === null
            ? text
            : `The mail server answered ${code}.`,
      retryAfterMs: null,
      response: code === null ? null : { status: code, body: text },
      unreachable: about === 'connection' && code === null && reason !== 'aborted',
    };
    return recipients.map(({ part }) => ({ part, verdict }));
  }
  return recipients.map(({ part, address }) => {
    const refused = answer.refused.find((one) => one.address === address);
    if (refused !== undefined) return { part, verdict: verdictOfCode(refused.code, refused.text) };
    if (answer.kind === 'not_taken') return { part, verdict: verdictOfCode(answer.code, answer.text) };
    const response = { status: 250, body: answer.text };
    return { part, verdict: { state: 'delivered', response, unreachable: false } };
  });
}

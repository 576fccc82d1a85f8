/** E-mail: what a mail server's answers mean, recipient by recipient. */
import type { MailAnswer, PartVerdict, Verdict } from '../channel.js';
import { saidWith, withoutMailboxes } from './server-words.js';

/** RFC 5321: every 5yz is for good, but 503 says that the session was out of step, not that the message is unwanted. */
function isFinal(code: number): boolean {
  return code >= 500 && code < 600 && code !== 503;
}

/** The enhanced status of RFC 3463 in a reply, such as `5.1.1`. null: it has none that agrees with its code. */
function enhancedStatus(code: number, text: string): string | null {
  const found = /(?:^|[\s-])([245])\.([0-9]{1,3})\.([0-9]{1,3})(?=\s|$)/.exec(text);
  return found !== null && Number(found[1]) === Math.floor(code / 100) ? `${found[2]}.${found[3]}` : null;
}

/** There is no such mailbox, or none any more. */
const deadMailbox: ReadonlySet<string> = new Set(['1.1', '1.2', '1.3', '1.6', '1.10', '2.1']);
/** Final by their code, and yet they pass: a full mailbox, a server that takes nothing now. */
const passing: ReadonlySet<string> = new Set(['2.2', '3.2']);
const tooLarge: ReadonlySet<string> = new Set(['2.3', '3.4']);
/** Servers that put off an unknown sender take it after some minutes. */
const greylistedMs = 300_000;

function reasonOf(code: number, status: string | null): string {
  if (status !== null && deadMailbox.has(status)) return 'mailbox_gone';
  if (status === '2.2' || (code === 452 && status === null)) return 'mailbox_full';
  if (code === 552 || (status !== null && tooLarge.has(status))) return 'mail_too_large';
  if (status?.startsWith('7.') === true) return 'mail_policy';
  return isFinal(code) ? 'smtp_refused' : 'smtp_deferred';
}

function responseOf(code: number, text: string): { readonly status: number; readonly body: string } {
  return { status: code, body: withoutMailboxes(text) };
}

function verdictOfCode(code: number | null, text: string): Verdict {
  if (code === null) {
    // The client found the address or the message unfit: the same would happen again.
    const message = withoutMailboxes(text);
    return { state: 'refused', reason: 'smtp_refused', message, response: null, unreachable: false };
  }
  const status = enhancedStatus(code, text);
  const response = responseOf(code, text);
  const reason = reasonOf(code, status);
  const message = `The mail server ${saidWith(code, status, text)}`;
  if (isFinal(code) && !(status !== null && passing.has(status))) {
    return { state: 'refused', reason, message, response, unreachable: false };
  }
  const isGreylisted = code < 500 && (status === '7.1' || code === 450 || code === 451);
  const retryAfterMs = isGreylisted ? greylistedMs : null;
  return { state: 'retry', reason, message, retryAfterMs, response, unreachable: false };
}

/**
 * One mail goes to all recipients at once. Those the server takes are settled and not sent again; those it puts off are
 * tried again by themselves; those it refuses are settled as refused. A refused login is the operator's to mend, so it is
 * tried again although its code says for good. What is not about the mail opens the breaker of the server.
 */
export function classifyMail(
  answer: MailAnswer,
  recipients: readonly { part: number; address: string }[],
): PartVerdict[] {
  if (answer.kind === 'not_taken' && answer.about !== 'message') {
    const { reason, code, text, about } = answer;
    const said = code === null ? null : saidWith(code, enhancedStatus(code, text), text);
    const login = `The mail server refused the login; the operator has to check SMTP_URL.${said === null ? '' : ` It ${said}`}`;
    const verdict: Verdict = {
      state: 'retry',
      reason,
      message: about === 'login' ? login : said === null ? text : `The mail server ${said}`,
      retryAfterMs: null,
      response: code === null ? null : responseOf(code, text),
      // It would say the same of every mail: each would use up attempts, and a login that is tried too often is locked.
      unreachable: reason !== 'aborted',
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

/** A mail to its recipients: each gets one of its own, so that what becomes of one says nothing of another. */
import type { MailAnswer, MailChannel, MailOutgoing, PartVerdict } from '#channels/channel';
import { mailSummary } from '#channels/summary';
import { createSemaphore } from '#concurrency/semaphore';
import { defaultSmtpTimeouts, type Mailer } from '#mail/smtp';
import { isOpen, type Transmission } from './transmission.js';

export interface MailSending {
  readonly mailer: Mailer;
  /** Where a recipient stops these mails by one click. */
  readonly unsubscribeUrlOf: (address: string) => string;
  /** Has done so. */
  readonly hasLeft: (address: string) => boolean;
}

/** Mails of one delivery on their way at once. */
const atOnce = 4;

/** The server itself takes nothing now: the other recipients would wait for the same answer. */
function isOfServer(answer: MailAnswer): boolean {
  return answer.kind === 'not_taken' && answer.about !== 'message';
}

export function mailTransmission(
  { classify }: MailChannel,
  { mailer, unsubscribeUrlOf, hasLeft }: MailSending,
  mail: MailOutgoing,
): Transmission {
  const summary = mailSummary(mail.recipients);
  const rounds = 1 + Math.ceil(Math.max(0, mail.recipients.length - 1) / atOnce);
  const sendTo = (address: string, signal: AbortSignal): Promise<MailAnswer> =>
    mailer.send({ ...mail, unsubscribeUrl: unsubscribeUrlOf(address) }, [address], signal);
  return {
    receiver: `smtp ${mailer.server}`,
    summary,
    timeoutMs: rounds * defaultSmtpTimeouts.totalMs,
    parts: () => mail.recipients.length,
    partName: 'recipient',
    summaryOf: () => summary,
    async transmit(settled, signal) {
      const verdicts: PartVerdict[] = [];
      const open = mail.recipients.flatMap((address, part) => {
        if (!isOpen(part, settled)) return [];
        if (!hasLeft(address)) return [{ part, address }];
        // Nothing is owed to who has left.
        verdicts.push({ part, verdict: { state: 'delivered', response: null, unreachable: false } });
        return [];
      });
      const [first, ...others] = open;
      if (first === undefined) return verdicts;
      const answer = await sendTo(first.address, signal);
      if (isOfServer(answer)) return [...verdicts, ...classify(answer, open)];
      verdicts.push(...classify(answer, [first]));
      const slots = createSemaphore(atOnce);
      const answered = await Promise.all(
        others.map((one) => slots.run(async () => classify(await sendTo(one.address, signal), [one]))),
      );
      return [...verdicts, ...answered.flat()];
    },
  };
}

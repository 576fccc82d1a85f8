/**
 * Mails to people: invitations and links for a new password. They are sent beside the answer to a request, so that nobody sees
 * by its time whether there was anybody to write to. A mail that does not arrive is asked for again by its receiver.
 */
import { randomUUID } from 'node:crypto';
import type { MailOutgoing } from '#channels/channel';
import { parseMailFrom } from '#channels/email/build';
import { createSemaphore } from '#concurrency/semaphore';
import type { Mailer } from '#mail/smtp';
import { toTimestamp, type Clock } from '#runtime/clock';
import type { Logger } from '#runtime/logger';

export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface PostOffice {
  /** Whether there is a mail server. */
  readonly isOpen: boolean;
  /** Goes on beside the caller; what `write` and the mail server reject with is logged. `about`: for the log, no address. */
  send(about: string, write: () => Promise<readonly Letter[]>): void;
  /** What is under way is finished, or given up after a time. */
  close(): Promise<void>;
}

const atOnce = 2;
/** More letters than this wait for the mail server: those behind them are not sent. */
const mostWaiting = 200;
const closingMs = 10_000;

function mailOf({ to, subject, text }: Letter, mailFrom: string, nowMs: number): MailOutgoing {
  const from = parseMailFrom(mailFrom);
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  const receivers = { replyTo: null, to: [to], cc: [], recipients: [to] };
  return {
    messageId: `${randomUUID()}@${domain}`,
    from,
    ...receivers,
    subject,
    text,
    html: null,
    sentAt: toTimestamp(nowMs),
  };
}

export function createPostOffice(
  mailer: Mailer | null,
  { mailFrom, clock, logger }: { readonly mailFrom: string; readonly clock: Clock; readonly logger: Logger },
): PostOffice {
  const semaphore = createSemaphore(atOnce);
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();

  const deliver = async (about: string, write: () => Promise<readonly Letter[]>): Promise<void> => {
    try {
      for (const letter of await write()) {
        const answer = await mailer?.send(mailOf(letter, mailFrom, clock.now()), [letter.to], closing.signal);
        if (answer === undefined || (answer.kind === 'taken' && answer.accepted.length > 0)) continue;
        const reason = answer.kind === 'taken' ? 'smtp_refused' : answer.reason;
        logger.warn({ about, reason }, 'a mail to a person was not taken by the mail server');
      }
    } catch (error) {
      logger.warn({ about, error: String(error) }, 'a mail to a person could not be written');
    }
  };

  return {
    isOpen: mailer !== null,

    send(about, write) {
      if (closing.signal.aborted || semaphore.waiting >= mostWaiting) {
        logger.warn({ about }, 'too many mails to people are waiting: this one is not sent');
        return;
      }
      const sending = semaphore.run(() => deliver(about, write)).finally(() => underWay.delete(sending));
      underWay.add(sending);
    },

    async close() {
      const late = setTimeout(() => closing.abort(), closingMs);
      await Promise.all(underWay);
      clearTimeout(late);
      closing.abort();
      mailer?.close();
    },
  };
}

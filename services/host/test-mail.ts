/** One mail by the mail server of the settings, as an e-mail action would send it: beside a running server or without one. */
import { randomUUID } from 'node:crypto';
import type { MailAnswer } from '#channels/channel';
import { parseMailFrom } from '#channels/email/build';
import { ConfigError, type Config } from '#runtime/config';
import { createMailer } from '#mail/smtp';
import { openOutbound } from './page-parts.js';

/** Rejects with `ConfigError` where there is no mail server. */
export async function sendTestMail(config: Config, to: string): Promise<MailAnswer> {
  if (config.smtpUrl === null) throw new ConfigError(['SMTP_URL: must be set to send mail.']);
  const from = parseMailFrom(config.mailFrom);
  const outbound = await openOutbound(config);
  const mailer = createMailer(config.smtpUrl, outbound, {
    insecureOk: config.insecureOk,
    authorities: config.egressAuthorities,
    dkim: config.dkim,
  });
  const [, domain = 'localhost'] = from.address.split('@');
  const mail = {
    messageId: `${randomUUID()}@${domain}`,
    from,
    replyTo: null,
    to: [to],
    cc: [],
    recipients: [to],
    subject: 'A test mail from Meerkat',
    text: 'The mail server of this Meerkat took this mail, and it arrived here. Nothing has happened otherwise.\n',
    html: null,
    sentAt: new Date().toISOString(),
  };
  try {
    return await mailer.send(mail, [to], new AbortController().signal);
  } finally {
    mailer.close();
    await outbound.close();
  }
}

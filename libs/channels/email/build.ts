/** E-mail: a notification as one mail to all recipients of the action. */
import type { z } from 'zod';
import { escapeHeader, renderTemplate } from '#templates/templates';
import { mailChannel, type BuildContext, type Mail, type Notification } from '../channel.js';
import { plainTextOf, variablesOf } from '../message.js';
import { htmlOf } from './html.js';
import { classifyMail } from './classify.js';
import { emailDeclaration, mailAddress } from './declaration.js';

const longestSubject = 500;
const fallbackFrom = { name: 'Meerkat', address: 'meerkat@localhost' };

/** `Name <name@example.com>` or a plain address, set by the operator; anything else is not used. */
export function parseMailFrom(text: string): { name: string; address: string } {
  const [, name = '', bracketed] = /^\s*"?([^"<>]*?)"?\s*<([^<>\s]+)>\s*$/.exec(text) ?? [];
  const address = bracketed ?? text.trim();
  return mailAddress.safeParse(address).success ? { name: escapeHeader(name), address } : fallbackFrom;
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** Each mailbox once, whatever the case of its domain; places stay the same from try to try. */
function unique(addresses: readonly string[]): string[] {
  const seen = new Map<string, string>();
  for (const address of addresses) {
    const at = address.lastIndexOf('@');
    const key = address.slice(0, at) + address.slice(at).toLowerCase();
    if (!seen.has(key)) seen.set(key, address);
  }
  return [...seen.values()];
}

/** Mail is lines of text: other control characters would be refused or cut by servers on the way. */
function lines(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b-\u000c\u000e-\u001f\u007f]/g, '');
}

/** A mail program would decode `=?utf-8?…?=` (RFC 2047), which a page may have put there to look like something else. */
function withoutEncodedWords(subject: string): string {
  return subject.replaceAll('=?', '= ?');
}

function buildMail(
  config: z.output<typeof emailDeclaration.config>,
  request: Notification,
  { linkBase, mailFrom, chart = null }: BuildContext,
): Mail {
  const { subject, body, format = 'text', replyTo } = config;
  const [to, cc, bcc] = [listOf(config.to), listOf(config.cc), listOf(config.bcc)];
  const variables = variablesOf(request, linkBase);
  const from = parseMailFrom(mailFrom);
  const marked = request.kind === 'test' ? `[Test] ${subject}` : subject;
  const plain = plainTextOf(request, linkBase);
  const isHtml = format === 'html' && body !== undefined;
  const html = isHtml ? renderTemplate(body, variables, 'html') : null;
  const ownHtml = body === undefined ? htmlOf(request, linkBase, chart !== null) : html;
  const messageIdOf = (deliveryId: string): string =>
    `${deliveryId}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`;
  return {
    kind: 'mail',
    mail: {
      messageId: messageIdOf(request.deliveryId),
      inReplyTo: request.openedBy === undefined ? null : messageIdOf(request.openedBy),
      from,
      replyTo: replyTo ?? null,
      to,
      cc,
      recipients: unique([...to, ...cc, ...bcc]),
      subject: withoutEncodedWords(renderTemplate(marked, variables, 'header')).slice(0, longestSubject),
      text: lines(body === undefined || isHtml ? plain : renderTemplate(body, variables, 'text')),
      html: ownHtml === null ? null : lines(ownHtml),
      // The user's own HTML shows it where it asks for it.
      picture: ownHtml?.includes('cid:chart') === true ? chart : null,
      sentAt: request.createdAt,
    },
  };
}

export const email = mailChannel(emailDeclaration, buildMail, classifyMail);

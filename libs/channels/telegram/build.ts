/** Telegram: a notification as one message of a bot; later ones of an episode answer the first. */
import type { z } from 'zod';
import { picturePart } from '../binary-body.js';
import { httpChannel, type BuildContext, type HttpBatch, type HttpOutgoing, type Notification } from '../channel.js';
import { withoutMentions } from '../escapes.js';
import { below, fieldParts, jsonRequest, multipartRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { shortened, utf16 } from '../text-limits.js';
import { detailsOf, pageOf, wholeTextOf } from '../texts.js';
import { classifyTelegram } from './classify.js';
import { telegramDeclaration } from './declaration.js';

const longestText = 4_096;
const longestCaption = 1_024;

function buildTelegram(
  config: z.output<typeof telegramDeclaration.config>,
  request: Notification,
  { linkBase, opened, chart = null }: BuildContext,
): HttpBatch {
  const { botToken, chatId, threadId, serverUrl = 'https://api.telegram.org', silent } = config;
  const links = [
    ['Details', detailsOf(request, linkBase)],
    ['Page', pageOf(request)],
  ] as const;
  const buttons = links.flatMap(([text, address]) => {
    const url = publicLink(address);
    return url === null ? [] : [{ text, url }];
  });
  const messageId = opened?.['messageId'];
  // Without a mode nothing is markup; names are linked in any.
  const text = shortened(withoutMentions(wholeTextOf(request, linkBase, config)), longestText, utf16);
  const to = { chat_id: chatId, ...(threadId === undefined ? {} : { message_thread_id: threadId }) };
  const how = {
    ...(silent === true ? { disable_notification: true } : {}),
    ...(typeof messageId === 'number'
      ? { reply_parameters: { message_id: messageId, allow_sending_without_reply: true } }
      : {}),
    ...(buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: [buttons] } }),
  };
  const body = { ...to, text, link_preview_options: { is_disabled: true }, ...how };
  const message = jsonRequest(below(serverUrl, `/bot${botToken}/sendMessage`), body);
  if (chart === null) return { kind: 'http', requests: [message] };
  const fields = Object.entries({ ...to, ...how }).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const photo = (more: Readonly<Record<string, string>>): HttpOutgoing =>
    multipartRequest(below(serverUrl, `/bot${botToken}/sendPhoto`), [
      ...fieldParts({ ...Object.fromEntries(fields), ...more }),
      picturePart('photo', chart),
    ]);
  // What is longer than a caption may be stands by itself, and the picture after it.
  if (utf16(text) > longestCaption) return { kind: 'http', requests: [message, { ...photo({}), optional: true }] };
  return { kind: 'http', requests: [{ ...photo({ caption: text }), fallback: message }] };
}

export const telegram = httpChannel(telegramDeclaration, 'POST', buildTelegram, classifyTelegram, { usesThread: true });

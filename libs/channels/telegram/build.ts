/** Telegram: a notification as one message of a bot; later ones of an episode answer the first. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { withoutMentions } from '../escapes.js';
import { below, jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { shortened, utf16 } from '../text-limits.js';
import { detailsOf, pageOf, wholeTextOf } from '../texts.js';
import { classifyTelegram } from './classify.js';
import { telegramDeclaration } from './declaration.js';

const longestText = 4_096;

function buildTelegram(
  config: z.output<typeof telegramDeclaration.config>,
  request: Notification,
  { linkBase, opened }: BuildContext,
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
  const body = {
    chat_id: chatId,
    ...(threadId === undefined ? {} : { message_thread_id: threadId }),
    // Without a mode nothing is markup; names are linked in any.
    text: shortened(withoutMentions(wholeTextOf(request, linkBase, config)), longestText, utf16),
    link_preview_options: { is_disabled: true },
    ...(silent === true ? { disable_notification: true } : {}),
    ...(typeof messageId === 'number'
      ? { reply_parameters: { message_id: messageId, allow_sending_without_reply: true } }
      : {}),
    ...(buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: [buttons] } }),
  };
  return { kind: 'http', requests: [jsonRequest(below(serverUrl, `/bot${botToken}/sendMessage`), body)] };
}

export const telegram = httpChannel(telegramDeclaration, 'POST', buildTelegram, classifyTelegram, { usesThread: true });

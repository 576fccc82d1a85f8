/** Google Chat: a notification as one card of a webhook, in a thread of its own for each episode. */
import type { z } from 'zod';
import { escapeHtml } from '#templates/templates';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { deliveryUuid, episodeKey } from '../episode.js';
import { entity, withoutMentions } from '../escapes.js';
import { jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { bytes, characters, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifyGoogleChat } from './classify.js';
import { googlechatDeclaration } from './declaration.js';

/** A message has 32,000 bytes, its card included. */
const limits = { title: 200, textBytes: 12_000, url: 1_000 };

function buildGoogleChat(
  config: z.output<typeof googlechatDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const title = shortened(titleOf(request, linkBase, config), limits.title, characters);
  const text = shortened(textOf(request, linkBase, config, escapeHtml), limits.textBytes, bytes, entity);
  const links = [
    ['Details', detailsOf(request, linkBase)],
    ['Page', pageOf(request)],
  ] as const;
  const buttons = links.flatMap(([name, address]) => {
    const url = publicLink(address, limits.url);
    return url === null ? [] : [{ text: name, onClick: { openLink: { url } } }];
  });
  const widgets = [{ textParagraph: { text } }, ...(buttons.length === 0 ? [] : [{ buttonList: { buttons } }])];
  const { threaded = true } = config;
  const body = {
    // What a phone shows of a card. `<users/all>` would mention everybody.
    fallbackText: withoutMentions(title).replaceAll('<', '<\u200b'),
    cardsV2: [{ cardId: 'meerkat', card: { header: { title }, sections: [{ widgets }] } }],
    ...(threaded ? { thread: { threadKey: episodeKey(request) } } : {}),
  };
  const url = new URL(config.webhookUrl);
  if (threaded) url.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
  // A repeat with the same id makes no second message.
  url.searchParams.set('requestId', deliveryUuid(request));
  return {
    kind: 'http',
    requests: [jsonRequest(url.href, body, { 'content-type': 'application/json; charset=UTF-8' })],
  };
}

export const googlechat = httpChannel(googlechatDeclaration, 'POST', buildGoogleChat, classifyGoogleChat);

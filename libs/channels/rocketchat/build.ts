/** Rocket.Chat: a notification as one message, by a webhook, or by a user, who puts later ones of an episode into its thread. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { fencedShort, withoutMentions } from '../escapes.js';
import { below, jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { colorOf, detailsOf, kindWord, textOf, titleOf } from '../texts.js';
import { classifyRocketChat } from './classify.js';
import { rocketchatDeclaration } from './declaration.js';

/** A server takes 5,000 characters where nobody has set another limit. */
const limits = { title: 250, text: 3_500 };

function buildRocketChat(
  config: z.output<typeof rocketchatDeclaration.config>,
  request: Notification,
  { linkBase, opened }: BuildContext,
): HttpBatch {
  const { webhookUrl, serverUrl, token = '', userId = '', channelId } = config;
  const link = publicLink(detailsOf(request, linkBase));
  const attachment = {
    title: shortened(withoutMentions(titleOf(request, linkBase, config)), limits.title, characters),
    ...(link === null ? {} : { title_link: link }),
    // Only a block of code shows what stands in it as it is.
    text: fencedShort(shortened(withoutMentions(textOf(request, linkBase, config)), limits.text, characters)),
    color: colorOf(request),
    collapsed: false,
  };
  const message = { text: kindWord(request), attachments: [attachment] };
  if (serverUrl === undefined) {
    return { kind: 'http', requests: [{ ...jsonRequest(webhookUrl ?? '', message), step: 'webhook' }] };
  }
  const threadId = opened?.['id'];
  const post = {
    roomId: channelId,
    ...message,
    // So that the room sees, not the thread alone, that it is over.
    ...(typeof threadId === 'string' ? { tmid: threadId, tshow: request.kind === 'recovered' } : {}),
  };
  const headers = { 'x-auth-token': token, 'x-user-id': userId };
  const sent = jsonRequest(below(serverUrl, '/api/v1/chat.postMessage'), post, headers);
  return { kind: 'http', requests: [{ ...sent, step: 'api' }] };
}

export const rocketchat = httpChannel(rocketchatDeclaration, 'POST', buildRocketChat, classifyRocketChat, {
  usesThread: true,
});

/** Mattermost: a notification as one post, by a webhook, or by a bot, which puts later ones of an episode under the first. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { backslashed, escapeCommonMark } from '../escapes.js';
import { below, jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { colorOf, detailsOf, textOf, titleOf } from '../texts.js';
import { classifyMattermost } from './classify.js';
import { mattermostDeclaration } from './declaration.js';

/** A post has 16,383 characters, and a server splits one that is longer. */
const limits = { title: 300, text: 7_000 };

function buildMattermost(
  config: z.output<typeof mattermostDeclaration.config>,
  request: Notification,
  { linkBase, opened }: BuildContext,
): HttpBatch {
  const { webhookUrl, serverUrl, token, channelId } = config;
  const title = shortened(titleOf(request, linkBase, config, escapeCommonMark), limits.title, characters, backslashed);
  const text = shortened(textOf(request, linkBase, config, escapeCommonMark), limits.text, characters, backslashed);
  const link = publicLink(detailsOf(request, linkBase));
  const attachments = [
    {
      fallback: title,
      color: colorOf(request),
      title: 'Details',
      ...(link === null ? {} : { title_link: link }),
      text,
    },
  ];
  if (serverUrl === undefined)
    return {
      kind: 'http',
      requests: [{ ...jsonRequest(webhookUrl ?? '', { text: title, attachments }), step: 'webhook' }],
    };
  const rootId = opened?.['id'];
  const post = {
    channel_id: channelId,
    message: title,
    props: { attachments },
    ...(typeof rootId === 'string' ? { root_id: rootId } : {}),
  };
  const sent = jsonRequest(below(serverUrl, '/api/v4/posts'), post, { authorization: `Bearer ${token}` });
  return { kind: 'http', requests: [{ ...sent, step: 'api' }] };
}

export const mattermost = httpChannel(mattermostDeclaration, 'POST', buildMattermost, classifyMattermost, {
  usesThread: true,
});

/** Mattermost: a notification as one post, by a webhook, or by a bot, which puts later ones of an episode under the first. */
import type { z } from 'zod';
import { picturePart } from '../binary-body.js';
import { httpChannel, type BuildContext, type HttpBatch, type HttpOutgoing, type Notification } from '../channel.js';
import { backslashed, escapeCommonMark } from '../escapes.js';
import { below, jsonRequest, multipartRequest } from '../http-request.js';
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
  { linkBase, opened, receipts = [], chart = null }: BuildContext,
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
  const headers = { authorization: `Bearer ${token}` };
  const posts = below(serverUrl, '/api/v4/posts');
  const rootId = opened?.['id'];
  const post = {
    channel_id: channelId,
    message: title,
    props: { attachments },
    ...(typeof rootId === 'string' ? { root_id: rootId } : {}),
  };
  const requests: HttpOutgoing[] = [{ ...jsonRequest(posts, post, headers), step: 'api' }];
  if (chart === null) return { kind: 'http', requests };
  // The text goes first, whatever becomes of the picture, which stands under it.
  const parts = [{ name: 'channel_id', value: channelId ?? '' }, picturePart('files', chart)];
  const upload = multipartRequest(below(serverUrl, '/api/v4/files'), parts, headers);
  requests.push({ ...upload, optional: true, step: 'upload' });
  const fileId = receipts[1]?.['fileId'];
  if (typeof fileId !== 'string')
    return { kind: 'http', requests, inOrder: true, more: receipts.length < requests.length };
  const under = rootId ?? receipts[0]?.['id'];
  const picture = {
    channel_id: channelId,
    message: 'chart.png',
    file_ids: [fileId],
    ...(typeof under === 'string' ? { root_id: under } : {}),
  };
  requests.push({ ...jsonRequest(posts, picture, headers), optional: true, step: 'api' });
  return { kind: 'http', requests, inOrder: true };
}

export const mattermost = httpChannel(mattermostDeclaration, 'POST', buildMattermost, classifyMattermost, {
  usesThread: true,
});

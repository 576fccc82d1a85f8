/** Zulip: a notification as one message of a topic, which the messages of a task share. */
import type { z } from 'zod';
import { picturePart } from '../binary-body.js';
import { httpChannel, type BuildContext, type HttpBatch, type HttpOutgoing, type Notification } from '../channel.js';
import { fenced } from '../escapes.js';
import { basic, below, formRequest, multipartRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, kindWord, textOf, titleOf } from '../texts.js';
import { classifyZulip } from './classify.js';
import { zulipDeclaration } from './declaration.js';

/** A server cuts what is longer, without a word. */
const limits = { topic: 60, text: 9_000 };

function buildZulip(
  config: z.output<typeof zulipDeclaration.config>,
  request: Notification,
  { linkBase, receipts = [], chart = null }: BuildContext,
): HttpBatch {
  const { serverUrl, botEmail, apiKey, to } = config;
  const link = publicLink(detailsOf(request, linkBase));
  const heading = link === null ? kindWord(request) : `[${kindWord(request)}](${link})`;
  // Only a block of code shows what stands in it as it is.
  const text = fenced(shortened(textOf(request, linkBase, config), limits.text, characters));
  const place = {
    type: 'stream',
    to,
    // A test stands beside the task's messages: the mark would make it a topic of its own.
    topic: shortened(titleOf(request, linkBase, config).replace(/^\[Test\] /, ''), limits.topic, characters),
  };
  const headers = { authorization: basic(botEmail, apiKey) };
  const messages = below(serverUrl, '/api/v1/messages');
  const requests: HttpOutgoing[] = [formRequest(messages, { ...place, content: `${heading}\n${text}` }, headers)];
  if (chart === null) return { kind: 'http', requests };
  // The text goes first, whatever becomes of the picture, which follows in the same topic.
  const upload = multipartRequest(below(serverUrl, '/api/v1/user_uploads'), [picturePart('filename', chart)], headers);
  requests.push({ ...upload, optional: true, step: 'upload' });
  const path = receipts[1]?.['path'];
  if (typeof path !== 'string')
    return { kind: 'http', requests, inOrder: true, more: receipts.length < requests.length };
  requests.push({ ...formRequest(messages, { ...place, content: `[chart.png](${path})` }, headers), optional: true });
  return { kind: 'http', requests, inOrder: true };
}

export const zulip = httpChannel(zulipDeclaration, 'POST', buildZulip, classifyZulip);

/** Zulip: a notification as one message of a topic, which the messages of a task share. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { fenced } from '../escapes.js';
import { basic, below, formRequest } from '../http-request.js';
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
  { linkBase }: BuildContext,
): HttpBatch {
  const { serverUrl, botEmail, apiKey, to } = config;
  const link = publicLink(detailsOf(request, linkBase));
  const heading = link === null ? kindWord(request) : `[${kindWord(request)}](${link})`;
  // Only a block of code shows what stands in it as it is.
  const text = fenced(shortened(textOf(request, linkBase, config), limits.text, characters));
  const fields = {
    type: 'stream',
    to,
    // A test stands beside the task's messages: the mark would make it a topic of its own.
    topic: shortened(titleOf(request, linkBase, config).replace(/^\[Test\] /, ''), limits.topic, characters),
    content: `${heading}\n${text}`,
  };
  return {
    kind: 'http',
    requests: [formRequest(below(serverUrl, '/api/v1/messages'), fields, { authorization: basic(botEmail, apiKey) })],
  };
}

export const zulip = httpChannel(zulipDeclaration, 'POST', buildZulip, classifyZulip);

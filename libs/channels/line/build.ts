/** LINE: a notification as one message that is pushed to a person, a group or a room. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { deliveryUuid } from '../episode.js';
import { jsonRequest } from '../http-request.js';
import { shortened, utf16 } from '../text-limits.js';
import { wholeTextOf } from '../texts.js';
import { classifyLine } from './classify.js';
import { lineDeclaration } from './declaration.js';

const longestText = 5_000;

function buildLine(
  config: z.output<typeof lineDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const { channelToken, to, silent } = config;
  const text = shortened(wholeTextOf(request, linkBase, config), longestText, utf16);
  const body = { to, messages: [{ type: 'text', text }], ...(silent === true ? { notificationDisabled: true } : {}) };
  // The same key again makes no second message.
  const headers = { authorization: `Bearer ${channelToken}`, 'x-line-retry-key': deliveryUuid(request) };
  return { kind: 'http', requests: [jsonRequest('https://api.line.me/v2/bot/message/push', body, headers)] };
}

export const line = httpChannel(lineDeclaration, 'POST', buildLine, classifyLine);

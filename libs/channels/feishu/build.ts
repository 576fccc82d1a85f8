/** Feishu and Lark: a notification as one message of a custom bot, signed anew at each attempt. */
import { createHmac } from 'node:crypto';
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { jsonRequest } from '../http-request.js';
import { shortened, type Measure } from '../text-limits.js';
import { wholeTextOf, withKeyword } from '../texts.js';
import { classifyFeishu } from './classify.js';
import { feishuDeclaration } from './declaration.js';

/** A body has 20 KB. */
const longestBytes = 19_000;
const asJson: Measure = (text) => Buffer.byteLength(JSON.stringify(text)) - 2;

/** The time and the secret are the key, and what is signed is empty. */
function signature(timestamp: string, secret: string): string {
  return createHmac('sha256', `${timestamp}\n${secret}`).digest('base64');
}

/** `<at user_id="all">` would mention everybody; the sign of the same look means nothing. */
const withoutTags = (text: string): string => text.replaceAll('<', '＜');

function buildFeishu(
  config: z.output<typeof feishuDeclaration.config>,
  request: Notification,
  { linkBase, nowMs }: BuildContext,
): HttpBatch {
  const { webhookUrl, signingSecret, keyword } = config;
  const timestamp = String(Math.floor(nowMs / 1_000));
  const text = withKeyword(wholeTextOf(request, linkBase, config, withoutTags), keyword);
  const body = {
    ...(signingSecret === undefined ? {} : { timestamp, sign: signature(timestamp, signingSecret) }),
    msg_type: 'text',
    content: { text: shortened(withoutTags(text), longestBytes, asJson) },
  };
  return { kind: 'http', requests: [jsonRequest(webhookUrl, body)] };
}

export const feishu = httpChannel(feishuDeclaration, 'POST', buildFeishu, classifyFeishu);

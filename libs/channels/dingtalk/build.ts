/** DingTalk: a notification as one message of a custom robot, signed anew at each attempt. */
import { createHmac } from 'node:crypto';
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { withoutMentions } from '../escapes.js';
import { jsonRequest } from '../http-request.js';
import { characters, shortened } from '../text-limits.js';
import { wholeTextOf, withKeyword } from '../texts.js';
import { classifyDingTalk } from './classify.js';
import { dingtalkDeclaration } from './declaration.js';

/** 20,000 bytes of body; four a character. */
const longestText = 4_500;

/** The secret is the key, and what is signed is the time and the secret: the other way round than Feishu's. */
function signature(timestamp: string, secret: string): string {
  return createHmac('sha256', secret).update(`${timestamp}\n${secret}`).digest('base64');
}

function buildDingTalk(
  config: z.output<typeof dingtalkDeclaration.config>,
  request: Notification,
  { linkBase, nowMs }: BuildContext,
): HttpBatch {
  const { webhookUrl, signingSecret, keyword } = config;
  const url = new URL(webhookUrl);
  if (signingSecret !== undefined) {
    url.searchParams.set('timestamp', String(nowMs));
    url.searchParams.set('sign', signature(String(nowMs), signingSecret));
  }
  const text = withKeyword(withoutMentions(wholeTextOf(request, linkBase, config)), keyword);
  const body = {
    msgtype: 'text',
    text: { content: shortened(text, longestText, characters) },
    at: { isAtAll: false, atMobiles: [] },
  };
  return {
    kind: 'http',
    requests: [jsonRequest(url.href, body, { 'content-type': 'application/json; charset=utf-8' })],
  };
}

export const dingtalk = httpChannel(dingtalkDeclaration, 'POST', buildDingTalk, classifyDingTalk);

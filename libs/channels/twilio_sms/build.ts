/** SMS by Twilio: a notification as one message to each number. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { basic, formRequest } from '../http-request.js';
import { shortTextOf } from '../texts.js';
import { smsText } from '../text-limits.js';
import { classifyTwilio } from './classify.js';
import { twilioSmsDeclaration } from './declaration.js';

function buildTwilio(
  config: z.output<typeof twilioSmsDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const { accountSid, apiKeySid = accountSid, authToken, from, messagingServiceSid, to, parts = 2 } = config;
  const { text } = smsText(shortTextOf(request, linkBase, config), parts);
  const url = `https://api.twilio.com/2010-04-01/Accounts/${accountSid}/Messages.json`;
  const headers = { authorization: basic(apiKeySid, authToken) };
  const sender: Record<string, string> =
    messagingServiceSid === undefined ? { From: from ?? '' } : { MessagingServiceSid: messagingServiceSid };
  const numbers = typeof to === 'string' ? [to] : to;
  return { kind: 'http', requests: numbers.map((To) => formRequest(url, { To, ...sender, Body: text }, headers)) };
}

export const twilioSms = httpChannel(twilioSmsDeclaration, 'POST', buildTwilio, classifyTwilio);

/** SMS by Vonage: a notification as one message to each number. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { basic, jsonRequest } from '../http-request.js';
import { shortTextOf } from '../texts.js';
import { smsText } from '../text-limits.js';
import { classifyVonage } from './classify.js';
import { vonageSmsDeclaration } from './declaration.js';

function buildVonage(
  config: z.output<typeof vonageSmsDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const { apiKey, apiSecret, from, to, parts = 2 } = config;
  const { text, isGsm } = smsText(shortTextOf(request, linkBase, config), parts);
  const headers = { authorization: basic(apiKey, apiSecret) };
  const numbers = typeof to === 'string' ? [to] : to;
  const messageTo = (number: string): object => ({
    from,
    to: number.slice(1),
    text,
    // Characters outside of the alphabet would be question marks.
    type: isGsm ? 'text' : 'unicode',
    'client-ref': request.deliveryId,
  });
  const requests = numbers.map((number) => jsonRequest('https://rest.nexmo.com/sms/json', messageTo(number), headers));
  return { kind: 'http', requests };
}

export const vonageSms = httpChannel(vonageSmsDeclaration, 'POST', buildVonage, classifyVonage);

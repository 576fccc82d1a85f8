/** Webex: a notification as one message of a bot; later ones of an episode stand in the thread of the first. */
import type { z } from 'zod';
import { picturePart } from '../binary-body.js';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { jsonRequest, multipartRequest } from '../http-request.js';
import { bytes, shortened } from '../text-limits.js';
import { wholeTextOf } from '../texts.js';
import { classifyWebex } from './classify.js';
import { webexDeclaration } from './declaration.js';

const messages = 'https://webexapis.com/v1/messages';
const longestBytes = 7_439;

function buildWebex(
  config: z.output<typeof webexDeclaration.config>,
  request: Notification,
  { linkBase, opened, chart = null }: BuildContext,
): HttpBatch {
  const { botToken, roomId, toPersonEmail } = config;
  const parentId = opened?.['id'];
  const body = {
    ...(roomId === undefined ? { toPersonEmail } : { roomId }),
    // Plain, so that nothing of it is markup or a mention.
    text: shortened(wholeTextOf(request, linkBase, config), longestBytes, bytes),
    ...(typeof parentId === 'string' ? { parentId } : {}),
  };
  const headers = { authorization: `Bearer ${botToken}` };
  const message = jsonRequest(messages, body, headers);
  if (chart === null) return { kind: 'http', requests: [message] };
  const fields = Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  const withPicture = multipartRequest(messages, [...fields, picturePart('files', chart)], headers);
  return { kind: 'http', requests: [{ ...withPicture, fallback: message }] };
}

export const webex = httpChannel(webexDeclaration, 'POST', buildWebex, classifyWebex, { usesThread: true });

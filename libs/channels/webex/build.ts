/** Webex: a notification as one message of a bot; later ones of an episode stand in the thread of the first. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { jsonRequest } from '../http-request.js';
import { bytes, shortened } from '../text-limits.js';
import { wholeTextOf } from '../texts.js';
import { classifyWebex } from './classify.js';
import { webexDeclaration } from './declaration.js';

const longestBytes = 7_439;

function buildWebex(
  config: z.output<typeof webexDeclaration.config>,
  request: Notification,
  { linkBase, opened }: BuildContext,
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
  return { kind: 'http', requests: [jsonRequest('https://webexapis.com/v1/messages', body, headers)] };
}

export const webex = httpChannel(webexDeclaration, 'POST', buildWebex, classifyWebex, { usesThread: true });

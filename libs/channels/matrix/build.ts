/** Matrix: a notification as one event of a room; later ones of an episode stand in the thread of the first. */
import type { z } from 'zod';
import { escapeHtml } from '#templates/templates';
import { pictureBody } from '../binary-body.js';
import { httpChannel, type BuildContext, type HttpBatch, type HttpOutgoing, type Notification } from '../channel.js';
import { entity } from '../escapes.js';
import { below, jsonRequest, usualTimeoutMs } from '../http-request.js';
import { bytes, characters, shortened } from '../text-limits.js';
import { textOf, titleOf } from '../texts.js';
import { classifyMatrix } from './classify.js';
import { matrixDeclaration } from './declaration.js';

/** An event has 65,536 bytes, what a server adds included; JSON may double them. */
const limits = { title: 300, textBytes: 10_000 };

function buildMatrix(
  config: z.output<typeof matrixDeclaration.config>,
  request: Notification,
  { linkBase, opened, receipts = [], chart = null }: BuildContext,
): HttpBatch {
  const { homeserver, accessToken, roomId } = config;
  const title = shortened(titleOf(request, linkBase, config), limits.title, characters);
  const text = shortened(textOf(request, linkBase, config), limits.textBytes, bytes);
  const eventId = opened?.['eventId'];
  const html = shortened(escapeHtml(text), 2 * limits.textBytes, bytes, entity).replaceAll('\n', '<br>');
  const thread =
    typeof eventId === 'string'
      ? {
          'm.relates_to': {
            rel_type: 'm.thread',
            event_id: eventId,
            is_falling_back: true,
            'm.in_reply_to': { event_id: eventId },
          },
        }
      : {};
  const content = {
    msgtype: 'm.text',
    body: `${title}\n${text}`,
    format: 'org.matrix.custom.html',
    formatted_body: `<strong>${escapeHtml(title)}</strong><br>${html}`,
    // Nobody is mentioned, whatever the text says.
    'm.mentions': {},
    ...thread,
  };
  const headers = { authorization: `Bearer ${accessToken}` };
  // The id of the transaction: the same again makes no second event.
  const event = (transaction: string, said: object): HttpOutgoing => {
    const path = `/_matrix/client/v3/rooms/${encodeURIComponent(roomId)}/send/m.room.message/${transaction}`;
    return jsonRequest(below(homeserver, path), said, headers, 'PUT');
  };
  const message = event(request.deliveryId, content);
  if (chart === null) return { kind: 'http', requests: [message] };
  // The text goes first, whatever becomes of the picture.
  const upload: HttpOutgoing = {
    method: 'POST',
    url: below(homeserver, '/_matrix/media/v3/upload?filename=chart.png'),
    headers: { ...headers, 'content-type': 'image/png' },
    body: null,
    binary: pictureBody(chart),
    timeoutMs: usualTimeoutMs,
    optional: true,
    step: 'upload',
  };
  const requests = [message, upload];
  const address = receipts[1]?.['contentUri'];
  if (typeof address !== 'string') return { kind: 'http', requests, inOrder: true, more: receipts.length < 2 };
  const info = { mimetype: 'image/png', size: chart.length };
  const picture = { msgtype: 'm.image', body: 'chart.png', url: address, info, 'm.mentions': {}, ...thread };
  requests.push({ ...event(`${request.deliveryId}-chart`, picture), optional: true });
  return { kind: 'http', requests, inOrder: true };
}

export const matrix = httpChannel(matrixDeclaration, 'PUT', buildMatrix, classifyMatrix, { usesThread: true });

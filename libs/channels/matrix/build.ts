/** Matrix: a notification as one event of a room; later ones of an episode stand in the thread of the first. */
import type { z } from 'zod';
import { escapeHtml } from '#templates/templates';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { entity } from '../escapes.js';
import { below, jsonRequest } from '../http-request.js';
import { bytes, characters, shortened } from '../text-limits.js';
import { textOf, titleOf } from '../texts.js';
import { classifyMatrix } from './classify.js';
import { matrixDeclaration } from './declaration.js';

/** An event has 65,536 bytes, what a server adds included; JSON may double them. */
const limits = { title: 300, textBytes: 10_000 };

function buildMatrix(
  config: z.output<typeof matrixDeclaration.config>,
  request: Notification,
  { linkBase, opened }: BuildContext,
): HttpBatch {
  const { homeserver, accessToken, roomId } = config;
  const title = shortened(titleOf(request, linkBase, config), limits.title, characters);
  const text = shortened(textOf(request, linkBase, config), limits.textBytes, bytes);
  const eventId = opened?.['eventId'];
  const html = shortened(escapeHtml(text), 2 * limits.textBytes, bytes, entity).replaceAll('\n', '<br>');
  const content = {
    msgtype: 'm.text',
    body: `${title}\n${text}`,
    format: 'org.matrix.custom.html',
    formatted_body: `<strong>${escapeHtml(title)}</strong><br>${html}`,
    // Nobody is mentioned, whatever the text says.
    'm.mentions': {},
    ...(typeof eventId === 'string'
      ? {
          'm.relates_to': {
            rel_type: 'm.thread',
            event_id: eventId,
            is_falling_back: true,
            'm.in_reply_to': { event_id: eventId },
          },
        }
      : {}),
  };
  // The id of the transaction: the same again makes no second event.
  const path = `/_matrix/client/v3/rooms/${encodeURIComponent(roomId)}/send/m.room.message/${request.deliveryId}`;
  const headers = { authorization: `Bearer ${accessToken}` };
  return { kind: 'http', requests: [jsonRequest(below(homeserver, path), content, headers, 'PUT')] };
}

export const matrix = httpChannel(matrixDeclaration, 'PUT', buildMatrix, classifyMatrix, { usesThread: true });

/** Pushbullet: a notification as one push, which opens the page of the run. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type Notification } from '../channel.js';
import { jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, textOf, titleOf } from '../texts.js';
import { classifyPushbullet } from './classify.js';
import { pushbulletDeclaration } from './declaration.js';

/** None is documented; what a phone shows has an end. */
const limits = { title: 250, body: 8_000 };

function buildPushbullet(
  config: z.output<typeof pushbulletDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): HttpBatch {
  const { token, deviceId, channelTag } = config;
  const url = publicLink(detailsOf(request, linkBase));
  const body = {
    ...(url === null ? { type: 'note' } : { type: 'link', url }),
    title: shortened(titleOf(request, linkBase, config), limits.title, characters),
    body: shortened(textOf(request, linkBase, config), limits.body, characters),
    // The same again makes no second push.
    guid: request.deliveryId,
    ...(deviceId === undefined ? {} : { device_iden: deviceId }),
    ...(channelTag === undefined ? {} : { channel_tag: channelTag }),
  };
  return {
    kind: 'http',
    requests: [jsonRequest('https://api.pushbullet.com/v2/pushes', body, { 'access-token': token })],
  };
}

export const pushbullet = httpChannel(pushbulletDeclaration, 'POST', buildPushbullet, classifyPushbullet);

/** Pushbullet: a notification as one push, which opens the page of the run. */
import type { z } from 'zod';
import { picturePart } from '../binary-body.js';
import {
  httpChannel,
  type BuildContext,
  type HttpBatch,
  type HttpOutgoing,
  type Notification,
  type Receipt,
} from '../channel.js';
import { jsonRequest, multipartRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, textOf, titleOf } from '../texts.js';
import { classifyPushbullet } from './classify.js';
import { pushbulletDeclaration } from './declaration.js';

/** None is documented; what a phone shows has an end. */
const limits = { title: 250, body: 8_000 };

const api = 'https://api.pushbullet.com/v2';
const picture = { file_name: 'chart.png', file_type: 'image/png' };

/** An address that Pushbullet named for the bytes, or under which they are found: of its own alone. */
function ownAddress(receipt: Receipt | null | undefined, name: string): string | null {
  const address = receipt?.[name];
  if (typeof address !== 'string' || !URL.canParse(address)) return null;
  const { protocol, hostname } = new URL(address);
  const isOwn = /^(?:[a-z0-9-]+\.)+pushbullet(?:usercontent)?\.com$/.test(hostname);
  return protocol === 'https:' && isOwn ? address : null;
}

function buildPushbullet(
  config: z.output<typeof pushbulletDeclaration.config>,
  request: Notification,
  { linkBase, receipts = [], chart = null }: BuildContext,
): HttpBatch {
  const { token, deviceId, channelTag } = config;
  const url = publicLink(detailsOf(request, linkBase));
  const title = shortened(titleOf(request, linkBase, config), limits.title, characters);
  const text = shortened(textOf(request, linkBase, config), limits.body, characters);
  const target = {
    // The same again makes no second push.
    guid: request.deliveryId,
    ...(deviceId === undefined ? {} : { device_iden: deviceId }),
    ...(channelTag === undefined ? {} : { channel_tag: channelTag }),
  };
  const headers = { 'access-token': token };
  const push = (content: object): HttpOutgoing => jsonRequest(`${api}/pushes`, { ...content, ...target }, headers);
  const plain = push({ ...(url === null ? { type: 'note' } : { type: 'link', url }), title, body: text });
  if (chart === null) return { kind: 'http', requests: [plain] };
  // One push for both: each counts among those of the month. So the bytes go first.
  const asked = jsonRequest(`${api}/upload-request`, picture, headers);
  const requests: HttpOutgoing[] = [{ ...asked, optional: true, step: 'place' }];
  if (receipts.length === 0) return { kind: 'http', requests, inOrder: true, more: true };
  const [uploadUrl, fileUrl] = [ownAddress(receipts[0], 'uploadUrl'), ownAddress(receipts[0], 'fileUrl')];
  if (uploadUrl === null || fileUrl === null) return { kind: 'http', requests: [...requests, plain], inOrder: true };
  requests.push({ ...multipartRequest(uploadUrl, [picturePart('file', chart)]), optional: true, step: 'upload' });
  if (receipts.length === 1) return { kind: 'http', requests, inOrder: true, more: true };
  const withPicture = { type: 'file', ...picture, file_url: fileUrl, body: `${title}\n${text}` };
  requests.push(receipts[1]?.['uploaded'] === true ? { ...push(withPicture), fallback: plain } : plain);
  return { kind: 'http', requests, inOrder: true };
}

export const pushbullet = httpChannel(pushbulletDeclaration, 'POST', buildPushbullet, classifyPushbullet);

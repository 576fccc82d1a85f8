/** For specs: Pushbullet's pushes. */
import { z } from 'zod';
import { pngText, publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const file = { file_name: z.literal('chart.png'), file_type: z.literal('image/png') };
const fileUrl = 'https://dl.pushbulletusercontent.com/foGfub1jtC6yYcOMACk1AbHwTrTKvrDc/chart.png';
const authorized = z.looseObject({ 'access-token': z.string().min(20) });
const titled = { title: upTo(250, characters), body: upTo(8_000, characters) };
const push = {
  guid: z.string().regex(/^dlv_/),
  device_iden: z.string().optional(),
  channel_tag: z.string().optional(),
};

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/api\.pushbullet\.com\/v2\/pushes$/,
      headers: authorized,
      json: z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('note'), ...titled, ...push }),
        z.strictObject({ type: z.literal('link'), url: publicAddress, ...titled, ...push }),
        z.strictObject({
          type: z.literal('file'),
          ...file,
          file_url: z.literal(fileUrl),
          body: upTo(8_251, characters),
          ...push,
        }),
      ]),
      shown: { title: 'plain', body: 'plain' },
      reply: { status: 200, body: { iden: 'ujpah72o0sjAoRtnM0jc', active: true } },
    },
    {
      method: 'POST',
      address: /^https:\/\/api\.pushbullet\.com\/v2\/upload-request$/,
      headers: authorized,
      json: z.strictObject(file),
      reply: {
        status: 200,
        body: {
          file_name: 'chart.png',
          file_type: 'image/png',
          file_url: fileUrl,
          upload_url: 'https://upload.pushbullet.com/upload-legacy/foGfub1jtC6yYcOMACk1AbHwTrTKvrDc',
        },
      },
    },
    {
      method: 'POST',
      address: /^https:\/\/upload\.pushbullet\.com\/upload-legacy\/[A-Za-z0-9]+$/,
      // The token is for the API alone.
      headers: z.strictObject({}),
      parts: z.strictObject({ file: pngText }),
      reply: { status: 204, body: '' },
    },
  ],
};

/** For specs: AWS SNS: publishing, with the signature computed again from what arrived. */
import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import type { HttpOutgoing } from '../channel.js';
import { upTo, type VendorReceiver } from '../receiver.kit.js';
import { bytes, characters } from '../text-limits.js';

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

function signatureFaults({ headers, body, method }: HttpOutgoing, url: URL, nowMs: number): string[] {
  const parsed =
    /^AWS4-HMAC-SHA256 Credential=([A-Z0-9]+)\/([0-9]{8})\/([a-z0-9-]+)\/sns\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers['authorization'] ?? '',
    );
  if (parsed === null) return ['IncompleteSignature'];
  const [, , day = '', region = '', names = '', signature] = parsed;
  const date = headers['x-amz-date'] ?? '';
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!date.startsWith(day) || !(Math.abs(at - nowMs) < 900_000)) return ['RequestExpired'];
  const values = names.split(';').map((name) => `${name}:${name === 'host' ? url.host : headers[name]}\n`);
  const canonical = [
    method,
    '/',
    '',
    values.join(''),
    names,
    createHash('sha256')
      .update(body ?? '')
      .digest('hex'),
  ].join('\n');
  const scope = `${day}/${region}/sns/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = [region, 'sns', 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, day));
  return hmac(key, toSign).toString('hex') === signature ? [] : ['SignatureDoesNotMatch'];
}

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https?:\/\/(sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?|sns\.example\.com:4566)\/$/,
      form: z
        .looseObject({
          Action: z.literal('Publish'),
          Version: z.literal('2010-03-31'),
          TopicArn: z.string().regex(/^arn:aws/),
          Subject: upTo(99, characters).regex(/^[A-Za-z0-9][\u0020-\u007e]*$/),
          Message: upTo(262_144, bytes),
          MessageGroupId: upTo(128, characters).optional(),
          MessageDeduplicationId: upTo(128, characters).optional(),
        })
        .refine((form) => form.TopicArn.endsWith('.fifo') === (form.MessageGroupId !== undefined), {
          error: 'InvalidParameter: MessageGroupId',
        }),
      faults: signatureFaults,
      shown: { Subject: 'plain', Message: 'plain' },
      reply: {
        status: 200,
        body: '<PublishResponse><PublishResult><MessageId>94f20ce6-13c5</MessageId></PublishResult></PublishResponse>',
      },
    },
  ],
};

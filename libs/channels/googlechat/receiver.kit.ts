/** For specs: Google Chat's webhooks, by the reference of spaces.messages. */
import { z } from 'zod';
import { publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

const widget = z.union([
  z.strictObject({ textParagraph: z.strictObject({ text: upTo(32_000, characters) }) }),
  z.strictObject({
    buttonList: z.strictObject({
      buttons: z
        .array(
          z.strictObject({
            text: z.string().min(1),
            onClick: z.strictObject({ openLink: z.strictObject({ url: publicAddress }) }),
          }),
        )
        .min(1),
    }),
  }),
]);

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/chat\.googleapis\.com\/v1\/spaces\/[-_A-Za-z0-9]+\/messages$/,
      query: z.strictObject({
        key: z.string().min(1),
        token: z.string().min(1),
        requestId: z.uuid(),
        messageReplyOption: z.literal('REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD').optional(),
      }),
      json: z.strictObject({
        fallbackText: upTo(4_096, characters),
        cardsV2: z.tuple([
          z.strictObject({
            cardId: z.string().min(1),
            card: z.strictObject({
              header: z.strictObject({ title: z.string().min(1) }),
              sections: z.array(z.strictObject({ widgets: z.array(widget).min(1).max(100) })),
            }),
          }),
        ]),
        thread: z.strictObject({ threadKey: upTo(4_000, characters) }).optional(),
      }),
      faults: ({ body }, url) => [
        ...(Buffer.byteLength(body ?? '') > 32_000 ? ['the message is longer than 32,000 bytes'] : []),
        ...(body?.includes('"threadKey"') === url.searchParams.has('messageReplyOption')
          ? []
          : ['the thread is ignored']),
      ],
      shown: {
        fallbackText: 'plainWithMentions',
        'cardsV2.*.card.header.title': 'plain',
        'cardsV2.*.card.sections.*.widgets.*.textParagraph.text': 'googleCard',
      },
      reply: {
        status: 200,
        body: { name: 'spaces/AAAA/messages/BBBB.BBBB', thread: { name: 'spaces/AAAA/threads/BBBB' } },
      },
    },
  ],
};

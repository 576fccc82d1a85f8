/** For specs: the Bot API of Telegram: sendMessage. */
import { z } from 'zod';
import { pngText, publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { utf16 } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/(?:api\.telegram\.org|bots\.example\.com)\/bot[0-9]+:[-_A-Za-z0-9]{35}\/sendMessage$/,
      json: z.strictObject({
        chat_id: z.string().regex(/^(-?[0-9]+|@[A-Za-z0-9_]{5,})$/),
        message_thread_id: z.int().optional(),
        text: upTo(4_096, utf16),
        link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
        disable_notification: z.boolean().optional(),
        reply_parameters: z
          .strictObject({ message_id: z.int(), allow_sending_without_reply: z.literal(true) })
          .optional(),
        reply_markup: z
          .strictObject({
            inline_keyboard: z.array(z.array(z.strictObject({ text: z.string().min(1), url: publicAddress })).min(1)),
          })
          .optional(),
      }),
      shown: { text: 'plainWithMentions' },
      reply: { status: 200, body: { ok: true, result: { message_id: 42, chat: { id: -1001234567890 } } } },
    },
    {
      method: 'POST',
      address: /^https:\/\/(?:api\.telegram\.org|bots\.example\.com)\/bot[0-9]+:[-_A-Za-z0-9]{35}\/sendPhoto$/,
      parts: z.strictObject({
        chat_id: z.string().regex(/^(-?[0-9]+|@[A-Za-z0-9_]{5,})$/),
        message_thread_id: z
          .string()
          .regex(/^[0-9]+$/)
          .optional(),
        photo: pngText,
        caption: upTo(1_024, utf16).optional(),
        disable_notification: z.enum(['true', 'false']).optional(),
        reply_parameters: z
          .string()
          .regex(/^\{"message_id":[0-9]+,"allow_sending_without_reply":true\}$/)
          .optional(),
        reply_markup: z.string().startsWith('{"inline_keyboard":[[').optional(),
      }),
      shown: { caption: 'plainWithMentions' },
      reply: { status: 200, body: { ok: true, result: { message_id: 43, chat: { id: -1001234567890 } } } },
    },
  ],
};

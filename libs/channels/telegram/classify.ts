/** Telegram: what answers mean. A group that has become a supergroup has another id. */
import { isJsonObject } from '#runtime/json';
import { classifyAs, textAt, waitMs, type VendorAnswer } from '../vendor-answers.js';

function parameter({ body }: VendorAnswer, name: string): unknown {
  const parameters = body?.['parameters'];
  return isJsonObject(parameters) ? parameters[name] : undefined;
}

export const classifyTelegram = classifyAs({
  vendor: 'Telegram',
  delivered: ({ body }) => body?.['ok'] === true && isJsonObject(body['result']),
  codeOf: ({ body }) => textAt(body, 'description'),
  receiptOf({ body }) {
    const result = body?.['result'];
    const id = isJsonObject(result) ? result['message_id'] : undefined;
    return typeof id === 'number' ? { messageId: id } : null;
  },
  lines: [
    { code: /message is not modified/i, means: 'delivered' },
    {
      when: (answer) => typeof parameter(answer, 'migrate_to_chat_id') === 'number',
      means: 'refused',
      because: (answer) =>
        `the group has become a supergroup; set chatId to ${String(parameter(answer, 'migrate_to_chat_id'))}`,
    },
    {
      status: [401, 403, 404, 421],
      means: 'gone',
      because: 'the token is not valid, or the bot may not write to the chat',
    },
    { status: [200, 400], when: ({ body }) => body?.['ok'] === false, means: 'refused' },
  ],
  hintMs: (answer) => waitMs(parameter(answer, 'retry_after'), 1_000),
});

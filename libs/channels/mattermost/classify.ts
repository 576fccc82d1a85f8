/** Mattermost: what answers mean. A webhook that is not known is 400, and one of a server that takes none is 501. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifyMattermost = classifyAs({
  vendor: 'Mattermost',
  delivered: ({ step, text, body }) => (step === 'api' ? textAt(body, 'id') !== null : text.trim() === 'ok'),
  codeOf: ({ status, body }) => (status < 300 ? null : textAt(body, 'id')),
  receiptOf({ step, body }) {
    const [id, root] = [textAt(body, 'id'), textAt(body, 'root_id')];
    if (step !== 'api' || id === null) return null;
    return { id: root === null || root === '' ? id : root };
  },
  lines: [
    { code: ['web.incoming_webhook.invalid.app_error'], means: 'gone', because: 'there is no such webhook' },
    { code: ['web.incoming_webhook.disabled.app_error'], means: 'gone', because: 'the server takes no webhooks' },
    { status: [501], means: 'gone' },
    // A post that the first one was deleted under.
    { code: ['api.post.create_post.root_id.app_error'], means: 'refused' },
    { status: [401], means: 'gone', because: 'the token is not valid' },
    {
      status: [403],
      when: ({ step }) => step === 'webhook',
      means: 'refused',
      because: 'the webhook may not post there',
    },
    { status: [403], means: 'gone', because: 'the bot may not post there' },
    { status: [404, 410], means: 'gone' },
  ],
});

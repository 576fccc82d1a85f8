/** Mattermost: what answers mean. A webhook that is not known is 400, and one of a server that takes none is 501. */
import { isJsonObject, type JsonObject } from '#runtime/json';
import { classifyAs, textAt } from '../vendor-answers.js';

/** The id of the one file that was uploaded. */
function fileIdOf(body: JsonObject | null): string | null {
  const infos = body?.['file_infos'];
  const first: unknown = Array.isArray(infos) ? infos[0] : null;
  return isJsonObject(first) ? textAt(first, 'id') : null;
}

export const classifyMattermost = classifyAs({
  vendor: 'Mattermost',
  delivered({ step, text, body }) {
    if (step === 'upload') return fileIdOf(body) !== null;
    return step === 'api' ? textAt(body, 'id') !== null : text.trim() === 'ok';
  },
  codeOf: ({ status, body }) => (status < 300 ? null : textAt(body, 'id')),
  receiptOf({ step, body }) {
    if (step === 'upload') return { fileId: fileIdOf(body) };
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

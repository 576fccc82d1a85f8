/** Slack: what answers mean. A webhook says one word, the API always 200 with `ok` and `error`. */
import { classifyAs, textAt } from '../vendor-answers.js';

export const classifySlack = classifyAs({
  vendor: 'Slack',
  delivered({ step, text, body }) {
    // A webhook may say nothing with its 200, but never something else.
    if (step === 'webhook') return /^(?:ok)?$/.test(text.trim());
    if (step === 'upload') return /^OK\b/.test(text);
    return body?.['ok'] === true && (step !== 'api' || textAt(body, 'ts') !== null);
  },
  codeOf: ({ step, text, body }) =>
    step === 'webhook' || step === 'upload' ? (/^[a-z_]{2,60}$/.exec(text.trim())?.[0] ?? null) : textAt(body, 'error'),
  receiptOf({ step, body }) {
    if (step === 'upload') return { uploaded: true };
    if (step === 'place') return { uploadUrl: textAt(body, 'upload_url'), fileId: textAt(body, 'file_id') };
    const [ts, channel] = [textAt(body, 'ts'), textAt(body, 'channel')];
    return step === 'webhook' || ts === null ? null : { ts, channel };
  },
  lines: [
    { code: ['ok'], means: 'delivered' },
    {
      code: /^(?:ratelimited|rate_limited|internal_error|fatal_error|request_timeout|service_unavailable|rollup_error)$/,
      means: 'retry',
    },
    { code: ['org_login_required', 'team_added_to_org'], means: 'retry', afterMs: 600_000 },
    {
      code: /^(?:invalid_token|no_team|no_service|no_service_id|no_active_hooks|team_disabled|channel_is_archived|not_authed|invalid_auth|account_inactive|token_revoked|token_expired|missing_scope|ekm_access_denied)$/,
      means: 'gone',
      because: 'the webhook or the token is not valid any more',
    },
    { status: [404], code: ['channel_not_found'], means: 'gone', because: 'the channel of the webhook was deleted' },
    {
      status: [200],
      code: /^(?:channel_not_found|not_in_channel|is_archived|restricted_action.*)$/,
      means: 'refused',
      because: 'invite the bot to the channel that `channelId` names, and let it post there',
    },
    { status: [200], code: /^(?!ok$)[a-z_]+$/, means: 'refused' },
    { status: [403], code: ['action_prohibited', 'posting_to_general_channel_denied'], means: 'refused' },
    { status: [401, 403, 404, 410], means: 'gone' },
  ],
});

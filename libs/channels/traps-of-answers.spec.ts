/** Traps in what receivers answer, that are common to many services, one by one, held against every channel that there is. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type ActionType } from './declarations.js';
import { answerOf, httpTypes, requestsOf, settingsOf, vendorTypes, verdictsOn } from './every-channel.kit.js';
import { kitTimeMs } from './notification.kit.js';

const readme = (type: ActionType): string => readFileSync(new URL(`./${type}/README.md`, import.meta.url), 'utf8');
const goldenAnswers = z.array(
  z.looseObject({
    answer: z.looseObject({ status: z.int().optional(), body: z.unknown().optional() }),
    verdict: z.looseObject({ state: z.string(), reason: z.string().optional() }),
  }),
);
const answersOf = (type: ActionType) =>
  goldenAnswers.parse(JSON.parse(readFileSync(new URL(`./${type}/golden/answers.json`, import.meta.url), 'utf8')));

describe('a success of HTTP that is an error', () => {
  it.each(vendorTypes)('is none to %s: a page of a proxy with 200', (type) => {
    for (const body of ['<html><body>Sign in</body></html>', '<!doctype html><title>502</title>']) {
      for (const verdict of verdictsOn(type, answerOf(200, body, { 'content-type': 'text/html' }))) {
        expect(verdict).toMatchObject({ state: 'retry', reason: 'unexpected_answer' });
      }
    }
  });

  it.each<[ActionType, string]>([
    ['rocketchat', '{"success":false,"error":"no"}'],
    ['feishu', '{"code":9499,"msg":"Bad Request"}'],
    ['dingtalk', '{"errcode":40035,"errmsg":"no"}'],
    ['vonage_sms', '{"messages":[{"status":"3"}]}'],
    ['splunk_oncall', '{"result":"failure"}'],
    ['pushover', '{"status":0}'],
    ['telegram', '{"ok":false,"description":"no"}'],
    ['zulip', '{"result":"error","code":"BAD_REQUEST"}'],
  ])('is none to %s: %s', (type, body) => {
    for (const verdict of verdictsOn(type, answerOf(200, body))) expect(verdict.state).toBe('refused');
  });

  it('is none to apprise: nothing is known under the key', () => {
    const message = expect.stringContaining('no services under this key, or knows none of these addresses');
    expect(verdictsOn('apprise', answerOf(204))).toMatchObject([{ state: 'refused', reason: 'gone', message }]);
  });
});

describe('a success that is acceptance alone', () => {
  it.each<ActionType>([
    'msteams',
    'pagerduty',
    'opsgenie',
    'incident_io',
    'grafana_oncall',
    'whatsapp',
    'twilio_sms',
    'vonage_sms',
    'homeassistant',
    'line',
    'apprise',
    'syslog',
    'mqtt',
  ])('is called so where %s documents its answers', (type) => {
    expect(readme(type)).toMatch(/\| delivered: accepted/);
  });

  it('is none of discord, which is asked to wait for the message', () => {
    const [settings] = settingsOf('discord');
    if (settings === undefined) throw new Error('no settings');
    expect(requestsOf('discord', settings)[0]?.url).toContain('wait=true');
  });
});

describe('an error', () => {
  it.each(vendorTypes)('of a dead credential or address disables an action of the type %s', (type) => {
    const gone = answersOf(type).filter(({ verdict }) => verdict.reason === 'gone');
    expect(gone.length).toBeGreaterThan(0);
    for (const verdict of verdictsOn(type, answerOf(401))) expect(verdict).toMatchObject({ reason: 'gone' });
  });

  it.each<[ActionType, number, string, Record<string, string>, string]>([
    ['github_issue', 403, '{"message":"secondary rate limit"}', {}, 'receiver_deferred'],
    ['slack', 404, 'no_service', {}, 'gone'],
    ['slack', 410, 'channel_is_archived', {}, 'gone'],
    ['mattermost', 400, '{"id":"web.incoming_webhook.invalid.app_error"}', {}, 'gone'],
    ['msteams', 400, '{"error":{"code":"WorkflowTriggerIsNotEnabled"}}', {}, 'gone'],
    ['rocketchat', 503, 'Service Unavailable', {}, 'receiver_deferred'],
    ['telegram', 400, '{"ok":false,"parameters":{"migrate_to_chat_id":-100}}', {}, 'refused_by_receiver'],
    ['github_issue', 410, '{"message":"Issues are disabled"}', {}, 'gone'],
    ['jira', 404, '{"errorMessages":["no project"]}', {}, 'http_status'],
  ])('of %s is what it is, not what its status %i looks like: %s', (type, status, body, headers, reason) => {
    const reasons = verdictsOn(type, answerOf(status, body, headers)).map(
      (verdict) => 'reason' in verdict && verdict.reason,
    );
    expect(reasons).toContain(reason);
  });
});

describe('a receiver that asks for patience', () => {
  it.each(httpTypes)('in seconds or by a date is obeyed by %s', (type) => {
    const date = new Date(Date.parse('2026-01-02T05:04:05Z')).toUTCString();
    for (const [header, ms] of [
      ['7200', 7_200_000],
      [date, Date.parse(date) - kitTimeMs],
    ] as const) {
      for (const verdict of verdictsOn(type, answerOf(429, '', { 'retry-after': header }))) {
        if (verdict.state !== 'retry') throw new Error(`${type} gives up`);
        expect(verdict.retryAfterMs).toBeGreaterThanOrEqual(ms);
      }
    }
  });

  it.each(httpTypes)('for longer than a day is asked again after a day by %s', (type) => {
    for (const header of ['604800', new Date(kitTimeMs + 604_800_000).toUTCString()]) {
      for (const verdict of verdictsOn(type, answerOf(429, '', { 'retry-after': header }))) {
        if (verdict.state !== 'retry') throw new Error(`${type} gives up`);
        expect(verdict.retryAfterMs).toBe(86_400_000);
      }
    }
  });

  it.each<[ActionType, number, string, Record<string, string>, number]>([
    ['discord', 429, '{"retry_after":64.57}', {}, 64_570],
    ['telegram', 429, '{"ok":false,"parameters":{"retry_after":35}}', {}, 35_000],
    ['zulip', 429, '{"result":"error","code":"RATE_LIMIT_HIT","retry-after":28.7}', {}, 28_700],
    ['matrix', 429, '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2000}', {}, 2_000],
    ['vonage_sms', 200, '{"messages":[{"status":"1","error-text":"please wait [ 2500 ] and retry"}]}', {}, 2_500],
    ['opsgenie', 429, '', { 'x-ratelimit-period-in-sec': '60' }, 60_000],
    ['github_issue', 403, '', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1767323105' }, 59_322],
    ['pushover', 429, '', { 'x-limit-app-reset': '1767323105' }, 59_322],
    ['pushbullet', 429, '', { 'x-ratelimit-reset': '1767323105' }, 59_322],
    ['rocketchat', 429, '', { 'x-ratelimit-reset': '1767323105000' }, 59_322],
    ['jira', 429, '', { 'x-ratelimit-reset': '2026-01-02T03:05:05Z' }, 59_322],
  ])('in its own way is obeyed: %s, %i %s %j', (type, status, body, headers, ms) => {
    for (const verdict of verdictsOn(type, answerOf(status, body, headers))) {
      expect(verdict).toMatchObject({ state: 'retry', retryAfterMs: ms });
    }
  });

  it.each<[ActionType, number]>([
    ['pagerduty', 30_000],
    ['googlechat', 60_000],
    ['ntfy', 60_000],
    ['dingtalk', 600_000],
    ['feishu', 60_000],
    ['gotify', 30_000],
  ])('without a word for how long is left alone by %s for %i ms', (type, ms) => {
    for (const verdict of verdictsOn(type, answerOf(429))) expect(verdict).toMatchObject({ retryAfterMs: ms });
  });
});

import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { isSignedBy } from './webhook-sink.js';

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const nowMs = Date.parse('2026-11-01T08:00:00Z');
const body = '{"type":"notification.triggered"}';

function signed(at = nowMs): Record<string, string> {
  const signature = new Webhook(secret).sign('dlv_1', new Date(at), body);
  return {
    'webhook-id': 'dlv_1',
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': signature,
  };
}

describe('the signature of a webhook', () => {
  it('is verified where the reference library made it', () => {
    expect(isSignedBy(secret, signed(), body, nowMs)).toBe(true);
  });

  it('is found among several, as while a secret is changed', () => {
    const headers = signed();
    headers['webhook-signature'] = `v1,${'A'.repeat(43)}= ${headers['webhook-signature']}`;
    expect(isSignedBy(secret, headers, body, nowMs)).toBe(true);
  });

  it.each([
    ['another body', signed(), `${body} `],
    ['another id', { ...signed(), 'webhook-id': 'dlv_2' }, body],
    ['another time', { ...signed(), 'webhook-timestamp': String(nowMs / 1_000 + 1) }, body],
    ['no signature', { ...signed(), 'webhook-signature': '' }, body],
    ['a signature cut short', { ...signed(), 'webhook-signature': 'v1,AAAA' }, body],
    ['a timestamp that is none', { ...signed(), 'webhook-timestamp': 'soon' }, body],
    ['a time long past', signed(nowMs - 3_600_000), body],
    ['no headers at all', {}, body],
  ])('is refused with %s', (_, headers, text) => {
    expect(isSignedBy(secret, headers, text, nowMs)).toBe(false);
  });
});

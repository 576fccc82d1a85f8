import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { declarationOf } from '#channels/declarations';
import { httpSummary } from '#channels/summary';
import { createRedactor, keep } from './redact.js';

const webhook = declarationOf('webhook');
const none = { addresses: [], secretAddresses: [] };

describe('the recorded part of an answer', () => {
  const stored = {
    url: { $sealed: '1' },
    headers: { Authorization: { $sealed: '2' }, Accept: 'text/plain' },
    secret: { $sealed: '3' },
    to: [{ $sealed: '4' }],
  };
  const opened = {
    url: 'https://me:hunter2!@hooks.example/aB3dE5gH7jK9mN1pQ3sT5vW7?key=queryvalue&b=2',
    headers: { Authorization: 'Bearer abc.def"ghi', Accept: 'text/plain' },
    secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    to: ['anna@example.com'],
  };
  const redact = createRedactor(stored, opened, webhook);

  it.each([
    'Bearer abc.def"ghi',
    'abc.def"ghi',
    JSON.stringify({ authorization: 'Bearer abc.def"ghi' }),
    `you sent ${encodeURIComponent('Bearer abc.def"ghi')}`,
    Buffer.from('Bearer abc.def"ghi').toString('base64'),
    Buffer.from('Bearer abc.def"ghi').toString('hex').toUpperCase(),
    'hunter2!',
    Buffer.from('me:hunter2!').toString('base64'),
    'https://me:hunter2!@hooks.example/aB3dE5gH7jK9mN1pQ3sT5vW7?key=queryvalue&b=2',
    'aB3dE5gH7jK9mN1pQ3sT5vW7',
    'queryvalue',
    Buffer.alloc(24, 7).toString('base64'),
  ])('holds no secret: %s', (text) => {
    const kept = redact(`before ${text} after`);
    for (const word of ['abc.def', 'hunter2', 'queryvalue', 'aB3dE5gH7jK9mN1pQ3sT5vW7', 'BwcH', 'QmVhcmVy', '426561']) {
      expect(kept).not.toContain(word);
    }
    expect(kept).toMatch(/^before .*\*{8}.* after$/);
  });

  it('shows no more of a webhook address than its summary', () => {
    const hide = createRedactor({ url: { $sealed: '1' } }, { url: 'https://hooks.example/in' }, webhook);
    expect(hide('POST https://hooks.example/in')).toBe('POST https://hooks.example/in');
    const whole = createRedactor(
      { secrets: { hook: { $sealed: '1' } } },
      { secrets: { hook: 'https://hooks.example/in' } },
      webhook,
    );
    expect(whole('POST https://hooks.example/in')).toBe('POST ********');
  });

  it.each([
    ['slack', 'https://hooks.slack.com/services/T00000000/B00000000/', 'abcdefghijKLMNOPQRSTuvwx'],
    ['mattermost', 'https://chat.example.com/hooks/', 'abcdefghijklmnopqrstuvwxyz'],
    ['rocketchat', 'https://chat.example.com/hooks/aaaabbbbccccddddeeee/', 'abcdefghijklmnopqrstuvwxyz'],
    ['homeassistant', 'https://home.example.com/api/webhook/', 'the-cat-is-out'],
    ['grafana_oncall', 'https://oncall.example.com/integrations/v1/formatted_webhook/', 'abcdefghijklmnop/'],
  ] as const)('does not show what gives access in an address of %s, whatever it looks like', (type, before, token) => {
    const url = `${before}${token}`;
    const hide = createRedactor({ webhookUrl: { $sealed: '1' } }, { webhookUrl: url }, declarationOf(type));
    const plain = token.replace('/', '');
    expect(hide(httpSummary('POST', url).url)).toBe(url.replace(plain, '********'));
    expect(hide(`no webhook ${plain} here`)).toBe('no webhook ******** here');
  });

  it('has masked mailboxes and is otherwise unchanged', () => {
    expect(redact('550 <Anna@Example.com>: no such user; text/plain')).toBe(
      '550 <a…@example.com>: no such user; text/plain',
    );
  });

  it('is searched for as many and as long secrets as an action may have', () => {
    const names = Array.from({ length: 50 }, (_, index) => `name${index}`);
    const hide = createRedactor(
      { secrets: Object.fromEntries(names.map((name) => [name, { $sealed: name }])) },
      { secrets: Object.fromEntries(names.map((name) => [name, `${name}-`.repeat(800)])) },
      none,
    );
    expect(hide(`x${'name7-'.repeat(800)}x`)).toBe('x********');
    expect(hide('nothing to see')).toBe('nothing to see');
  });

  it('is at most 2 KiB of whole characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 500, maxLength: 3_000 }), (text) => {
        const kept = keep(text);
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(2_048);
        expect(kept.isWellFormed()).toBe(true);
        // Control characters are what must not pass
        expect(kept).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
      }),
    );
    expect(keep('é'.repeat(2_000))).toBe('é'.repeat(1_024));
    expect(keep(`x${'é'.repeat(2_000)}`)).toBe(`x${'é'.repeat(1_023)}`);
  });

  it('holds no secret of any characters, in any text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, maxLength: 40 }), fc.string(), fc.string(), (secret, before, after) => {
        const hide = createRedactor({ code: { $sealed: 'x' } }, { code: secret }, none);
        expect(hide(before + secret + after).length).toBeGreaterThan(0);
        expect(hide(`[${secret}]`)).not.toContain(`[${secret}]`);
      }),
    );
  });
});

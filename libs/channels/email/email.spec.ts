import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '#runtime/json';
import type { MailOutgoing } from '../channel.js';
import { aNotification, type KitNotification } from '../notification.kit.js';
import { email, parseMailFrom } from './build.js';
import { classifyMail } from './classify.js';

const context = { nowMs: 0, linkBase: 'https://meerkat.example', mailFrom: 'Meerkat <watch@example.com>' };

function build(config: JsonObject, request: KitNotification = {}): MailOutgoing {
  const outgoing = email.build({ request: aNotification(request), config }, context);
  if (outgoing.kind !== 'mail') throw new Error('nothing was built');
  return outgoing.mail;
}

describe('a mail', () => {
  it('has the default text where the action sets no body', () => {
    const { deliveryId, executionId } = aNotification();
    const { html, ...mail } = build({ to: 'anna@example.com', subject: '{{ task.name }}: {{ value }}' });
    expect(html).toContain('Price watch');
    expect(mail).toEqual({
      messageId: `${deliveryId}@example.com`,
      from: { name: 'Meerkat', address: 'watch@example.com' },
      replyTo: null,
      to: ['anna@example.com'],
      cc: [],
      recipients: ['anna@example.com'],
      subject: 'Price watch: 12.5',
      text: [
        'The condition of “Price watch” became true.',
        '',
        'Task: Price watch',
        'Page: https://shop.example/item?x=1',
        'Value: 12.5',
        'note: only "two" left',
        'Checked: 2026-01-02T03:04:05.678Z',
        `Details: https://meerkat.example/executions/${executionId}`,
        '',
      ].join('\n'),
      inReplyTo: null,
      picture: null,
      sentAt: '2026-01-02T03:04:05.678Z',
    });
  });

  it('has the text of its action, or HTML with a plain-text alternative', () => {
    const base = { to: 'anna@example.com', subject: 's', body: '<b>{{ values.note }}</b>' };
    expect(build(base)).toMatchObject({ text: '<b>only "two" left</b>', html: null });
    const mail = build({ ...base, format: 'html' });
    expect(mail.html).toBe('<b>only &quot;two&quot; left</b>');
    expect(mail.text).toContain('Task: Price watch');
  });

  it('shows what changed, before and after, with the title of the page, as text and as HTML', () => {
    const { context: plain } = aNotification();
    const more = {
      before: { value: 15, note: 'only "two" left' },
      title: 'Kettles <b>& more</b>',
      excerpt: { before: 'costs 15 today', after: 'costs 12.5 today' },
    };
    const { text, html } = build({ to: 'a@example.com', subject: 's' }, { context: { ...plain, ...more } });
    expect(text).toContain('Title: Kettles <b>& more</b>\n');
    expect(text).toContain('Value: 15 → 12.5\nnote: only "two" left\n');
    expect(text).toContain('Before: costs 15 today\nNow: costs 12.5 today\n');
    expect(html).toContain('<s style="color:#9a3412">15</s> → <b>12.5</b>');
    expect(html).toContain('Kettles &lt;b&gt;&amp; more&lt;/b&gt;');
  });

  it('says what to do about a check that failed, as text and as HTML', () => {
    const { context: plain } = aNotification();
    const hint = 'Write page.number(…, { or: null }) & compare "that" <if it may be missing>.';
    const { text, html } = build({ to: 'a@example.com', subject: 's' }, { kind: 'error', context: { ...plain, hint } });
    expect(text).toContain(`\nWhat to do: ${hint}\nPage: `);
    expect(html).toContain('compare &quot;that&quot; &lt;if it may be missing&gt;.');
    const own = { to: 'a@example.com', subject: 's', body: '{{ message }} {{ hint }}|' };
    expect(build(own, { kind: 'error', context: { ...plain, hint } }).text).toContain(` ${hint}|`);
    expect(build(own).text).toContain('became true. |');
  });

  it('carries the chart only where its HTML shows it', () => {
    const chart = new Uint8Array([1, 2, 3]);
    const pictureOf = (config: JsonObject) => {
      const outgoing = email.build({ request: aNotification(), config }, { ...context, chart });
      return outgoing.kind === 'mail' ? [outgoing.mail.picture, outgoing.mail.html?.includes('cid:chart')] : null;
    };
    const base = { to: 'a@example.com', subject: 's' };
    expect(pictureOf(base)).toEqual([chart, true]);
    expect(pictureOf({ ...base, body: 'text' })).toEqual([null, undefined]);
    expect(pictureOf({ ...base, body: '<p>no</p>', format: 'html' })).toEqual([null, false]);
    expect(pictureOf({ ...base, body: '<img src="cid:chart">', format: 'html' })).toEqual([chart, true]);
  });

  it('answers the first one of its episode, so that mail programs put them together', () => {
    const { deliveryId } = aNotification({ name: 'first' });
    const outgoing = email.build(
      { request: { ...aNotification(), openedBy: deliveryId }, config: { to: 'a@example.com', subject: 's' } },
      context,
    );
    expect(outgoing).toMatchObject({ mail: { inReplyTo: `${deliveryId}@example.com` } });
  });

  it('is sent to each recipient once, in a stable order', () => {
    const config = {
      to: ['a@example.com', 'b@example.com'],
      cc: 'A@example.com',
      bcc: ['b@EXAMPLE.com', 'c@example.com'],
      subject: 's',
    };
    expect(build(config)).toMatchObject({
      to: ['a@example.com', 'b@example.com'],
      cc: ['A@example.com'],
      recipients: ['a@example.com', 'b@example.com', 'A@example.com', 'c@example.com'],
    });
  });

  it('is marked as a test where it is one', () => {
    expect(build({ to: 'a@example.com', subject: 's' }, { kind: 'test' }).subject).toBe('[Test] s');
  });

  it('has a subject of one line, even with line breaks from the page', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (message) => {
        const { context: kit } = aNotification();
        const mail = build({ to: 'a@example.com', subject: 'x {{ message }}' }, { context: { ...kit, message } });
        // A line break would be another header
        expect(mail.subject).not.toMatch(/[\u0000-\u001f\u007f\u2028\u2029]/);
      }),
    );
  });

  it.each<[string, JsonObject]>([
    ['a line break', { to: 'a@example.com\r\nBcc: e@example.com', subject: 's' }],
    ['a list in one text', { to: 'a@example.com, e@example.com', subject: 's' }],
    ['a display name', { to: 'Eve <e@example.com>', subject: 's' }],
    ['no mailbox', { to: [], subject: 's' }],
    ['a file as its body', { to: 'a@example.com', subject: 's', body: { path: '/etc/passwd' } }],
    ['two lines of subject', { to: 'a@example.com', subject: 's\nBcc: e@example.com' }],
  ])('with %s is rejected', (_what, config) => {
    expect(email.build({ request: aNotification(), config }, context)).toMatchObject({
      kind: 'none',
      verdict: { state: 'refused', reason: 'config_invalid' },
    });
  });

  it.each([
    ['Meerkat <a@example.com>', 'Meerkat', 'a@example.com'],
    ['"Meer, kat" <a@example.com>', 'Meer, kat', 'a@example.com'],
    ['a@example.com', '', 'a@example.com'],
    ['nonsense', 'Meerkat', 'meerkat@localhost'],
    ['Eve <a@example.com>\r\nBcc: <b@example.com>', 'Meerkat', 'meerkat@localhost'],
  ])('is sent from %j as the operator set it', (text, name, address) => {
    expect(parseMailFrom(text)).toEqual({ name, address });
  });
});

describe('an answer of a mail server', () => {
  const recipients = [
    { part: 0, address: 'a@example.com' },
    { part: 2, address: 'c@example.com' },
  ];

  it('settles each recipient by itself', () => {
    const verdicts = classifyMail(
      {
        kind: 'taken',
        accepted: ['a@example.com'],
        refused: [{ address: 'c@example.com', code: 450, text: '450 later' }],
        text: '250 queued',
      },
      recipients,
    );
    expect(verdicts).toMatchObject([
      { part: 0, verdict: { state: 'delivered', response: { status: 250, body: '250 queued' } } },
      { part: 2, verdict: { state: 'retry', reason: 'smtp_deferred', response: { status: 450 } } },
    ]);
  });

  it.each([
    [421, 'retry'],
    [450, 'retry'],
    [451, 'retry'],
    [452, 'retry'],
    [503, 'retry'],
    [550, 'refused'],
    [552, 'refused'],
    [554, 'refused'],
    [null, 'refused'],
  ])('%s to the message means %s for all recipients', (code, state) => {
    const answer = {
      kind: 'not_taken',
      about: 'message',
      reason: 'smtp_refused',
      code,
      text: 't',
      refused: [],
    } as const;
    expect(classifyMail(answer, recipients).map(({ verdict }) => verdict.state)).toEqual([state, state]);
  });

  it.each([
    [550, '550 5.1.1 no such user', 'refused', 'mailbox_gone', undefined],
    [550, '550-5.1.10 null MX', 'refused', 'mailbox_gone', undefined],
    [550, '550 5.7.1 rejected as spam', 'refused', 'mail_policy', undefined],
    [552, '552 5.3.4 too big', 'refused', 'mail_too_large', undefined],
    [552, '552 5.2.2 mailbox full', 'retry', 'mailbox_full', null],
    [550, '550 5.3.2 not now', 'retry', 'smtp_refused', null],
    [450, '450 4.7.1 greylisted', 'retry', 'mail_policy', 300_000],
    [451, '451 try later', 'retry', 'smtp_deferred', 300_000],
    [452, '452 4.2.2 full', 'retry', 'mailbox_full', null],
    [550, '550 4.2.0 contradicts itself', 'refused', 'smtp_refused', undefined],
  ])('%s %j to one recipient means %s, %s', (code, text, state, reason, retryAfterMs) => {
    const refused = [{ address: 'a@example.com', code, text }];
    const answer = { kind: 'taken', accepted: [], refused, text: '250 ok' } as const;
    const [one] = classifyMail(answer, recipients.slice(0, 1));
    expect(one?.verdict).toMatchObject({ state, reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  });

  it.each([
    [
      550,
      '550-5.1.1 The email account that you tried to reach does not exist.\r\n550-5.1.1 See\r\n550 5.1.1 https://help.example/a',
      'The mail server answered 550 (5.1.1): The email account that you tried to reach does not exist. See https://help.example/a.',
    ],
    [
      550,
      '550 5.1.1 <anna@example.com>: no such user; forwarded to (bob.b@private.example).',
      'The mail server answered 550 (5.1.1): <a…@example.com>: no such user; forwarded to (b…@private.example).',
    ],
    [451, '451 try\tlater\u0007 ', 'The mail server answered 451: try later.'],
    [554, '554', 'The mail server answered 554.'],
    [550, '550 4.2.0 contradicts itself', 'The mail server answered 550: contradicts itself.'],
  ])('%s is told with the words of the server and without mailboxes: %j', (code, text, message) => {
    const answer = { kind: 'not_taken', about: 'message', reason: 'smtp_refused', code, text, refused: [] } as const;
    const [one] = classifyMail(answer, recipients.slice(0, 1));
    expect(one?.verdict).toMatchObject({ message });
    expect(JSON.stringify(one)).not.toMatch(/anna|bob/);
  });

  it('that is long is told by its beginning, whatever stands in it', () => {
    const text = `550 ${'a'.repeat(100_000)}${'b@c.'.repeat(100_000)}`;
    const answer = {
      kind: 'not_taken',
      about: 'message',
      reason: 'smtp_refused',
      code: 550,
      text,
      refused: [],
    } as const;
    const [one] = classifyMail(answer, recipients.slice(0, 1));
    expect(one?.verdict).toMatchObject({ message: expect.stringMatching(/^The mail server answered 550: a{399}…\.$/) });
  });

  it('about the login or the connection is told with its words too', () => {
    const about = (kind: 'login' | 'connection', code: number, text: string) => {
      const answer = { kind: 'not_taken', about: kind, reason: 'r', code, text, refused: [] } as const;
      const [one] = classifyMail(answer, recipients);
      return one?.verdict.state === 'retry' ? one.verdict.message : null;
    };
    expect(about('login', 535, '535 5.7.8 Authentication failed')).toBe(
      'The mail server refused the login; the operator has to check SMTP_URL. It answered 535 (5.7.8): Authentication failed.',
    );
    expect(about('connection', 554, '554 5.7.1 your address is blocked')).toBe(
      'The mail server answered 554 (5.7.1): your address is blocked.',
    );
  });

  it('opens the breaker of the server where the login or the connection failed, with any code', () => {
    const login = {
      kind: 'not_taken',
      about: 'login',
      reason: 'smtp_login_refused',
      code: 535,
      text: '',
      refused: [],
    } as const;
    expect(classifyMail(login, recipients)[0]?.verdict).toMatchObject({ state: 'retry', unreachable: true });
    const gone = {
      kind: 'not_taken',
      about: 'connection',
      reason: 'timed_out',
      code: null,
      text: '',
      refused: [],
    } as const;
    expect(classifyMail(gone, recipients)[0]?.verdict).toMatchObject({ state: 'retry', unreachable: true });
    const busy = { ...gone, reason: 'smtp_deferred', code: 421, text: '421 not now' } as const;
    expect(classifyMail(busy, recipients)[0]?.verdict).toMatchObject({ state: 'retry', unreachable: true });
    const stopped = { ...gone, reason: 'aborted' } as const;
    expect(classifyMail(stopped, recipients)[0]?.verdict).toMatchObject({ state: 'retry', unreachable: false });
  });
});

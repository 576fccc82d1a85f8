/** Mails as their server gets them: signed, to one person each; and a server that refuses what it is given, or all of it. */
import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, type DeliveryAnswer } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import type { Installation } from './kit/installation.js';
import { startMailSink, type MailReply, type MailSink, type ReceivedMail } from './kit/mail-sink.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

/** Failures in a row after which a server is spared. */
const failuresUntilSpared = 5;
/** At most, in either mode. */
const sendingProcesses = 2;
/** Messages elsewhere, one after the other: by then a mail that came before them was tried, unless it waits. */
const controls = 3;
/** Longer than a server is spared for. */
const patienceMs = 110_000;
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

let installation: Installation;
let site: PageSite;
let mails: MailSink;
let hooks: HookSink;

beforeAll(async () => {
  [site, mails, hooks] = await Promise.all([startPageSite(), startMailSink(), startHookSink()]);
  installation = await createInstallation({
    smtpUrl: mails.url,
    settings: {
      MAIL_FROM: 'Meerkat <watch@example.com>',
      MAIL_DKIM_DOMAIN: 'example.com',
      MAIL_DKIM_SELECTOR: 'meerkat',
      MAIL_DKIM_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    },
  });
  await installation.start();
  site.serve('/shop', html('in stock'));
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), mails.close(), hooks.close()]);
});

/** A task with one action that is triggered now; its id. */
async function triggered(action: object, more: object = {}): Promise<string> {
  const { id } = await installation.api.create({ ...byHand(site.address('/shop')), actions: [action], ...more });
  expect((await installation.api.execute(id)).decision?.reason).toBe('became_true');
  return id;
}
const mailTo = (to: unknown, more: object = {}) => ({ type: 'email', config: { to, subject: 'In stock', ...more } });
const when = (what: string, taskId: string, isSo: (delivery: DeliveryAnswer) => boolean): Promise<DeliveryAnswer> =>
  until(
    what,
    async () => (await installation.api.deliveries(taskId)).find((delivery) => isSo(delivery)) ?? null,
    patienceMs,
  );
const isDelivered = ({ state }: DeliveryAnswer): boolean => state === 'delivered';
const mailsTo = (address: string): readonly ReceivedMail[] =>
  mails.received.filter(({ recipients }) => recipients.includes(address));

/** RFC 6376: whether the signature holds for the headers that it names and for the body, both "relaxed". */
function isSigned(raw: string, named: readonly string[]): boolean {
  const end = raw.indexOf('\r\n\r\n');
  const fields = raw
    .slice(0, end)
    .split(/\r\n(?![ \t])/)
    .map((field): [string, string] => [field.slice(0, field.indexOf(':')).toLowerCase(), field]);
  const signature = fields.find(([name]) => name === 'dkim-signature')?.[1] ?? '';
  const tag = (name: string): string =>
    new RegExp(`(?:^|;)\\s*${name}=([^;]*)`).exec(signature.replace(/^[^:]*:/, ''))?.[1]?.replace(/\s+/g, '') ?? '';
  const relaxed = (field: string): string => {
    const at = field.indexOf(':');
    const value = field
      .slice(at + 1)
      .replace(/\r\n/g, '')
      .replace(/[ \t]+/g, ' ')
      .trim();
    return `${field.slice(0, at).trim().toLowerCase()}:${value}`;
  };
  const body = raw
    .slice(end + 4)
    .replace(/[ \t]+(?=\r\n)/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/(?:\r\n)*$/, '\r\n');
  const covered = tag('h').toLowerCase().split(':');
  const signed = covered.flatMap((name) => {
    const field = fields.findLast(([one]) => one === name)?.[1];
    return field === undefined ? [] : [`${relaxed(field)}\r\n`];
  });
  const own = relaxed(signature.replace(/([;\s]b=)[^;]*/, '$1'));
  return (
    tag('d') === 'example.com' &&
    tag('s') === 'meerkat' &&
    tag('c') === 'relaxed/relaxed' &&
    named.every((name) => covered.includes(name)) &&
    tag('bh') === createHash('sha256').update(body).digest('base64') &&
    createVerify('sha256')
      .update(signed.join('') + own)
      .verify(publicKey, tag('b'), 'base64')
  );
}

describe('a mail', () => {
  it('is signed by the key of the operator, with all that a mail program goes by', async () => {
    const path = '/page';
    site.serve(path, html('in stock'));
    const id = await triggered(mailTo('signed@example.com'), { url: site.address(path), name: 'Größe “M” .  x' });
    await when('it arrives', id, isDelivered);
    const [{ raw } = { raw: '' }] = mailsTo('signed@example.com');
    const named = ['from', 'to', 'subject', 'date', 'message-id', 'list-unsubscribe'];
    expect(isSigned(raw, named)).toBe(true);
    expect(isSigned(raw.replace('in stock', 'out of it'), named) && raw.includes('in stock')).toBe(false);
    expect(isSigned(raw.replace(/^Subject: /m, 'Subject: Not '), named)).toBe(false);
  });

  it('goes to each person by an envelope of their own, and names where that one stops it', async () => {
    const all = ['to-a@example.com', 'to-b@example.com', 'cc@example.com', 'bcc@example.com'];
    const id = await triggered(mailTo(all.slice(0, 2), { cc: 'cc@example.com', bcc: ['bcc@example.com'] }));
    await when('it arrives', id, isDelivered);
    const links = all.map((address) => {
      const [mail, ...more] = mailsTo(address);
      expect([mail?.recipients, more]).toEqual([[address], []]);
      const head = (mail?.raw ?? '').replace(/\r\n[ \t]+/g, ' ');
      expect(head).not.toMatch(/^bcc:|bcc@example\.com/im);
      return /^List-Unsubscribe: <(http:\/\/[^/>]+\/unsubscribe\/[^>]+)>\r?$/m.exec(head)?.[1];
    });
    expect(new Set(links).size).toBe(all.length);
    expect(links).not.toContain(undefined);
  });

  it('of one episode answers the first one, by an id that each try has', async () => {
    const to = 'thread@example.com';
    mails.reply(to, 451);
    site.serve('/thread', html('in stock'));
    const on = ['triggered', 'recovered'];
    const id = await triggered({ ...mailTo(to), on }, { url: site.address('/thread') });
    await until('it was put off', () => mailsTo(to).length === 1);
    const [{ messageId } = { messageId: '' }] = mailsTo(to);
    const [delivery] = await installation.api.deliveries(id);
    expect(messageId).toBe(`<${String(delivery?.id)}@example.com>`);
    await installation.api.send(`/api/deliveries/${String(delivery?.id)}/resend`, { method: 'POST' });
    await when('it arrives', id, isDelivered);
    site.serve('/thread', html('sold out'));
    await installation.api.execute(id);
    await until('its end arrives', () => mailsTo(to).length === 3);
    const [, again, ended] = mailsTo(to);
    expect(again?.messageId).toBe(messageId);
    expect(ended?.messageId).not.toBe(messageId);
    expect(ended?.raw).toContain(`In-Reply-To: ${messageId}`);
    expect(ended?.raw.replace(/\r\n[ \t]+/g, ' ')).toContain(`References: ${messageId}`);
  });

  it('has no recipient, header or part that a page wrote', async () => {
    const hostile =
      'x\r\nBcc: eve@example.com\r\nTo: eve@example.com\r\n\r\n.\r\nMAIL FROM:<eve@example.com>\r\n--b\r\n';
    const code = `page.report('value', ${JSON.stringify(hostile)}); return true;`;
    const config = { subject: '{{ value }} {{ values.value }}', body: '<p>{{ value }}</p>', format: 'html' };
    const to = 'safe@example.com';
    const id = await triggered(mailTo(to, config), {
      evaluationFunction: code,
      name: hostile.replace(/[\r\n]+/g, ' '),
    });
    await when('it arrives', id, isDelivered);
    const [mail] = mailsTo(to);
    const head = (mail?.raw ?? '').split('\r\n\r\n')[0] ?? '';
    expect(mail?.recipients).toEqual([to]);
    expect(head.match(/^(?:to|bcc|cc):.*$/gim)).toEqual([`To: ${to}`]);
    expect(mailsTo('eve@example.com')).toEqual([]);
  });
});

describe('an address', () => {
  it.each([
    'anna@example.com\r\nBcc: eve@example.com',
    'anna@example.com, eve@example.com',
    'Anna <anna@example.com>',
    '<anna@example.com>',
    'anna@example.com ',
    'anna@@example.com',
    'anna@example..com',
    'anna@-example.com',
    'anna',
    '',
    '"a b"@example.com',
    'anna@[127.0.0.1]',
    '{{ value }}@example.com',
    [],
    ['anna@example.com', 'eve@example.com\u0000'],
    Array.from({ length: 51 }, (_, n) => `a${n}@example.com`),
    { address: 'anna@example.com' },
  ])('that is no single one is refused as what it stands for: %j', async (to) => {
    for (const config of [
      { to, subject: 's' },
      { to: 'anna@example.com', cc: to, subject: 's' },
      { to: 'anna@example.com', bcc: to, subject: 's' },
    ]) {
      const actions = [{ type: 'email', config }];
      const json = { ...byHand(site.address('/shop')), actions };
      const refused = await installation.api.send('/api/notifications', { json });
      expect(refused.status).toBe(400);
      const field = 'cc' in config ? 'cc' : 'bcc' in config ? 'bcc' : 'to';
      expect(errorOf(refused).details?.[0]?.field).toMatch(new RegExp(`^actions\\[0\\]\\.config\\.${field}`));
    }
  });
});

describe('what a mail server says of a recipient', () => {
  it.each<[string, MailReply, string, string, RegExp]>([
    ['gone', { code: 550, text: '5.1.1 no such user', at: 'recipient' }, 'failed', 'mailbox_gone', /550 \(5\.1\.1\)/],
    ['large', { code: 552, text: '5.3.4 too big' }, 'failed', 'mail_too_large', /552 \(5\.3\.4\): too big/],
    ['spam', { code: 550, text: '5.7.1 looks like spam' }, 'failed', 'mail_policy', /550 \(5\.7\.1\)/],
    ['full', { code: 552, text: '5.2.2 over quota', at: 'recipient' }, 'retrying', 'mailbox_full', /over quota/],
    ['grey', { code: 450, text: '4.7.1 greylisted', at: 'recipient' }, 'retrying', 'mail_policy', /greylisted/],
    ['later', { code: 451, text: 'try later' }, 'retrying', 'smtp_deferred', /451: try later/],
  ])('is read and told: %s', async (name, reply, state, reason, words) => {
    const to = `${name}@example.com`;
    mails.reply(to, reply);
    const id = await triggered(mailTo(to));
    const delivery = await when(`it is ${state}`, id, (one) => one.state === state);
    expect(delivery.attempts).toMatchObject([{ error: { reason, message: expect.stringMatching(words) } }]);
    expect(JSON.stringify(delivery)).not.toContain(to);
  });

  it('of one of several is settled for that one alone', async () => {
    mails.reply('bad@example.com', { code: 550, text: '5.1.1 no such user', at: 'recipient' });
    mails.reply('slow@example.com', { code: 452, text: '4.2.2 full', at: 'recipient' });
    const id = await triggered(mailTo(['good@example.com', 'bad@example.com', 'slow@example.com']));
    const delivery = await when('it is over', id, ({ finishedAt }) => finishedAt !== null);
    expect([delivery.state, delivery.reason]).toEqual(['failed', 'mailbox_gone']);
    const counts = ['good', 'bad', 'slow'].map((name) => mailsTo(`${name}@example.com`).length);
    expect(counts).toEqual([1, 0, 1]);
  });
});

describe('a mail server that takes nothing from anybody', () => {
  it('is spared after some failures in a row: mails for it wait, use up no attempt, and delay nobody', async () => {
    mails.greet({ code: 421, text: '4.3.2 not accepting mail now' });
    const failing: string[] = [];
    let late: string | null = null;
    while (late === null) {
      // Each process that sends finds out for itself.
      expect(failing.length).toBeLessThanOrEqual(sendingProcesses * failuresUntilSpared);
      const id = await triggered(mailTo(`mail-${failing.length}@example.com`));
      for (let n = 0; n < controls; n += 1) {
        const elsewhere = await triggered({ type: 'webhook', config: { url: hooks.address('/live') } });
        expect((await when('it arrives', elsewhere, isDelivered)).attempts).toHaveLength(1);
      }
      const [delivery] = await installation.api.deliveries(id);
      if (delivery?.attempts.length === 0) late = id;
      else {
        await when('the first attempt fails', id, ({ state }) => state === 'retrying');
        failing.push(id);
      }
    }
    // Those that failed may have been tried again meanwhile.
    const known = await Promise.all(failing.map((id) => installation.api.deliveries(id)));
    const failures = known.flat().reduce((sum, { attempts }) => sum + attempts.length, 0);
    expect(failures).toBeGreaterThanOrEqual(failuresUntilSpared - 1);
    expect((await installation.api.deliveries(late))[0]).toMatchObject({ state: 'pending', attempts: [] });
    mails.greet(null);
    for (const id of [...failing, late]) await when('it arrives', id, isDelivered);
    const [{ attempts } = { attempts: [] }] = await installation.api.deliveries(late);
    expect(attempts).toMatchObject([{ response: { status: 250 } }]);
    for (const [index, id] of failing.entries()) {
      const [delivery] = await installation.api.deliveries(id);
      const reasons = delivery?.attempts.map(({ error }) => error?.reason ?? null) ?? [];
      expect([reasons.at(-1), new Set(reasons.slice(0, -1))]).toEqual([null, new Set(['smtp_deferred'])]);
      expect(mailsTo(`mail-${index}@example.com`)).toHaveLength(1);
    }
  });
});

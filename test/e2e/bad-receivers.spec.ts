/** Receivers that refuse, stall and break off: tried again under the same id and with the same bytes, or given up by name. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryAnswer } from './kit/api.js';
import { z } from 'zod';
import { startHookSink, verified, type HookReply, type HookSink } from './kit/hook-sink.js';
import { createInstallation } from './kit/create-installation.js';
import { ownerEmail, type Installation } from './kit/installation.js';
import { startMailSink, type MailReply, type MailSink } from './kit/mail-sink.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

let installation: Installation;
let site: PageSite;
let mails: MailSink;
let hooks: HookSink;

beforeAll(async () => {
  [site, mails, hooks] = await Promise.all([startPageSite(), startMailSink(), startHookSink()]);
  installation = await createInstallation({ smtpUrl: mails.url });
  await installation.start();
  site.serve('/shop', html('in stock'));
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), mails.close(), hooks.close()]);
});

/** A task with one action that is triggered now; its id. */
async function triggered(action: object): Promise<string> {
  const { id } = await installation.api.create({ ...byHand(site.address('/shop')), actions: [action] });
  const { decision } = await installation.api.execute(id);
  expect(decision?.reason).toBe('became_true');
  return id;
}

const webhook = (path: string, settings: object = {}) => ({
  type: 'webhook',
  config: { url: hooks.address(path), secret, ...settings },
});

const mailTo = (to: string) => ({ type: 'email', config: { to, subject: 'In stock: {{ task.name }}' } });

/** The task's one delivery, once it is over. */
async function settled(taskId: string): Promise<DeliveryAnswer> {
  return until('the delivery is over', async () => {
    const [delivery, ...others] = await installation.api.deliveries(taskId);
    expect(others).toEqual([]);
    return delivery !== undefined && ['delivered', 'failed', 'expired'].includes(delivery.state) ? delivery : null;
  });
}

const reasonsOf = ({ attempts }: DeliveryAnswer): (string | null)[] =>
  attempts.map(({ error }) => error?.reason ?? null);

/** Webhooks that are tried again, all at the same time: each waits 5 s for its second try. */
const shakyHooks: readonly [string, HookReply, string][] = [
  ['answers 500', 500, 'http_status'],
  ['answers 429', 429, 'http_status'],
  ['redirects', 302, 'redirected'],
  ['hangs', 'hang', 'timed_out'],
  ['breaks off in the middle of its answer', 'drop', 'protocol_error'],
];

const shakyMails: readonly [string, MailReply][] = [
  ['puts off with 452', 452],
  ['breaks the connection after the message', 'drop'],
];

const pathOf = (what: string): string => `/${what.replaceAll(' ', '-')}`;
const mailboxOf = (what: string): string => `${what.replaceAll(' ', '-')}@example.com`;
const shaky = new Map<string, Promise<DeliveryAnswer>>();

async function settledShaky(what: string): Promise<DeliveryAnswer> {
  const delivery = await shaky.get(what);
  if (delivery === undefined) throw new Error(`${what} was not begun`);
  return delivery;
}

beforeAll(async () => {
  for (const [what, reply] of shakyHooks) {
    hooks.reply(pathOf(what), reply);
    // Of the others none is late, however busy the machine.
    const settings = reply === 'hang' ? { timeoutSeconds: 1 } : {};
    shaky.set(what, triggered(webhook(pathOf(what), settings)).then(settled));
  }
  for (const [what, reply] of shakyMails) {
    mails.reply(mailboxOf(what), reply);
    shaky.set(what, triggered(mailTo(mailboxOf(what))).then(settled));
  }
  await Promise.allSettled(shaky.values());
});

describe('a webhook that', () => {
  it.each(shakyHooks)('%s is retried after 5 s, byte for byte the same', async (what, _, reason) => {
    const delivery = await settledShaky(what);
    expect([delivery.state, reasonsOf(delivery)]).toEqual(['delivered', [reason, null]]);
    const [first, second, ...others] = hooks.received(pathOf(what));
    expect(others).toEqual([]);
    expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);
    expect(first?.id).toBe(delivery.id);
    for (const hook of hooks.received(pathOf(what))) expect(verified(hook, secret).type).toBe('notification.triggered');
  });

  it('refuses permanently is not retried', async () => {
    hooks.reply('/refusing', 403);
    const delivery = await settled(await triggered(webhook('/refusing')));
    expect([delivery.state, delivery.reason, reasonsOf(delivery)]).toEqual(['failed', 'http_status', ['http_status']]);
  });

  it('is gone has its action disabled, of which its owner and the other actions are told once', async () => {
    hooks.reply('/gone', 410);
    const { id } = await installation.api.create({
      ...byHand(site.address('/shop')),
      name: 'Orphan',
      actions: [webhook('/gone'), { ...webhook('/other'), on: ['error'] }, { ...webhook('/deaf'), on: ['recovered'] }],
    });
    await installation.api.execute(id);
    const disabled = (): boolean => mails.taken().some(({ text }) => text.includes('"Orphan"'));
    await until('the owner is told', async () => disabled() && hooks.received('/other').length > 0);
    const task = await installation.api.task(id);
    expect(task.actions.map(({ enabled }) => enabled)).toEqual([false, true, true]);
    const [lost] = (await installation.api.deliveries(id)).filter(({ state }) => state === 'failed');
    expect(task['warnings']).toEqual([
      {
        field: 'actions[0]',
        rule: 'action_disabled',
        message: expect.stringContaining(`(delivery ${String(lost?.id)})`),
      },
    ]);
    const letters = mails.taken().filter(({ text }) => text.includes('"Orphan"'));
    expect(letters.map(({ recipients, subject }) => ({ recipients, subject }))).toEqual([
      { recipients: [ownerEmail], subject: 'Orphan: an action was disabled' },
    ]);
    expect(letters[0]?.text).toContain(`its receiver ${hooks.address('/gone')} answered that it is gone`);
    const [told, ...more] = hooks.received('/other');
    expect([more, hooks.received('/deaf')]).toEqual([[], []]);
    expect(told === undefined ? null : verified(told, secret)).toMatchObject({ type: 'notification.error' });

    const again = await installation.api.execute(id, 30, { force: true });
    expect(again.decision?.reason).not.toBe('became_true');
    expect(hooks.received('/gone')).toHaveLength(1);
    const actions = `/api/notifications/${id}/actions/${String(task.actions[0]?.id)}`;
    await installation.api.send(actions, { method: 'PATCH', json: { enabled: true } });
    expect((await installation.api.task(id))['warnings']).toBeUndefined();
  });

  it('is signed has a secret that only the first answer shows', async () => {
    const settings = {
      ...byHand(site.address('/shop')),
      actions: [{ type: 'webhook', config: { url: hooks.address('/made') } }],
    };
    const created = await installation.api.create(settings);
    const made = z.string().parse(created.actions[0]?.config['secret']);
    expect(made).toMatch(/^whsec_/);
    expect((await installation.api.task(created.id)).actions[0]?.config['secret']).toBe('********');
    await installation.api.execute(created.id);
    await settled(created.id);
    const [hook] = hooks.received('/made');
    expect(hook).toBeDefined();
    if (hook === undefined) return;
    expect(verified(hook, made).data['task']).toMatchObject({ id: created.id, name: 'Stock' });
    expect(() => verified(hook, secret)).toThrow(/signature/);
    expect(() => verified({ ...hook, body: hook.body.replace('Stock', 'Stick') }, made)).toThrow(/signature/);
  });
});

describe('a custom action', () => {
  const custom = (code: string, secrets = {}) => ({ type: 'custom', config: { code, secrets } });

  it('sends the requests that its code returns', async () => {
    const code = `return {
      url: ${JSON.stringify('URL')}, method: 'POST', headers: { 'x-token': secrets.token },
      body: JSON.stringify({ about: event.data.task.name }) };`.replace('URL', hooks.address('/custom'));
    const delivery = await settled(await triggered(custom(code, { token: 'custom-token' })));
    expect([delivery.state, reasonsOf(delivery)]).toEqual(['delivered', [null]]);
    const [hook] = hooks.received('/custom');
    expect([hook?.body, hook?.headers['x-token']]).toEqual(['{"about":"Stock"}', 'custom-token']);
  });

  it.each([
    ['throws', 'threw', "throw new Error('boom');"],
    ['loops for ever', 'cpu_limit', 'while (true) {}'],
    ['goes where nobody may go', 'address_denied', "return { url: 'http://10.0.0.1/', method: 'POST' };"],
  ])('that %s fails with %s', async (_, reason, code) => {
    const delivery = await settled(await triggered(custom(code)));
    expect([delivery.state, delivery.reason]).toEqual(['failed', reason]);
  });
});

describe('a mail server that', () => {
  it.each(shakyMails)('%s gets the same mail again', async (what) => {
    const to = mailboxOf(what);
    const delivery = await settledShaky(what);
    expect([delivery.state, delivery.attempts.length]).toEqual(['delivered', 2]);
    const [first, second, ...others] = mails.received.filter(({ recipients }) => recipients.includes(to));
    expect(others).toEqual([]);
    expect(first?.messageId).toContain(delivery.id);
    expect(second?.raw).toBe(first?.raw);
    expect(second?.subject).toBe('In stock: Stock');
  });

  it('refuses with 550 is not retried', async () => {
    mails.reply('refused@example.com', 550);
    const delivery = await settled(await triggered(mailTo('refused@example.com')));
    expect([delivery.state, delivery.reason, delivery.attempts.length]).toEqual(['failed', 'smtp_refused', 1]);
  });
});

it('a failure of pages and receivers is not logged as an error', () => {
  expect(installation.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
});

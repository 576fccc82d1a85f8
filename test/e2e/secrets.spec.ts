/** Secrets and addresses stand in clear in nothing that is kept, no line of the log and no answer, whatever was done with them. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { startHookSink, verified, type HookSink } from './kit/hook-sink.js';
import { errorOf } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { ownerApiKey, ownerEmail, ownerPassword, type Installation } from './kit/installation.js';
import { startMailSink, type MailSink } from './kit/mail-sink.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

/** What a user wrote and nobody else may read: each once in the settings of the task below. */
const canaries = {
  mailAddress: 'canary-mailbox@canary-domain.example',
  copyAddress: 'canary-copy@canary-domain.example',
  webhookSecret: `whsec_${Buffer.from('canary-webhook-secret-24').toString('base64')}`,
  webhookToken: 'canary-webhook-token',
  webhookPassword: 'canary-webhook-password',
  customSecret: 'canary-custom-secret',
  pageAuthorization: 'canary-page-authorization',
  pageCookie: 'canary-page-cookie',
  proxyPassword: 'canary-proxy-password',
};

const mask = '********';

let installation: Installation;
let site: PageSite;
let mails: MailSink;
let hooks: HookSink;
/** Everything that the API answered, but the one answer that made something. */
let answers = '';
let taskId = '';

const settings = () => ({
  ...byHand(site.address('/shop')),
  fetch: { headers: { Authorization: `Bearer ${canaries.pageAuthorization}`, Cookie: `s=${canaries.pageCookie}` } },
  actions: [
    { type: 'email', config: { to: canaries.mailAddress, cc: [canaries.copyAddress], subject: 'In stock' } },
    {
      type: 'webhook',
      config: {
        url: hooks.address('/hook').replace('//', `//user:${canaries.webhookPassword}@`),
        secret: canaries.webhookSecret,
        headers: { 'X-Auth-Token': canaries.webhookToken },
        timeoutSeconds: 1,
      },
    },
    {
      type: 'custom',
      config: {
        code: `console.log(secrets.token); return { url: '${hooks.address('/custom')}', method: 'POST', headers: { 'x-token': secrets.token }, body: 'x' };`,
        secrets: { token: canaries.customSecret },
      },
    },
  ],
});

beforeAll(async () => {
  [site, mails, hooks] = await Promise.all([startPageSite(), startMailSink(), startHookSink()]);
  installation = await createInstallation({ smtpUrl: mails.url, settings: { LOG_LEVEL: 'trace' } });
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), mails.close(), hooks.close()]);
});

async function keep(path: string, request: Parameters<Installation['api']['send']>[1] = {}): Promise<unknown> {
  const { status, text } = await installation.api.send(path, request);
  expect([path, status]).toEqual([path, 200]);
  answers += text;
  return text.startsWith('{') ? JSON.parse(text) : text;
}

const shownTask = z.object({
  data: z.looseObject({
    fetch: z.looseObject({ headers: z.record(z.string(), z.string()) }),
    actions: z.array(z.looseObject({ config: z.record(z.string(), z.json()) })),
  }),
});

describe('the secrets of a task', () => {
  it('are sent to their page and their receivers', async () => {
    let asked: Readonly<Record<string, unknown>> = {};
    site.serve('/shop', (request, response) => {
      asked = request.headers;
      html('in stock')(request, response);
    });
    hooks.reply('/hook', 500);
    const made = await installation.api.send('/api/notifications', {
      json: settings(),
      headers: { 'idempotency-key': 'canary' },
    });
    expect(made.status).toBe(201);
    taskId = z.object({ data: z.object({ id: z.string() }) }).parse(made.body).data.id;
    await installation.api.execute(taskId);
    await until('all three are delivered', async () => {
      const deliveries = await installation.api.deliveries(taskId);
      return deliveries.length === 3 && deliveries.every(({ state }) => state === 'delivered');
    });
    expect(asked).toMatchObject({
      authorization: `Bearer ${canaries.pageAuthorization}`,
      cookie: `s=${canaries.pageCookie}`,
    });
    const mailboxes = mails.taken().flatMap(({ recipients }) => recipients);
    expect(mailboxes.toSorted()).toEqual([canaries.mailAddress, canaries.copyAddress].toSorted());
    const hook = hooks.received('/hook').at(-1);
    if (hook === undefined) throw new Error('no webhook came');
    expect(verified(hook, canaries.webhookSecret).type).toBe('notification.triggered');
    expect(hook.headers['x-auth-token']).toBe(canaries.webhookToken);
    expect(hook.headers['authorization']).toBe(
      `Basic ${Buffer.from(`user:${canaries.webhookPassword}`).toString('base64')}`,
    );
    expect(hooks.received('/custom')[0]?.headers['x-token']).toBe(canaries.customSecret);
  });

  it('are masked in every answer, and a mask that is sent back keeps them', async () => {
    const path = `/api/notifications/${taskId}`;
    const { data } = shownTask.parse(await keep(path));
    expect(data.fetch.headers).toEqual({ Authorization: mask, Cookie: mask });
    expect(data.actions.map(({ config }) => [config['secret'], config['headers'], config['secrets']])).toEqual([
      [undefined, undefined, undefined],
      [mask, { 'X-Auth-Token': mask }, undefined],
      [undefined, undefined, { token: mask }],
    ]);
    // What GET gave is sent back as it is, and with a proxy whose password is one more secret: the others would pass by it.
    await keep(path, { method: 'PUT', json: data });
    const proxy = `http://proxy:${canaries.proxyPassword}@127.0.0.1:9`;
    const masked = await installation.api.send(path, { method: 'PATCH', json: { fetch: { proxy } } });
    expect(errorOf(masked).reason).toBe('secret_required');
    const { headers } = settings().fetch;
    await keep(path, { method: 'PATCH', json: { fetch: { proxy, headers } } });
    await keep(path, { method: 'PATCH', json: { fetch: { proxy: null } } });
    const before = hooks.received('/hook').length;
    const run = await installation.api.execute(taskId, 30, { force: true });
    expect([run.outcome, run.decision?.reason]).toEqual([true, 'forced']);
    const hook = await until('the webhook comes again', () => hooks.received('/hook')[before]);
    expect(verified(hook, canaries.webhookSecret).type).toBe('notification.triggered');
    for (const list of ['', '/history', '/executions', '/deliveries']) await keep(`${path}${list}`);
    for (const list of ['notifications', 'executions', 'deliveries', 'keys']) await keep(`/api/${list}`);
    await keep('/metrics');
    // An address is no secret to those who may read the task.
    for (const [name, canary] of Object.entries(canaries)) {
      if (!name.endsWith('Address')) expect([name, answers.includes(canary)]).toEqual([name, false]);
    }
    expect(answers).not.toContain(ownerApiKey);
    expect(answers).not.toContain(ownerPassword);
  });

  it('appear in no stored file and no log line, after a crash and after an orderly stop', async () => {
    const watched: Readonly<Record<string, string>> = {
      ...canaries,
      ownerApiKey,
      ownerPassword,
      ownerEmail,
      signedSecret: canaries.webhookSecret.replace('whsec_', ''),
      basicAuthorization: Buffer.from(`user:${canaries.webhookPassword}`).toString('base64'),
      secretInBytes: 'canary-webhook-secret-24',
    };
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await installation.kill(signal);
      const stored = await installation.stored();
      expect(stored.length).toBeGreaterThan(3);
      for (const { name: place, bytes } of stored) {
        const found = Object.entries(watched).flatMap(([name, canary]) => (bytes.includes(canary) ? [name] : []));
        expect([place, found]).toEqual([place, []]);
      }
      await installation.start();
    }
    const log = installation.lines.join('\n');
    expect(Object.entries(watched).flatMap(([name, canary]) => (log.includes(canary) ? [name] : []))).toEqual([]);
  });
});

/** Pages behind a login: what says so, what opens them, and where the password does not stand. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import { startMailSink, type MailSink } from './kit/mail-sink.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

const password = 'canary-pässword';
const shown = z.object({ data: z.object({ fetch: z.object({ auth: z.json() }) }) });
const tried = z.object({
  data: z.object({
    outcome: z.boolean().nullable(),
    error: z.object({ reason: z.string(), hint: z.string() }).nullable(),
  }),
});

const saved = z.object({ data: z.object({ actions: z.array(z.object({ id: z.string() })) }) });

let installation: Installation;
let site: PageSite;
let hooks: HookSink;
let mails: MailSink;

beforeAll(async () => {
  [site, hooks, mails] = await Promise.all([startPageSite(), startHookSink(), startMailSink()]);
  const expected = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
  site.serve('/members', (request, response) => {
    if (request.headers.authorization === expected) return html('in stock')(request, response);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="members"' }).end();
  });
  installation = await createInstallation({ smtpUrl: mails.url });
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close(), mails.close()]);
});

const test = async (more: object) => {
  const json = { ...byHand(site.address('/members')), ...more };
  return tried.parse((await installation.api.send('/api/notifications/test', { method: 'POST', json })).body).data;
};

describe('a page that asks for user name and password', () => {
  const fetch = { auth: { type: 'basic', username: 'ada', password } };

  it('names the setting that gives them', async () => {
    const { outcome, error } = await test({});
    expect([outcome, error?.reason, error?.hint]).toEqual([null, 'http_status', expect.stringContaining('fetch.auth')]);
  });

  it('names it in every message as well, and in the preview of one', async () => {
    const { api } = installation;
    const action = (type: string, config: object) => ({ type, config, on: ['error'] });
    const { id } = await api.create({
      ...byHand(site.address('/members')),
      policy: { errorThreshold: 1 },
      actions: [
        action('webhook', { url: hooks.address('/event') }),
        action('webhook', { url: hooks.address('/own'), body: '{{ message }} {{ hint }}' }),
        action('email', { to: 'ada@example.com', subject: '{{ task.name }}' }),
      ],
    });
    const run = await api.execute(id, 30);
    expect(run.decision?.reason).toBe('error_threshold');
    const mail = await until('the mail is there', () => mails.taken()[0] ?? null);
    expect(mail.text).toMatch(/cannot be checked[^]*\nWhat to do: [^\n]*fetch\.auth/);
    const event = await until('the event is there', () => hooks.received('/event')[0] ?? null);
    expect(JSON.parse(event.body)).toMatchObject({ data: { hint: expect.stringContaining('fetch.auth') } });
    const own = await until('the own body is there', () => hooks.received('/own')[0] ?? null);
    expect(own.body).toMatch(/cannot be checked: .*fetch\.auth/);
    const { actions } = saved.parse((await api.send(`/api/notifications/${id}`)).body).data;
    const path = `/api/notifications/${id}/actions/${actions.at(-1)?.id}/preview`;
    const preview = await api.send(path, { json: { kind: 'error', executionId: run.id } });
    expect(preview.text).toContain('What to do: ');
  });

  it('is read with them, before it is saved and after', async () => {
    expect((await test({ fetch })).outcome).toBe(true);
    const { id } = await installation.api.create({ ...byHand(site.address('/members')), fetch });
    const { outcome } = await installation.api.execute(id, 30);
    expect(outcome).toBe(true);
  });

  it('shows the password to nobody, keeps it where its mask comes back, and asks for it where the page moves', async () => {
    const { api } = installation;
    const { id } = await api.create({ ...byHand(site.address('/members')), fetch });
    const path = `/api/notifications/${id}`;
    const masked = { ...fetch.auth, password: '********' };
    expect(shown.parse((await api.send(path)).body).data.fetch.auth).toEqual(masked);
    const renamed = await api.send(path, { method: 'PATCH', json: { name: 'Members', fetch: { auth: masked } } });
    expect(renamed.status).toBe(200);
    expect((await api.execute(id, 30)).outcome).toBe(true);
    const moved = await api.send(path, { method: 'PATCH', json: { url: 'http://127.0.0.1:9/members' } });
    expect([moved.status, errorOf(moved).reason]).toEqual([400, 'secret_required']);
    expect((await api.send(`${path}/history`)).text).not.toContain('canary');
    await installation.kill('SIGTERM');
    const found = (await installation.stored()).filter(({ bytes }) => bytes.includes('canary-p'));
    expect(found.map(({ name }) => name)).toEqual([]);
    expect(installation.lines.join('\n')).not.toContain('canary-p');
    await installation.start();
  });

  it('does not take two ways to say who asks', async () => {
    const headers = { authorization: 'Bearer x' };
    const json = { ...byHand(site.address('/members')), fetch: { ...fetch, headers } };
    const refused = await installation.api.send('/api/notifications', { method: 'POST', json });
    expect(errorOf(refused)).toMatchObject({
      details: [{ field: 'fetch.auth', message: expect.stringContaining('contradict') }],
    });
  });
});

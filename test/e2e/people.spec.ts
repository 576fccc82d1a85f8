/** People, keys and budgets of an organisation, over HTTP, through any of its gateways. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { openStream } from './kit/event-stream.js';
import { ownerPassword, type Installation } from './kit/installation.js';
import { startMailSink, type MailSink } from './kit/mail-sink.js';
import { addOrganization, addPerson, codeOf, invite, personPassword, signIn, tokenOf } from './kit/people.js';
import { until } from './kit/until.js';

const withKey = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) });
const begun = z.object({ data: z.object({ secret: z.string(), recoveryCodes: z.array(z.string()) }) });

let installation: Installation;
let mails: MailSink;

beforeAll(async () => {
  mails = await startMailSink();
  installation = await createInstallation({ smtpUrl: mails.url, settings: { ANONYMOUS_PER_MINUTE: '100000' } });
  await installation.start();
});

afterAll(async () => {
  await installation.remove();
  await mails.close();
});

const told = (reply: Reply): readonly [number, string] => [reply.status, errorOf(reply).reason];
const list = (key: string): Promise<Reply> => installation.api.send('/api/notifications', { key });

async function makeKey(more: object = {}): Promise<{ readonly id: string; readonly key: string }> {
  const json = { name: 'spec', scopes: ['read'], ...more };
  return withKey.parse((await installation.api.send('/api/keys', { json })).body).data;
}

const budgetOf = ({ headers }: Reply): readonly number[] =>
  ['limit', 'remaining'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

describe('people', () => {
  it.each(['ſam@example.com', '\u212aim@example.com', 'İvan@example.com', 'ｏwner@example.com'])(
    'are invited by an address in plain letters, and not by %s',
    async (email) => {
      const message = expect.stringContaining('must be in plain letters: write s for ſ');
      const invited = await installation.api.send('/api/members', { json: { email, role: 'viewer' } });
      expect([invited.status, invited.body]).toMatchObject([
        400,
        { error: { details: [{ field: 'email', message }] } },
      ]);
      const json = { name: 'Look-alikes', ownerEmail: email };
      const founded = await (await signIn(installation)).send('/api/organizations', { json });
      expect([founded.status, founded.body]).toMatchObject([
        400,
        { error: { details: [{ field: 'ownerEmail', message }] } },
      ]);
    },
  );

  it('join by an invitation that was mailed, do what their role may, and are gone at once when removed', async () => {
    const { token, email, id } = await invite(installation, 'viewer');
    const mail = await until(
      'the invitation came',
      () => mails.taken().find(({ recipients }) => recipients.includes(email)) ?? null,
    );
    expect(mail.text).toContain(`/invitations/${token}`);
    const link = `/api/invitations/${token}`;
    const subject = { data: { email, organization: expect.any(String) } };
    expect((await installation.api.send(link, { key: null })).body).toMatchObject(subject);
    const json = { password: personPassword };
    const joined = await installation.api.send(link, { json, key: null });
    expect(joined.status).toBe(201);
    expect(told(await installation.api.send(link, { json, key: null }))).toEqual([404, 'not_found']);
    expect(told(await installation.api.send(link, { key: null }))).toEqual([404, 'not_found']);
    const person = await signIn(installation, { email, password: personPassword });
    expect((await person.send('/api/notifications')).status).toBe(200);
    expect(told(await person.send('/api/members'))).toEqual([403, 'missing_scope']);
    await installation.api.send(`/api/members/${id}`, { method: 'PATCH', json: { role: 'admin' } });
    expect((await person.send('/api/members')).status).toBe(200);
    const stream = await openStream(`${installation.url}/api/stream`, { cookie: person.cookie });
    expect((await installation.api.send(`/api/members/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(told(await person.send('/api/notifications'))).toEqual([401, 'session_ended']);
    await stream.ended;
  });

  it('keep an owner', async () => {
    const owner = await signIn(installation);
    const path = `/api/members/${owner.id}`;
    expect(told(await installation.api.send(path, { method: 'DELETE' }))).toEqual([400, 'last_owner']);
    const demote = { method: 'PATCH', json: { role: 'viewer' } };
    expect(told(await installation.api.send(path, demote))).toEqual([400, 'last_owner']);
    expect(
      told(await installation.api.send('/api/members', { json: { email: 'owner@example.com', role: 'viewer' } })),
    ).toEqual([409, 'already_exists']);
  });

  it('change their password, which ends their other sessions', async () => {
    const person = await addPerson(installation, 'viewer');
    const other = await signIn(installation, { email: person.email, password: personPassword });
    const newPassword = 'another horse battery staple';
    const json = { currentPassword: personPassword, newPassword };
    expect((await person.send('/api/account/password', { json })).status).toBe(200);
    expect((await person.send('/api/notifications')).status).toBe(200);
    expect(told(await other.send('/api/notifications'))).toEqual([401, 'session_ended']);
    await signIn(installation, { email: person.email, password: newPassword });
  });

  it('set a new password by a mailed link; who asks learns nothing about who there is', async () => {
    const { email } = await addPerson(installation, 'viewer');
    const asked = await Promise.all(
      [email, 'nobody@example.com'].map((one) =>
        installation.api.send('/api/password-resets', { json: { email: one }, key: null }),
      ),
    );
    expect(asked.map(({ status, text }) => [status, text])).toEqual([
      [202, '{"success":true,"data":{"accepted":true}}'],
      [202, '{"success":true,"data":{"accepted":true}}'],
    ]);
    const mail = await until(
      'the link came',
      () => mails.taken().find((one) => one.recipients.includes(email) && one.subject.includes('password')) ?? null,
    );
    const path = `/api/password-resets/${tokenOf(/https?:\S+/.exec(mail.text)?.[0] ?? '')}`;
    const json = { newPassword: 'another horse battery staple' };
    const subject = { data: { email, organization: expect.any(String) } };
    expect((await installation.api.send(path, { key: null })).body).toMatchObject(subject);
    expect((await installation.api.send(path, { json, key: null })).status).toBe(200);
    expect(told(await installation.api.send(path, { json, key: null }))).toEqual([404, 'not_found']);
    expect(told(await installation.api.send(path, { key: null }))).toEqual([404, 'not_found']);
    await signIn(installation, { email, password: json.newPassword });
    expect(mails.taken().filter(({ recipients }) => recipients.includes('nobody@example.com'))).toEqual([]);
  });

  it('sign in with a second factor: each code once through whatever gateway, recovery codes too, over a restart', async () => {
    const person = await addPerson(installation, 'viewer');
    const factor = '/api/account/second-factor';
    const { secret, recoveryCodes } = begun.parse(
      (await person.send(factor, { json: { password: personPassword } })).body,
    ).data;
    // Of the step before, so that the one of now is still to be had.
    const code = codeOf(secret, Date.now() - 30_000);
    expect((await person.send(`${factor}/confirm`, { json: { code } })).status).toBe(200);
    const pair = { email: person.email, password: personPassword };
    const open = (more: object) => installation.api.send('/api/sessions', { json: { ...pair, ...more }, key: null });
    expect(told(await open({}))).toEqual([401, 'second_factor_required']);
    expect(told(await open({ code }))).toEqual([401, 'wrong_credentials']);
    const now = codeOf(secret);
    const tries = await Promise.all([1, 2, 3, 4].map(() => open({ code: now })));
    expect(tries.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 401, 401, 401]);
    const [recovery = ''] = recoveryCodes;
    expect((await open({ code: recovery })).status).toBe(201);
    await installation.kill('SIGKILL');
    await installation.start();
    expect(told(await open({ code: recovery }))).toEqual([401, 'wrong_credentials']);
    expect(told(await open({ code: now }))).toEqual([401, 'wrong_credentials']);
  });
});

describe('an API key', () => {
  it('is refused at once through every gateway when it is revoked', async () => {
    const { id, key } = await makeKey();
    for (let i = 0; i < 4; i += 1) expect((await list(key)).status).toBe(200);
    await installation.api.send(`/api/keys/${id}`, { method: 'DELETE' });
    for (let i = 0; i < 4; i += 1) expect(told(await list(key))).toEqual([401, 'invalid_api_key']);
  });

  it('is followed by another, both being good while they overlap', async () => {
    const old = await makeKey();
    const rotate = (seconds: number, id = old.id) =>
      installation.api.send(`/api/keys/${id}/rotate`, { json: { overlapSeconds: seconds } });
    const next = withKey.parse((await rotate(3_600)).body).data;
    for (const { key } of [old, next]) expect((await list(key)).status).toBe(200);
    expect(told(await rotate(0))).toEqual([400, 'key_rotated']);
    const last = withKey.parse((await rotate(0, next.id)).body).data;
    expect([(await list(next.key)).status, (await list(last.key)).status]).toEqual([401, 200]);
  });

  it('ends at its time, and is good from its networks alone', async () => {
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const ending = await makeKey({ expiresAt });
    const elsewhere = await makeKey({ allowedCidrs: ['192.0.2.0/24'] });
    expect(told(await list(elsewhere.key))).toEqual([403, 'address_not_allowed']);
    const reply = await until('it has ended', async () => {
      const answer = await list(ending.key);
      return answer.status === 401 ? answer : null;
    });
    expect(told(reply)).toEqual([401, 'key_expired']);
  });

  it('is shown again to an owner with the password, on record, and to nobody else', async () => {
    const { id, key } = await makeKey();
    const owner = await signIn(installation);
    const path = `/api/keys/${id}/reveal`;
    const json = { password: ownerPassword };
    expect((await owner.send(path, { json })).body).toEqual({ success: true, data: { key } });
    expect(told(await owner.send(path, { json: { password: 'wrong' } }))).toEqual([400, 'wrong_password']);
    const admin = await addPerson(installation, 'admin');
    expect(told(await admin.send(path, { json: { password: personPassword } }))).toEqual([403, 'owner_required']);
    expect(told(await installation.api.send(path, { json }))).toEqual([403, 'session_required']);
    expect(told(await owner.send(path, { json, headers: { origin: 'https://evil.example' } }))).toEqual([
      403,
      'foreign_origin',
    ]);
    const audit = await installation.api.send('/api/audit?type=key.revealed');
    expect(audit.text).toContain(id);
  });

  it('has the scope operator only where an operator gives it', async () => {
    const json = { name: 'all', scopes: ['operator'] };
    expect(told(await installation.api.send('/api/keys', { json }))).toEqual([403, 'missing_scope']);
    const made = withKey.parse((await (await signIn(installation)).send('/api/keys', { json })).body).data;
    expect((await installation.api.send('/api/organizations', { key: made.key })).status).toBe(200);
    expect(told(await list(made.key))).toEqual([403, 'missing_scope']);
    expect(told(await installation.api.send(`/api/keys/${made.id}/rotate`, { json: {} }))).toEqual([
      403,
      'missing_scope',
    ]);
  });

  it('tells when it was used last', async () => {
    const { id, key } = await makeKey();
    await list(key);
    const used = z.object({ data: z.object({ lastUsedAt: z.string().nullable() }) });
    await until('its use is told', async () => {
      const { body } = await installation.api.send(`/api/keys/${id}`);
      return used.parse(body).data.lastUsedAt;
    });
  });
});

describe('the budget of an organisation', () => {
  it('is spent to the last request by 200 at once over all keys and gateways, and kept over a restart', async () => {
    const { key, owner } = await addOrganization(installation, 'Budget', { plan: 'free' });
    const second = withKey.parse((await owner.send('/api/keys', { json: { name: 'second', scopes: ['read'] } })).body)
      .data.key;
    const replies = await Promise.all(Array.from({ length: 200 }, (_, index) => list(index % 3 === 0 ? key : second)));
    const allowed = replies.filter(({ status }) => status === 200);
    expect(allowed).toHaveLength(100);
    expect(allowed.map((reply) => budgetOf(reply)[1]).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 100 }, (_, left) => left),
    );
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(100);
    for (const reply of refused) {
      expect(budgetOf(reply)).toEqual([100, 0]);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(3_500);
    }
    await installation.kill('SIGKILL');
    await installation.start();
    expect((await list(key)).status).toBe(429);
    // People at their screens have a budget of their own.
    expect(budgetOf(await owner.send('/api/notifications'))[0]).toBe(1_000);
  });

  it('is told on every answer, errors of every kind included, each of which costs one', async () => {
    const { key } = await addOrganization(installation, 'Errors', { plan: 'pro' });
    const post = (path: string, more: object) => installation.api.send(path, { method: 'POST', key, ...more });
    const json = { 'content-type': 'application/json' };
    const asked: readonly (readonly [number, () => Promise<Reply>])[] = [
      [200, () => list(key)],
      [404, () => installation.api.send('/api/nowhere', { key })],
      [404, () => installation.api.send('/api/notifications/ntf_x', { key })],
      [405, () => installation.api.send('/api/notifications', { key, method: 'PUT', json: {} })],
      [400, () => post('/api/notifications', { text: '{"name":', headers: json })],
      [400, () => installation.api.send('/api/notifications?limit=x', { key })],
      [413, () => post('/api/notifications', { text: `"${'x'.repeat(1_100_000)}"`, headers: json })],
      [415, () => post('/api/notifications', { text: 'x', headers: { 'content-type': 'text/plain' } })],
      [403, () => installation.api.send('/api/organizations', { key })],
    ];
    let remaining = 1_000;
    for (const [status, ask] of asked) {
      const reply = await ask();
      remaining -= 1;
      expect([reply.status, ...budgetOf(reply)]).toEqual([status, 1_000, remaining]);
      for (const name of ['x-ratelimit-reset', 'ratelimit', 'ratelimit-policy'])
        expect(reply.headers.get(name)).not.toBeNull();
    }
  });

  it('keeps what was used when operators change plan or override, from the next request on', async () => {
    const { key, owner, id } = await addOrganization(installation, 'Plans', { plan: 'free' });
    for (let i = 0; i < 3; i += 1) await list(key);
    expect(told(await owner.send('/api/organization', { method: 'PATCH', json: { plan: 'pro' } }))).toEqual([
      403,
      'missing_scope',
    ]);
    expect((await owner.send('/api/organization', { method: 'PATCH', json: { name: 'Renamed' } })).status).toBe(200);
    const operator = await signIn(installation);
    const change = (json: object) => operator.send(`/api/organizations/${id}`, { method: 'PATCH', json });
    expect((await change({ plan: 'pro' })).status).toBe(200);
    expect(budgetOf(await list(key))).toEqual([1_000, 996]);
    await change({ rateLimit: 5 });
    expect(budgetOf(await list(key))).toEqual([5, 0]);
    expect((await list(key)).status).toBe(429);
    await change({ rateLimit: null });
    expect(budgetOf(await list(key))).toEqual([1_000, 994]);
    const usage = await installation.api.send('/api/usage', { key });
    expect(usage.body).toMatchObject({ data: { budget: 1_000, used: 7, tasks: 0, executions: 0, deliveries: 0 } });
  });

  it('does not lock operators out of what makes it larger, and everybody else out of that', async () => {
    const operator = await signIn(installation);
    const scopes = ['admin', 'operator'];
    const made = await operator.send('/api/keys', { json: { name: 'operator', scopes } });
    const { key } = withKey.parse(made.body).data;
    const admin = await makeKey({ scopes: ['admin'] });
    const change = (by: string, json: object) =>
      installation.api.send('/api/organization', { method: 'PATCH', json, key: by });
    expect((await change(key, { rateLimit: 1 })).status).toBe(200);
    expect(told(await list(key))).toEqual([429, 'rate_limited']);
    expect(told(await change(admin.key, { name: 'Renamed' }))).toEqual([429, 'rate_limited']);
    expect((await installation.api.send('/api/organization', { key })).status).toBe(200);
    expect((await change(key, { rateLimit: null })).status).toBe(200);
    expect((await list(key)).status).toBe(200);
  });

  it('pays one for each 20 tasks of a bulk request, and says what is left', async () => {
    const { key } = await addOrganization(installation, 'Bulk', { plan: 'pro' });
    const ids = Array.from({ length: 41 }, (_, index) => `ntf_${String(index).padStart(26, '0')}`);
    const bulk = () => installation.api.send('/api/notifications/bulk', { key, json: { ids, do: 'pause' } });
    expect(budgetOf(await bulk())).toEqual([1_000, 997]);
    expect(budgetOf(await bulk())).toEqual([1_000, 994]);
  });
});

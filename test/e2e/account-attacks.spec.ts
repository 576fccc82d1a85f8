/** What somebody tries who means harm and has an account, a key, a link or nothing: over HTTP, through whatever gateway. */
import { request as plainRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type Reply, type Send } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { ownerEmail, ownerPassword, type Installation } from './kit/installation.js';
import { startMailSink, type MailSink } from './kit/mail-sink.js';
import {
  addOrganization,
  addPerson,
  codeOf,
  invite,
  join,
  personPassword,
  signIn,
  tokenOf,
  type Person,
} from './kit/people.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

const withKey = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) });
const withId = z.object({ data: z.looseObject({ id: z.string() }) });
const begun = z.object({ data: z.object({ secret: z.string(), recoveryCodes: z.array(z.string()) }) });
const found = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

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
const open = (path: string, json: unknown, more: Send = {}): Promise<Reply> =>
  installation.api.send(path, { json, key: null, ...more });
const sorted = (numbers: readonly number[]): readonly number[] => numbers.toSorted((one, other) => one - other);
const keyOf = async (by: Pick<Person, 'send'>, scopes: readonly string[]): Promise<string> =>
  withKey.parse((await by.send('/api/keys', { json: { name: 'made', scopes } })).body).data.key;

/** Which is good for a member who is asked about here alone. */
async function resetLinkOf(email: string): Promise<string> {
  await open('/api/password-resets', { email });
  const mail = await until(
    'the link came',
    () => mails.taken().find((one) => one.recipients.includes(email) && one.subject.includes('password')) ?? null,
  );
  return `/api/password-resets/${tokenOf(/https?:\S+/.exec(mail.text)?.[0] ?? '')}`;
}

describe('an administrator who is no owner', () => {
  it('makes no owner of themselves or of another, by no way, and takes it from none', async () => {
    const admin = await addPerson(installation, 'admin');
    const secondOwner = await addPerson(installation, 'owner');
    const key = await keyOf(admin, ['admin']);
    const next = await installation.api.send('/api/keys', { json: { name: 'next', scopes: ['admin'] }, key });
    const byNext = withKey.parse(next.body).data;
    const rotated = withKey.parse((await admin.send(`/api/keys/${byNext.id}/rotate`, { json: {} })).body).data.key;
    const asking: readonly ((path: string, request: Send) => Promise<Reply>)[] = [
      (path, request) => admin.send(path, request),
      (path, request) => installation.api.send(path, { ...request, key }),
      (path, request) => installation.api.send(path, { ...request, key: byNext.key }),
      (path, request) => installation.api.send(path, { ...request, key: rotated }),
    ];
    const pending = await invite(installation, 'owner');
    for (const ask of asking) {
      const tries = [
        await ask(`/api/members/${admin.id}`, { method: 'PATCH', json: { role: 'owner' } }),
        await ask('/api/members', { json: { email: 'accomplice@example.com', role: 'owner' } }),
        await ask('/api/members', { json: { email: pending.email, role: 'owner' } }),
        await ask('/api/members', { json: { email: pending.email, role: 'viewer' } }),
        await ask(`/api/members/${pending.id}`, { method: 'PATCH', json: { role: 'viewer' } }),
        await ask(`/api/members/${secondOwner.id}`, { method: 'PATCH', json: { role: 'viewer' } }),
        await ask(`/api/members/${secondOwner.id}`, { method: 'DELETE' }),
      ];
      expect(tries.map(told)).toEqual(tries.map(() => [403, 'owner_required']));
      const operator = await ask(`/api/members/${admin.id}`, { method: 'PATCH', json: { operator: true } });
      expect(operator.status).toBe(403);
    }
    // What an owner's key may, and members who are none.
    const viewer = await addPerson(installation, 'viewer', admin);
    expect((await admin.send(`/api/members/${viewer.id}`, { method: 'PATCH', json: { role: 'admin' } })).status).toBe(
      200,
    );
    const byKey = await installation.api.send(`/api/members/${viewer.id}`, {
      method: 'PATCH',
      json: { role: 'owner' },
    });
    expect(byKey.status).toBe(200);
    for (const id of [viewer.id, secondOwner.id, pending.id])
      expect((await installation.api.send(`/api/members/${id}`, { method: 'DELETE' })).status).toBe(200);
  });
});

describe('two owners who take it from one another at once', () => {
  it('leave one of them', async () => {
    const { owner } = await addOrganization(installation, 'Duel');
    const other = await addPerson(installation, 'owner', owner);
    const demote = { method: 'PATCH', json: { role: 'viewer' } };
    const replies = await Promise.all([
      owner.send(`/api/members/${other.id}`, demote),
      other.send(`/api/members/${owner.id}`, demote),
    ]);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => [400, 403].includes(status))).toHaveLength(1);
  });
});

describe('a link that was sent', () => {
  it('sets one password, however many ask at once, and nothing once it was taken', async () => {
    const { email } = await addPerson(installation, 'viewer');
    const path = await resetLinkOf(email);
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) => open(path, { newPassword: `horse battery staple ${index}` })),
    );
    expect(sorted(replies.map(({ status }) => status))).toEqual([200, ...Array.from({ length: 7 }, () => 404)]);
    const set = replies.findIndex(({ status }) => status === 200);
    await signIn(installation, { email, password: `horse battery staple ${set}` });
    expect(told(await open(path, { newPassword: 'once more horse battery' }))).toEqual([404, 'not_found']);
  });

  it('sets none once the password was changed otherwise, or the member is gone', async () => {
    const person = await addPerson(installation, 'viewer');
    const path = await resetLinkOf(person.email);
    const json = { currentPassword: personPassword, newPassword: 'changed horse battery' };
    expect((await person.send('/api/account/password', { json })).status).toBe(200);
    expect(told(await open(path, { newPassword: 'stolen horse battery' }))).toEqual([404, 'not_found']);
    const gone = await addPerson(installation, 'viewer');
    const theirs = await resetLinkOf(gone.email);
    await installation.api.send(`/api/members/${gone.id}`, { method: 'DELETE' });
    expect(told(await open(theirs, { newPassword: 'stolen horse battery' }))).toEqual([404, 'not_found']);
  });

  it('lets one in by an invitation, not the one that it replaced, nor one that was taken back', async () => {
    const { token, email, id } = await invite(installation, 'viewer');
    const again = await invite(installation, 'editor', undefined, email);
    expect(again.id).toBe(id);
    expect(told(await open(`/api/invitations/${token}`, { password: personPassword }))).toEqual([404, 'not_found']);
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => open(`/api/invitations/${again.token}`, { password: personPassword })),
    );
    expect(sorted(replies.map(({ status }) => status))).toEqual([201, ...Array.from({ length: 5 }, () => 404)]);
    const back = await invite(installation, 'viewer');
    await installation.api.send(`/api/members/${back.id}`, { method: 'DELETE' });
    expect(told(await open(`/api/invitations/${back.token}`, { password: personPassword }))).toEqual([
      404,
      'not_found',
    ]);
  });

  it('is for what it was sent for, and is good in no form that was changed', async () => {
    const { token } = await invite(installation, 'viewer');
    const { email } = await addPerson(installation, 'viewer');
    const reset = tokenOf(await resetLinkOf(email));
    expect((await open(`/api/password-resets/${token}`, { newPassword: 'stolen horse battery' })).status).toBe(404);
    expect((await open(`/api/invitations/${reset}`, { password: 'stolen horse battery' })).status).toBe(404);
    const [organization = '', member = '', expiry = '', epoch = '', mac = ''] = token.split('.');
    const { id } = await signIn(installation);
    const owner = id.slice(id.indexOf('_') + 1);
    const later = (Number.parseInt(expiry, 36) + 1_000).toString(36);
    const changed = [
      [organization, owner, expiry, epoch, mac],
      [organization, member, later, epoch, mac],
      [organization, member, expiry, '1', mac],
      [organization, member, expiry, epoch, ''],
      [organization, member, expiry, epoch, `${mac}A`],
      [organization, member, expiry, epoch],
    ].map((parts) => parts.join('.'));
    for (const one of [...changed, '..%2F..%2Fkeys', '%00', 'x'.repeat(3_000)]) {
      const reply = await open(`/api/invitations/${one}`, { password: 'stolen horse battery' });
      expect([one, reply.status >= 400 && reply.status < 500]).toEqual([one, true]);
    }
    expect((await open(`/api/invitations/${token}`, { password: personPassword })).status).toBe(201);
  });

  it('leads to where the installation is, whatever Host or forwarded name was sent with the question', async () => {
    const { email } = await addPerson(installation, 'viewer');
    const { hostname, port } = new URL(installation.url);
    const status = await new Promise<number>((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        forwarded: 'host=evil.example',
      };
      const asked = plainRequest(
        { hostname, port, path: '/api/password-resets', method: 'POST', headers },
        (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
        },
      );
      asked.on('error', reject).end(JSON.stringify({ email }));
    });
    expect(status).toBe(202);
    const mail = await until(
      'the link came',
      () => mails.taken().find((one) => one.recipients.includes(email) && one.subject.includes('password')) ?? null,
    );
    expect(mail.text).not.toContain('evil.example');
    expect(mail.text).toContain(`${installation.url}/password-resets/`);
  });
});

describe('a request that says where it comes from', () => {
  it('is not believed, so that a key which is good from some networks is good from no other', async () => {
    const json = { name: 'office', scopes: ['read'], allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'] };
    const { key } = withKey.parse((await installation.api.send('/api/keys', { json })).body).data;
    const claims = ['192.0.2.7', '192.0.2.7, 127.0.0.1', '127.0.0.1, 192.0.2.7', '::ffff:192.0.2.7', '2001:db8::1'];
    for (const claim of claims) {
      const names = ['x-forwarded-for', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip'];
      const headers = { ...Object.fromEntries(names.map((name) => [name, claim])), forwarded: `for=${claim}` };
      const reply = await installation.api.send('/api/notifications', { key, headers });
      expect([claim, ...told(reply)]).toEqual([claim, 403, 'address_not_allowed']);
    }
  });

  it('does nothing for a page of another site, by whatever Origin it has', async () => {
    const owner = await signIn(installation);
    const { host } = new URL(installation.url);
    const origins = [
      'null',
      '',
      'https://evil.example',
      `http://${host}.evil.example`,
      `http://evil.example#${host}`,
      `http://${host}@evil.example`,
    ];
    for (const origin of origins) {
      const made = await owner.send('/api/keys', { json: { name: 'csrf', scopes: ['admin'] }, headers: { origin } });
      expect([origin, ...told(made)]).toEqual([origin, 403, 'foreign_origin']);
      const opened = await open(
        '/api/sessions',
        { email: ownerEmail, password: ownerPassword },
        { headers: { origin } },
      );
      expect([origin, ...told(opened)]).toEqual([origin, 403, 'foreign_origin']);
    }
    // A form of another site sends what a form can.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const text = '{"name":"csrf","scopes":["admin"]}';
      const made = await owner.send('/api/keys', { method: 'POST', text, headers: { 'content-type': type } });
      expect([type, ...told(made)]).toEqual([type, 415, 'unsupported_media_type']);
    }
    const { text } = await installation.api.send('/api/keys?limit=100');
    expect(text).not.toContain('"csrf"');
  });
});

describe('a key', () => {
  it('does nothing that is for people, and gives itself nothing that it has not', async () => {
    const key = await keyOf(installation.api, ['admin']);
    const send = (path: string, json: object, method = 'POST') => installation.api.send(path, { json, method, key });
    const forPeople = [
      await send('/api/account/password', { currentPassword: ownerPassword, newPassword: 'stolen horse battery' }),
      await send('/api/account/second-factor', { password: ownerPassword }),
    ];
    expect(forPeople.map(told)).toEqual(forPeople.map(() => [403, 'session_required']));
    expect(told(await send('/api/keys', { name: 'up', scopes: ['operator'] }))).toEqual([403, 'missing_scope']);
    expect(told(await send('/api/organization', { plan: 'enterprise' }, 'PATCH'))).toEqual([403, 'missing_scope']);
    expect(told(await send('/api/organization', { rateLimit: 1_000_000 }, 'PATCH'))).toEqual([403, 'missing_scope']);
    const reading = await keyOf(installation.api, ['read', 'write', 'execute']);
    for (const path of ['/api/keys', '/api/members', '/api/audit', '/api/audit/verify', '/api/export'])
      expect([path, ...told(await installation.api.send(path, { key: reading }))]).toEqual([
        path,
        403,
        'missing_scope',
      ]);
    for (const json of [{ role: 'owner' }, { operator: true }]) {
      const { id } = await signIn(installation);
      expect((await installation.api.send(`/api/members/${id}`, { method: 'PATCH', json, key: reading })).status).toBe(
        403,
      );
    }
  });
});

describe('another organisation that knows every id of the first', () => {
  it('reads none of it in the audit, its lines included, and names none of it in what it writes', async () => {
    const second = await addOrganization(installation, 'Curious');
    const task = await installation.api.create({
      ...byHand('https://shop.example/'),
      name: 'canary-theirs',
      externalKey: 'canary-key',
    });
    const contact = { name: 'canary-ops', type: 'webhook', config: { url: 'http://127.0.0.1:9/canary-hook' } };
    expect((await installation.api.send('/api/contacts', { json: contact })).status).toBe(201);
    const ids = [task.id, task.actions[0]?.id, 'canary'].filter((id) => id !== undefined);
    const ask = (path: string, more: Send = {}) => installation.api.send(path, { ...more, key: second.key });
    const lines = { headers: { accept: 'application/x-ndjson' } };
    const read = [
      await ask('/api/audit?limit=100'),
      await ask('/api/audit', lines),
      await ask(`/api/audit?resource=${task.id}`, lines),
      await ask(`/api/audit?resource=${task.id}`),
      await ask('/api/audit/verify'),
      await ask('/api/export'),
      await ask('/api/contacts'),
    ];
    for (const { status, text } of read) expect([status, ids.filter((id) => text.includes(id))]).toEqual([200, []]);
    expect(found.parse(read[3]?.body).data).toEqual([]);
    expect((await ask('/api/contacts/canary-ops')).status).toBe(404);
    const own = withId.parse((await ask('/api/notifications', { json: byHand('https://shop.example/') })).body).data.id;
    const unknown = task.id.replace(/.{4}$/, 'zzzz');
    /** What is refused for an id of another organisation is refused in the same words as for one that there is not. */
    const same = async (path: string, jsonOf: (id: string) => object, method = 'POST') => {
      const [theirs, nobodys] = [
        await ask(path, { method, json: jsonOf(task.id) }),
        await ask(path, { method, json: jsonOf(unknown) }),
      ];
      const plain = ({ status, text }: Reply, id: string) => [
        status,
        text.replaceAll(id, 'ID').replace(/"requestId":"[^"]*"/, ''),
      ];
      expect([path, ...plain(theirs, task.id)]).toEqual([path, ...plain(nobodys, unknown)]);
      expect(theirs.text).not.toContain('canary');
    };
    const task2 = byHand('https://shop.example/');
    await same('/api/notifications', (id) => ({ ...task2, policy: { dependsOn: [id] } }));
    await same(`/api/notifications/${own}`, (id) => ({ policy: { dependsOn: [id] } }), 'PATCH');
    await same('/api/notifications/test', (id) => ({
      ...task2,
      url: 'http://127.0.0.1:9/',
      policy: { dependsOn: [id] },
    }));
    await same('/api/notifications/bulk', (id) => ({ ids: [id], do: 'archive' }));
    await same(
      '/api/apply',
      (id) => ({ version: 1, notifications: [{ ...task2, externalKey: 'mine', policy: { dependsOn: [id] } }] }),
      'PUT',
    );
    const withContact = await ask('/api/notifications', { json: { ...task2, actions: [{ contact: 'canary-ops' }] } });
    expect(withContact.status).toBe(400);
    // The same external key is free, and applying it changes nothing of the first.
    const applied = await ask('/api/apply?archiveMissing=true', {
      method: 'PUT',
      json: { version: 1, notifications: [{ ...task2, externalKey: 'canary-key' }] },
    });
    expect(applied.status).toBe(200);
    expect(applied.text).not.toContain(task.id);
    expect((await installation.api.task(task.id)).name).toBe('canary-theirs');
    const joined = await join(installation, (await invite(installation, 'admin', second.owner)).token);
    expect((await joined.send(`/api/members/${(await signIn(installation)).id}`, { method: 'DELETE' })).status).toBe(
      404,
    );
  });
});

// Last: the tries for codes use up what this address has.
describe('a second factor', () => {
  it('takes no code again that was used for another thing, and is not turned off by the password alone', async () => {
    const person = await addPerson(installation, 'viewer');
    const factor = '/api/account/second-factor';
    const { secret, recoveryCodes } = begun.parse(
      (await person.send(factor, { json: { password: personPassword } })).body,
    ).data;
    const code = codeOf(secret);
    const confirmed = await Promise.all([1, 2, 3].map(() => person.send(`${factor}/confirm`, { json: { code } })));
    expect(confirmed.filter(({ status }) => status === 200)).toHaveLength(1);
    const pair = { email: person.email, password: personPassword };
    expect(told(await open('/api/sessions', { ...pair, code }))).toEqual([401, 'wrong_credentials']);
    const off = (json: object) => person.send(factor, { method: 'DELETE', json });
    expect((await off({ password: personPassword })).status).toBe(400);
    expect(told(await off({ password: personPassword, code }))).toEqual([400, 'wrong_code']);
    expect(told(await off({ password: 'wrong', code: recoveryCodes[0] }))).toEqual([400, 'wrong_password']);
    // A new password does not come past it.
    const path = await resetLinkOf(person.email);
    expect((await open(path, { newPassword: 'another horse battery' })).status).toBe(200);
    const changed = { email: person.email, password: 'another horse battery' };
    expect(told(await open('/api/sessions', changed))).toEqual([401, 'second_factor_required']);
    // Nor is the secret told again, nor begun anew over the one that is on.
    const session = await signIn(installation, { ...changed, code: recoveryCodes[1] ?? '' });
    expect((await session.send(factor)).text).not.toContain(secret);
    expect(told(await session.send(factor, { json: { password: changed.password } }))).toEqual([
      400,
      'second_factor_on',
    ]);
    const tries = await Promise.all(
      Array.from({ length: 14 }, (_, index) => open('/api/sessions', { ...changed, code: String(100_000 + index) })),
    );
    expect(tries.every(({ status }) => status === 401 || status === 429)).toBe(true);
    expect(tries.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  });
});

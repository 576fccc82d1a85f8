/** The audit over HTTP: every change, who made it, in a chain that shows what was changed behind its back. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { auditEntry, auditVerification, type AuditEntry } from '#contracts/audit';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { ownerEmail, type Installation } from './kit/installation.js';
import { addPerson, personPassword, signIn } from './kit/people.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

let installation: Installation;
let taskId: string;

const canary = 'canary-audit-secret';
const settings = {
  ...byHand('https://shop.example/one'),
  name: 'Audited',
  fetch: { headers: { Authorization: `Bearer ${canary}` } },
};

const send = (path: string, json?: unknown, method = 'POST'): Promise<Reply> =>
  installation.api.send(path, json === undefined ? { method } : { method, json });

async function entriesAt(query = ''): Promise<AuditEntry[]> {
  const { status, body } = await installation.api.send(`/api/audit?limit=100${query}`);
  expect(status).toBe(200);
  return z.object({ data: z.array(auditEntry) }).parse(body).data;
}

/** The audit follows the events, and may be a moment behind. */
const reached = (type: string, query = ''): Promise<AuditEntry[]> =>
  until(`${type} is in the audit`, async () => {
    const found = await entriesAt(query);
    return found.some((entry) => entry.type === type) ? found : null;
  });

const verification = async () =>
  z.object({ data: auditVerification }).parse((await installation.api.send('/api/audit/verify')).body).data;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.start();
  taskId = (await installation.api.create(settings)).id;
  await send(`/api/notifications/${taskId}`, { name: 'Renamed' }, 'PATCH');
  await send(`/api/notifications/${taskId}`, { status: 'paused' }, 'PATCH');
});
afterAll(() => installation.remove());

describe('the audit of an installation', () => {
  it('has every change of a task, newest first, with who and what', async () => {
    const entries = await reached('task.paused', `&resource=${taskId}`);
    expect(entries.map(({ type }) => type)).toEqual(['task.paused', 'task.changed', 'task.created']);
    expect(entries[1]).toMatchObject({
      resource: taskId,
      actor: expect.stringMatching(/^key:key_/),
      requestId: expect.stringMatching(/./),
      changes: [{ path: 'name', from: 'Audited', to: 'Renamed' }],
    });
  });

  it('has the setup, its members and its keys, and no secret and no address of any', async () => {
    const { body } = await send('/api/keys', { name: 'CI', scopes: ['read'] });
    const key = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) }).parse(body).data;
    await send(`/api/keys/${key.id}`, undefined, 'DELETE');
    const entries = await reached('key.revoked');
    expect(entries.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['organization.created', 'member.added', 'key.created']),
    );
    const text = JSON.stringify(entries);
    for (const secret of [canary, ownerEmail, key.key, '"hash":"undefined"', 'passwordHash', '$sealed']) {
      expect(text).not.toContain(secret);
    }
  });

  it('has who exported, applied, ran, tested and sent again, and who revealed and signed in', async () => {
    const watched = await installation.api.create({
      ...settings,
      externalKey: 'acts',
      actions: [{ type: 'webhook', config: { url: 'http://127.0.0.1:9/nobody' } }],
    });
    const path = `/api/notifications/${watched.id}`;
    await installation.api.send('/api/export');
    const { body } = await installation.api.send('/api/export');
    const { data } = z.object({ data: z.looseObject({}) }).parse(body);
    await send('/api/apply?dryRun=true', data, 'PUT');
    await send('/api/apply', data, 'PUT');
    const run = await send(`${path}/execute`, {});
    const [action] = z
      .object({ data: z.array(z.object({ id: z.string() })) })
      .parse((await installation.api.send(`${path}/actions`)).body).data;
    const tested = await send(`${path}/actions/${action?.id}/test`);
    const delivery = z.object({ data: z.object({ id: z.string() }) }).parse(tested.body).data;
    await send(`/api/deliveries/${delivery.id}/resend`);
    await send('/api/deliveries/recover', { from: '2020-01-01T00:00:00Z' });
    await signIn(installation);
    const entries = await reached('session.opened', '&from=2020-01-01T00:00:00Z');
    const of = (type: string) => entries.filter((entry) => entry.type === type);
    expect(of('activity.exported').length).toBe(2);
    expect(of('activity.applied').map((entry) => entry.data)).toMatchObject([{ created: 0, archived: 0 }]);
    const executionId = z.object({ data: z.object({ id: z.string() }) }).parse(run.body).data.id;
    expect(of('activity.run_requested')).toMatchObject([{ resource: watched.id, data: { executionId, force: false } }]);
    expect(of('activity.message_tested')).toMatchObject([{ resource: watched.id, data: { deliveryId: delivery.id } }]);
    expect(of('activity.delivery_resent')).toMatchObject([{ resource: delivery.id }]);
    expect(of('activity.deliveries_recovered')).toMatchObject([
      { data: { from: '2020-01-01T00:00:00.000Z', to: null } },
    ]);
    for (const { actor, type } of entries) if (type.startsWith('activity.')) expect(actor).toMatch(/^key:key_/);
  });

  it('gives what a task, a key and a member were at a time, from the events alone, with no secret of theirs', async () => {
    const timeOf = async (type: string, resource: string): Promise<string> => {
      const [entry] = (await reached(type, `&resource=${resource}`)).filter((one) => one.type === type);
      return entry?.at ?? '';
    };
    const just = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();
    const at = async (id: string, until: string): Promise<unknown> => {
      const { exitCode, out, error } = await installation.command(['audit', 'replay', id, '--until', until]);
      if (exitCode === 1) return error.startsWith(`There was no ${id} at ${until}`) ? null : error;
      for (const secret of [canary, ownerEmail, personPassword, '$sealed', 'argon2', 'scrypt'])
        expect([secret, out.includes(secret)]).toEqual([secret, false]);
      return JSON.parse(out) as unknown;
    };
    const named = await timeOf('task.changed', taskId);
    expect(await at(taskId, just(named, -1))).toMatchObject({ id: taskId, name: 'Audited', status: 'active' });
    expect(await at(taskId, named)).toMatchObject({ id: taskId, name: 'Renamed', status: 'active' });
    expect(await at(taskId, await timeOf('task.paused', taskId))).toMatchObject({ name: 'Renamed', status: 'paused' });
    expect(await at(taskId, just(await timeOf('task.created', taskId), -1))).toBeNull();

    const json = { name: 'Replayed', scopes: ['read', 'write'], allowedCidrs: ['192.0.2.0/24'] };
    const made = await send('/api/keys', json);
    const key = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) }).parse(made.body).data;
    const rotated = await send(`/api/keys/${key.id}/rotate`, { overlapSeconds: 3_600 });
    const next = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) }).parse(rotated.body).data;
    await send(`/api/keys/${key.id}`, undefined, 'DELETE');
    const created = await timeOf('key.created', key.id);
    const first = await at(key.id, created);
    expect(first).toMatchObject({ id: key.id, ...json, expiresAt: null, revokedAt: null, successorId: null });
    for (const secret of [key.key, key.key.slice(12), next.key]) expect(JSON.stringify(first)).not.toContain(secret);
    expect(first).not.toHaveProperty('hash');
    expect(await at(key.id, just(created, -1))).toBeNull();
    const overlapping = { successorId: next.id, revokedAt: null, expiresAt: expect.any(String) };
    expect(await at(key.id, await timeOf('key.rotated', key.id))).toMatchObject(overlapping);
    const revoked = await timeOf('key.revoked', key.id);
    expect(await at(key.id, revoked)).toMatchObject({ successorId: next.id, revokedAt: revoked });
    expect(await at(next.id, revoked)).toMatchObject({ ...json, revokedAt: null });

    const member = await addPerson(installation, 'viewer');
    await send(`/api/members/${member.id}`, { role: 'editor' }, 'PATCH');
    await send(`/api/members/${member.id}`, undefined, 'DELETE');
    const invited = await timeOf('member.invited', member.id);
    expect(await at(member.id, just(invited, -1))).toBeNull();
    expect(await at(member.id, invited)).toMatchObject({ id: member.id, role: 'viewer', status: 'invited' });
    const joined = await at(member.id, await timeOf('member.joined', member.id));
    expect(joined).toMatchObject({ role: 'viewer', status: 'active', secondFactor: 'off' });
    // Once a member is removed, nothing else tells the operator who that was.
    expect(joined).toMatchObject({ email: member.email });
    for (const kept of ['emailHash', 'passwordHash', 'subjectHash']) expect(joined).not.toHaveProperty(kept);
    const changed = await timeOf('member.changed', member.id);
    expect(await at(member.id, changed)).toMatchObject({ role: 'editor', status: 'active' });
    expect(await at(member.id, await timeOf('member.removed', member.id))).toBeNull();
  });

  it('is filtered by actor, type, resource and time, and read by cursor', async () => {
    const all = await reached('task.paused');
    const created = all.find(({ type, resource }) => type === 'task.created' && resource === taskId);
    expect((await entriesAt('&type=task.created')).every(({ type }) => type === 'task.created')).toBe(true);
    expect(await entriesAt(`&actor=${encodeURIComponent(created?.actor ?? '')}&resource=${taskId}`)).toHaveLength(3);
    expect(await entriesAt(`&actor=user:usr_${'0'.repeat(26)}`)).toEqual([]);
    expect(await entriesAt('&to=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await entriesAt('&from=2020-01-01T00:00:00Z')).toHaveLength(all.length);
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null;) {
      const { body } = await installation.api.send(`/api/audit?limit=2&after=${after}`);
      const page = z
        .object({ data: z.array(auditEntry), cursor: z.object({ next: z.string().nullable() }) })
        .parse(body);
      seen.push(...page.data.map(({ id }) => id));
      after = page.cursor.next;
    }
    expect(seen).toEqual(all.map(({ id }) => id));
  });

  it('is streamed whole as lines of JSON, oldest first', async () => {
    const { headers, text } = await installation.api.send('/api/audit', {
      headers: { Accept: 'application/x-ndjson' },
    });
    expect(headers.get('content-type')).toMatch(/^application\/x-ndjson/);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => auditEntry.parse(JSON.parse(line)));
    expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, index) => index + 1));
    expect(lines.map(({ previousHash }) => previousHash)).toEqual(['', ...lines.slice(0, -1).map(({ hash }) => hash)]);
  });

  it('is for the scope admin alone', async () => {
    const { body } = await send('/api/keys', { name: 'CI', scopes: ['read', 'write'] });
    const { key } = z.object({ data: z.looseObject({ key: z.string() }) }).parse(body).data;
    for (const path of ['/api/audit', '/api/audit/verify']) {
      const reply = await installation.api.send(path, { key });
      expect([reply.status, errorOf(reply).reason]).toEqual([403, 'missing_scope']);
    }
  });

  it('refuses filters that there are not', async () => {
    const reply = await installation.api.send('/api/audit?who=me');
    expect([reply.status, errorOf(reply).code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it.each([
    ['type=task.chnged', 'perhaps task.changed is meant'],
    ['actor=key:nope', 'must be key:<id>'],
    ['actor=somebody', 'must be key:<id>'],
    ['resource=ntf_typo', 'must be the id of a task'],
  ])(
    'refuses %s, which nothing can match: an empty answer would read as if nothing had happened',
    async (query, words) => {
      const reply = await installation.api.send(`/api/audit?${query}`);
      expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(words)]);
    },
  );

  it('is intact, before and after a kill and a restart', async () => {
    const before = await entriesAt();
    const found = await verification();
    expect(found).toMatchObject({ intact: true });
    expect(found.events).toBe(before[0]?.sequence);
    await installation.kill('SIGKILL');
    await installation.start();
    expect(await verification()).toMatchObject({ intact: true });
    await send(`/api/notifications/${taskId}`, { status: 'active' }, 'PATCH');
    const after = await reached('task.resumed', `&resource=${taskId}`);
    expect(after[0]?.sequence).toBeGreaterThan(before[0]?.sequence ?? 0);
    const ids = (await entriesAt()).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(before.map(({ id }) => id)));
    expect(await verification()).toMatchObject({ intact: true });
  });
});

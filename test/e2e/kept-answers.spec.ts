/** Answers under an Idempotency-Key: kept for who asked, and for nobody else. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { addPerson, personPassword, signIn } from './kit/people.js';

const withKey = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) });
const begun = z.object({ data: z.object({ secret: z.string(), recoveryCodes: z.array(z.string()) }) });
const found = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation({ settings: { ANONYMOUS_PER_MINUTE: '100000' } });
  await installation.start();
});
afterAll(() => installation.remove());

const told = (reply: Reply): readonly [number, string] => [reply.status, errorOf(reply).reason];

describe('an answer that was kept for a repeat', () => {
  it('is for who asked, where administrators ask: nobody else gets the key or the link that it holds', async () => {
    const owner = await signIn(installation);
    const admin = await addPerson(installation, 'admin');
    const asked: readonly (readonly [string, object])[] = [
      ['/api/keys', { name: 'deploy', scopes: ['operator'] }],
      ['/api/members', { email: 'second.owner@example.com', role: 'owner' }],
    ];
    for (const [path, json] of asked) {
      const headers = { 'idempotency-key': `known ${path}` };
      const first = await owner.send(path, { json, headers });
      expect([first.status, (await owner.send(path, { json, headers })).text]).toEqual([201, first.text]);
      expect(told(await admin.send(path, { json, headers }))).toEqual([409, 'idempotency_conflict']);
    }
  });

  it('is for the session that asked, where people ask for themselves', async () => {
    const [one, other] = [await addPerson(installation, 'viewer'), await addPerson(installation, 'viewer')];
    const request = { json: { password: personPassword }, headers: { 'idempotency-key': 'a second factor' } };
    const first = await one.send('/api/account/second-factor', request);
    expect([first.status, (await one.send('/api/account/second-factor', request)).text]).toEqual([200, first.text]);
    const secret = begun.parse(first.body).data.secret;
    const answered = await other.send('/api/account/second-factor', request);
    expect([answered.status, answered.text.includes(secret)]).toEqual([409, false]);
  });

  it('is none of a key that is seen again: each time is asked anew, by an owner, and on record', async () => {
    const keeper = await addPerson(installation, 'owner');
    const made = await keeper.send('/api/keys', { json: { name: 'seen', scopes: ['read'] } });
    const { id } = withKey.parse(made.body).data;
    const request = { json: { password: personPassword }, headers: { 'idempotency-key': 'seen again' } };
    const reveal = (): Promise<Reply> => keeper.send(`/api/keys/${id}/reveal`, request);
    expect([(await reveal()).status, (await reveal()).status]).toEqual([200, 200]);
    const audit = found.parse((await installation.api.send('/api/audit?type=key.revealed')).body).data;
    expect(audit.filter((entry) => JSON.stringify(entry).includes(id))).toHaveLength(2);
    const demoted = { method: 'PATCH', json: { role: 'viewer' } };
    expect((await (await signIn(installation)).send(`/api/members/${keeper.id}`, demoted)).status).toBe(200);
    expect(told(await reveal())).toEqual([403, 'owner_required']);
  });
});

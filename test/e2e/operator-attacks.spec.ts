/** What an operator who is one no more tries to keep, and what others try to read of answers that are kept: over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { html, startPageSite } from './kit/page-site.js';
import { addPerson, signIn, type Person } from './kit/people.js';
import { byHand } from './kit/settings.js';

const withKey = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) });

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation({ settings: { ANONYMOUS_PER_MINUTE: '100000' } });
  await installation.start();
});
afterAll(() => installation.remove());

const told = (reply: Reply): readonly [number, string] => [reply.status, errorOf(reply).reason];
const keyOf = async (by: Pick<Person, 'send'>, scopes: readonly string[]): Promise<string> =>
  withKey.parse((await by.send('/api/keys', { json: { name: 'made', scopes } })).body).data.key;

describe('one who was an operator', () => {
  it('has no key of an operator any more: made by them, by a key of theirs, or in the place of one', async () => {
    const owner = await signIn(installation);
    for (const [method, json] of [
      ['PATCH', { operator: false }],
      ['DELETE', undefined],
    ] as const) {
      const person = await addPerson(installation, 'admin');
      const change = { method: 'PATCH', json: { operator: true } };
      expect((await owner.send(`/api/members/${person.id}`, change)).status).toBe(200);
      const key = await keyOf(person, ['operator', 'admin']);
      const ask = (path: string, json: object): Promise<Reply> => installation.api.send(path, { json, key });
      const byKey = withKey.parse((await ask('/api/keys', { name: 'next', scopes: ['operator', 'admin'] })).body).data;
      const inPlace = withKey.parse((await ask(`/api/keys/${byKey.id}/rotate`, {})).body).data;
      const others = await keyOf(person, ['admin']);
      const asking = (each: string): Promise<Reply> => installation.api.send('/api/organizations', { key: each });
      expect((await asking(inPlace.key)).status).toBe(200);
      expect((await owner.send(`/api/members/${person.id}`, { method, json })).status).toBe(200);
      for (const each of [key, byKey.key, inPlace.key]) {
        expect(told(await asking(each))).toEqual([401, 'invalid_api_key']);
      }
      const left = await installation.api.send('/api/keys?limit=100', { key: others });
      expect(left.body).toMatchObject({
        data: expect.arrayContaining([expect.objectContaining({ createdBy: `user:${person.id}` })]),
      });
    }
  });
});

describe('an operator', () => {
  const operator = { method: 'PATCH', json: { operator: true } };
  const plain = { method: 'PATCH', json: { operator: false } };
  const asOperator = (key: string): Promise<Reply> => installation.api.send('/api/organizations', { key });

  it('who makes one key after another meanwhile has none that is good once the right is gone', async () => {
    const owner = await signIn(installation);
    for (const end of [plain, { method: 'DELETE' }]) {
      const person = await addPerson(installation, 'admin');
      expect((await owner.send(`/api/members/${person.id}`, operator)).status).toBe(200);
      const keys = [await keyOf(person, ['operator', 'admin'])];
      let isOver = false;
      const making = async (): Promise<void> => {
        while (!isOver) {
          const json = { name: 'more', scopes: ['operator', 'admin'] };
          const key = keys.at(-1) ?? '';
          const made = withKey.safeParse((await installation.api.send('/api/keys', { json, key })).body);
          if (!made.success) return;
          keys.push(made.data.data.key);
        }
      };
      const makers = [making(), making(), making()];
      const ended = await owner.send(`/api/members/${person.id}`, end);
      isOver = true;
      await Promise.all(makers);
      expect(ended.status).toBe(200);
      for (const key of keys) expect(told(await asOperator(key))).toEqual([401, 'invalid_api_key']);
    }
  });

  it('is removed by no admin, and loses no key by a change that is refused', async () => {
    const owner = await signIn(installation);
    const [admin, other] = [await addPerson(installation, 'admin'), await addPerson(installation, 'admin')];
    expect((await owner.send(`/api/members/${other.id}`, operator)).status).toBe(200);
    const key = await keyOf(other, ['operator']);
    const removed = await installation.api.send(`/api/members/${other.id}`, {
      method: 'DELETE',
      key: await keyOf(admin, ['admin']),
    });
    expect(told(removed)).toEqual([403, 'missing_scope']);
    expect((await asOperator(key)).status).toBe(200);
    expect((await owner.send(`/api/members/${other.id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await asOperator(key)).status).toBe(401);
  });
});

describe('a kept answer', () => {
  it('with a secret that was made is for nobody but who was answered', async () => {
    const [first, second] = [
      await keyOf(installation.api, ['write', 'read']),
      await keyOf(installation.api, ['write', 'read']),
    ];
    const json = {
      ...byHand('https://shop.example/'),
      actions: [{ type: 'webhook', config: { url: 'http://127.0.0.1:9/secret' } }],
    };
    const ask = (key: string) =>
      installation.api.send('/api/notifications', { json, key, headers: { 'idempotency-key': 'kept-secret' } });
    const [made, again] = [await ask(first), await ask(first)];
    expect([made.status, made.text.includes('whsec_')]).toEqual([201, true]);
    expect(again.text).toBe(made.text);
    const asked = await ask(second);
    expect([...told(asked), asked.text.includes('whsec_')]).toEqual([409, 'idempotency_conflict', false]);
  });

  it('of a replay goes with the task that was replayed', async () => {
    const site = await startPageSite();
    try {
      site.serve('/kept', html('canary-of-the-page'));
      const code = 'page.report("text", document.body.textContent); return true';
      const task = await installation.api.create({ ...byHand(site.address('/kept')), evaluationFunction: code });
      const run = await installation.api.execute(task.id, 30);
      const headers = { 'idempotency-key': 'kept-replay' };
      const ask = () => installation.api.send(`/api/executions/${run.id}/replay`, { json: {}, headers });
      const replayed = await ask();
      expect([replayed.status, replayed.text.includes('canary-of-the-page')]).toEqual([200, true]);
      const purged = await installation.api.send(`/api/notifications/${task.id}?purge=true`, { method: 'DELETE' });
      expect(purged.status).toBe(200);
      const again = await ask();
      expect([again.status, again.text.includes('canary-of-the-page')]).toEqual([404, false]);
    } finally {
      await site.close();
    }
  });
});

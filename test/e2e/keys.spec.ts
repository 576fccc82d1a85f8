/** API keys over HTTP: shown once where the operator wants it, and counted at once whatever happens to the view of them. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { ownerPassword, type Installation } from './kit/installation.js';
import { signIn, type Person } from './kit/people.js';

const withKey = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) });
type MadeKey = z.infer<typeof withKey>['data'];

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation({ settings: { ANONYMOUS_PER_MINUTE: '100000' } });
  await installation.start();
});
afterAll(() => installation.remove());

/** Each gateway is asked. */
const doors = [0, 1];
const told = (reply: Reply): readonly [number, string] => [reply.status, errorOf(reply).reason];
const list = (key: string): Promise<Reply> => installation.api.send('/api/notifications', { key });

async function makeKey(): Promise<MadeKey> {
  const json = { name: 'spec', scopes: ['read'] };
  return withKey.parse((await installation.api.send('/api/keys', { json })).body).data;
}

const reveal = (owner: Person, id: string): Promise<Reply> =>
  owner.send(`/api/keys/${id}/reveal`, { json: { password: ownerPassword } });

/** It counts at each gateway as soon as it is answered, and no longer once its end is. */
async function expectAtOnce(): Promise<void> {
  const { id, key } = await makeKey();
  for (const _ of doors) expect((await list(key)).status).toBe(200);
  const next = withKey.parse(
    (await installation.api.send(`/api/keys/${id}/rotate`, { json: { overlapSeconds: 0 } })).body,
  );
  for (const _ of doors) expect([(await list(next.data.key)).status, (await list(key)).status]).toEqual([200, 401]);
  expect((await installation.api.send(`/api/keys/${next.data.id}`, { method: 'DELETE' })).status).toBe(200);
  for (const _ of doors) expect(told(await list(next.data.key))).toEqual([401, 'invalid_api_key']);
}

/** The same of a session. */
async function expectSessionAtOnce(): Promise<void> {
  const person = await signIn(installation);
  for (const _ of doors) expect((await person.send('/api/notifications')).status).toBe(200);
  expect((await person.send('/api/sessions/current', { method: 'DELETE' })).status).toBe(200);
}

describe('an API key', () => {
  it('counts at once through every gateway while its view is made anew', async () => {
    let rebuilt = 0;
    const rebuilding = (async () => {
      for (; rebuilt < 3; rebuilt += 1) {
        const { exitCode, error } = await installation.command(['rebuild', rebuilt === 1 ? 'sessions' : 'keys']);
        expect([exitCode, error.includes('failed')]).toEqual([0, false]);
      }
    })();
    let isOver = false;
    void rebuilding.finally(() => (isOver = true)).catch(() => undefined);
    let rounds = 0;
    do {
      await Promise.all([expectAtOnce(), expectSessionAtOnce()]);
      rounds += 1;
    } while (!isOver);
    await rebuilding;
    expect(rounds).toBeGreaterThan(1);
  });

  it('counts at once after everything was killed', async () => {
    await installation.kill('SIGKILL');
    await installation.start();
    await expectAtOnce();
    await expectSessionAtOnce();
  });

  it('is never seen again from the start with KEYS_SHOW_ONCE on, one made before included', async () => {
    const before = await makeKey();
    const owner = await signIn(installation);
    expect((await reveal(owner, before.id)).body).toEqual({ success: true, data: { key: before.key } });
    await installation.kill('SIGTERM');
    installation.set({ KEYS_SHOW_ONCE: 'true' });
    await installation.start();
    const made = await makeKey();
    const { id } = made;
    const next = withKey.parse(
      (await installation.api.send(`/api/keys/${id}/rotate`, { json: { overlapSeconds: 60 } })).body,
    ).data;
    for (const one of [before, made, next]) {
      for (const _ of doors) expect(told(await reveal(owner, one.id))).toEqual([403, 'reveal_disabled']);
      expect((await list(one.key)).status).toBe(200);
    }
    // There is no copy left that could be opened, for whoever turns it off again.
    await installation.kill('SIGKILL');
    installation.set({ KEYS_SHOW_ONCE: 'false' });
    await installation.start();
    for (const one of [before, made, next]) {
      expect(told(await reveal(owner, one.id))).toEqual([404, 'no_copy']);
      expect((await list(one.key)).status).toBe(200);
    }
    const { body } = await installation.api.send('/api/audit?type=key.revealed');
    expect(
      z
        .object({ data: z.array(z.object({ resource: z.string() })) })
        .parse(body)
        .data.map(({ resource }) => resource),
    ).toEqual([before.id]);
    const later = await makeKey();
    expect((await reveal(owner, later.id)).body).toEqual({ success: true, data: { key: later.key } });
    const held = (await installation.stored()).filter(({ bytes }) =>
      [before, made, next, later].some(({ key }) => bytes.includes(key)),
    );
    expect(held.map(({ name }) => name)).toEqual([]);
  });
});

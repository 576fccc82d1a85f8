/** Another secret key: what was sealed, signed and handed out under the one before stays good, and that one opens nothing any more. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { auditVerification } from '#contracts/audit';
import { createInstallation } from './kit/create-installation.js';
import { startHookSink, type HookSink } from './kit/hook-sink.js';
import { ownerPassword, type Installation } from './kit/installation.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { addPerson, codeOf, invite, personPassword, signIn } from './kit/people.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';

const withKey = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) });
const begun = z.object({ data: z.object({ secret: z.string(), recoveryCodes: z.array(z.string()) }) });

let installation: Installation;
let site: PageSite;
let hooks: HookSink;
let taskId: string;

beforeAll(async () => {
  [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  site.serve('/shop', html('in stock'));
  installation = await createInstallation({ settings: { ANONYMOUS_PER_MINUTE: '100000' } });
  await installation.start();
  const task = await installation.api.create({
    ...byHand(site.address('/shop')),
    name: 'Kept',
    evaluationFunction: 'return true;',
    fetch: { headers: { Authorization: 'Bearer canary-page' } },
    policy: { notifyOn: 'every_true' },
    actions: [{ type: 'webhook', config: { url: hooks.address('/hook'), headers: { Authorization: 'canary-hook' } } }],
  });
  taskId = task.id;
});
afterAll(async () => {
  await installation.remove();
  await Promise.all([site.close(), hooks.close()]);
});

async function delivered(): Promise<void> {
  const before = hooks.received('/hook').length;
  await installation.api.execute(taskId, 30);
  await until('it is delivered', async () => {
    const [newest] = await installation.api.deliveries(taskId);
    return newest?.state === 'delivered' && hooks.received('/hook').length > before ? true : null;
  });
}

const isIntact = async (): Promise<boolean> => {
  const { body } = await installation.api.send('/api/audit/verify');
  return z.object({ data: auditVerification }).parse(body).data.intact;
};

describe('another secret key', () => {
  it('is refused while a process is at work', async () => {
    const { exitCode, error } = await installation.rotateSecretKey();
    expect([exitCode, error]).toEqual([1, expect.stringContaining('stop')]);
  });

  it('leaves keys, passwords, second factors, secrets, MACs and the audit as they were, and a second one too', async () => {
    const { key, id } = withKey.parse(
      (await installation.api.send('/api/keys', { json: { name: 'CI', scopes: ['read'] } })).body,
    ).data;
    const person = await addPerson(installation, 'viewer');
    const { token } = await invite(installation, 'viewer');
    const factor = await person.send('/api/account/second-factor', { json: { password: personPassword } });
    const { secret, recoveryCodes } = begun.parse(factor.body).data;
    const code = codeOf(secret, Date.now() - 30_000);
    expect((await person.send('/api/account/second-factor/confirm', { json: { code } })).status).toBe(200);
    await delivered();
    for (const round of [0, 1]) {
      await installation.kill(round === 0 ? 'SIGTERM' : 'SIGKILL');
      const rotated = await installation.rotateSecretKey();
      expect([rotated.exitCode, rotated.out]).toEqual([0, expect.stringContaining('another one')]);
      const verified = await installation.command(['audit', 'verify']);
      expect([verified.exitCode, verified.out]).toEqual([0, expect.stringContaining('intact')]);
      await installation.start();
      expect((await installation.api.send('/api/notifications', { key })).status).toBe(200);
      expect((await person.send('/api/notifications')).status).toBe(200);
      await delivered();
      expect(await isIntact()).toBe(true);
      const pair = { email: person.email, password: personPassword };
      const open = { json: { ...pair, code: recoveryCodes[round] }, key: null };
      expect((await installation.api.send('/api/sessions', open)).status).toBe(201);
    }
    const owner = await signIn(installation);
    const revealed = await owner.send(`/api/keys/${id}/reveal`, { json: { password: ownerPassword } });
    expect(revealed.body).toEqual({ success: true, data: { key } });
    const joined = { json: { password: personPassword }, key: null };
    // Who knew the key before could have made it.
    expect((await installation.api.send(`/api/invitations/${token}`, joined)).status).toBe(404);
    const again = await invite(installation, 'viewer');
    expect((await installation.api.send(`/api/invitations/${again.token}`, joined)).status).toBe(201);
    const lines = await installation.command(['audit', 'export']);
    expect([lines.exitCode, lines.out.includes('"purged":true')]).toEqual([0, false]);
    const state = await installation.command(['audit', 'replay', taskId, '--until', new Date().toISOString()]);
    expect(JSON.parse(state.out)).toMatchObject({ id: taskId, name: 'Kept' });
    const rebuilt = await installation.command(['rebuild', 'tasks']);
    expect([rebuilt.exitCode, rebuilt.error.includes('failed')]).toEqual([0, false]);
    expect((await installation.api.task(taskId)).name).toBe('Kept');
  });

  it('lets a task of the time before be purged, and nothing of it be found', async () => {
    const purged = await installation.api.create({ ...byHand(site.address('/shop')), name: 'canary-before-rotation' });
    await installation.kill('SIGTERM');
    expect((await installation.rotateSecretKey()).exitCode).toBe(0);
    await installation.start();
    const path = `/api/notifications/${purged.id}?purge=true`;
    expect((await installation.api.send(path, { method: 'DELETE' })).status).toBe(200);
    const found = (await installation.stored()).filter(({ bytes }) => bytes.includes('canary-before-rotation'));
    expect(found.map(({ name }) => name)).toEqual([]);
    expect(await isIntact()).toBe(true);
  });
});

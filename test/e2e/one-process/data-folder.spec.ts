/** One process and its data folder: nobody else gets in, and it leaves in order. */
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf } from '../kit/api.js';
import { embeddedInstallation, type EmbeddedInstallation } from '../kit/embedded.js';
import { startHookSink, type HookSink } from '../kit/hook-sink.js';
import { html, startPageSite, type PageSite } from '../kit/page-site.js';
import { refusedStart } from '../kit/refused-start.js';
import { whenInStock } from '../kit/settings.js';
import { until } from '../kit/until.js';

describe('an installation in one process', () => {
  let folder: string;
  let installation: EmbeddedInstallation;
  let site: PageSite;
  let hooks: HookSink;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-e2e-data-folder-'));
    [site, hooks, installation] = await Promise.all([startPageSite(), startHookSink(), embeddedInstallation()]);
    await installation.start();
  });

  afterAll(async () => {
    await installation.remove();
    await Promise.all([site.close(), hooks.close(), rm(folder, { recursive: true, force: true })]);
  });

  it('rejects a second process on its data, and goes on undisturbed', async () => {
    const { code, said } = await refusedStart({ DATA_DIR: installation.dataDir }, folder);
    expect(said).toContain('DATA_DIR');
    expect(said).toMatch(/in use/);
    // The one that runs has not ended at all.
    expect(said).not.toMatch(/did not end in order/);
    expect(code).toBe(78);
    expect((await installation.api.send('/readyz', { key: null })).status).toBe(200);
    const created = await installation.api.create({ ...whenInStock(site.address('/undisturbed')), status: 'paused' });
    expect((await installation.api.task(created.id)).id).toBe(created.id);
  });

  it('ends in order also where a second process was refused meanwhile: the next start looks for no damage', async () => {
    const { code } = await refusedStart({ DATA_DIR: installation.dataDir }, folder);
    expect(code).toBe(78);
    await installation.kill('SIGTERM');
    expect(await readdir(installation.dataDir)).not.toContain('unclean');
    await installation.start();
  });

  it('refuses writes while its data folder was moved away, says so, and goes on once it is back', async () => {
    const { api, dataDir } = installation;
    const create = () => api.send('/api/notifications', { method: 'POST', json: whenInStock(site.address('/moved')) });
    const away = join(folder, 'away');
    await rename(dataDir, away);
    await until('it is not ready', async () => (await api.send('/readyz', { key: null })).status === 503);
    expect(errorOf(await api.send('/readyz', { key: null }))).toMatchObject({
      reason: 'not_ready',
      details: [{ field: 'disk', rule: 'present' }],
    });
    const refused = await create();
    expect([refused.status, errorOf(refused).reason]).toEqual([503, 'data_folder_gone']);
    await rename(away, dataDir);
    await until('it is ready', async () => (await api.send('/readyz', { key: null })).status === 200);
    const created = await create();
    expect(created.status).toBe(201);
    await installation.kill('SIGKILL');
    await installation.start();
    expect((await api.send(created.headers.get('location') ?? '')).status).toBe(200);
  });

  it('on SIGTERM finishes what is in flight, and answers new requests with Retry-After', async () => {
    site.serve('/drained', html('in stock'));
    hooks.reply('/drained', 'hang');
    await installation.api.create({
      ...whenInStock(site.address('/drained')),
      actions: [{ type: 'webhook', config: { url: hooks.address('/drained') } }],
    });
    await until('the webhook is in flight', () => hooks.received('/drained').length === 1);
    const ending = installation.kill('SIGTERM');
    await until('it says that it is stopping', async () => {
      const { status } = await installation.api.send('/readyz', { key: null });
      return status === 503;
    });
    const refused = await installation.api.send('/api/notifications');
    expect([refused.status, errorOf(refused).reason]).toEqual([503, 'shutting_down']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    hooks.release('/drained', 200);
    expect(await ending).toEqual({ code: 0, signal: null });
  });
});

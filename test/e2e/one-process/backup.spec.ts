/** Backups as an operator makes them of a running server, and puts back into an empty place. */
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { auditVerification } from '#contracts/audit';
import { createAuditSigner } from '#eventing/audit-heads';
import { createApi, type Api } from '../kit/api.js';
import { killedCommand, runCommand, startCommand, type CommandEnd } from '../kit/command-line.js';
import { startHookSink, type HookSink } from '../kit/hook-sink.js';
import { commonSettings, endOf, ownerApiKey } from '../kit/installation.js';
import { html, startPageSite, type PageSite } from '../kit/page-site.js';
import { startProduct, type Product } from '../kit/product.js';
import { byHand } from '../kit/settings.js';
import { until } from '../kit/until.js';

const sha256 = (bytes: Uint8Array): string => hash('sha256', bytes);
const verifiedBackup = z.object({
  faultCount: z.int(),
  audit: z.array(auditVerification.omit({ warnings: true }).extend({ organizationId: z.string() })),
});

let folder: string;
let site: PageSite;
let hooks: HookSink;
let product: Product | null = null;
let api: Api;
let backup: string;
let taskId: string;
let purgedId: string;

const settingsOf = (name: string) => ({ DATA_DIR: join(folder, name), PORT: '0', ...commonSettings({}) });
const command = (
  words: readonly string[],
  name = 'data',
  more: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> => runCommand(words, { ...settingsOf(name), ...more }, folder);

async function start(name: string): Promise<void> {
  product = startProduct(settingsOf(name), folder);
  const url = await product.ready();
  api = createApi(() => url, ownerApiKey);
}

async function stop(): Promise<void> {
  const running = product;
  product = null;
  running?.signal('SIGTERM');
  if (running !== null) await endOf(running);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-backup-'));
  [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  site.serve('/shop', html('in stock'));
  await start('data');
  const settings = {
    ...byHand(site.address('/shop')),
    evaluationFunction: 'return true;',
    policy: { notifyOn: 'every_true' },
    actions: [{ type: 'webhook', config: { url: hooks.address('/hook') } }],
  };
  purgedId = (await api.create({ ...settings, name: 'canary-purged' })).id;
  await api.send(`/api/notifications/${purgedId}?purge=true`, { method: 'DELETE' });
  taskId = (await api.create({ ...settings, name: 'Kept' })).id;
  await api.execute(taskId, 30);
  await until('it is delivered', async () => ((await api.deliveries(taskId))[0]?.state === 'delivered' ? true : null));
  // One more is on its way, and does not arrive.
  hooks.reply('/hook', 503, 503, 503);
  await api.execute(taskId, 30);
  await until('it is tried', async () => ((await api.deliveries(taskId))[0]?.state === 'retrying' ? true : null));
  backup = join(folder, 'backup');
});
afterAll(async () => {
  await stop();
  await Promise.all([site.close(), hooks.close()]);
  await rm(folder, { recursive: true, force: true });
});

describe('a backup', () => {
  it('is made while the server runs, which goes on', async () => {
    const { exitCode, error } = await command(['backup', backup]);
    expect([exitCode, error]).toEqual([0, '']);
    // The heads, too, once any are signed.
    expect((await readdir(backup)).filter((name) => name !== 'audit-heads.jsonl').toSorted()).toEqual([
      'events.db',
      'manifest.json',
      'screenshots.db',
      'secret.key',
      'snapshots.db',
      'views.db',
    ]);
    expect((await api.task(taskId)).name).toBe('Kept');
  });

  it('is open to nobody else, and neither are its files in a folder that was open before', async () => {
    const modes = async (folderOf: string): Promise<readonly (readonly [string, string])[]> => {
      const found = (await readdir(folderOf)).map(
        async (name) => [name, (await stat(join(folderOf, name))).mode & 0o777] as const,
      );
      return (await Promise.all(found)).map(([name, mode]) => [name, mode.toString(8)] as const);
    };
    const open = join(folder, 'open');
    await mkdir(open, { mode: 0o755 });
    expect((await command(['backup', open])).exitCode).toBe(0);
    for (const one of [backup, open]) {
      expect(await modes(one)).toEqual((await readdir(one)).map((name) => [name, '600']));
    }
    expect((await stat(backup)).mode & 0o777).toBe(0o700);
    await rm(open, { recursive: true });
  });

  it('holds nothing of a task that was purged before it', async () => {
    for (const name of await readdir(backup)) {
      expect([name, (await readFile(join(backup, name))).includes('canary-purged')]).toEqual([name, false]);
    }
  });

  it('leaves the log that the audit is exported of, and the past made of', async () => {
    const lines = (await command(['audit', 'export'])).out.trimEnd().split('\n');
    const listed = await api.send('/api/audit', { headers: { Accept: 'application/x-ndjson' } });
    const hashes = (text: readonly string[]) => text.map((line) => (JSON.parse(line) as { hash: string }).hash);
    expect(hashes(lines)).toEqual(hashes(listed.text.trimEnd().split('\n')));
    const syslog = (await command(['audit', 'export', '--format', 'syslog'])).out.trimEnd().split('\n');
    expect(syslog).toHaveLength(lines.length);
    expect(syslog[0]).toMatch(/^<110>1 \S+ \S+ meerkat - organization\.created \[meerkat@32473 organization="org_/);
    const now = new Date().toISOString();
    const state = await command(['audit', 'replay', taskId, '--until', now]);
    expect(JSON.parse(state.out)).toMatchObject({ id: taskId, name: 'Kept', condition: 'true' });
    expect((await command(['audit', 'replay', taskId, '--until', '2020-01-01T00:00:00Z'])).exitCode).toBe(1);
    expect((await command(['audit', 'replay', purgedId, '--until', now])).exitCode).toBe(1);
  });

  it('is verified with no server and no installation, and is not changed by it', async () => {
    const files = async () =>
      Promise.all(
        (await readdir(backup)).toSorted().map(async (name) => [name, sha256(await readFile(join(backup, name)))]),
      );
    const before = await files();
    const { exitCode, out } = await command(['audit', 'verify', backup, '--json'], 'nowhere');
    const verified = verifiedBackup.parse(JSON.parse(out));
    expect([exitCode, verified]).toMatchObject([0, { faultCount: 0, audit: [{ intact: true }] }]);
    const { head } = verified.audit[0] ?? { head: '' };
    const listed = await api.send('/api/audit', { headers: { Accept: 'application/x-ndjson' } });
    expect(listed.text).toContain(`"hash":"${head}"`);
    expect(await files()).toEqual(before);
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
    const shown = await command(['audit', 'verify', backup], 'nowhere');
    expect([shown.exitCode, shown.out]).toEqual([
      0,
      expect.stringMatching(/org_\w+: \d+ changes, \d+ signed heads?: intact/),
    ]);
  });

  it('shows that its newest changes were cut off, or others put in their place, by heads that were kept elsewhere', async () => {
    const { out } = await command(['audit', 'verify', backup, '--json']);
    const [chain] = verifiedBackup.parse(JSON.parse(out)).audit;
    const secretKey = Buffer.from(await readFile(join(folder, 'data', 'secret.key'), 'utf8'), 'base64');
    const { organizationId = '', events = 0, head = '' } = chain ?? {};
    const told = { organizationId, day: '2026-11-01', at: '2026-11-01T00:00:00.000Z', sequence: events, hash: head };
    const { sign } = createAuditSigner(secretKey);
    const verdictOn = async (line: object): Promise<readonly [number | null, string | undefined]> => {
      await writeFile(join(folder, 'heads.jsonl'), `a line of a log\n${JSON.stringify(line)}\n`);
      const words = ['audit', 'verify', backup, '--heads', join(folder, 'heads.jsonl'), '--json'];
      const end = await command(words, 'nowhere');
      return [end.exitCode, verifiedBackup.parse(JSON.parse(end.out)).audit[0]?.brokenAt?.reason];
    };
    expect(await verdictOn(sign(told))).toEqual([0, undefined]);
    expect(await verdictOn(sign({ ...told, sequence: events + 1 }))).toEqual([1, 'missing']);
    expect(await verdictOn(sign({ ...told, hash: 'x' }))).toEqual([1, 'head_differs']);
    expect(await verdictOn({ ...sign(told), mac: 'x' })).toEqual([1, 'head_forged']);
    expect(await verdictOn({ ...sign(told), sequence: events + 1 })).toEqual([1, 'head_forged']);
  });

  it('goes into no folder that holds something', async () => {
    const { exitCode, error } = await command(['backup', backup]);
    expect([exitCode, error]).toEqual([1, expect.stringContaining('not empty')]);
  });

  it('is put back into an empty place, where nothing is sent again and the audit is intact', async () => {
    const [live] = await api.deliveries(taskId);
    await stop();
    const sentBefore = hooks.received('/hook').length;
    const { exitCode, out, error } = await command(['restore', backup, '--json'], 'restored');
    expect([exitCode, error]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({ heldBack: 1 });
    await start('restored');
    expect((await api.task(taskId)).name).toBe('Kept');
    const deliveries = await api.deliveries(taskId);
    expect(deliveries.map(({ state, reason }) => [state, reason])).toEqual([
      ['suppressed', 'restored'],
      ['delivered', null],
    ]);
    expect(deliveries[0]?.id).toBe(live?.id);
    // It runs as before: what is decided from now on is sent.
    await api.execute(taskId, 30);
    await until('it is delivered', async () =>
      (await api.deliveries(taskId))[0]?.state === 'delivered' ? true : null,
    );
    const sent = new Set(
      hooks
        .received('/hook')
        .slice(sentBefore)
        .map(({ id }) => id),
    );
    expect([sent.size, sent.has(live?.id ?? '')]).toEqual([1, false]);
    const verified = await api.send('/api/audit/verify');
    expect(verified.text).toContain('"intact":true');
    await stop();
    expect((await command(['audit', 'verify'], 'restored')).exitCode).toBe(0);
  });

  it('is put into no folder that holds something', async () => {
    const { exitCode, error } = await command(['restore', backup], 'restored');
    expect([exitCode, error]).toEqual([1, expect.stringContaining('not empty')]);
  });

  it('that was changed, or has lost its manifest, is refused before anything is written', async () => {
    const changed = join(folder, 'changed');
    await cp(backup, changed, { recursive: true });
    const bytes = await readFile(join(changed, 'views.db'));
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await writeFile(join(changed, 'views.db'), bytes);
    const damaged = await command(['restore', changed], 'other');
    expect([damaged.exitCode, damaged.error]).toEqual([1, expect.stringContaining('views.db')]);
    expect((await command(['audit', 'verify', changed])).error).toContain('views.db');
    await rm(join(changed, 'manifest.json'));
    const half = await command(['restore', changed], 'other');
    expect([half.exitCode, half.error]).toEqual([1, expect.stringContaining('no whole backup')]);
    expect(existsSync(join(folder, 'other'))).toBe(false);
  });

  it('that was killed on its way is none, and the next one is made in another folder', async () => {
    await start('data');
    const whole = join(folder, 'timed');
    const beganAt = performance.now();
    expect((await command(['backup', whole])).exitCode).toBe(0);
    const tookMs = performance.now() - beganAt;
    for (let part = 0; part < 8; part += 1) {
      const target = join(folder, `cut-${part}`);
      const end = await killedCommand(['backup', target], settingsOf('data'), folder, tookMs * (0.3 + part / 10));
      const isWhole = existsSync(join(target, 'manifest.json'));
      const verified = await command(
        ['audit', 'verify', target],
        'nowhere',
        isWhole ? {} : { SECRET_KEY: 'A'.repeat(43) + '=' },
      );
      expect([part, verified.exitCode]).toEqual([part, isWhole ? 0 : 1]);
      expect(isWhole || end === 'killed').toBe(true);
      if (!isWhole) expect(verified.error).toContain('no whole backup');
    }
    expect((await api.task(taskId)).name).toBe('Kept');
    expect((await command(['backup', join(folder, 'after-kills')])).exitCode).toBe(0);
    await stop();
  });

  it('is restored whole after kills on the way, and nothing that was decided before it is sent again', async () => {
    const sentBefore = hooks.received('/hook').length;
    let cut = 0;
    for (const name of ['restoring', 'views.db', 'snapshots.db', 'events.db', 'unclean']) {
      const restoring = startCommand(['restore', backup], settingsOf('cut'), folder);
      await until(`${name} is there`, () => (existsSync(join(folder, 'cut', name)) ? true : null));
      await restoring.kill('SIGKILL');
      if (!existsSync(join(folder, 'cut', 'restoring'))) break;
      cut += 1;
      const refused = startProduct(settingsOf('cut'), folder);
      refused.ready().catch(() => undefined);
      expect(await endOf(refused)).toMatchObject({ code: 78 });
    }
    expect(cut).toBeGreaterThan(0);
    await command(['restore', backup], 'cut');
    await start('cut');
    const deliveries = await api.deliveries(taskId);
    expect(deliveries.map(({ state, reason }) => [state, reason])).toEqual([
      ['suppressed', 'restored'],
      ['delivered', null],
    ]);
    await api.execute(taskId, 30);
    await until('it is delivered', async () =>
      (await api.deliveries(taskId))[0]?.state === 'delivered' ? true : null,
    );
    const sent = hooks.received('/hook').slice(sentBefore);
    const known = new Set(deliveries.map(({ id }) => id));
    expect(sent.filter(({ id }) => known.has(id ?? ''))).toEqual([]);
    expect((await api.send('/api/audit/verify')).text).toContain('"intact":true');
    await stop();
  });

  it('whose restore was cut off keeps the server from starting, until it is restored whole', async () => {
    await mkdir(join(folder, 'half'), { recursive: true });
    await cp(join(backup, 'events.db'), join(folder, 'half', 'events.db'));
    await writeFile(join(folder, 'half', 'restoring'), 'x\n');
    const refused = startProduct(settingsOf('half'), folder);
    refused.ready().catch(() => undefined);
    expect(await endOf(refused)).toMatchObject({ code: 78 });
    expect((await command(['restore', backup], 'half')).exitCode).toBe(0);
    await start('half');
    expect((await api.task(taskId)).name).toBe('Kept');
    await stop();
  });
});

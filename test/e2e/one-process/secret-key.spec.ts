/** `meerkat secret-key rotate` on a data folder: killed on its way, with a key of the operator's own, and with backups of before. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { pepperOf } from '#contracts/api-key';
import { linkToken } from '../../../services/accounts/links.js';
import { createApi, type Api } from '../kit/api.js';
import { killedCommand, runCommand, type CommandEnd } from '../kit/command-line.js';
import { commonSettings, endOf, ownerApiKey } from '../kit/installation.js';
import { startProduct, type Product } from '../kit/product.js';
import { byHand } from '../kit/settings.js';

let folder: string;
let product: Product | null = null;
let api: Api;
const taskCount = 40;

const settingsOf = (name: string, more: Readonly<Record<string, string>> = {}) => ({
  DATA_DIR: join(folder, name),
  PORT: '0',
  ...commonSettings({}),
  ...more,
});
const keyOf = async (name: string): Promise<string> =>
  (await readFile(join(folder, name, 'secret.key'), 'utf8')).trim();
const command = (words: readonly string[], name = 'data', more = {}): Promise<CommandEnd> =>
  runCommand(words, settingsOf(name, more), folder);

async function start(name = 'data', more = {}): Promise<void> {
  product = startProduct(settingsOf(name, more), folder);
  const url = await product.ready();
  api = createApi(() => url, ownerApiKey);
}

async function stop(): Promise<void> {
  const running = product;
  product = null;
  running?.signal('SIGTERM');
  if (running !== null) await endOf(running);
}

async function namesOfAll(): Promise<number> {
  const { body } = await api.send('/api/notifications?limit=100');
  return (body as { data: { name: string }[] }).data.filter(({ name }) => name.startsWith('Sealed')).length;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meerkat-secret-key-'));
  await start();
  const make = (index: number) => api.create({ ...byHand('https://shop.example/'), name: `Sealed ${index}` });
  for (let index = 0; index < taskCount; index += 1) await make(index);
  await stop();
});
afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

describe('meerkat secret-key rotate', () => {
  it('goes on when it is run again, wherever it was killed, and a server starts at any of these places', async () => {
    const before = await keyOf('data');
    const startedMs = performance.now();
    await command(['secret-key', 'rotate', '--help']);
    const loadMs = performance.now() - startedMs;
    let killed = 0;
    for (let round = 0; round < 12; round += 1) {
      const end = await killedCommand(
        ['secret-key', 'rotate'],
        settingsOf('data'),
        folder,
        loadMs * (0.5 + round * 0.25),
      );
      if (end === 'killed') killed += 1;
      if (round % 4 !== 3) continue;
      await start();
      expect(await namesOfAll()).toBe(taskCount);
      await stop();
    }
    expect(killed).toBeGreaterThan(0);
    expect((await command(['secret-key', 'rotate'])).exitCode).toBe(0);
    expect(existsSync(join(folder, 'data', 'secret.key.next'))).toBe(false);
    expect(await keyOf('data')).not.toBe(before);
    expect((await command(['audit', 'verify'])).exitCode).toBe(0);
    await start();
    expect(await namesOfAll()).toBe(taskCount);
    await stop();
  });

  it('leaves backups of before to be restored with the key of then', async () => {
    const backups = { key: join(folder, 'with-key'), bare: join(folder, 'without-key') };
    const then = await keyOf('data');
    expect((await command(['backup', backups.key])).exitCode).toBe(0);
    expect((await command(['backup', backups.bare, '--without-key'])).exitCode).toBe(0);
    expect((await command(['secret-key', 'rotate'])).exitCode).toBe(0);
    const now = await keyOf('data');
    expect((await command(['restore', backups.key], 'restored')).exitCode).toBe(0);
    await start('restored');
    expect(await namesOfAll()).toBe(taskCount);
    await stop();
    const refused = await command(['restore', backups.bare], 'other', { SECRET_KEY: now });
    expect([refused.exitCode, refused.error]).toEqual([1, expect.stringContaining('set the one of then')]);
    expect((await command(['restore', backups.bare], 'other', { SECRET_KEY: then })).exitCode).toBe(0);
    // And one that was made since, with the key of now.
    const since = join(folder, 'since');
    expect((await command(['backup', since])).exitCode).toBe(0);
    expect((await command(['restore', since], 'newer')).exitCode).toBe(0);
    await start('newer');
    expect(await namesOfAll()).toBe(taskCount);
    await stop();
  });

  it('ends what a key that is known to others could forge: links for new passwords are of the key of now alone', async () => {
    const old = Buffer.from(await keyOf('data'), 'base64');
    expect((await command(['secret-key', 'rotate'])).exitCode).toBe(0);
    const now = Buffer.from(await keyOf('data'), 'base64');
    await start();
    const { body } = await api.send('/api/members');
    const [owner] = z.object({ data: z.array(z.object({ id: z.string() })) }).parse(body).data;
    const organization = z
      .object({ data: z.object({ id: z.string() }) })
      .parse((await api.send('/api/organization')).body);
    const taken = async (key: Uint8Array): Promise<number> => {
      const [organizationId, memberId] = [organization.data.id, owner?.id ?? ''];
      const expiresAtMs = Date.now() + 60_000;
      const token = linkToken(
        { kind: 'password-reset', organizationId, memberId, expiresAtMs, epoch: 0 },
        pepperOf(key),
      );
      const json = { newPassword: 'another horse battery staple' };
      return (await api.send(`/api/password-resets/${token}`, { json, key: null })).status;
    };
    expect([await taken(old), await taken(now)]).toEqual([404, 200]);
    await stop();
  });

  it('takes a key of the operator, and the server is refused with the one before', async () => {
    const SECRET_KEY = await keyOf('data');
    const without = await command(['secret-key', 'rotate'], 'data', { SECRET_KEY });
    expect([without.exitCode, without.error]).toEqual([1, expect.stringContaining('--key-file')]);
    const file = join(folder, 'own.key');
    await writeFile(file, 'not a key\n');
    const malformed = await command(['secret-key', 'rotate', '--key-file', file], 'data', { SECRET_KEY });
    expect([malformed.exitCode, malformed.error]).toEqual([1, expect.stringContaining('32 bytes in base64')]);
    const next = randomBytes(32).toString('base64');
    await writeFile(file, `${next}\n`);
    expect((await command(['secret-key', 'rotate', '--key-file', file], 'data', { SECRET_KEY })).exitCode).toBe(0);
    // The same again, with either key set, changes nothing.
    for (const key of [SECRET_KEY, next]) {
      const again = await command(['secret-key', 'rotate', '--key-file', file], 'data', { SECRET_KEY: key });
      expect([again.exitCode, again.out]).toEqual([0, expect.stringContaining('0 of 0')]);
    }
    const old = startProduct(settingsOf('data', { SECRET_KEY }), folder);
    old.ready().catch(() => undefined);
    expect(await endOf(old)).toMatchObject({ code: 78 });
    await start('data', { SECRET_KEY: next });
    expect(await namesOfAll()).toBe(taskCount);
    await stop();
  });
});

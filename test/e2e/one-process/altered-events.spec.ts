/** Events that were changed in the file behind the product's back. */
import { existsSync } from 'node:fs';
import { rm, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { meerkat } from '../kit/command.js';
import { embeddedInstallation, type EmbeddedInstallation } from '../kit/embedded.js';
import { createApi, type Api } from '../kit/api.js';
import { commonSettings, ownerApiKey, scratchFolder } from '../kit/installation.js';
import { startProduct } from '../kit/product.js';
import { refusedStart } from '../kit/refused-start.js';
import { byHand } from '../kit/settings.js';

const verified = z.object({
  events: z.int(),
  signed: z.int(),
  faultCount: z.int(),
  faults: z.array(z.object({ what: z.string(), stream: z.string(), revision: z.int(), type: z.string() })),
});

describe.each(['SIGTERM', 'SIGKILL'] as const)('a product that ended by %s', (signal) => {
  let installation: EmbeddedInstallation;
  let folder: string;
  /** A copy of what it left behind: each test has its own. */
  let dataDir: string;
  let readKey: string;

  beforeAll(async () => {
    [installation, folder] = await Promise.all([embeddedInstallation(), scratchFolder()]);
    await installation.start();
    for (const path of ['one', 'two', 'three']) await installation.api.create(byHand(`http://127.0.0.1:9/${path}`));
    const created = await installation.api.send('/api/keys', {
      method: 'POST',
      json: { name: 'a reader', scopes: ['read'] },
    });
    readKey = z.object({ data: z.object({ id: z.string() }) }).parse(created.body).data.id;
    await installation.kill(signal);
  });
  afterAll(async () => {
    await installation.remove();
    await rm(folder, { recursive: true, force: true });
  });

  let copies = 0;
  beforeEach(async () => {
    copies += 1;
    dataDir = join(folder, `data-${copies}`);
    // With the times of the files: as if they had lain there all along.
    await cp(installation.dataDir, dataDir, { recursive: true, preserveTimestamps: true });
  });

  const change = (sql: string): void => {
    const database = new DatabaseSync(join(dataDir, 'events.db'));
    database.exec(sql);
    database.close();
  };
  const settings = (): Readonly<Record<string, string>> => ({ ...commonSettings({}), DATA_DIR: dataDir, PORT: '0' });
  const audit = (...words: string[]) => meerkat(['audit', ...words], settings(), folder);
  const verify = async () => {
    const { exitCode, out } = await audit('verify', '--json');
    return { exitCode, ...verified.parse(JSON.parse(out)) };
  };
  const startAndStop = async (): Promise<void> => {
    const product = startProduct(settings(), folder);
    try {
      await product.ready();
      product.signal('SIGTERM');
      expect((await product.ended).code).toBe(0);
    } finally {
      product.signal('SIGKILL');
    }
  };
  const widenScope = (): void =>
    change(
      `UPDATE events SET data = replace(data, '["read"]', '["read","admin"]') WHERE type = 'key.created' AND data LIKE '%${readKey}%'`,
    );

  it('is found intact where nothing was changed, and starts', async () => {
    const { exitCode, faultCount, events, signed } = await verify();
    expect({ exitCode, faultCount }).toEqual({ exitCode: 0, faultCount: 0 });
    expect(signed).toBe(events);
    await startAndStop();
    expect(await verify()).toMatchObject({ exitCode: 0, faultCount: 0 });
  });

  it('does not start on a key whose scope was edited, and names its stream, each time', async () => {
    widenScope();
    const stream = `key-${readKey}`;
    for (let start = 0; start < 2; start += 1) {
      const { code, said } = await refusedStart(settings(), folder);
      expect(code).toBe(65);
      expect(said).toContain(`${stream}@0 (key.created) is not what was written`);
      expect(said).toContain('meerkat audit accept');
    }
    const fault = { what: 'altered', stream, revision: 0, type: 'key.created' };
    expect(await verify()).toMatchObject({ exitCode: 1, faultCount: 1, faults: [fault] });
  });

  it('is backed up as it is, and the backup says what went into it that was not written so', async () => {
    widenScope();
    const [backup, other] = [join(folder, `backup-${copies}`), join(folder, `other-${copies}`)];
    const made = await meerkat(['backup', backup], settings(), folder);
    expect([made.exitCode, made.out]).toEqual([1, expect.stringContaining(backup)]);
    expect(made.error).toContain(`key-${readKey}@0 (key.created) is not what was written`);
    const json = await meerkat(['backup', other, '--json'], settings(), folder);
    expect([json.exitCode, JSON.parse(json.out)]).toEqual([
      1,
      expect.objectContaining({ faultCount: 1, faults: [expect.objectContaining({ stream: `key-${readKey}` })] }),
    ]);
    // It is one all the same.
    const verifiedBackup = await meerkat(['audit', 'verify', backup, '--json'], settings(), folder);
    expect([verifiedBackup.exitCode, verified.parse(JSON.parse(verifiedBackup.out)).faultCount]).toEqual([1, 1]);
  });

  it('is backed up with no other key', async () => {
    const backup = join(folder, `backup-${copies}`);
    const other = { ...settings(), SECRET_KEY: Buffer.alloc(32, 9).toString('base64') };
    const { exitCode, error } = await meerkat(['backup', backup], other, folder);
    expect([exitCode, error]).toEqual([1, expect.stringContaining('SECRET_KEY')]);
    expect(existsSync(join(backup, 'manifest.json'))).toBe(false);
  });

  it('starts on it again once an operator has accepted it, and not on the next edit', async () => {
    widenScope();
    expect(await audit('accept', '--json')).toMatchObject({ exitCode: 0 });
    expect(await verify()).toMatchObject({ exitCode: 0, faultCount: 0 });
    await startAndStop();
    change(`UPDATE events SET data = replace(data, '"admin"', '"write"') WHERE data LIKE '%${readKey}%'`);
    const { code, said } = await refusedStart(settings(), folder);
    expect({ code, said }).toMatchObject({ code: 65, said: expect.stringContaining(`key-${readKey}@0`) });
  });

  it.each([
    [
      'an event in the middle is gone',
      `DELETE FROM events WHERE type = 'task.created' AND position < (SELECT max(position) FROM events WHERE type = 'task.created')`,
    ],
    ['the MACs were stripped', 'UPDATE events SET mac = NULL'],
    [
      'the MACs and their record were stripped from some',
      `DELETE FROM events WHERE type = 'integrity.begun'; UPDATE events SET mac = NULL WHERE type = 'key.created'`,
    ],
    [
      'an acceptance was forged',
      `UPDATE events SET type = 'integrity.accepted', data = '{"faults":[]}' WHERE type = 'integrity.begun'`,
    ],
  ])('does not start where %s', async (_, sql) => {
    change(sql);
    expect((await refusedStart(settings(), folder)).code).toBe(65);
    expect((await verify()).exitCode).toBe(1);
  });

  it('says that SECRET_KEY is another one, where it is, and nothing of edits', async () => {
    const other = { ...settings(), SECRET_KEY: Buffer.alloc(32, 9).toString('base64') };
    const { code, said } = await refusedStart(other, folder);
    expect(code).toBe(78);
    expect(said).toContain('SECRET_KEY: is not the one that the stored events were signed with');
    const { exitCode, error } = await meerkat(['audit', 'verify'], other, folder);
    expect({ exitCode, error }).toMatchObject({ exitCode: 1, error: expect.stringContaining('SECRET_KEY') });
  });
});

describe('a product that ended in order and whose last events were taken away', () => {
  let installation: EmbeddedInstallation;
  let folder: string;

  beforeAll(async () => {
    [installation, folder] = await Promise.all([embeddedInstallation(), scratchFolder()]);
    await installation.start();
    await installation.api.create(byHand('http://127.0.0.1:9/'));
    await installation.kill('SIGTERM');
  });
  afterAll(async () => {
    await installation.remove();
    await rm(folder, { recursive: true, force: true });
  });

  /** A copy of what it left, with somebody at work on it. */
  const copyWithout = async (name: string, sql: string, ...files: readonly string[]) => {
    const dataDir = join(folder, name);
    await cp(installation.dataDir, dataDir, { recursive: true, preserveTimestamps: true });
    const database = new DatabaseSync(join(dataDir, 'events.db'));
    database.exec(sql);
    database.close();
    for (const file of files) await rm(join(dataDir, file));
    const settings = { ...commonSettings({}), DATA_DIR: dataDir, PORT: '0' };
    const audit = async (...words: string[]) => {
      const { exitCode, out } = await meerkat(['audit', ...words, '--json'], settings, folder);
      return { exitCode, ...z.looseObject({}).parse(JSON.parse(out)) };
    };
    const whileStarted = async <T>(ask: (api: Api) => Promise<T>): Promise<T> => {
      const product = startProduct(settings, folder);
      try {
        const url = await product.ready();
        return await ask(createApi(() => url, ownerApiKey));
      } finally {
        product.signal('SIGTERM');
        await product.ended;
      }
    };
    const asked = () => whileStarted(async (api) => (await api.send('/api/audit/verify')).body);
    return { audit, asked };
  };
  const cutTail = `
    DELETE FROM events WHERE position >= (SELECT max(position) FROM events WHERE type = 'task.created');
    DELETE FROM streams WHERE id NOT IN (SELECT stream FROM events);
    UPDATE streams SET revision = (SELECT max(revision) FROM events WHERE stream = streams.id)`;

  it('says so by the signed heads where the note of how far they went is gone, until an operator accepts it', async () => {
    const { audit, asked } = await copyWithout('without-mark', cutTail, 'verified');
    const gone = { exitCode: 1, faultCount: 1, faults: [{ what: 'missing' }] };
    expect(await audit('verify')).toMatchObject(gone);
    // A start takes the log as it is; that entries are gone stays said.
    expect(await asked()).toMatchObject({ data: { intact: false, brokenAt: { reason: 'missing' } } });
    expect(await audit('verify')).toMatchObject(gone);
    expect(await audit('accept')).toMatchObject({ exitCode: 0, accepted: [{ what: 'missing' }] });
    expect(await audit('verify')).toMatchObject({ exitCode: 0, faultCount: 0, warnings: [] });
    expect(await asked()).toMatchObject({ data: { intact: true, warnings: [] } });
  });

  it('warns where nothing is left that could tell how far they went', async () => {
    const all = ['verified', 'views.db', 'audit-heads.jsonl'];
    const { audit, asked } = await copyWithout('without-all', cutTail, ...all);
    const warned = { faultCount: 0, warnings: [expect.stringContaining('how far the events went')] };
    expect(await audit('verify')).toMatchObject({ exitCode: 0, ...warned });
    const told = { data: { intact: true, warnings: warned.warnings } };
    expect(await asked()).toMatchObject(told);
    expect(await asked()).toMatchObject(told);
    expect(await audit('verify')).toMatchObject({ exitCode: 0, ...warned });
    expect(await audit('accept')).toMatchObject({ exitCode: 0 });
    expect(await audit('verify')).toMatchObject({ exitCode: 0, warnings: [] });
    expect(await asked()).toMatchObject({ data: { intact: true, warnings: [] } });
  });

  it.each([
    ['some of them', 'DELETE FROM events WHERE position > (SELECT max(position) - 3 FROM events)'],
    ['all of them', 'DELETE FROM events; DELETE FROM streams; DELETE FROM sqlite_sequence'],
  ])('says so in an audit and at the next start: %s', async (which, sql) => {
    const dataDir = join(folder, which.replaceAll(' ', '-'));
    await cp(installation.dataDir, dataDir, { recursive: true, preserveTimestamps: true });
    const database = new DatabaseSync(join(dataDir, 'events.db'));
    database.exec(sql);
    database.close();
    const settings = { ...commonSettings({}), DATA_DIR: dataDir, PORT: '0' };
    const audit = (...words: string[]) => meerkat(['audit', ...words], settings, folder);
    const found = await audit('verify', '--json');
    expect(found.exitCode).toBe(1);
    expect(verified.parse(JSON.parse(found.out))).toMatchObject({ faultCount: 1, faults: [{ what: 'missing' }] });
    const product = startProduct(settings, folder);
    try {
      await product.ready();
      expect(product.lines.join('\n')).toContain('those in between are gone');
    } finally {
      product.signal('SIGKILL');
      await product.ended;
    }
    expect((await audit('accept')).exitCode).toBe(0);
    expect(await audit('verify', '--json')).toMatchObject({ exitCode: 0 });
  });
});

describe('an audit of a product that runs', () => {
  it('finds its events intact and lets it go on', async () => {
    const installation = await embeddedInstallation();
    try {
      await installation.start();
      const { exitCode, out } = await installation.command(['audit', 'verify']);
      expect({ exitCode, out }).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^[0-9]+ events: intact\n$/) });
      expect(await installation.command(['audit', 'accept', '--json'])).toMatchObject({
        exitCode: 1,
        out: expect.stringContaining('server_running'),
      });
      await installation.api.create(byHand('http://127.0.0.1:9/'));
      expect((await installation.command(['audit', 'verify'])).exitCode).toBe(0);
    } finally {
      await installation.remove();
    }
  });
});

/** `meerkat migrate` between folders, killed again and again. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createSqliteEventStore } from '#event-store/sqlite';
import { everyEvent } from '#event-store/read-through';
import type { RecordedEvent } from '#event-store/event-store';
import { errorOf, createApi } from '../kit/api.js';
import { meerkat } from '../kit/command.js';
import { embeddedInstallation, type EmbeddedInstallation } from '../kit/embedded.js';
import { commonSettings, ownerApiKey, scratchFolder } from '../kit/installation.js';
import { addHistory, asStored, migrateThroughKills, asSoonAs } from '../kit/migration.js';
import { startProduct } from '../kit/product.js';
import { refusedStart } from '../kit/refused-start.js';
import { byHand } from '../kit/settings.js';

const answer = z.looseObject({ events: z.int(), copied: z.int(), alreadyThere: z.int(), hash: z.string() });

/** Of which a kill takes nothing back; what is only in the log may be of a group that is not whole. */
function committedIn(file: string): number {
  if (!existsSync(file)) return 0;
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare('SELECT count(*) AS events FROM events').get()?.['events']);
  } finally {
    database.close();
  }
}

describe('a migration that is killed', () => {
  let installation: EmbeddedInstallation;
  let folder: string;

  beforeAll(async () => {
    [installation, folder] = await Promise.all([embeddedInstallation(), scratchFolder()]);
    await installation.start();
    await installation.api.create(byHand('http://127.0.0.1:9/'));
    await installation.kill('SIGTERM');
    await addHistory(installation.dataDir, 12_000, 300);
  });
  afterAll(async () => {
    await installation.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const allIn = async (dataDir: string): Promise<RecordedEvent[]> => {
    const store = createSqliteEventStore(join(dataDir, 'events.db'), { checked: true });
    try {
      return await everyEvent(store);
    } finally {
      await store.close();
    }
  };

  it('is finished by the same command from any step, with nothing twice', async () => {
    const target = join(folder, 'target');
    const sides = ['--from', `sqlite:${installation.dataDir}`, '--to', `sqlite:${target}`];
    const startedMs = performance.now();
    const trial = await meerkat(
      ['migrate', ...sides.slice(0, 3), `sqlite:${join(folder, 'trial')}`, '--json'],
      {},
      folder,
    );
    expect(trial).toMatchObject({ exitCode: 0, error: '' });
    const wholeMs = performance.now() - startedMs;

    const { kills, ended } = await migrateThroughKills(sides, {}, folder, {
      kills: 8,
      seed: 20_261_121,
      longestMs: wholeMs * 0.9,
      firstKill: asSoonAs(() => committedIn(join(target, 'events.db')) > 0),
    });
    expect(ended).toMatchObject({ exitCode: 0, error: '' });
    expect(kills).toBeGreaterThan(0);
    const whole = await allIn(installation.dataDir);
    expect(answer.parse(JSON.parse(ended.out))).toMatchObject({
      events: whole.length,
      hash: answer.parse(JSON.parse(trial.out)).hash,
    });
    expect(await allIn(target)).toEqual(whole);

    const product = startProduct({ DATA_DIR: target, PORT: '0', ...commonSettings({}) }, folder);
    try {
      const url = await product.ready();
      const api = createApi(() => url, ownerApiKey);
      const { data } = z.object({ data: z.array(z.unknown()) }).parse((await api.send('/api/notifications')).body);
      expect(data).toHaveLength(1);
      const stranger = await createApi(() => url, ownerApiKey.replace('Ab3', 'Xx3')).send('/api/notifications');
      expect(errorOf(stranger).code).toBe('UNAUTHORIZED');
    } finally {
      product.signal('SIGTERM');
      await product.ended;
    }
  });

  it('keeps a server from its target until it is finished', async () => {
    const target = join(folder, 'half');
    const sides = ['--from', `sqlite:${installation.dataDir}`, '--to', `sqlite:${target}`];
    // Killed as soon as something is there for good: the rest, and the views, come after.
    const written = asSoonAs(() => committedIn(join(target, 'events.db')) > 0);
    expect((await meerkat(['migrate', ...sides], {}, folder, written)).exitCode).toBe(null);
    expect((await allIn(target)).length).toBeGreaterThan(0);
    const { code, said } = await refusedStart({ DATA_DIR: target }, folder);
    expect(said).toContain('is not finished; run `meerkat migrate` again');
    expect(code).toBe(78);
    expect((await meerkat(['migrate', ...sides], {}, folder)).exitCode).toBe(0);
    expect(asStored(await allIn(target))).toEqual(asStored(await allIn(installation.dataDir)));
  });
});

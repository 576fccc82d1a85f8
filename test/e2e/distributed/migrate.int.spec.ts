/** An installation that started in one process moves to the servers, works there, and moves back. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createEventStoreDbEventStore } from '#event-store/eventstoredb';
import { silentLogger } from '#runtime/logger';
import type { Task } from '../kit/api.js';
import { meerkat } from '../kit/command.js';
import { distributedInstallation, type DistributedInstallation } from '../kit/distributed.js';
import { embeddedInstallation, type EmbeddedInstallation } from '../kit/embedded.js';
import { scratchFolder } from '../kit/installation.js';
import { addHistory, asStored, migrateThroughKills, asSoonAs } from '../kit/migration.js';
import { refusedStart } from '../kit/refused-start.js';
import { serversOfThisRun, type ServerAddresses } from '../kit/servers.js';
import { byHand } from '../kit/settings.js';
import { expectWhole, startWorld, Watch, type World } from '../kit/watch.js';

const answer = z.looseObject({
  events: z.int(),
  copied: z.int(),
  alreadyThere: z.int(),
  hash: z.string(),
  views: z.array(z.object({ view: z.string(), error: z.null() })),
});

function servers(): ServerAddresses {
  const found = serversOfThisRun();
  if (found === null) {
    throw new Error('EVENT_STORE_URL, BUS_URL and READ_STORE_URL are not set: npm run servers -- up prints them');
  }
  return found;
}

const secretKeyOf = async ({ dataDir }: EmbeddedInstallation): Promise<string> =>
  (await readFile(join(dataDir, 'secret.key'), 'utf8')).trim();

/** All of a task but what every run of it changes. */
function settled(task: Task): object {
  const { lastExecution: _, nextRunAt: __, ...rest } = task;
  return rest;
}

/** With what the processes of an installation on the servers are started. */
const settingsOf = (name: string, secretKey: string): Readonly<Record<string, string>> => ({
  EVENT_STORE_URL: servers().eventStoreUrl,
  BUS_URL: servers().busUrl,
  READ_STORE_URL: servers().readStoreUrl,
  INSTALLATION: name,
  SECRET_KEY: secretKey,
});

describe('an installation that started in one process', () => {
  let folder: string;
  let world: World;
  let here: EmbeddedInstallation;
  let there: DistributedInstallation;

  beforeAll(async () => {
    [folder, world] = await Promise.all([scratchFolder(), startWorld()]);
    here = await embeddedInstallation({ smtpUrl: world.mails.url });
    await here.start();
    const secretKey = await secretKeyOf(here);
    there = await distributedInstallation(servers(), {
      smtpUrl: world.mails.url,
      settings: { SECRET_KEY: secretKey },
      layout: ['gateway,accounts', 'tasks,scheduling,execution,delivery'],
    });
  });
  afterAll(async () => {
    await Promise.all([here.remove(), there.remove()]);
    await world.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('moves to the servers and back with its ids and history, and sends nothing again', async () => {
    const atHome = new Watch(here, world, 'moving');
    await atHome.create();
    await atHome.seen(true);
    await atHome.told(1);
    await atHome.seen(false);
    await atHome.seen(true);
    await atHome.told(2);
    await atHome.everybodyTold();
    const before = {
      task: settled(await here.api.task(atHome.taskId)),
      deliveries: await here.api.deliveries(atHome.taskId),
    };
    expect(await here.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const history = asStored(await here.recordedEvents());
    const arrivals = { hooks: atHome.hooks().length, mails: atHome.mails().length };

    const secretKey = await secretKeyOf(here);
    const away = ['migrate', '--from', `sqlite:${here.dataDir}`, '--to', servers().eventStoreUrl, '--json'];
    const moved = await meerkat(away, settingsOf(there.name, secretKey), folder);
    expect(moved).toMatchObject({ exitCode: 0, error: '' });
    expect(answer.parse(JSON.parse(moved.out))).toMatchObject({ events: history.length, copied: history.length });
    expect(asStored(await there.recordedEvents())).toEqual(history);

    await there.start();
    const onServers = new Watch(there, world, 'moving');
    onServers.taskId = atHome.taskId;
    expect(settled(await there.api.task(atHome.taskId))).toEqual(before.task);
    expect(await there.api.deliveries(atHome.taskId)).toEqual(before.deliveries);
    // It is still in stock: every receiver has been notified already.
    await onServers.runsWithout(3);
    expect({ hooks: onServers.hooks().length, mails: onServers.mails().length }).toEqual(arrivals);
    await onServers.seen(false);
    await onServers.seen(true);
    await onServers.told(3);
    await onServers.everybodyTold();
    const onServersTold = await there.api.deliveries(atHome.taskId);
    expect(await there.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const longer = asStored(await there.recordedEvents());
    expect(longer.slice(0, history.length)).toEqual(history);

    const home = ['migrate', '--from', servers().eventStoreUrl, '--to', `sqlite:${here.dataDir}`, '--json'];
    const back = await meerkat(home, { INSTALLATION: there.name }, folder);
    expect(back).toMatchObject({ exitCode: 0, error: '' });
    expect(answer.parse(JSON.parse(back.out))).toMatchObject({ alreadyThere: history.length });
    expect(asStored(await here.recordedEvents())).toEqual(longer);

    const arrived = { hooks: onServers.hooks().length, mails: onServers.mails().length };
    await here.start();
    expect(await here.api.deliveries(atHome.taskId)).toEqual(onServersTold);
    await atHome.runsWithout(3);
    expect({ hooks: atHome.hooks().length, mails: atHome.mails().length }).toEqual(arrived);
    await atHome.seen(false);
    await atHome.seen(true);
    await atHome.told(4);
    await expectWhole(atHome);
  });
});

describe('a migration to the servers', () => {
  let folder: string;
  let here: EmbeddedInstallation;
  let there: DistributedInstallation;
  let settings: Readonly<Record<string, string>>;
  let away: readonly string[];

  beforeAll(async () => {
    [folder, here] = await Promise.all([scratchFolder(), embeddedInstallation()]);
    await here.start();
    await here.api.create(byHand('http://127.0.0.1:9/'));
    await here.kill('SIGTERM');
    await addHistory(here.dataDir, 1_500, 100);
    const secretKey = await secretKeyOf(here);
    there = await distributedInstallation(servers(), {
      settings: { SECRET_KEY: secretKey },
      layout: ['gateway,accounts,tasks,scheduling,execution,delivery'],
    });
    settings = settingsOf(there.name, secretKey);
    away = ['--from', `sqlite:${here.dataDir}`, '--to', servers().eventStoreUrl];
  });
  afterAll(async () => {
    await Promise.all([here.remove(), there.remove()]);
    await rm(folder, { recursive: true, force: true });
  });

  it('rejects a key that does not open the sealed data', async () => {
    const other = { ...settings, SECRET_KEY: Buffer.alloc(32, 1).toString('base64') };
    const { exitCode, error } = await meerkat(['migrate', ...away], other, folder);
    expect(error).toContain('is not the one that the source has sealed its secrets with');
    expect(exitCode).toBe(1);
    expect(await there.recordedEvents()).toEqual([]);
  });

  it('ends with 78 where the target would have no key', async () => {
    const { SECRET_KEY: _, ...keyless } = settings;
    const { exitCode, error } = await meerkat(['migrate', ...away], keyless, folder);
    expect(error).toContain('SECRET_KEY: must be set');
    expect(exitCode).toBe(78);
  });

  it('is finished by the same command after any number of kills, and blocks starts until then', async () => {
    const store = await createEventStoreDbEventStore({
      url: servers().eventStoreUrl,
      installation: there.name,
      logger: silentLogger,
    });
    const written = asSoonAs(async () => (await store.readLast('e2e-50')) !== null);
    expect((await meerkat(['migrate', ...away], settings, folder, written)).exitCode).toBe(null);
    await store.close();
    const whole = asStored(await here.recordedEvents());
    const begun = asStored(await there.recordedEvents());
    expect(begun).toEqual(whole.slice(0, begun.length));
    expect(begun.length).toBeLessThan(whole.length);
    const refused = await refusedStart(settings, folder);
    expect(refused.said).toContain('is not finished; run `meerkat migrate` again');
    expect(refused.code).toBe(78);

    const { ended } = await migrateThroughKills(away, settings, folder, { kills: 4, seed: 4, longestMs: 6_000 });
    expect(ended).toMatchObject({ exitCode: 0, error: '' });
    expect(answer.parse(JSON.parse(ended.out)).events).toBe(whole.length);
    expect(asStored(await there.recordedEvents())).toEqual(whole);
  });

  it('rejects a target whose processes are running, which go on', async () => {
    await there.start();
    const { exitCode, error } = await meerkat(['migrate', ...away], settings, folder);
    expect(error).toContain('Processes are at work with the views of the target');
    expect(exitCode).toBe(1);
    const { data } = z.object({ data: z.array(z.unknown()) }).parse((await there.api.send('/api/notifications')).body);
    expect(data).toHaveLength(1);
  });
});

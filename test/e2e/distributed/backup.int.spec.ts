/** The documented way back for servers: MongoDB, then EventStoreDB, each by a copy of its own; Kafka by none. */
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mongo } from 'mongoose';
import { z } from 'zod';
import { startEventStore, startMongo, type RunningServer } from '../../servers/servers.ts';
import { distributedInstallation, type DistributedInstallation } from '../kit/distributed.js';
import { startHookSink, type HookSink } from '../kit/hook-sink.js';
import { scratchFolder } from '../kit/installation.js';
import { html, startPageSite, type PageSite } from '../kit/page-site.js';
import { serversOfThisRun } from '../kit/servers.js';
import { byHand } from '../kit/settings.js';
import { until } from '../kit/until.js';

const withKey = z.object({ data: z.looseObject({ id: z.string(), key: z.string() }) });

/** As `mongodump` has it: each collection with its indexes. */
interface Dumped {
  readonly name: string;
  readonly documents: readonly mongo.Document[];
  readonly indexes: readonly mongo.IndexDescriptionInfo[];
}

async function withDatabase<Found>(url: string, work: (database: mongo.Db) => Promise<Found>): Promise<Found> {
  const client = await mongo.MongoClient.connect(url);
  try {
    return await work(client.db());
  } finally {
    await client.close();
  }
}

const dump = (url: string): Promise<readonly Dumped[]> =>
  withDatabase(url, async (database) => {
    const names = (await database.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    return Promise.all(
      names.map(async (name) => {
        const collection = database.collection(name);
        return { name, documents: await collection.find().toArray(), indexes: await collection.indexes() };
      }),
    );
  });

const putBack = (url: string, dumped: readonly Dumped[]): Promise<void> =>
  withDatabase(url, async (database) => {
    for (const { name, documents, indexes } of dumped) {
      const collection = await database.createCollection(name);
      if (documents.length > 0) await collection.insertMany([...documents]);
      for (const { key, name: index, v: _version, ...options } of indexes)
        if (index !== '_id_') await collection.createIndex(key, { name: index ?? '', ...options });
    }
  });

/** A copy of one moment, beside the server. */
function copyLog(from: string, to: string): void {
  const log = new DatabaseSync(join(from, 'eventstoredb.db'), { readOnly: true });
  try {
    log.exec(`VACUUM INTO '${join(to, 'eventstoredb.db')}'`);
  } finally {
    log.close();
  }
}

describe('an installation on servers that were put back', () => {
  let folder: string;
  let site: PageSite;
  let hooks: HookSink;
  const started: RunningServer[] = [];
  let installation: DistributedInstallation;
  const secretKey = randomBytes(32).toString('base64');

  const place = async (name: string): Promise<string> => {
    const made = join(folder, name);
    await mkdir(made, { recursive: true });
    return made;
  };
  async function startServers(
    round: string,
  ): Promise<{ readonly eventStoreUrl: string; readonly readStoreUrl: string }> {
    const [events, views] = await Promise.all([
      startEventStore({ dataFolder: await place(`events-${round}`) }),
      startMongo({ dataFolder: await place(`views-${round}`) }),
    ]);
    started.push(events, views);
    return { eventStoreUrl: events.url, readStoreUrl: views.url };
  }
  async function on(
    servers: { readonly eventStoreUrl: string; readonly readStoreUrl: string },
    name?: string,
  ): Promise<DistributedInstallation> {
    const busUrl = serversOfThisRun()?.busUrl;
    if (busUrl === undefined) throw new Error('BUS_URL is not set: npm run servers -- up prints it');
    return distributedInstallation(
      { ...servers, busUrl },
      { settings: { SECRET_KEY: secretKey }, ...(name === undefined ? {} : { name }) },
    );
  }
  const made = async (path: string): Promise<string> => {
    site.serve(path, html('in stock'));
    const task = await installation.api.create({
      ...byHand(site.address(path)),
      name: path,
      evaluationFunction: 'return true;',
      policy: { notifyOn: 'every_true' },
      actions: [{ type: 'webhook', config: { url: hooks.address(path) } }],
    });
    return task.id;
  };
  const delivered = async (taskId: string): Promise<void> => {
    await installation.api.execute(taskId, 30);
    await until('it is delivered', async () =>
      (await installation.api.deliveries(taskId))[0]?.state === 'delivered' ? true : null,
    );
  };

  beforeAll(async () => {
    folder = await scratchFolder();
    [site, hooks] = await Promise.all([startPageSite(), startHookSink()]);
  });
  afterAll(async () => {
    await installation.remove();
    await Promise.all([site.close(), hooks.close(), ...started.map((server) => server.stop('SIGKILL'))]);
    await rm(folder, { recursive: true, force: true });
  });

  it('is what it was, with no event lost, nothing sent again by itself, and an audit that is intact', async () => {
    const servers = await startServers('first');
    installation = await on(servers);
    const { name } = installation;
    await installation.start();
    const kept = await made('/kept');
    await delivered(kept);
    const waiting = await made('/waiting');
    hooks.reply('/waiting', 503, 503, 503, 503);
    await installation.api.execute(waiting, 30);
    const open = await until('it is tried again', async () => {
      const [one] = await installation.api.deliveries(waiting);
      return one?.state === 'retrying' ? one : null;
    });
    const dumped = await dump(servers.readStoreUrl);
    // Events are copied last: what happened in between is in them alone.
    const { key, id: keyId } = withKey.parse(
      (await installation.api.send('/api/keys', { json: { name: 'between', scopes: ['read'] } })).body,
    ).data;
    await delivered(kept);
    const between = await made('/between');
    await delivered(between);
    copyLog(join(folder, 'events-first'), await place('events-second'));
    // What came after is forgotten.
    const after = await made('/after');
    const atWork = await installation.command(['restore', '--servers']);
    expect([atWork.exitCode, atWork.error]).toEqual([1, expect.stringContaining('stop')]);
    // Its processes, its views and its topics are gone.
    await installation.remove();

    const others = await startServers('second');
    await putBack(others.readStoreUrl, dumped);
    installation = await on(others, name);
    const verified = await installation.command(['audit', 'verify']);
    expect([verified.exitCode, verified.out]).toEqual([0, expect.stringContaining('intact')]);
    const sent = ['/kept', '/waiting', '/between'].map((path) => hooks.received(path).length);
    const held = await installation.command(['restore', '--servers', '--json']);
    expect([held.exitCode, JSON.parse(held.out)]).toEqual([0, { heldBack: 1, tookMs: expect.any(Number) }]);
    await installation.start();

    for (const id of [kept, waiting, between]) expect((await installation.api.task(id)).id).toBe(id);
    expect((await installation.api.send(`/api/notifications/${after}`)).status).toBe(404);
    for (const _ of [0, 1]) expect((await installation.api.send('/api/notifications', { key })).status).toBe(200);
    expect((await installation.api.send(`/api/keys/${keyId}`)).status).toBe(200);
    const told = async (id: string) =>
      (await installation.api.deliveries(id)).map(({ state, reason }) => [state, reason]);
    expect(await told(kept)).toEqual([
      ['delivered', null],
      ['delivered', null],
    ]);
    expect(await told(between)).toEqual([['delivered', null]]);
    expect(
      await until('it is held back', async () => {
        const [one] = await told(waiting);
        return one?.[0] === 'suppressed' ? one : null;
      }),
    ).toEqual(['suppressed', 'restored']);
    // It runs as before, and of what was sent before nothing is sent again.
    const runs = await installation.api.executions(kept);
    expect((await installation.api.send(`/api/executions/${runs.at(-1)?.id}/snapshot`)).status).toBe(200);
    await delivered(kept);
    expect(['/kept', '/waiting', '/between'].map((path) => hooks.received(path).length)).toEqual([
      (sent[0] ?? 0) + 1,
      sent[1],
      sent[2],
    ]);
    // A person who knows that it was not sent sends it.
    expect((await installation.api.send(`/api/deliveries/${open.id}/resend`, { method: 'POST' })).status).toBeLessThan(
      300,
    );
    await until('it came', () => (hooks.received('/waiting').at(-1)?.answer === 503 ? true : null));
    expect(new Set(hooks.received('/waiting').map(({ id }) => id))).toEqual(new Set([open.id]));
    expect((await installation.api.send('/api/audit/verify')).text).toContain('"intact":true');
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigError } from '#runtime/config';
import { silentLogger } from '#runtime/logger';
import { haltProcess } from '../../test/servers/process.ts';
import { startMongo, type RunningServer } from '../../test/servers/servers.ts';
import { query, view } from './kit.contract.js';
import { createMongoReadStore } from './mongo.js';
import type { ReadStore, ViewAdmin } from './read-store.js';

const openAt = (url: string): Promise<ReadStore & ViewAdmin> =>
  createMongoReadStore({ url, installation: 'failing', logger: silentLogger });

describe('a MongoDB that fails', () => {
  let folder: string;
  let server: RunningServer;
  let store: ReadStore & ViewAdmin;
  const restart = async (): Promise<void> => {
    server = await startMongo({ dataFolder: join(folder, 'data'), port: server.port });
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'meerkat-mongo-'));
    server = await startMongo({ dataFolder: join(folder, 'data') });
    store = await openAt(server.url);
  }, 60_000);
  afterAll(async () => {
    await store.close();
    await server.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  const outOfReach = { reason: 'read_store_unavailable' };
  const calls = (): Promise<unknown>[] => [
    store.save(view, [{ id: '0', revision: 1, document: { name: 'a' } }], null),
    store.get(view, '1'),
    store.load(view, ['1']),
    store.page(view, query()),
    store.checkpoint(view),
    store.checkpoint({ ...view, name: 'never_seen' }),
  ];
  const until = async (works: () => Promise<unknown>): Promise<void> => {
    for (;;) {
      try {
        await works();
        return;
      } catch (error) {
        expect(error).toMatchObject(outOfReach);
      }
    }
  };

  it('is never left with a checkpoint ahead of its documents, however often it is killed', async () => {
    let position = (await store.checkpoint(view)) ?? 0;
    for (let kill = 0; kill < 3; kill += 1) {
      let writing = true;
      let reached: () => void = () => undefined;
      const underWay = new Promise<void>((resolve) => (reached = resolve));
      const from = position;
      const run = (async () => {
        while (writing) {
          const next = position + 10;
          const writes = Array.from({ length: 10 }, (_, index) => ({
            id: `d${position + index + 1}`,
            revision: position + index + 1,
            document: { name: 'n' },
          }));
          try {
            await store.save(view, writes, next, position === 0 ? null : position);
          } catch (error) {
            expect(error).toMatchObject(outOfReach);
            return;
          }
          position = next;
          if (position >= from + 50) reached();
        }
      })();
      await underWay;
      await server.stop('SIGKILL');
      await run;
      writing = false;
      await restart();
      await until(async () => {
        const kept = (await store.checkpoint(view)) ?? 0;
        // What was acknowledged is there.
        expect(kept).toBeGreaterThanOrEqual(position);
        const ids = Array.from({ length: kept }, (_, index) => `d${index + 1}`);
        expect((await store.load(view, ids)).size).toBe(kept);
        position = kept;
      });
    }
  }, 120_000);

  it.each(['SIGKILL', 'SIGSTOP'] as const)(
    'answers every call in time and heals by itself: %s',
    async (signal) => {
      await store.save(view, [{ id: '1', revision: 1, document: { name: 'a' } }], null);
      if (signal === 'SIGKILL') await server.stop(signal);
      else await haltProcess(server);
      for (let round = 0; round < 2; round += 1) {
        const answers = await Promise.allSettled(calls());
        for (const answer of answers) {
          expect(answer).toMatchObject({ status: 'rejected', reason: outOfReach });
        }
      }
      if (signal === 'SIGKILL') await restart();
      else process.kill(-server.pid, 'SIGCONT');
      await until(() => Promise.all(calls()));
      expect(await store.get(view, '1')).toEqual({ name: 'a' });
    },
    90_000,
  );

  it('is refused at the start where none answers, in time and with its name', async () => {
    await expect(openAt('mongodb://127.0.0.1:9/meerkat')).rejects.toMatchObject(outOfReach);
  }, 15_000);

  it.each(['mongodb://', 'mongodb://host/db?w=nonsense=1&tls=perhaps', 'mongodb+srv://a,b/c'])(
    'is refused at the start with an address that says nothing: %s',
    async (address) => {
      await expect(openAt(address)).rejects.toThrow(ConfigError);
    },
  );
});

/** Views are rebuilt while the product runs: no request waits, no event is missed, and every byte is as before. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import { expectWhole, startWorld, Watch, type World } from './kit/watch.js';

const answer = z.object({
  views: z.array(z.object({ view: z.string(), state: z.string(), events: z.number() })),
  events: z.number(),
});
describe('a rebuild of every view', () => {
  let world: World;
  let watch: Watch;

  beforeAll(async () => {
    world = await startWorld();
    watch = new Watch(await createInstallation({ smtpUrl: world.mails.url }), world, 'rebuilt');
    await watch.installation.start();
    await watch.create();
  });

  afterAll(async () => {
    await watch.installation.remove();
    await world.close();
  });

  const rebuild = async (): Promise<z.infer<typeof answer>> => {
    const { exitCode, out, error } = await watch.installation.command(['rebuild', 'all', '--json']);
    expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
    const rebuilt = answer.parse(JSON.parse(out));
    expect(rebuilt.views.filter(({ state }) => state !== 'done')).toEqual([]);
    return rebuilt;
  };

  it('runs beside runs, changes and messages, and misses none', async () => {
    await watch.seen(true);
    const rebuilding = (async () => {
      for (let round = 0; round < 3; round += 1) await rebuild();
    })();
    let isOver = false;
    void rebuilding.finally(() => (isOver = true)).catch(() => undefined);
    let times = 1;
    do {
      await watch.seen(false);
      await watch.seen(true);
      times += 1;
      const created = await watch.installation.api.create({
        name: `made meanwhile ${times}`,
        url: world.site.address(watch.path),
        evaluationFunction: 'return false',
        schedule: { type: 'manual' },
      });
      expect((await watch.installation.api.task(created.id)).name).toBe(`made meanwhile ${times}`);
    } while (!isOver);
    await rebuilding;
    await watch.told(times);
    const listed = await watch.installation.api.send('/api/notifications?limit=100');
    expect(z.object({ data: z.array(z.unknown()) }).parse(listed.body).data).toHaveLength(times);
  });

  it('gives the same bytes as before', async () => {
    await watch.settle();
    await watch.toldOfLastRun();
    const before = await watch.installation.api.listTexts();
    const { events } = await rebuild();
    expect(events).toBeGreaterThan(20);
    expect(await watch.installation.api.listTexts()).toEqual(before);
  });

  it('is rejected for an unknown view, with the names of the known ones', async () => {
    const { exitCode, out, error } = await watch.installation.command(['rebuild', 'everything']);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(error).toContain('tasks, schedules, executions');
  });

  it('leaves events and views that agree with the receivers', async () => {
    await expectWhole(watch);
  });
});

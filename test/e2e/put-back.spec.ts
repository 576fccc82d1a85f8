/** The event store put back from an older copy under everything that was made of it since: it heals by itself. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Installation } from './kit/installation.js';
import { lastOutcome, unplannedRuns } from './kit/invariants.js';
import { createCopiedInstallation, type CopiedInstallation } from './kit/put-back.js';
import { whenInStock } from './kit/settings.js';
import { until } from './kit/until.js';
import { startWorld, Watch, type World } from './kit/watch.js';

describe('an event store rewind', () => {
  let world: World;
  let copied: CopiedInstallation;
  let installation: Installation;
  let watch: Watch;
  let lostId: string;

  beforeAll(async () => {
    world = await startWorld();
    copied = await createCopiedInstallation({ smtpUrl: world.mails.url });
    installation = copied.installation;
    watch = new Watch(installation, world, 'put-back');
    await installation.start();
    await watch.create();
  });

  afterAll(async () => {
    await copied.remove();
    await world.close();
  });

  it('after a kill resets everything to the older events, and notifies nobody again', async () => {
    await watch.seen(true);
    await watch.told(1);
    await watch.everybodyTold();
    await installation.kill('SIGKILL');
    await copied.copyEvents();
    await installation.start();
    const hooksBefore = watch.hooks().map(({ id }) => id);
    await watch.seen(false);
    const lost = await installation.api.create({ ...whenInStock(world.site.address('/lost')), status: 'paused' });
    lostId = lost.id;
    expect((await installation.api.task(lostId)).id).toBe(lostId);
    await installation.kill('SIGKILL');
    await copied.putEventsBack();
    await installation.start();

    expect(installation.lines.join('\n')).toContain('the event store is an older copy than what was made of it');
    await until('the lost task is gone', async () => {
      const { status } = await installation.api.send(`/api/notifications/${lostId}`);
      return status === 404;
    });
    // The condition was true in the copy: it goes on from there. A view may still show a lost run that found it sold out.
    watch.flip(false);
    await until('a run on record finds the page sold out', async () => {
      return lastOutcome(await installation.recordedEvents(), watch.taskId) === false;
    });
    await watch.seen(true);
    await watch.told(2);
    await watch.settle();
    const hooks = watch.hooks().map(({ id }) => id);
    expect(hooks.slice(0, hooksBefore.length)).toEqual(hooksBefore);
    expect(new Set(hooks).size).toBe(hooks.length);
  });

  it('removes what was lost, even if the bus still has messages of it', async () => {
    const events = await installation.recordedEvents();
    const streams = new Set(events.map(({ stream }) => stream));
    expect(streams).toContain(`schedule-${watch.taskId}`);
    expect([...streams].filter((stream) => stream.endsWith(lostId))).toEqual([]);
    expect(unplannedRuns(events)).toEqual([]);
  });

  it('leaves views that equal a rebuild to the byte', async () => {
    await watch.toldOfLastRun();
    const before = await installation.api.listTexts();
    const listed = await installation.api.send('/api/notifications?limit=100');
    expect(z.object({ data: z.array(z.object({ id: z.string() })) }).parse(listed.body).data).toEqual([
      expect.objectContaining({ id: watch.taskId }),
    ]);
    expect((await installation.command(['rebuild', 'all', '--json'])).exitCode).toBe(0);
    expect(await installation.api.listTexts()).toEqual(before);
  });
});

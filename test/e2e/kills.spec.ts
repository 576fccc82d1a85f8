/** The product killed at any moment of its work: nothing is lost, nothing is sent twice under two ids. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verified } from './kit/hook-sink.js';
import { createInstallation } from './kit/create-installation.js';
import { byHand } from './kit/settings.js';
import { momentsLater, seededRandom, until } from './kit/until.js';
import { expectWhole, secret, startWorld, Watch, type World } from './kit/watch.js';

describe('an installation killed by SIGKILL', () => {
  const random = seededRandom(20_261_121);
  let world: World;
  let watch: Watch;
  let timesTold = 0;

  beforeAll(async () => {
    world = await startWorld();
    watch = new Watch(await createInstallation({ smtpUrl: world.mails.url }), world, 'killed');
    await watch.installation.start();
    await watch.create();
  });

  afterAll(async () => {
    await watch.installation.remove();
    await world.close();
  });

  const killAndStart = async (): Promise<void> => {
    expect(await watch.installation.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await watch.installation.start();
  };

  it.each(Array.from({ length: 5 }, (_, index) => Math.floor((index + random()) * 20)))(
    '%i ms after the changed page was loaded notifies once',
    async (delayMs) => {
      const { loads } = world.site;
      const before = loads(watch.path);
      watch.flip(true);
      await until('the changed page is loaded', () => loads(watch.path) > before);
      await momentsLater(delayMs);
      await killAndStart();
      await watch.seen(true);
      timesTold += 1;
      await watch.seen(false);
      // A delivery that two kills cut off would wait as long as one that failed twice.
      await watch.told(timesTold);
      await watch.everybodyTold();
    },
  );

  it('while a webhook and a mail are unanswered sends both again with the same id and bytes', async () => {
    world.hooks.reply(watch.path, 'hang');
    world.mails.reply(watch.mailbox, 'hold');
    const [hooksBefore, mailsBefore] = [watch.hooks().length, watch.mails().length];
    watch.flip(true);
    await until(
      'both receivers have it',
      () => watch.hooks().length > hooksBefore && watch.mails().length > mailsBefore,
    );
    await killAndStart();
    timesTold += 1;
    await watch.told(timesTold);
    const [hook, hookAgain, ...moreHooks] = watch.hooks().slice(hooksBefore);
    expect([hook?.answer, hookAgain?.answer, moreHooks]).toEqual([null, 200, []]);
    expect([hookAgain?.id, hookAgain?.body]).toEqual([hook?.id, hook?.body]);
    for (const one of [hook, hookAgain]) if (one !== undefined) verified(one, secret);
    const [mail, mailAgain, ...moreMails] = watch.mails().slice(mailsBefore);
    expect([mail?.answer, mailAgain?.answer, moreMails]).toEqual([null, 250, []]);
    expect([mailAgain?.messageId, mailAgain?.raw]).toEqual([mail?.messageId, mail?.raw]);
  });

  it('between runs of an unchanged page notifies nobody', async () => {
    await watch.runsWithout(1);
    const tellings = async (): Promise<number> =>
      (await watch.installation.api.executions(watch.taskId)).filter(({ decision }) => decision?.notify).length;
    const before = await tellings();
    for (let round = 0; round < 2; round += 1) {
      await momentsLater(random() * 900);
      await killAndStart();
    }
    await watch.runsWithout(2);
    expect(await tellings()).toBe(before);
  });

  it('before the page changes notifies after its start', async () => {
    await watch.seen(false);
    await watch.installation.kill('SIGKILL');
    watch.flip(true);
    await momentsLater(1_500);
    await watch.installation.start();
    await watch.seen(true);
    timesTold += 1;
  });

  it('during a burst of creates keeps each answered one, and recognises each repeat', async () => {
    const count = 60;
    const create = (index: number): Promise<string> =>
      watch.installation.api
        .create(
          { ...byHand(world.site.address(watch.path)), name: `Burst ${index}` },
          { 'idempotency-key': `burst-${index}` },
        )
        .then(({ id }) => id);
    const answered = new Map<number, string>();
    const killAt = Math.floor(10 + random() * 30);
    let enough = (): void => undefined;
    const reached = new Promise<void>((resolve) => (enough = resolve));
    const burst = Array.from({ length: count }, async (_, index) => {
      try {
        answered.set(index, await create(index));
        if (answered.size >= killAt) enough();
      } catch {
        // It was not answered: nothing is promised of it.
      }
    });
    await reached;
    await killAndStart();
    await Promise.all(burst);
    expect(answered.size).toBeGreaterThanOrEqual(killAt);
    for (const [index, id] of answered) expect((await watch.installation.api.task(id)).name).toBe(`Burst ${index}`);
    for (let index = 0; index < count; index += 1) {
      const id = await create(index);
      expect(id).toBe(answered.get(index) ?? id);
    }
    const reply = await watch.installation.api.send('/api/notifications?q=burst&limit=1');
    expect(reply.body).toMatchObject({ pagination: { total: count } });
  });

  it('has notified each receiver once of each change, and its events agree', async () => {
    await watch.told(timesTold);
    await expectWhole(watch);
  });
});

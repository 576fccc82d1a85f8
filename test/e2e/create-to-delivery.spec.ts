/** The main flow: a task is created, its page changes, and each receiver is notified once of each change. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verified } from './kit/hook-sink.js';
import { createInstallation } from './kit/create-installation.js';
import { until } from './kit/until.js';
import { expectWhole, secret, startWorld, Watch, type World } from './kit/watch.js';

describe('a page that changes', () => {
  let world: World;
  let watch: Watch;

  beforeAll(async () => {
    world = await startWorld();
    watch = new Watch(await createInstallation({ smtpUrl: world.mails.url }), world, 'calm');
    await watch.installation.start();
    await watch.create();
  });

  afterAll(async () => {
    await watch.installation.remove();
    await world.close();
  });

  it('is notified by one mail and one signed webhook', async () => {
    expect([watch.mails(), watch.hooks()]).toEqual([[], []]);
    const run = await watch.seen(true);
    await watch.told(1);
    const [hook] = watch.hooks();
    const [mail] = watch.mails();
    if (hook === undefined || mail === undefined) throw new Error('nothing came');
    const { api } = watch.installation;
    const deliveries = await until('both are known to be delivered', async () => {
      const all = await api.deliveries(watch.taskId);
      return all.length === 2 && all.every(({ state }) => state === 'delivered') && all;
    });
    const idOf = (type: string): string => deliveries.find(({ actionType }) => actionType === type)?.id ?? '';
    expect(verified(hook, secret)).toMatchObject({
      type: 'notification.triggered',
      data: {
        task: { id: watch.taskId, name: 'Stock', url: world.site.address(watch.path) },
        execution: { outcome: true, finalUrl: world.site.address(watch.path) },
        transition: { kind: 'condition', from: 'false', to: 'true' },
      },
    });
    expect(hook.id).toBe(idOf('webhook'));
    expect(mail.messageId).toContain(idOf('email'));
    expect(mail.subject).toBe('In stock');
    expect(mail.text).toContain(world.site.address(watch.path));
    const links = verified(hook, secret).data['links'] as Record<string, string>;
    const headers = { authorization: `Bearer ${watch.installation.apiKey}` };
    const linked = await fetch(links['api'] ?? '', { headers });
    expect(await linked.json()).toMatchObject({ success: true, data: { id: run.id } });
    for (const [name, path] of [
      ['task', `/tasks/${watch.taskId}`],
      ['execution', `/executions/${run.id}`],
    ] as const) {
      expect(new URL(links[name] ?? '').pathname).toBe(path);
      expect((await fetch(links[name] ?? '', { headers })).headers.get('content-type')).toContain('text/html');
    }
    expect(run.page?.status).toBe(200);
    expect((await api.task(watch.taskId)).condition).toBe('true');
  });

  it('is not notified again while the condition stays true', async () => {
    await watch.runsWithout(3);
    await watch.told(1);
    expect([watch.mails().length, watch.hooks().length]).toEqual([1, 1]);
  });

  it('is notified again, once each, after it changed back and again', async () => {
    await watch.seen(false);
    await watch.seen(true);
    await watch.told(2);
    expect([watch.mails().length, watch.hooks().length]).toEqual([2, 2]);
  });

  it('leaves events and views that agree with the receivers', async () => {
    await expectWhole(watch);
    expect([watch.mails().length, watch.hooks().length]).toEqual([2, 2]);
  });
});

/** Policies with real runs, messages and receivers, in either mode. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, type Execution } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { HandWatch } from './kit/hand-watch.js';
import type { Installation } from './kit/installation.js';
import { answering } from './kit/page-site.js';
import { byHand } from './kit/settings.js';
import { until } from './kit/until.js';
import { secret, startWorld, type World } from './kit/watch.js';

let world: World;
let installation: Installation;

beforeAll(async () => {
  world = await startWorld();
  installation = await createInstallation();
  await installation.start();
});
afterAll(async () => {
  await installation.remove();
  await world.close();
});

const watch = (name: string): HandWatch => new HandWatch(installation, world, name);

const became = 'the condition became true.';
const ended = 'the condition is not true any more.';

describe('a reminder', () => {
  it('comes while the condition stays true, and stops when it ends', async () => {
    const watched = await watch('reminded').create({ reminderSeconds: 1 });
    expect(await watched.reasons(false, true)).toEqual(['not_true', 'became_true']);
    await watched.change({ schedule: { type: 'interval', intervalSeconds: 1 } });
    const runs = (): Promise<readonly Execution[]> => installation.api.executions(watched.id);
    await until('a run reminds', async () => (await runs()).some(({ decision }) => decision?.reason === 'reminder'));
    await watched.change({ schedule: { type: 'manual', intervalSeconds: null, catchUp: null } });
    await until('no run is under way', async () => (await runs()).every(({ finishedAt }) => finishedAt !== null));
    const reminders = (await runs()).filter(({ decision }) => decision?.reason === 'reminder').length;
    expect(await watched.reasons(false, false)).toEqual(['recovered', 'not_true']);
    const still = Array.from({ length: reminders }, () => 'the condition is still true.');
    expect(await watched.said(reminders + 2)).toEqual([became, ...still, ended].toSorted());
  });
});

describe('quiet hours', () => {
  /** In a zone of its own, from an hour ago until in an hour. */
  const aroundNow = (timezone: string): object => {
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' });
    const at = (hours: number): string => clock.format(Date.now() + hours * 3_600_000);
    return { from: at(-1), to: at(1), timezone };
  };

  it('hold back what is found in them; afterwards what still holds comes once', async () => {
    const watched = await watch('quiet').create({ quietHours: [aroundNow('Asia/Kathmandu')], errorThreshold: 1 });
    expect(await watched.reasons(false, true, true)).toEqual(['not_true', 'quiet_hours', 'quiet_hours']);
    expect(await watched.shows('true')).toMatchObject({ health: 'ok' });
    await watched.change({ policy: { quietHours: [] } });
    expect(await watched.reasons(true, true)).toEqual(['became_true', 'still_true']);
    expect(await watched.said(1)).toEqual([became].toSorted());
    await watched.change({ policy: { quietHours: [aroundNow('America/Lima')] } });
    expect(await watched.reasons(false, true, null, false)).toEqual([
      'quiet_hours',
      'still_true',
      'quiet_hours',
      'quiet_hours',
    ]);
    await watched.change({ policy: { quietHours: [] } });
    expect(await watched.reasons(false)).toEqual(['recovered']);
    expect(await watched.said(2)).toEqual([became, ended].toSorted());
  });
});

describe('a dependency', () => {
  it('holds its dependants back while it is true or cannot be checked, and lets them speak afterwards', async () => {
    const parent = await watch('parent').create({ errorThreshold: 1 });
    await parent.reasons(false);
    const child = await watch('child').create({ dependsOn: [parent.id], errorThreshold: 1 });
    expect(await child.reasons(false)).toEqual(['not_true']);
    expect(await parent.reasons(true)).toEqual(['became_true']);
    expect(await child.reasons(true, null)).toEqual(['dependency_down', 'dependency_down']);
    expect(await parent.reasons(null)).toEqual(['error_threshold']);
    expect(await child.reasons(true)).toEqual(['dependency_down']);
    expect(await parent.reasons(false)).toEqual(['recovered']);
    expect(await child.reasons(true, true)).toEqual(['became_true', 'still_true']);
    expect(await child.said(1)).toEqual([became].toSorted());
  });

  it('that is archived holds nobody back', async () => {
    const parent = await watch('archived-parent').create({});
    expect(await parent.reasons(true)).toEqual(['became_true']);
    const child = await watch('orphan').create({ dependsOn: [parent.id] });
    expect(await child.reasons(true)).toEqual(['dependency_down']);
    const deleted = await installation.api.send(`/api/notifications/${parent.id}`, { method: 'DELETE' });
    expect(deleted.status).toBe(200);
    expect(await child.reasons(true)).toEqual(['became_true']);
  });

  it('decides over a task that is only tried, too', async () => {
    const parent = await watch('tried-parent').create({});
    await parent.reasons(true);
    const { body } = await installation.api.send('/api/notifications/test', {
      json: { ...byHand(world.site.address(parent.path)), policy: { dependsOn: [parent.id] } },
    });
    expect(body).toMatchObject({ data: { decision: { notify: false, reason: 'dependency_down' } } });
  });

  it('is refused where it would lead back, or is nobody’s', async () => {
    const parent = await watch('circle').create({});
    const child = await watch('circled').create({ dependsOn: [parent.id] });
    const save = (dependsOn: readonly string[]) =>
      installation.api.send(`/api/notifications/${parent.id}`, { method: 'PATCH', json: { policy: { dependsOn } } });
    const details = (field: string) => [expect.objectContaining({ field })];
    expect(errorOf(await save([child.id]))).toMatchObject({
      reason: 'dependency_cycle',
      details: details('policy.dependsOn[0]'),
    });
    expect(errorOf(await save(['ntf_00000000000000000000000000']))).toMatchObject({
      reason: 'dependency_not_found',
      details: details('policy.dependsOn[0]'),
    });
  });

  it('is refused to one of those who would lead round by saving at once, by whatever way', async () => {
    const { api } = installation;
    for (let round = 0; round < 8; round += 1) {
      const tasks = await Promise.all(
        ['a', 'b', 'c'].map((name) => {
          const settings = { ...byHand(world.site.address('/round')), externalKey: `round-${name}-${round}` };
          return api.create(settings).then(({ id }) => ({ id, settings }));
        }),
      );
      const answers = await Promise.all(
        tasks.map(({ id, settings }, index) => {
          const policy = { dependsOn: [tasks[(index + 1) % tasks.length]?.id ?? ''] };
          if (index > 0) return api.send(`/api/notifications/${id}`, { method: 'PATCH', json: { policy } });
          return api.send('/api/apply', {
            method: 'PUT',
            json: { version: 1, notifications: [{ ...settings, policy }] },
          });
        }),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
      const refused = answers.find(({ status }) => status !== 200);
      expect(refused?.body).toMatchObject({ error: { reason: 'dependency_cycle' } });
    }
  });
});

describe('a condition that flaps', () => {
  it('is shown as flapping and not notified until it stays', async () => {
    const watched = await watch('flaps').create({ flapWindow: 4 });
    expect(await watched.reasons(false, true, false, true)).toEqual([
      'not_true',
      'became_true',
      'flapping',
      'flapping',
    ]);
    await watched.shows('flapping');
    const { body } = await installation.api.send('/api/notifications?condition=flapping');
    expect(body).toMatchObject({ data: [{ id: watched.id }], pagination: { total: 1 } });
    expect(await watched.reasons(false, false, false, false)).toEqual([
      'flapping',
      'flapping',
      'recovered',
      'not_true',
    ]);
    await watched.shows('false');
    expect(await watched.said(2)).toEqual([became, ended].toSorted());
  });
});

describe('a task that is muted', () => {
  it('shows it, runs and decides, says nothing, and is heard once it is not', async () => {
    const watched = await watch('muted').create({ muted: true });
    expect(await watched.reasons(true)).toEqual(['muted']);
    expect(await watched.shows('true')).toMatchObject({ policy: { muted: true } });
    const forced = await watched.run({ force: true });
    expect(forced.decision).toMatchObject({ notify: true, reason: 'forced' });
    await watched.change({ policy: { muted: false } });
    expect(await watched.reasons(true, false)).toEqual(['still_true', 'recovered']);
    expect(await watched.said(2)).toEqual(['was run by hand and its condition is true.', ended].toSorted());
  });
});

describe('a page that leads to where this instance may not go', () => {
  it('makes health blocked at the first run, told once, until a run is good', async () => {
    const watched = await watch('leads-away').create({ errorThreshold: 100 });
    world.site.serve(watched.path, answering(302, '', { location: 'http://10.0.0.1/' }));
    expect([await watched.reason(), await watched.reason()]).toEqual(['error_threshold', 'not_changed']);
    expect(await watched.shows('unknown')).toMatchObject({ health: 'blocked' });
    const { body } = await installation.api.send('/api/notifications?health=blocked&sort=attention');
    expect(body).toMatchObject({ data: [{ id: watched.id, lastExecution: { reason: 'address_denied' } }] });
    const why = await installation.api.send(`/api/notifications/${watched.id}/explain`);
    expect(why.body).toMatchObject({ data: { decision: { reason: 'not_changed' } } });
    expect(why.text).toContain('health becomes `blocked` at once');
    expect(await watched.reasons(false)).toEqual(['recovered']);
    expect(await watched.shows('false')).toMatchObject({ health: 'ok' });
    expect(await watched.said(2)).toHaveLength(2);
  });
});

describe('a task that is blocked', () => {
  it('escalates as one that fails does, and can be taken on', async () => {
    const url = world.hooks.address('/blocked-escalated');
    const action = { type: 'webhook', on: ['error'], afterSeconds: 1, config: { url, secret } };
    const watched = await watch('blocked').create({}, { actions: [action] });
    world.site.serve(watched.path, answering(302, '', { location: 'http://10.0.0.1/' }));
    expect(await watched.reason()).toBe('error_threshold');
    await until('it escalates', () => world.hooks.received('/blocked-escalated').length === 1);
    expect(await watched.shows('unknown')).toMatchObject({ health: 'blocked' });
    const path = `/api/notifications/${watched.id}/acknowledge`;
    const taken = await installation.api.send(path, { method: 'POST', json: { note: 'Anna asks the shop.' } });
    expect([taken.status, taken.text]).toEqual([200, expect.stringContaining('"note":"Anna asks the shop."')]);
  });
});

describe('an error that nobody could be told', () => {
  it.each([
    ['does not listen to it', { on: ['triggered'] }],
    ['is turned off', { enabled: false }],
  ])('as the action %s is told by the next failed run once one does, and so is its end', async (_how, deaf) => {
    const name = 'enabled' in deaf ? 'turned-off' : 'deaf';
    const url = world.hooks.address(`/${name}`);
    const action = { type: 'webhook', on: ['triggered', 'error', 'recovered'], config: { url, secret } };
    const watched = await watch(name).create({ errorThreshold: 2 }, { actions: [{ ...action, ...deaf }] });
    expect(await watched.reasons(null, null, null)).toEqual(['error_below_threshold', 'no_actions', 'not_changed']);
    const why = await installation.api.send(`/api/notifications/${watched.id}/explain`);
    expect(why.body).toMatchObject({
      data: { lastNotified: null, answer: expect.stringContaining('nobody could be told') },
    });
    await watched.change({ actions: [action] });
    expect(await watched.reasons(null, null)).toEqual(['error_threshold', 'not_changed']);
    const then = await installation.api.send(`/api/notifications/${watched.id}/explain`);
    expect(then.body).toMatchObject({ data: { answer: expect.stringContaining('told once') } });
    expect(await watched.reasons(false, false)).toEqual(['recovered', 'not_true']);
    expect(await watched.said(2)).toHaveLength(2);
  });

  it('is not told where it is over by then, nor is its end', async () => {
    const url = world.hooks.address('/over');
    const action = { type: 'webhook', on: ['triggered'], config: { url, secret } };
    const watched = await watch('over').create({ errorThreshold: 1 }, { actions: [action] });
    expect(await watched.reasons(null, false)).toEqual(['no_actions', 'not_true']);
    await watched.change({ actions: [{ ...action, on: ['triggered', 'error', 'recovered'] }] });
    expect(await watched.reasons(false, null)).toEqual(['not_true', 'error_threshold']);
    expect(await watched.said(1)).toHaveLength(1);
  });
});

describe('the other settings of a policy', () => {
  it('notify on every true run, at most as often as the cap lets', async () => {
    const watched = await watch('capped').create({ notifyOn: 'every_true', maxPerHour: 2 });
    expect(await watched.reasons(true, true, true, false)).toEqual([
      'every_true',
      'every_true',
      'rate_capped',
      'rate_capped',
    ]);
    expect(await watched.said(2)).toEqual(['the condition is true.', 'the condition is true.'].toSorted());
  });

  it('notify of a value that changed, with both values', async () => {
    const code = "page.report('value', document.querySelector('#stock').textContent); return false;";
    const watched = await watch('changed').create({ notifyOn: 'changed' }, { evaluationFunction: code });
    expect(await watched.reasons(false, false, true, false)).toEqual([
      'not_changed',
      'not_changed',
      'changed',
      'changed',
    ]);
    expect(await watched.said(2)).toEqual(
      [
        'the value changed from "sold out" to "in stock".',
        'the value changed from "in stock" to "sold out".',
      ].toSorted(),
    );
  });

  it('wait for confirmations and cool down after a trigger', async () => {
    const policy = { confirmations: 2, recoveryConfirmations: 2, cooldownSeconds: 3_600 };
    const watched = await watch('confirmed').create(policy);
    expect(await watched.reasons(true, true, false, true, false, false, true, true)).toEqual([
      'awaiting_confirmation',
      'became_true',
      'awaiting_confirmation',
      'still_true',
      'awaiting_confirmation',
      'recovered',
      'awaiting_confirmation',
      'cooldown',
    ]);
    expect(await watched.said(2)).toEqual([became, ended].toSorted());
  });

  it('are what they were after a restart', async () => {
    const watched = await watch('restarted').create({ muted: true, flapWindow: 4, maxPerHour: 1 });
    expect(await watched.reasons(false, true)).toEqual(['not_true', 'muted']);
    await installation.kill('SIGTERM');
    await installation.start();
    await watched.change({ policy: { muted: false } });
    expect(await watched.reasons(true, true)).toEqual(['became_true', 'still_true']);
    expect(await watched.reasons(false)).toEqual(['rate_capped']);
    expect(await watched.said(1)).toEqual([became].toSorted());
  });
});

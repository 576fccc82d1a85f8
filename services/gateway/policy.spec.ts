/** The settings of a policy through the API: what is taken, what is refused and why. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { entriesIn, errorOf, idOf, member, refused, taskBody, type GatewayKit, type Reply } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});
afterAll(() => opened.close());

const send = (policy: object): Promise<Reply> =>
  gateway.send('POST', '/api/notifications', { body: { ...taskBody, policy } });
const withPolicy = (id: string, policy: object): Promise<Reply> =>
  gateway.send('PATCH', `/api/notifications/${id}`, { body: { policy } });
const created = async (policy: object = {}): Promise<string> => idOf(await opened.create({ policy }));
const fieldOf = (reply: Reply): unknown => member(reply.body, 'error', 'details', 0, 'field');
const total = async (): Promise<unknown> =>
  member((await gateway.send('GET', '/api/notifications?limit=1')).body, 'pagination', 'total');

const night = { days: ['mon', 'tue'], from: '22:00', to: '06:30', timezone: 'Europe/Berlin' };

describe('a policy', () => {
  it('is answered with every field, as it was given', async () => {
    const parent = await created();
    const policy = {
      notifyOn: 'became_true',
      confirmations: 2,
      recoveryConfirmations: 3,
      cooldownSeconds: 600,
      reminderSeconds: 3_600,
      errorThreshold: 4,
      flapWindow: 10,
      quietHours: [night],
      maxPerHour: 5,
      dependsOn: [parent],
      muted: true,
    };
    const id = await created(policy);
    const reply = await gateway.send('GET', `/api/notifications/${id}`);
    expect(member(reply.body, 'data', 'policy')).toEqual(policy);
    expect(JSON.stringify(member(reply.body, 'data', 'policy'))).toBe(JSON.stringify(policy));
  });

  it('that says the same as before makes no new revision, with its defaults or without', async () => {
    const id = await created({ cooldownSeconds: 60 });
    const { body } = await gateway.send('GET', `/api/notifications/${id}`);
    const same = await withPolicy(id, Object.fromEntries(entriesIn(member(body, 'data', 'policy'))));
    expect(member(same.body, 'data', 'revision')).toBe(0);
    const muted = await withPolicy(id, { muted: true });
    expect([member(muted.body, 'data', 'revision'), member(muted.body, 'data', 'policy', 'muted')]).toEqual([1, true]);
  });

  it('is stored without what has its default, as policies were before they had more fields', async () => {
    await created();
    await created({ muted: true, confirmations: 1 });
    const stored = gateway.commands.slice(-2).map((command) => member(command, 'spec', 'policy'));
    expect(stored).toEqual([
      { notifyOn: 'became_true', errorThreshold: 3 },
      { notifyOn: 'became_true', errorThreshold: 3, muted: true },
    ]);
  });

  it.each([
    { confirmations: 100, recoveryConfirmations: 100 },
    { cooldownSeconds: 31_536_000, reminderSeconds: 31_536_000 },
    { flapWindow: 4 },
    { flapWindow: 100 },
    { maxPerHour: 100 },
    { notifyOn: 'every_true', cooldownSeconds: 60 },
    { notifyOn: 'changed', confirmations: 3 },
    { quietHours: [{ from: '00:00', to: '24:00', days: ['sat', 'sun'] }] },
    { quietHours: [{ from: '00:01', to: '00:00' }] },
    { quietHours: [{ from: '23:59', to: '00:00', timezone: 'America/Argentina/Buenos_Aires' }] },
  ])('is taken at its limits: %j', async (policy) => {
    expect((await send(policy)).status).toBe(201);
  });

  it.each([
    [{ notifyOn: 'always' }, 'notify_on_invalid', 'policy.notifyOn'],
    [{ notifyOn: null }, 'notify_on_invalid', 'policy.notifyOn'],
    [{ confirmations: 0 }, 'confirmations_too_small', 'policy.confirmations'],
    [{ confirmations: 101 }, 'confirmations_too_large', 'policy.confirmations'],
    [{ confirmations: 1.5 }, 'confirmations_wrong_type', 'policy.confirmations'],
    [{ recoveryConfirmations: -1 }, 'recovery_confirmations_too_small', 'policy.recoveryConfirmations'],
    [{ cooldownSeconds: -1 }, 'cooldown_seconds_too_small', 'policy.cooldownSeconds'],
    [{ cooldownSeconds: 31_536_001 }, 'cooldown_seconds_too_large', 'policy.cooldownSeconds'],
    [{ cooldownSeconds: '60' }, 'cooldown_seconds_wrong_type', 'policy.cooldownSeconds'],
    [{ reminderSeconds: 9_007_199_254_740_992 }, 'reminder_seconds_too_large', 'policy.reminderSeconds'],
    [{ errorThreshold: 101 }, 'error_threshold_too_large', 'policy.errorThreshold'],
    [{ flapWindow: 3 }, 'flap_window_too_small', 'policy.flapWindow'],
    [{ flapWindow: 101 }, 'flap_window_too_large', 'policy.flapWindow'],
    [{ flapWindow: -4 }, 'flap_window_too_small', 'policy.flapWindow'],
    [{ flapWindow: true }, 'flap_window_invalid', 'policy.flapWindow'],
    [{ maxPerHour: -1 }, 'max_per_hour_too_small', 'policy.maxPerHour'],
    [{ maxPerHour: 101 }, 'max_per_hour_too_large', 'policy.maxPerHour'],
    [{ muted: 'yes' }, 'muted_wrong_type', 'policy.muted'],
    [{ muted: 1 }, 'muted_wrong_type', 'policy.muted'],
    [{ silent: true }, 'unknown_field', 'policy.silent'],
    [{ quietHours: night }, 'quiet_hours_wrong_type', 'policy.quietHours'],
    [{ quietHours: Array.from({ length: 21 }, () => night) }, 'quiet_hours_too_many', 'policy.quietHours'],
    [{ quietHours: [{ ...night, days: [] }] }, 'days_too_few', 'policy.quietHours[0].days'],
    [{ quietHours: [{ ...night, days: ['mon', 'mon'] }] }, 'days_invalid', 'policy.quietHours[0].days'],
    [{ quietHours: [{ ...night, days: ['Monday'] }] }, undefined, 'policy.quietHours[0].days[0]'],
    [{ quietHours: [{ from: '22:00' }] }, 'to_required', 'policy.quietHours[0].to'],
    [{ quietHours: [{ ...night, from: '24:00' }] }, 'from_invalid', 'policy.quietHours[0].from'],
    [{ quietHours: [{ ...night, from: '7:00' }] }, 'from_invalid', 'policy.quietHours[0].from'],
    [{ quietHours: [{ ...night, to: '24:01' }] }, 'to_invalid', 'policy.quietHours[0].to'],
    [{ quietHours: [{ ...night, to: '06:30\n' }] }, 'to_invalid', 'policy.quietHours[0].to'],
    [{ quietHours: [{ ...night, timezone: 'Mars/Olympus' }] }, 'timezone_invalid', 'policy.quietHours[0].timezone'],
    [{ quietHours: [{ ...night, timezone: '+01:00' }] }, 'timezone_invalid', 'policy.quietHours[0].timezone'],
    [{ quietHours: [{ ...night, timezone: '' }] }, 'timezone_invalid', 'policy.quietHours[0].timezone'],
    [{ quietHours: [{ ...night, colour: 1 }] }, 'unknown_field', 'policy.quietHours[0].colour'],
    [{ dependsOn: 'ntf_1' }, 'depends_on_wrong_type', 'policy.dependsOn'],
    [{ dependsOn: ['ntf_1'] }, undefined, 'policy.dependsOn[0]'],
    [{ dependsOn: ['act_00000000000000000000000000'] }, undefined, 'policy.dependsOn[0]'],
  ])('of %j is refused, naming the field', async (policy, reason, field) => {
    const before = await total();
    const reply = await send(policy);
    expect(reply.status).toBe(400);
    if (reason !== undefined) expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(fieldOf(reply)).toBe(field);
    expect(await total()).toBe(before);
  });

  const allWeek = { from: '00:00', to: '24:00' };
  it.each([
    [{ notifyOn: 'every_true', reminderSeconds: 60 }, 'reminder_seconds_invalid', 'policy.reminderSeconds'],
    [{ notifyOn: 'changed', reminderSeconds: 60 }, 'reminder_seconds_invalid', 'policy.reminderSeconds'],
    [
      { notifyOn: 'changed', recoveryConfirmations: 2 },
      'recovery_confirmations_invalid',
      'policy.recoveryConfirmations',
    ],
    [{ quietHours: [{ from: '08:00', to: '08:00' }] }, 'to_invalid', 'policy.quietHours[0].to'],
    [{ quietHours: [allWeek] }, 'quiet_hours_invalid', 'policy.quietHours'],
    [
      { quietHours: [{ from: '20:00', to: '08:00' }, night, { from: '08:00', to: '20:00' }] },
      'quiet_hours_invalid',
      'policy.quietHours',
    ],
  ])('that contradicts itself as %j is refused, on a change too', async (policy, reason, field) => {
    const reply = await send(policy);
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(fieldOf(reply)).toBe(field);
    const id = await created();
    expect(errorOf(await withPolicy(id, policy))).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(member((await gateway.send('GET', `/api/notifications/${id}`)).body, 'data', 'revision')).toBe(0);
  });
});

describe('the dependencies of a task', () => {
  const notFound = refused(400, 'VALIDATION_ERROR', 'dependency_not_found');
  const cycle = refused(400, 'VALIDATION_ERROR', 'dependency_cycle');

  it('are refused where there is no such task, naming its place', async () => {
    const parent = await created();
    const reply = await send({ dependsOn: [parent, 'ntf_00000000000000000000000000'] });
    expect(errorOf(reply)).toEqual(notFound);
    expect(fieldOf(reply)).toBe('policy.dependsOn[1]');
    const tested = await gateway.send('POST', '/api/notifications/test', {
      body: { ...taskBody, policy: { dependsOn: ['ntf_00000000000000000000000000'] } },
    });
    expect(errorOf(tested)).toEqual(notFound);
  });

  it('are refused alike where the task is of another organisation', async () => {
    const foreign = await gateway.addOrganization('free');
    const key = await gateway.addKey(foreign, ['admin']);
    const theirs = await gateway.send('POST', '/api/notifications', { key, body: taskBody });
    expect(theirs.status).toBe(201);
    const reply = await gateway.send('POST', '/api/notifications', {
      body: { ...taskBody, policy: { dependsOn: [idOf(theirs)] } },
      key: await gateway.addKey(opened.organizationId, ['admin']),
    });
    expect(errorOf(reply)).toEqual(notFound);
    expect(reply.text).not.toContain('Kettle');
  });

  it('are refused where one stands twice, or where there are too many', async () => {
    const parent = await created();
    const twice = await send({ dependsOn: [parent, parent] });
    expect([errorOf(twice), fieldOf(twice)]).toEqual([
      refused(400, 'VALIDATION_ERROR', 'depends_on_invalid'),
      'policy.dependsOn',
    ]);
    const many = await send({ dependsOn: Array.from({ length: 21 }, () => parent) });
    expect(errorOf(many)).toEqual(refused(400, 'VALIDATION_ERROR', 'depends_on_too_many'));
  });

  it('are refused where a task would depend on itself', async () => {
    const id = await created();
    const reply = await withPolicy(id, { dependsOn: [id] });
    expect([errorOf(reply), fieldOf(reply)]).toEqual([cycle, 'policy.dependsOn[0]']);
  });

  it('are refused where they would lead back over others, and nothing is changed', async () => {
    const first = await created();
    const second = await created({ dependsOn: [first] });
    const third = await created({ dependsOn: [await created(), second] });
    const other = await created();
    const reply = await withPolicy(first, { dependsOn: [other, third] });
    expect([errorOf(reply), fieldOf(reply)]).toEqual([cycle, 'policy.dependsOn[1]']);
    const after = await gateway.send('GET', `/api/notifications/${first}`);
    expect(member(after.body, 'data', 'policy', 'dependsOn')).toEqual([]);
    expect((await withPolicy(third, { dependsOn: [first, second] })).status).toBe(200);
  });

  it('are never made a cycle by several that are saved at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const ring = await Promise.all(Array.from({ length: 8 }, () => created()));
      const saving = ring.map((id, index) => withPolicy(id, { dependsOn: [ring[(index + 1) % ring.length]] }));
      const replies = await Promise.all(saving);
      const refusals = replies.filter(({ status }) => status !== 200);
      expect(refusals.map(errorOf)).toEqual([cycle]);
    }
  });

  it('that were archived since are in nobody’s way, but are not taken anew', async () => {
    const parent = await created();
    const id = await created({ dependsOn: [parent] });
    expect((await gateway.send('DELETE', `/api/notifications/${parent}`)).status).toBe(200);
    const renamed = await gateway.send('PATCH', `/api/notifications/${id}`, { body: { name: 'Renamed' } });
    expect(member(renamed.body, 'data', 'policy', 'dependsOn')).toEqual([parent]);
    expect(errorOf(await send({ dependsOn: [parent] }))).toEqual(notFound);
  });
});

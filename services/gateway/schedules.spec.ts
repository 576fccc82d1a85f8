import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { schedulesView, toStoredSchedule, wholeSchedule, type ScheduleDocument } from '#contracts/schedule';
import { errorOf, idOf, member, refused, type GatewayKit, type Reply } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
});
afterAll(() => opened.close());

const create = (schedule?: object): Promise<Reply> => opened.create(schedule === undefined ? {} : { schedule });
const weekly = { type: 'cron', cron: '0 8 * * mon', timezone: 'Europe/Berlin' };
const whole = {
  ...weekly,
  startAt: null,
  endAt: null,
  windows: [],
  jitterSeconds: 0,
  overlap: 'skip',
  catchUp: 'latest',
};

describe('the schedule of a task', () => {
  it('is answered with every field of its type, also where it is the default', async () => {
    const path = `/api/notifications/${idOf(await create())}/schedule`;
    const reply = await gateway.send('GET', path);
    expect(member(reply.body, 'data')).toEqual({
      ...whole,
      type: 'interval',
      intervalSeconds: 300,
      timezone: 'UTC',
      cron: undefined,
    });
    expect(reply.headers.get('etag')).toBe('"0"');
  });

  it('is replaced as a change of the task, by a revision that If-Match may name', async () => {
    const id = idOf(await create());
    const path = `/api/notifications/${id}/schedule`;
    const stale = await gateway.send('PUT', path, { body: weekly, headers: { 'if-match': '"7"' } });
    expect(errorOf(stale)).toEqual(refused(412, 'VALIDATION_ERROR', 'stale_revision'));
    const reply = await gateway.send('PUT', path, { body: weekly, headers: { 'if-match': '"0"' } });
    expect({ status: reply.status, etag: reply.headers.get('etag') }).toEqual({ status: 200, etag: '"1"' });
    expect(member(reply.body, 'data')).toEqual(whole);
    const task = await gateway.send('GET', `/api/notifications/${id}`);
    expect(member(task.body, 'data', 'schedule')).toEqual(whole);
    // What GET gave is sent back, and nothing changes.
    const same = await gateway.send('PUT', path, { body: member(reply.body, 'data') });
    expect(same.headers.get('etag')).toBe('"1"');
  });

  it('keeps nothing of an old type where a patch changes it, and everything else where it does not', async () => {
    const path = `/api/notifications/${idOf(await create({ type: 'interval', intervalSeconds: 60, jitterSeconds: 5 }))}`;
    const patch = async (schedule: object): Promise<unknown> =>
      member((await gateway.send('PATCH', path, { body: { schedule } })).body, 'data', 'schedule');
    expect(await patch({ intervalSeconds: 90 })).toMatchObject({ intervalSeconds: 90, jitterSeconds: 5 });
    expect(await patch(weekly)).toEqual(whole);
    expect(await patch({ type: 'manual' })).toEqual({ type: 'manual' });
  });

  it.each([
    ['cron', { type: 'cron', cron: '61 * * * *' }, 'cron_invalid'],
    ['cron', { type: 'cron', cron: '* * * * * *' }, 'cron_invalid'],
    ['cron', { type: 'cron', cron: '@daily' }, 'cron_invalid'],
    ['cron', { type: 'cron', cron: '0 0 30 2 *' }, 'cron_never_fires'],
    ['timezone', { ...weekly, timezone: 'Mars/Olympus' }, 'timezone_invalid'],
    ['timezone', { ...weekly, timezone: '+01:00' }, 'timezone_invalid'],
    ['intervalSeconds', { type: 'interval', intervalSeconds: 1 }, 'interval_seconds_too_small'],
    ['jitterSeconds', { type: 'interval', intervalSeconds: 60, jitterSeconds: 60 }, 'jitter_too_large'],
    ['at', { type: 'once', at: '2020-01-01T00:00:00Z' }, 'at_in_the_past'],
    ['at', { type: 'once' }, 'at_required'],
    [
      'endAt',
      { ...weekly, cron: '0 0 29 2 *', startAt: '2101-01-01T00:00:00Z', endAt: '2103-01-01T00:00:00Z' },
      'never_due',
    ],
    ['endAt', { ...weekly, endAt: '2020-01-01T00:00:00Z' }, 'end_in_the_past'],
    ['endAt', { ...weekly, startAt: '2030-01-02T00:00:00Z', endAt: '2030-01-01T00:00:00Z' }, 'end_before_start'],
    ['windows[0].to', { ...weekly, windows: [{ from: '08:00', to: '08:00' }] }, 'window_empty'],
    ['windows[0].from', { ...weekly, windows: [{ from: '8', to: '09:00' }] }, 'from_invalid'],
    ['windows', { ...weekly, windows: [{ days: ['tue'], from: '00:00', to: '24:00' }] }, 'windows_never_open'],
    ['intervalSeconds', { type: 'manual', intervalSeconds: 60 }, 'unknown_field'],
  ])('is refused where it can never do what it says: %s of %j', async (field, schedule, reason) => {
    const made = await create();
    const path = `/api/notifications/${idOf(made)}`;
    const own = await gateway.send('PUT', `${path}/schedule`, { body: schedule });
    expect(errorOf(own)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(member(own.body, 'error', 'details', 0, 'field')).toBe(field);
    const inTask = await gateway.send('PATCH', path, { body: { schedule } });
    expect(errorOf(inTask)).toMatchObject({ status: 400 });
    expect(member(inTask.body, 'error', 'details', 0, 'field')).toBe(`schedule.${field}`);
    expect((await gateway.send('GET', path)).body).toEqual(made.body);
  });

  it('is previewed, saved or not, for as many times as are asked for', async () => {
    const path = `/api/notifications/${idOf(await create(weekly))}/schedule/preview`;
    const runsOf = (reply: Reply): readonly string[] => member(reply.body, 'data', 'runs') as readonly string[];
    const saved = runsOf(await gateway.send('GET', `${path}?count=3`));
    expect(saved).toHaveLength(3);
    for (const run of saved) expect(new Date(run).getUTCDay()).toBe(1);
    const unsaved = runsOf(await gateway.send('POST', '/api/schedules/preview?count=3', { body: weekly }));
    expect(unsaved).toEqual(saved);
    expect(runsOf(await gateway.send('GET', path))).toHaveLength(10);
    const none = await gateway.send('POST', '/api/schedules/preview', { body: { type: 'manual' } });
    expect(runsOf(none)).toEqual([]);
    for (const count of ['0', '101', '1e1', '-1', 'x']) {
      const reply = await gateway.send('GET', `${path}?count=${count}`);
      expect(errorOf(reply)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    }
  });

  it('is previewed from the slot that is planned, with its jitter', async () => {
    const schedule = { type: 'interval', intervalSeconds: 600, jitterSeconds: 60 };
    const id = idOf(await create(schedule));
    const next = { nextSlotAt: '2030-01-01T00:00:00.000Z', nextDueAt: '2030-01-01T00:00:07.000Z' };
    const stored = toStoredSchedule(wholeSchedule({ ...schedule, type: 'interval', catchUp: 'latest' }));
    const plan = { taskId: id, active: true, schedule: stored, ...next };
    const document = { taskId: id, plan } as unknown as ScheduleDocument;
    await opened.stores.readStore.save(schedulesView, [{ id, revision: 1, document }], null);
    const reply = await gateway.send('GET', `/api/notifications/${id}/schedule/preview?count=2`);
    const [first, second] = member(reply.body, 'data', 'runs') as readonly string[];
    expect(first).toMatch(/^2030-01-01T00:00:/);
    expect(second).toMatch(/^2030-01-01T00:10:/);
    // The plan is that of the schedule before.
    const put = await gateway.send('PUT', `/api/notifications/${id}/schedule`, { body: weekly });
    expect(put.status).toBe(200);
    const changed = await gateway.send('GET', `/api/notifications/${id}/schedule/preview?count=2`);
    const unsaved = await gateway.send('POST', '/api/schedules/preview?count=2', { body: weekly });
    expect(member(changed.body, 'data', 'runs')).toEqual(member(unsaved.body, 'data', 'runs'));
  });

  it('is another organisation’s where it is, and as unknown as one that is not', async () => {
    for (const id of ['ntf_00000000000000000000000009', 'ntf_x', 'nothing']) {
      for (const path of ['schedule', 'schedule/preview']) {
        const reply = await gateway.send('GET', `/api/notifications/${id}/${path}`);
        expect(errorOf(reply)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
      }
    }
  });
});

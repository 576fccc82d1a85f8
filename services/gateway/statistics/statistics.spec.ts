import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { noFigures, withRun, type CountedRun, type Stretch } from '#contracts/figures';
import {
  dayOf,
  dayStart,
  figuresView,
  organizationFiguresView,
  sumId,
  foldedDaysView,
  hourMs,
  type FiguresDocument,
  type FoldedDayDocument,
  type OrganizationFigures,
} from '#contracts/retention';
import { executionsView } from '#contracts/run';
import { slotRunId } from '#contracts/schedule';
import { derivedId } from '#runtime/ids';
import { errorOf, idOf, member, playedExecution, refused, type Reply } from '../gateway.kit.js';
import { openGateway, type OpenedGateway } from '../opened-gateway.kit.js';

let opened: OpenedGateway;
let taskId: string;
let revision = 0;

beforeAll(async () => {
  opened = await openGateway();
});

afterAll(() => opened.close());

beforeEach(async () => {
  taskId = idOf(await opened.create());
});

const get = (path: string): Promise<Reply> => opened.gateway.send('GET', path);
const hourOf = (ms: number): string => new Date(Math.floor(ms / hourMs) * hourMs).toISOString();

const runAt = (at: string, value: number | string, more: Partial<CountedRun['result']> = {}): CountedRun => ({
  result: {
    status: 'succeeded',
    outcome: true,
    timings: { queueMs: 1, fetchMs: 120, parseMs: 1, evaluateMs: 5 },
    values: { value },
    finishedAt: at,
    ...more,
  },
  decision: { notify: true, reason: 'became_true', transition: { kind: 'condition', from: 'false', to: 'true' } },
  alert: { condition: 'true' },
});

async function saveHour(hour: string, runs: readonly CountedRun[]): Promise<void> {
  const begun: Stretch = { figures: noFigures, counted: null };
  const stretch = runs.reduce((before, run) => withRun(before, run, hour), begun);
  await save({ id: `${taskId}/${hour.slice(0, 13)}`, from: hour, hour, ...stretch });
}

async function save(more: Omit<FiguresDocument, 'organizationId' | 'notificationId'>): Promise<void> {
  revision += 1;
  const document = { organizationId: opened.organizationId, notificationId: taskId, ...more };
  await opened.stores.readStore.save(figuresView, [{ id: more.id, revision, document }], null);
}

async function saveFoldedDay(kind: FoldedDayDocument['kind'], from: string, ids: string[]): Promise<void> {
  revision += 1;
  const { organizationId } = opened;
  const id = `${taskId}/${dayOf(from)}/${kind}`;
  const document = { id, organizationId, notificationId: taskId, kind, from, ids };
  await opened.stores.readStore.save(foldedDaysView, [{ id, revision, document }], null);
}

describe('the statistics of a task', () => {
  it('are the last 24 hours by hour, without a gap, and a summary of all', async () => {
    const hour = hourOf(Date.now() - 2 * hourMs);
    const at = new Date(Date.parse(hour) + hourMs / 2).toISOString();
    await saveHour(hour, [runAt(at, 10), runAt(at, 12, { status: 'failed', outcome: null })]);
    const { status, body } = await get(`/api/notifications/${taskId}/stats`);
    expect(status).toBe(200);
    const buckets = member(body, 'data', 'buckets') as object[];
    expect(buckets).toHaveLength(24);
    const end = new Date(Date.parse(hour) + hourMs).toISOString();
    expect(buckets.find((one) => member(one, 'from') === hour)).toEqual({
      from: hour,
      to: end,
      runs: 2,
      succeeded: 1,
      failed: 1,
      skipped: 0,
      missed: 0,
      trueShare: 0.5,
      transitions: 2,
      notified: 2,
      fetchMs: { p50: 120, p95: 120, max: 120 },
      evaluateMs: { p50: expect.closeTo(5, 0), p95: expect.closeTo(5, 0), max: 5 },
      folded: false,
    });
    expect(member(body, 'data', 'summary')).toMatchObject({ runs: 2, from: member(buckets[0], 'from') });
  });

  it('of a folded day are one bucket as long as the day, with its exact percentiles', async () => {
    const day = '2026-01-05';
    const { figures, counted } = withRun(
      { figures: noFigures, counted: null },
      runAt(`${day}T12:00:00.000Z`, 3),
      dayStart(day),
    );
    const exact = { p50: 119.5, p95: 119.9 };
    const folded = {
      percentiles: { queueMs: exact, fetchMs: exact, parseMs: exact, evaluateMs: exact },
      transitions: [],
      transitionsLeftOut: 0,
    };
    await save({ id: `${taskId}/${day}`, from: dayStart(day), hour: null, figures, counted, folded });
    const path = `/api/notifications/${taskId}/stats?from=2026-01-05T10:00:00Z&to=2026-01-06T02:00:00Z`;
    const buckets = member((await get(path)).body, 'data', 'buckets') as object[];
    expect(buckets.map((one) => [member(one, 'from'), member(one, 'to'), member(one, 'folded')])).toEqual([
      ['2026-01-05T00:00:00.000Z', '2026-01-06T00:00:00.000Z', true],
      ['2026-01-06T00:00:00.000Z', '2026-01-06T01:00:00.000Z', false],
      ['2026-01-06T01:00:00.000Z', '2026-01-06T02:00:00.000Z', false],
    ]);
    expect(member(buckets[0], 'fetchMs')).toEqual({ ...exact, max: 120 });
    // Since then nothing has said otherwise.
    expect(buckets.map((one) => member(one, 'trueShare'))).toEqual([0.5, 1, 1]);
  });

  it.each([
    ['from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z', 'from', 'too_large'],
    ['from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'to', 'invalid'],
    ['bucket=week', 'bucket', 'invalid'],
    ['days=3', 'days', 'unknown'],
  ])('are refused for %s', async (query, field, rule) => {
    const reply = await get(`/api/notifications/${taskId}/stats?${query}`);
    expect(reply.status).toBe(400);
    expect(member(reply.body, 'error', 'details', 0)).toMatchObject({ field, rule });
  });

  it('are nobody else’s', async () => {
    const other = await opened.gateway.addKey(await opened.gateway.addOrganization('enterprise'), ['read']);
    for (const path of ['stats', 'values']) {
      const reply = await opened.gateway.send('GET', `/api/notifications/${taskId}/${path}`, { key: other });
      expect(errorOf(reply)).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
    }
  });
});

describe('the statistics of an organisation', () => {
  async function saveSum(sum: OrganizationFigures['sum'], from: string, more: Partial<OrganizationFigures>) {
    revision += 1;
    const { organizationId } = opened;
    const id = sumId(organizationId, sum, from);
    const timings = { fetchMs: { max: 40, classes: { 80: 3 } }, evaluateMs: { max: 2, classes: { 40: 3 } } };
    const counts = { folded: 0, succeeded: 2, failed: 1, skipped: 4, missed: 5, transitions: 1, notified: 1 };
    const times = { trueMs: 3_000, falseMs: 1_000, endedTrue: 1, endedFalse: 0 };
    const document = { id, organizationId, from, sum, ...counts, ...times, timings, ...more };
    await opened.stores.readStore.save(organizationFiguresView, [{ id, revision, document }], null);
  }

  it('are sums of hours and days, a day that is folded for any task being one bucket', async () => {
    const day = '2026-02-03';
    await saveSum('day', dayStart(day), { folded: 1, succeeded: 7 });
    await saveSum('day', '2026-02-04T00:00:00.000Z', {});
    await saveSum('hour', '2026-02-04T01:00:00.000Z', {});
    const { body } = await get('/api/stats?from=2026-02-03T22:00:00Z&to=2026-02-04T02:00:00Z');
    expect(member(body, 'data', 'buckets')).toMatchObject([
      { from: dayStart(day), to: '2026-02-04T00:00:00.000Z', runs: 8, folded: true },
      { from: '2026-02-04T00:00:00.000Z', to: '2026-02-04T01:00:00.000Z', runs: 0, trueShare: null, folded: false },
      { runs: 3, failed: 1, skipped: 4, missed: 5, trueShare: 0.75, fetchMs: { p50: expect.closeTo(40, -1), max: 40 } },
    ]);
    expect(member(body, 'data', 'summary')).toMatchObject({ from: dayStart(day), runs: 11, folded: true });
    const byDay = await get('/api/stats?bucket=day&from=2026-02-03T00:00:00Z&to=2026-02-05T00:00:00Z');
    expect(member(byDay.body, 'data', 'buckets')).toMatchObject([{ runs: 8 }, { runs: 3 }]);
  });

  it('are those of all its tasks, with how many there are', async () => {
    await saveSum('hour', hourOf(Date.now()), {});
    const { status, body } = await get('/api/stats');
    expect(status).toBe(200);
    expect(member(body, 'data', 'summary', 'runs')).toBeGreaterThanOrEqual(1);
    const tasks = member(body, 'data', 'tasks');
    const total = Number(member(tasks, 'total'));
    expect(total).toBeGreaterThanOrEqual(1);
    expect(tasks).toMatchObject({ paused: 0, byHealth: { ok: total, error: 0 } });
    expect(member(tasks, 'byCondition', 'unknown')).toBe(total);
  });
});

describe('the values of a task', () => {
  const path = (more = '') => `/api/notifications/${taskId}/values?${more}`;
  const pointsOf = (reply: Reply) => member(reply.body, 'data', 'points') as object[];
  const minutes = 60_000;

  async function saveRuns(hour: string, values: readonly number[]): Promise<void> {
    const times = values.map((_, index) => new Date(Date.parse(hour) + index * minutes).toISOString());
    await saveHour(
      hour,
      values.map((value, index) => runAt(times[index] ?? hour, value)),
    );
    for (const [index, value] of values.entries()) {
      const at = times[index] ?? hour;
      const id = slotRunId(taskId, Date.parse(at));
      revision += 1;
      const document = { ...playedExecution(id, opened.organizationId, at), notificationId: taskId, values: { value } };
      await opened.stores.readStore.save(executionsView, [{ id, revision, document }], null);
    }
  }

  it('are one point for each run where there are few, with the run', async () => {
    const hour = hourOf(Date.now() - 3 * hourMs);
    await saveRuns(hour, [5, 1, 9, 3]);
    const points = pointsOf(await get(path()));
    expect(points.map((one) => member(one, 'value'))).toEqual([5, 1, 9, 3]);
    expect(member(points[2], 'executionId')).toBe(slotRunId(taskId, Date.parse(hour) + 2 * minutes));
  });

  it('lose no extreme where they are thinned', async () => {
    const [first, second] = [hourOf(Date.now() - 4 * hourMs), hourOf(Date.now() - 3 * hourMs)];
    await saveRuns(first, [5, 1, 9, 3, 4]);
    await saveRuns(second, [6, 7, -2, 8]);
    const whole = pointsOf(await get(path('limit=8')));
    expect(whole.map((one) => member(one, 'value'))).toEqual([5, 1, 9, 4, 6, -2, 8]);
    const thin = pointsOf(await get(path('limit=2')));
    expect(thin).toHaveLength(2);
    expect(Math.max(...thin.map((one) => Number(member(one, 'max'))))).toBe(9);
    expect(Math.min(...thin.map((one) => Number(member(one, 'min'))))).toBe(-2);
    expect(member(thin.at(-1), 'value')).toBe(8);
  });

  it('of a text are its changes alone', async () => {
    const [first, second] = [hourOf(Date.now() - 4 * hourMs), hourOf(Date.now() - 3 * hourMs)];
    await saveHour(first, [runAt(first, 'in stock'), runAt(first, 'in stock'), runAt(first, 'sold out')]);
    await saveHour(second, [runAt(second, 'sold out'), runAt(second, 'in stock')]);
    expect(pointsOf(await get(path()))).toEqual([
      { at: first, value: 'in stock' },
      { at: first, value: 'sold out' },
      { at: second, value: 'in stock' },
    ]);
    expect(pointsOf(await get(path('name=other')))).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('of a name %s that was never reported are none', async (name) => {
    const hour = hourOf(Date.now() - 3 * hourMs);
    await saveRuns(hour, [5]);
    const reply = await get(path(`name=${name}`));
    expect([reply.status, pointsOf(reply)]).toEqual([200, []]);
  });
});

describe('an execution of a folded day', () => {
  const day = '2026-01-05';

  it('is answered with the way to the statistics of its day', async () => {
    const dueMs = Date.parse(`${day}T10:00:00.000Z`);
    await saveFoldedDay('runs', dayStart(day), []);
    const href = `/api/notifications/${taskId}/stats?from=2026-01-05T00:00:00.000Z&to=2026-01-06T00:00:00.000Z&bucket=day`;
    const reply = await get(`/api/executions/${slotRunId(taskId, dueMs)}`);
    expect(errorOf(reply)).toEqual(refused(404, 'NOT_FOUND', 'execution_folded'));
    expect(member(reply.body, 'error', 'details')).toEqual([
      { field: 'id', rule: 'folded', message: expect.any(String), href },
    ]);
    expect((await get(href)).status).toBe(200);
    expect(errorOf(await get(`/api/executions/${slotRunId(taskId, dueMs + 7 * 24 * hourMs)}`))).toEqual(
      refused(404, 'NOT_FOUND', 'not_found'),
    );
  });

  it('that was run by hand, and a delivery, are known by the ids that the day keeps', async () => {
    const run = derivedId('exe', Date.parse(`${day}T11:00:00.000Z`), taskId, 'manual', 'x');
    const delivery = derivedId('dlv', Date.parse(`${day}T11:00:00.000Z`), taskId, 'd');
    await saveFoldedDay('runs', dayStart(day), [run]);
    await saveFoldedDay('deliveries', dayStart(day), [delivery]);
    expect(errorOf(await get(`/api/executions/${run}`))).toEqual(refused(404, 'NOT_FOUND', 'execution_folded'));
    expect(errorOf(await get(`/api/deliveries/${delivery}`))).toEqual(refused(404, 'NOT_FOUND', 'delivery_folded'));
    const other = await opened.gateway.addKey(await opened.gateway.addOrganization('enterprise'), ['read']);
    for (const path of [`/api/executions/${run}`, `/api/deliveries/${delivery}`]) {
      const reply = await opened.gateway.send('GET', path, { key: other });
      expect(errorOf(reply)).toEqual(refused(404, 'NOT_FOUND', 'not_found'));
    }
  });
});

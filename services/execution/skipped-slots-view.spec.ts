import { describe, expect, it } from '@jest/globals';
import { slotRunId, type Plan, type ScheduleEvent } from '#contracts/schedule';
import type { RecordedEvent } from '#event-store/event-store';
import { encodeEvents } from '#eventing/codec';
import { executionsProjection } from './execution-view.js';
import { skippedSlotsProjection } from './skipped-slots-view.js';

const taskId = 'ntf_00000000000000000000000001';
const organizationId = 'org_00000000000000000000000001';
const start = Date.parse('2026-11-24T10:00:00.000Z');
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
const plan = (skipping?: Plan['skipping']): Plan => ({
  taskId,
  taskRevision: 0,
  schedule: { type: 'interval', intervalSeconds: 10, catchUp: 'latest' },
  active: true,
  nextDueAt: at(60),
  highWaterMark: at(50),
  ...(skipping === undefined ? {} : { skipping }),
});

function recorded(event: ScheduleEvent, revision: number): RecordedEvent {
  const metadata = { organizationId, actor: 'system:scheduling', requestId: 'r', causationId: null, at: at(100) };
  const [encoded] = encodeEvents([event], { commandId: String(revision), metadata });
  if (encoded === undefined) throw new Error('no event');
  return { ...encoded, stream: `schedule-${taskId}`, revision, position: revision };
}

const skipped = (from: number, to: number, count: number, row?: Plan['skipping']): RecordedEvent =>
  recorded(
    {
      type: 'slots.skipped',
      data: { plan: plan(row), slots: { from: at(from), to: at(to), count }, reason: row?.reason ?? 'overlap' },
    },
    to,
  );

describe('the view of skipped slots', () => {
  it('has one entry for slots in a row that were passed over for one reason', () => {
    const first = skipped(0, 20, 3, { reason: 'missed', from: at(0), count: 3 });
    const second = skipped(30, 30, 1, { reason: 'missed', from: at(0), count: 4 });
    const id = slotRunId(taskId, start);
    expect([first, second].map(skippedSlotsProjection.idOf)).toEqual([id, id]);
    const document = [first, second].reduce(skippedSlotsProjection.reduce, null);
    expect(document).toMatchObject({
      id,
      organizationId,
      notificationId: taskId,
      trigger: 'schedule',
      status: 'skipped',
      outcome: null,
      count: 4,
      scheduledFor: at(0),
      queuedAt: at(30),
      error: { reason: 'missed' },
    });
  });

  it('reads events that knew of no rows as rows of their own', () => {
    const old = skipped(10, 20, 2);
    expect(skippedSlotsProjection.idOf(old)).toBe(slotRunId(taskId, start + 10_000));
    expect(skippedSlotsProjection.reduce(null, old)).toMatchObject({ count: 2, error: { reason: 'overlap' } });
  });

  it('takes no notice of slots that were fired', () => {
    expect(skippedSlotsProjection.idOf(recorded({ type: 'schedule.planned', data: { plan: plan() } }, 1))).toBeNull();
  });

  it('forgets what was put on record at the very moment of a purge, once the schedule is forgotten', () => {
    const forgotten = recorded({ type: 'schedule.forgotten', data: { plan: { ...plan(), active: false } } }, 2);
    const ofTask = [[{ field: 'notificationId', equals: taskId }]];
    for (const projection of [skippedSlotsProjection, executionsProjection]) {
      expect([projection.idOf(forgotten), projection.forgets?.(forgotten)]).toEqual([null, ofTask]);
    }
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Plan, ScheduleEvent, StoredSchedule } from '#contracts/schedule';
import { given } from '#eventing/given';
import { pacedDueAt, scheduleDecider, slotRunId, type ScheduleState } from './schedule.js';

const taskId = 'ntf_00000000000000000000000001';
const start = Date.parse('2026-11-21T10:00:00.000Z');
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
const every10: StoredSchedule = { type: 'interval', intervalSeconds: 10, catchUp: 'latest' };

function plan(more: Partial<Plan> = {}): Plan {
  return {
    taskId,
    taskRevision: 0,
    schedule: every10,
    active: true,
    nextDueAt: at(0),
    highWaterMark: null,
    ...more,
  };
}
const planned = (more: Partial<Plan> = {}): ScheduleEvent => ({ type: 'schedule.planned', data: { plan: plan(more) } });
const fire = (seconds: number, busy = false) =>
  ({ type: 'fireSlot', dueAt: at(0), busy, nowMs: start + seconds * 1_000 }) as const;

describe('a schedule', () => {
  const create = { type: 'planRuns', taskId, taskRevision: 0, schedule: every10, active: true, nowMs: start } as const;

  it('makes the first run of an active interval due at once', () => {
    given(scheduleDecider).when(create).then(planned()).andAgainNothing();
  });

  it('makes nothing due by itself where it is manual or its task is paused', () => {
    const manual: StoredSchedule = { type: 'manual' };
    given(scheduleDecider)
      .when({ ...create, schedule: manual })
      .then(planned({ schedule: manual, nextDueAt: null }));
    given(scheduleDecider)
      .when({ ...create, active: false })
      .then(planned({ active: false, nextDueAt: null }));
  });

  it('ignores a task revision older than its own', () => {
    given(scheduleDecider, planned({ taskRevision: 3 }))
      .when({ type: 'planRuns', taskId, taskRevision: 2, active: false, nowMs: start })
      .thenNothing();
  });

  it('takes from the same revision what a lost event would have changed', () => {
    given(scheduleDecider, planned({ taskRevision: 3 }))
      .when({ type: 'planRuns', taskId, taskRevision: 3, schedule: every10, active: false, nowMs: start })
      .then(planned({ taskRevision: 3, active: false, nextDueAt: null }))
      .andAgainNothing();
  });

  it('records nothing where neither interval nor activity changes', () => {
    given(scheduleDecider, planned()).when({ type: 'planRuns', taskId, taskRevision: 5, nowMs: start }).thenNothing();
  });

  it('is planned anew once when the code changed, so that a task that backed off begins again', () => {
    const changed = { type: 'planRuns', taskId, taskRevision: 1, codeChanged: true, nowMs: start } as const;
    const ran = { nextDueAt: at(10), highWaterMark: at(0) };
    given(scheduleDecider, planned(ran))
      .when(changed)
      .then(planned({ ...ran, taskRevision: 1 }))
      .andAgainNothing();
  });

  it('stops on pause and is due at once when it goes on, but never at a slot that fired', () => {
    given(scheduleDecider, planned({ nextDueAt: at(10), highWaterMark: at(0) }))
      .when({ type: 'planRuns', taskId, taskRevision: 1, active: false, nowMs: start })
      .then(planned({ taskRevision: 1, active: false, nextDueAt: null, highWaterMark: at(0) }));
    given(scheduleDecider, planned({ active: false, nextDueAt: null, highWaterMark: at(20) }))
      .when({ type: 'planRuns', taskId, taskRevision: 2, active: true, nowMs: start + 20_000 })
      .then(planned({ taskRevision: 2, nextDueAt: at(20.001), highWaterMark: at(20) }));
  });

  it('counts a changed interval from the last slot', () => {
    const slower: StoredSchedule = { type: 'interval', intervalSeconds: 60, catchUp: 'latest' };
    given(scheduleDecider, planned({ nextDueAt: at(30), highWaterMark: at(20) }))
      .when({ type: 'planRuns', taskId, taskRevision: 1, schedule: slower, nowMs: start + 25_000 })
      .then(planned({ taskRevision: 1, schedule: slower, nextDueAt: at(80), highWaterMark: at(20) }));
  });

  it('stops for good when the task is archived', () => {
    given(scheduleDecider, planned())
      .when({ type: 'stopRuns', taskId, taskRevision: 4 })
      .then({ type: 'schedule.stopped', data: { plan: plan({ taskRevision: 4, active: false, nextDueAt: null }) } })
      .andAgainNothing();
  });
});

describe('a slot', () => {
  it('fires when it is due, once', () => {
    given(scheduleDecider, planned())
      .when(fire(0.25))
      .then({
        type: 'slot.fired',
        data: {
          plan: plan({ nextDueAt: at(10), highWaterMark: at(0) }),
          run: {
            runId: slotRunId(taskId, start),
            taskId,
            trigger: 'schedule',
            scheduledFor: at(0),
            queuedAt: at(0.25),
            force: false,
            dryRun: false,
          },
          skipped: null,
        },
      })
      .andAgainNothing();
  });

  it('does not fire before its time, on a paused task, or without a plan', () => {
    given(scheduleDecider, planned()).when(fire(-1)).thenNothing();
    given(scheduleDecider, planned({ active: false, nextDueAt: null }))
      .when(fire(100))
      .thenNothing();
    given(scheduleDecider).when(fire(100)).thenNothing();
  });

  it('does not fire for a timer whose view is behind and lacks the run before', () => {
    given(scheduleDecider, planned({ nextDueAt: at(10), highWaterMark: at(0) }))
      .when(fire(30))
      .thenNothing();
  });

  it('stands for all slots that were missed while nothing ran, and records which', () => {
    const [event] = scheduleDecider.decide(fire(47), { status: 'planned', plan: plan() });
    expect(event).toMatchObject({
      type: 'slot.fired',
      data: {
        plan: { nextDueAt: at(50), highWaterMark: at(40) },
        run: { scheduledFor: at(40), runId: slotRunId(taskId, start + 40_000) },
        skipped: { from: at(0), to: at(30), count: 4 },
      },
    });
  });

  it('of a task that backs off is the fourth after the last, records those left out, and fires whatever the catch-up', () => {
    const ran = plan({ schedule: { ...every10, catchUp: 'none' }, nextDueAt: at(10), highWaterMark: at(0) });
    expect([pacedDueAt(ran, true), pacedDueAt(ran, false)]).toEqual([at(40), at(10)]);
    const command = { type: 'fireSlot', dueAt: at(10), busy: false, late: true, nowMs: start + 40_000 } as const;
    expect(scheduleDecider.decide(command, { status: 'planned', plan: ran })).toMatchObject([
      {
        type: 'slot.fired',
        data: {
          plan: { nextDueAt: at(50), highWaterMark: at(40) },
          run: { scheduledFor: at(40) },
          skipped: { from: at(10), to: at(30), count: 3 },
        },
      },
    ]);
  });

  it('is passed over, missed ones included, where catching up is not wanted', () => {
    const none = plan({ schedule: { ...every10, catchUp: 'none' } });
    given(scheduleDecider, { type: 'schedule.planned', data: { plan: none } })
      .when(fire(47))
      .then({
        type: 'slots.skipped',
        data: {
          plan: { ...none, nextDueAt: at(50), highWaterMark: at(40) },
          slots: { from: at(0), to: at(40), count: 5 },
          reason: 'catch_up_none',
        },
      });
  });

  it('is passed over while the run before it is still going', () => {
    given(scheduleDecider, planned())
      .when(fire(0, true))
      .then({
        type: 'slots.skipped',
        data: {
          plan: plan({ nextDueAt: at(10), highWaterMark: at(0) }),
          slots: { from: at(0), to: at(0), count: 1 },
          reason: 'overlap',
        },
      });
  });
});

describe('a run by hand', () => {
  it('is recorded at once, also for a task that has no schedule yet', () => {
    const command = {
      type: 'requestRun',
      taskId,
      runId: slotRunId(taskId, 1),
      force: true,
      dryRun: false,
      nowMs: start,
    } as const;
    const [event] = scheduleDecider.decide(command, scheduleDecider.initial);
    expect(event).toMatchObject({ type: 'run.requested', data: { run: { trigger: 'manual', force: true } } });
    given(scheduleDecider, ...(event === undefined ? [] : [event]))
      .when({ type: 'planRuns', taskId, taskRevision: 0, schedule: every10, active: true, nowMs: start })
      .then(planned());
  });
});

describe('a schedule under any sequence of timer commands', () => {
  it('names every slot exactly once, as fired or in a skipped range', () => {
    const looks = fc.array(fc.tuple(fc.integer({ min: 1, max: 45_000 }), fc.boolean()), {
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(looks, (steps) => {
        let state: ScheduleState = { status: 'planned', plan: plan() };
        let nowMs = start;
        const named: number[] = [];
        for (const [passedMs, busy] of steps) {
          nowMs += passedMs;
          const dueAt: string = state.status === 'planned' ? (state.plan.nextDueAt ?? '') : '';
          for (const event of scheduleDecider.decide({ type: 'fireSlot', dueAt, busy, nowMs }, state)) {
            state = scheduleDecider.evolve(state, event);
            const ranges =
              event.type === 'slot.fired'
                ? [event.data.skipped, { from: event.data.run.scheduledFor, to: event.data.run.scheduledFor, count: 1 }]
                : event.type === 'slots.skipped'
                  ? [event.data.slots]
                  : [];
            for (const range of ranges) {
              if (range === null) continue;
              const slots = [];
              for (let ms = Date.parse(range.from); ms <= Date.parse(range.to); ms += 10_000) slots.push(ms);
              expect(slots).toHaveLength(range.count);
              named.push(...slots);
            }
          }
        }
        const due = Math.floor((nowMs - start) / 10_000) + 1;
        expect(named).toEqual(Array.from({ length: due }, (_, index) => start + index * 10_000));
      }),
    );
  });
});

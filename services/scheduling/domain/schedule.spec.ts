import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { slotRunId, type Plan, type ScheduleEvent, type StoredSchedule } from '#contracts/schedule';
import { given } from '#eventing/given';
import { pacedDueAt, scheduleDecider, type ScheduleState } from './schedule.js';

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

/** One slot that was passed over since the run before was going. */
const rowAt = (from: string) => ({ reason: 'overlap', from, count: 1 }) as const;

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

  it('passes over for the run before it only the slot of now, and says of those before it that they were missed', () => {
    expect(scheduleDecider.decide(fire(47, true), { status: 'planned', plan: plan() })).toMatchObject([
      { type: 'slots.skipped', data: { slots: { from: at(0), to: at(30), count: 4 }, reason: 'missed' } },
      {
        type: 'slots.skipped',
        data: {
          plan: { nextDueAt: at(50), highWaterMark: at(40), skipping: { reason: 'overlap', from: at(40), count: 1 } },
          slots: { from: at(40), to: at(40), count: 1 },
          reason: 'overlap',
        },
      },
    ]);
  });

  it('stands for all slots that were missed while nothing ran, and records which', () => {
    expect(scheduleDecider.decide(fire(47), { status: 'planned', plan: plan() })).toMatchObject([
      {
        type: 'slots.skipped',
        data: {
          plan: { nextDueAt: at(40), highWaterMark: at(30), skipping: { reason: 'missed', from: at(0), count: 4 } },
          slots: { from: at(0), to: at(30), count: 4 },
          reason: 'missed',
        },
      },
      {
        type: 'slot.fired',
        data: {
          plan: { nextDueAt: at(50), highWaterMark: at(40) },
          run: { scheduledFor: at(40), runId: slotRunId(taskId, start + 40_000) },
          skipped: null,
        },
      },
    ]);
  });

  it('belongs to the row of slots before it that were passed over for the same reason, and to no other', () => {
    const skipped = (plan: Plan, from: number, count: number): ScheduleEvent => ({
      type: 'slots.skipped',
      data: { plan, slots: { from: at(from), to: at(from), count }, reason: 'overlap' },
    });
    const row = { reason: 'overlap', from: at(0), count: 1 } as const;
    const first = plan({ nextDueAt: at(10), highWaterMark: at(0), skipping: row });
    const second = plan({ nextDueAt: at(20), highWaterMark: at(10), skipping: { ...row, count: 2 } });
    given(scheduleDecider, planned())
      .when(fire(0, true))
      .then(skipped(first, 0, 1));
    given(scheduleDecider, skipped(first, 0, 1))
      .when({ ...fire(10, true), dueAt: at(10) })
      .then(skipped(second, 10, 1));
    const [fired] = scheduleDecider.decide({ ...fire(20), dueAt: at(20) }, { status: 'planned', plan: second });
    expect(fired).toMatchObject({ type: 'slot.fired' });
    expect(fired?.data.plan).not.toHaveProperty('skipping');
  });

  it('of a task that backs off is the fourth after the last, records those left out, and fires whatever the catch-up', () => {
    const ran = plan({ schedule: { ...every10, catchUp: 'none' }, nextDueAt: at(10), highWaterMark: at(0) });
    expect([pacedDueAt(ran, true), pacedDueAt(ran, false)]).toEqual([at(40), at(10)]);
    const command = { type: 'fireSlot', dueAt: at(10), busy: false, late: true, nowMs: start + 40_000 } as const;
    expect(scheduleDecider.decide(command, { status: 'planned', plan: ran })).toMatchObject([
      { type: 'slots.skipped', data: { slots: { from: at(10), to: at(30), count: 3 }, reason: 'backs_off' } },
      {
        type: 'slot.fired',
        data: { plan: { nextDueAt: at(50), highWaterMark: at(40) }, run: { scheduledFor: at(40) } },
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
          plan: {
            ...none,
            nextDueAt: at(50),
            highWaterMark: at(40),
            skipping: { reason: 'catch_up_none', from: at(0), count: 5 },
          },
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
          plan: plan({
            nextDueAt: at(10),
            highWaterMark: at(0),
            skipping: { reason: 'overlap', from: at(0), count: 1 },
          }),
          slots: { from: at(0), to: at(0), count: 1 },
          reason: 'overlap',
        },
      });
  });
});

describe('the schedule of a purged task', () => {
  it('is forgotten once, whatever stood there, and nothing is due by it any more', () => {
    const queued = plan({ queuedSlotAt: at(0), nextDueAt: at(10), taskRevision: 1 });
    const { queuedSlotAt: _queuedSlotAt, ...rest } = queued;
    const after: Plan = { ...rest, taskRevision: 3, active: false, nextDueAt: null };
    const forgotten: ScheduleEvent = { type: 'schedule.forgotten', data: { plan: after } };
    given(scheduleDecider, { type: 'schedule.planned', data: { plan: queued } })
      .when({ type: 'forgetRuns', taskId, taskRevision: 3 })
      .then(forgotten)
      .andAgainNothing();
    given(scheduleDecider, forgotten).when(fire(10)).thenNothing();
    given(scheduleDecider, forgotten)
      .when({ type: 'planRuns', taskId, taskRevision: 0, schedule: every10, active: true, nowMs: start })
      .thenNothing();
    given(scheduleDecider).when({ type: 'forgetRuns', taskId, taskRevision: 3 }).thenNothing();
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

describe('a slot of a schedule that queues', () => {
  const schedule: StoredSchedule = { ...every10, overlap: 'queue' };
  const waiting = (more: Partial<Plan> = {}): Plan =>
    plan({ schedule, nextDueAt: at(10), highWaterMark: at(0), queuedSlotAt: at(0), ...more });
  const queued: ScheduleEvent = { type: 'slot.queued', data: { plan: waiting(), slotAt: at(0), skipped: null } };

  it('waits for the end of the run before it, and is fired then under the time at which it was due', () => {
    given(scheduleDecider, planned({ schedule })).when(fire(0, true)).then(queued).andAgainNothing();
    given(scheduleDecider, planned({ schedule }), queued).when(fire(4, true)).thenNothing();
    const { queuedSlotAt: _queuedSlotAt, ...after } = waiting();
    const run = {
      runId: slotRunId(taskId, start),
      taskId,
      trigger: 'schedule',
      scheduledFor: at(0),
      queuedAt: at(4),
      force: false,
      dryRun: false,
    } as const;
    given(scheduleDecider, planned({ schedule }), queued)
      .when(fire(4))
      .then({ type: 'slot.fired', data: { plan: after, run, skipped: null } })
      .andAgainNothing();
  });

  it('is skipped where another one waits already', () => {
    given(scheduleDecider, planned({ schedule }), queued)
      .when({ type: 'fireSlot', dueAt: at(10), busy: true, nowMs: start + 10_000 })
      .then({
        type: 'slots.skipped',
        data: {
          plan: waiting({ nextDueAt: at(20), highWaterMark: at(10), skipping: rowAt(at(10)) }),
          slots: { from: at(10), to: at(10), count: 1 },
          reason: 'overlap',
        },
      });
  });

  it('waits no longer once the schedule changes or the task is paused', () => {
    for (const change of [{ schedule: every10 }, { active: false }]) {
      given(scheduleDecider, planned({ schedule }), queued)
        .when({ type: 'planRuns', taskId, taskRevision: 1, ...change, nowMs: start + 3_000 })
        .then({
          type: 'schedule.planned',
          data: {
            plan: {
              ...plan({ schedule, taskRevision: 1, highWaterMark: at(0), ...change }),
              nextDueAt: 'active' in change ? null : at(10),
            },
          },
        });
    }
  });
});

describe('a slot of a cron', () => {
  const schedule: StoredSchedule = { type: 'cron', cron: '*/5 * * * *', catchUp: 'latest' };
  const minutes = (count: number): string => at(count * 60);

  it('is first due at its next time, and then at the one after it', () => {
    given(scheduleDecider)
      .when({ type: 'planRuns', taskId, taskRevision: 0, schedule, active: true, nowMs: start + 1_000 })
      .then(planned({ schedule, nextDueAt: minutes(5) }));
    given(scheduleDecider, planned({ schedule, nextDueAt: minutes(5) }))
      .when({ type: 'fireSlot', dueAt: minutes(5), busy: true, nowMs: start + 300_000 })
      .then({
        type: 'slots.skipped',
        data: {
          plan: plan({ schedule, nextDueAt: minutes(10), highWaterMark: minutes(5), skipping: rowAt(minutes(5)) }),
          slots: { from: minutes(5), to: minutes(5), count: 1 },
          reason: 'overlap',
        },
      });
  });

  it('that is over leaves nothing due', () => {
    const ending: StoredSchedule = { ...schedule, endAt: minutes(7) };
    given(scheduleDecider, planned({ schedule: ending, nextDueAt: minutes(5) }))
      .when({ type: 'fireSlot', dueAt: minutes(5), busy: true, nowMs: start + 300_000 })
      .then({
        type: 'slots.skipped',
        data: {
          plan: plan({ schedule: ending, nextDueAt: null, highWaterMark: minutes(5), skipping: rowAt(minutes(5)) }),
          slots: { from: minutes(5), to: minutes(5), count: 1 },
          reason: 'overlap',
        },
      });
  });
});

describe('jitter', () => {
  const schedule: StoredSchedule = { ...every10, jitterSeconds: 5 };

  it('makes each run later than its slot and than the run before, and the slots do not drift', () => {
    let state: ScheduleState = { status: 'planned', plan: plan({ schedule, nextDueAt: at(0), highWaterMark: null }) };
    const due: number[] = [];
    for (let count = 0; count < 30; count += 1) {
      const dueAt: string = (state.status === 'planned' ? state.plan.nextDueAt : null) ?? '';
      const nowMs = Date.parse(dueAt);
      due.push(nowMs - start);
      for (const event of scheduleDecider.decide({ type: 'fireSlot', dueAt, busy: false, nowMs }, state)) {
        state = scheduleDecider.evolve(state, event);
      }
    }
    for (const [index, dueMs] of due.entries()) {
      expect(dueMs).toBeGreaterThanOrEqual(index * 10_000);
      expect(dueMs).toBeLessThan(index * 10_000 + 5_000);
    }
    expect(new Set(due.map((dueMs, index) => dueMs - index * 10_000)).size).toBeGreaterThan(20);
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

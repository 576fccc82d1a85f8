/** Why a task had no run at a moment, by what its schedule had recorded until then. */
import type { Explanation, ExplainQuery, NoRunReason } from '#contracts/explanation';
import { backsOff, runStream } from '#contracts/run';
import { scheduleStream, type ScheduleEvent } from '#contracts/schedule';
import { taskStream, type TaskEvent } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { EventStore, RecordedEvent } from '#event-store/event-store';
import { eventAt, lastBefore, revisionAt } from '#eventing/events-by-time';
import { whySkipped } from '../skipped-slots-view.js';
import { recordedRunOf, type RecordedRun } from './recorded-runs.js';

type NoRun = NonNullable<Explanation['noRun']>;

/** So far apart the clocks of two processes may be. */
const clocksDifferMs = 5_000;

/** A slot is fired within this time where nothing is in its way. */
const firesWithinMs = 5_000;

const slots = (count: number): string => (count === 1 ? 'one slot' : `${count} slots`);

const saysStatus: ReadonlySet<string> = new Set<TaskEvent['type']>([
  'task.created',
  'task.paused',
  'task.resumed',
  'task.archived',
  'task.restored',
]);

/** When the task was paused that was so at `at`; null: its own events do not say. */
async function pausedSince(
  eventStore: Pick<EventStore, 'read' | 'readLast'>,
  { taskId, at }: ExplainQuery,
): Promise<string | null> {
  const stream = taskStream(taskId);
  const behind = await revisionAt(eventStore, stream, Date.parse(at) + 1);
  const recorded = await lastBefore(eventStore, stream, behind, ({ type }) => saysStatus.has(type));
  if (recorded === null) return null;
  const event = decodeEvent<TaskEvent>(recorded);
  const isPaused = event.type === 'task.paused' || ('status' in event.data && event.data.status === 'paused');
  return isPaused ? recorded.metadata.at : null;
}

async function withoutNext(
  eventStore: Pick<EventStore, 'read' | 'readLast'>,
  query: ExplainQuery,
  recorded: RecordedEvent,
  event: ScheduleEvent,
): Promise<NoRun> {
  const { plan } = event.data;
  const told = (reason: NoRunReason, message: string): NoRun => ({ reason, message, nextRunAt: null });
  if (!plan.active) {
    const since = await pausedSince(eventStore, query);
    const words = since === null ? `, since ${recorded.metadata.at} or before` : ` since ${since}`;
    return told('paused', `No run was due: the task had been paused${words}.`);
  }
  if (plan.schedule.type === 'manual') return told('manual', 'No run was due: the task runs by hand only.');
  return told('ended', 'No run was due: the schedule has no further time (its `at` or `endAt` is over).');
}

/** What the event after that moment says of slots that nobody fired in time. */
function missedBy(next: RecordedEvent | null, dueAt: string): NoRun {
  const event = next === null ? null : decodeEvent<ScheduleEvent>(next);
  const message = `A run was due at ${dueAt} and had not begun: the instance was not running, or was behind.`;
  const missed =
    event?.type === 'slots.skipped' ? event.data.slots : event?.type === 'slot.fired' ? event.data.skipped : null;
  if (missed === null || next === null) return { reason: 'missed', message, nextRunAt: dueAt };
  const went = `It missed ${slots(missed.count)} and went on at ${next.metadata.at}.`;
  return { reason: 'missed', message: `${message} ${went}`, nextRunAt: dueAt };
}

type SlotsSkipped = Extract<ScheduleEvent, { readonly type: 'slots.skipped' }>;

function skipped(event: SlotsSkipped): NoRun {
  const { slots: which, reason, plan } = event.data;
  const message = `No run happened for ${slots(which.count)} (${which.from} to ${which.to}), because ${whySkipped[reason]}.`;
  return { reason, message, nextRunAt: plan.nextDueAt };
}

/** What became of the slot of that very moment, where the event behind it says so. */
function slotsPassedOver(next: RecordedEvent | null, at: string): SlotsSkipped | null {
  const event = next === null ? null : decodeEvent<ScheduleEvent>(next);
  if (event?.type !== 'slots.skipped') return null;
  const { from, to } = event.data.slots;
  return from <= at && at <= to ? event : null;
}

async function hasEndedBy(
  eventStore: Pick<EventStore, 'read' | 'readLast'>,
  { taskId, at }: ExplainQuery,
  runId: string,
  firedAt: string,
): Promise<boolean> {
  const from = await revisionAt(eventStore, runStream(taskId), Date.parse(firedAt));
  for await (const recorded of eventStore.read(runStream(taskId), from)) {
    if (recorded.metadata.at > at) return false;
    if (recordedRunOf(recorded)?.result.runId === runId) return true;
  }
  return false;
}

/** `last`: the run that had ended last. null: it is the one of that moment. */
export async function noRunAt(
  eventStore: Pick<EventStore, 'read' | 'readLast'>,
  query: ExplainQuery,
  last: Pick<RecordedRun, 'result' | 'alert'> | null,
): Promise<NoRun | null> {
  const stream = scheduleStream(query.taskId);
  const behind = await revisionAt(eventStore, stream, Date.parse(query.at) + 1);
  const recorded = behind === 0 ? null : await eventAt(eventStore, stream, behind - 1);
  if (recorded === null) {
    return { reason: 'never_planned', message: 'No run had been planned yet: the task was new.', nextRunAt: null };
  }
  const event = decodeEvent<ScheduleEvent>(recorded);
  const { nextDueAt } = event.data.plan;
  const passedOver = slotsPassedOver(await eventAt(eventStore, stream, behind), query.at);
  if (passedOver !== null) return skipped(passedOver);
  if (event.type === 'slot.fired' || event.type === 'run.requested') {
    const { runId, queuedAt } = event.data.run;
    if (last?.result.runId !== runId && !(await hasEndedBy(eventStore, query, runId, queuedAt))) {
      return { reason: 'running', message: `The run of ${queuedAt} had not ended yet.`, nextRunAt: nextDueAt };
    }
  }
  const isOverdue = nextDueAt !== null && Date.parse(nextDueAt) + firesWithinMs < Date.parse(query.at);
  // Of a task that backs off the plan names a slot that is passed over.
  if (isOverdue && last !== null && backsOff(last.alert)) {
    const message = `No run was due yet, because ${whySkipped.backs_off}.`;
    return { reason: 'backs_off', message, nextRunAt: null };
  }
  if (isOverdue) return missedBy(await eventAt(eventStore, stream, behind), nextDueAt);
  if (event.type === 'slots.skipped') return skipped(event);
  if (event.type === 'slot.queued') {
    const message = `The slot of ${event.data.slotAt} waited for the run before it to end (\`overlap: queue\`).`;
    return { reason: 'queued', message, nextRunAt: nextDueAt };
  }
  if (nextDueAt === null) {
    const isOfThis = event.type === 'slot.fired' || event.type === 'run.requested';
    // A run by hand of a task that is paused says nothing of why there are no others.
    return isOfThis && last !== null && event.data.plan.active ? null : withoutNext(eventStore, query, recorded, event);
  }
  if (last !== null) return null;
  return { reason: 'not_due', message: `The first run was due at ${nextDueAt}.`, nextRunAt: nextDueAt };
}

export function isAhead(at: string, now: string): boolean {
  return Date.parse(at) > Date.parse(now) + clocksDifferMs;
}

/** Of a time ahead nothing is known but what is known now: no slot of then was missed. */
export async function noRunYet(
  eventStore: Pick<EventStore, 'read' | 'readLast'>,
  query: ExplainQuery,
  last: Pick<RecordedRun, 'result' | 'alert'> | null,
): Promise<NoRun> {
  const found = await noRunAt(eventStore, query, last);
  const notCome = 'That time has not come.';
  if (found !== null && found.reason !== 'not_due') return { ...found, message: `${notCome} ${found.message}` };
  const recorded = await eventStore.readLast(scheduleStream(query.taskId));
  const event = recorded === null ? null : decodeEvent<ScheduleEvent>(recorded);
  const nextRunAt = event?.data.plan.nextDueAt ?? null;
  if (recorded !== null && event !== null && nextRunAt === null) {
    const without = await withoutNext(eventStore, query, recorded, event);
    return { ...without, message: `${notCome} ${without.message}` };
  }
  const message = nextRunAt === null ? notCome : `That time has not come; the next run is due at ${nextRunAt}.`;
  return { reason: 'not_due', message, nextRunAt };
}

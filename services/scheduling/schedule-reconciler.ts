/**
 * Reconciles schedules with their tasks: half a minute after each event of a task its schedule is compared with what the
 * task asks for, and corrected where they differ. So a lost message costs a delay, not a schedule.
 */
import { sleep } from '#concurrency/sleep';
import type { StoredSchedule } from '#contracts/schedule';
import { taskFold, taskStream, type Task, type TaskEvent } from '#contracts/task';
import { decodeEvent } from '#eventing/codec';
import type { RecordedEvent } from '#event-store/event-store';
import { startFollower } from '#eventing/follower';
import { purgedTask } from '#eventing/forget-purged';
import type { LeasedWork } from '#leases/leases';
import { resetAfterRewind } from '#eventing/store-rewind';
import type { ServicePorts } from '#eventing/service-ports';
import type { ViewDefinition } from '#read-store/read-store';
import { jsonEquals } from '#runtime/json';
import type { ScheduleCommand } from './domain/schedule.js';

/** Only its checkpoint is used: schedules are reconciled with the events up to there. */
export const reconcilerCheckpoint: ViewDefinition = { name: 'planned_tasks', fields: [], indexes: [] };

/** A message that has not come by then is lost. */
const overdueMs = 30_000;

/** When a task runs by its own events. */
export interface WantedPlan {
  readonly taskRevision: number;
  readonly schedule: StoredSchedule;
  readonly active: boolean;
  readonly archived: boolean;
}

function planOf(task: Task): Omit<WantedPlan, 'taskRevision'> | null {
  if (task.status === 'none') return null;
  return {
    schedule: task.spec.schedule,
    active: task.status === 'active',
    archived: task.status === 'archived',
  };
}

/** `taskRevision`: of the last event that changed the plan. */
export function wantedPlan(events: readonly RecordedEvent[]): WantedPlan | null {
  let task = taskFold.initial;
  let wanted: WantedPlan | null = null;
  for (const recorded of events) {
    const before = planOf(task);
    task = taskFold.evolve(task, decodeEvent<TaskEvent>(recorded));
    const plan = planOf(task);
    if (plan !== null && !jsonEquals(plan, before)) wanted = { ...plan, taskRevision: recorded.revision };
  }
  return wanted;
}

/** The command that corrects a schedule; deciding it on a schedule that is right yields nothing. */
function correctionOf(
  taskId: string,
  recorded: readonly RecordedEvent[],
  last: RecordedEvent,
  nowMs: number,
): ScheduleCommand | null {
  if (purgedTask(last) !== null) return { type: 'forgetRuns', taskId, taskRevision: last.revision };
  const wanted = wantedPlan(recorded);
  if (wanted === null) return null;
  const { taskRevision, schedule, active, archived } = wanted;
  if (archived) return { type: 'stopRuns', taskId, taskRevision };
  return { type: 'planRuns', taskId, taskRevision, schedule, active, nowMs };
}

export interface ReconcilerDeps extends Pick<ServicePorts, 'eventStore' | 'readStore' | 'leases' | 'clock' | 'logger'> {
  /** Runs a command for a task's schedule and says whether it changed anything. `last` is the task's last event. */
  correct(taskId: string, command: ScheduleCommand, last: RecordedEvent): Promise<boolean>;
}

/** Reconciles the schedules of the tasks that these events are about. Returns how many were corrected. */
export async function reconcile(
  { eventStore, clock, correct }: Pick<ReconcilerDeps, 'eventStore' | 'clock' | 'correct'>,
  events: readonly RecordedEvent[],
): Promise<number> {
  let changed = 0;
  for (const stream of new Set(events.map((event) => event.stream))) {
    const recorded = await Array.fromAsync(eventStore.read(stream));
    const last = recorded.at(-1);
    const taskId = stream.slice(taskStream('').length);
    const command = last === undefined ? null : correctionOf(taskId, recorded, last, clock.now());
    if (last !== undefined && command !== null && (await correct(taskId, command, last))) changed += 1;
  }
  return changed;
}

/** Follows the tasks' events half a minute behind. */
export function startScheduleReconciler(deps: ReconcilerDeps): LeasedWork {
  const { readStore, clock, logger } = deps;
  return startFollower({
    ...deps,
    name: 'planned-tasks',
    prefixes: ['task-'],
    async after() {
      await resetAfterRewind(deps, reconcilerCheckpoint);
      return readStore.checkpoint(reconcilerCheckpoint);
    },
    async handle({ events, position }, signal) {
      const newestMs = Math.max(...events.map(({ metadata }) => Date.parse(metadata.at)));
      const waitMs = Math.max(0, newestMs + overdueMs - clock.now());
      await sleep(waitMs, signal);
      if (signal.aborted) return;
      const changed = await reconcile(deps, events);
      if (changed > 0) logger.warn({ tasks: changed }, 'schedules corrected: their task messages never came');
      await readStore.save(reconcilerCheckpoint, [], position, undefined, events.at(-1));
    },
  });
}

/** HTTP for schedules: a task's own, what it leads to, and what is due next over all tasks. */
import { Controller, Inject } from '@nestjs/common';
import { dueTimes, firstSlot } from '#calendar/slots';
import { schedulesView, wholeSchedule, type Plan, type Schedule } from '#contracts/schedule';
import { tasksView, type TaskDocument } from '#contracts/task';
import { data, list, type Answer } from '#http/envelope';
import { entityTag, expectedRevision } from '#http/entity-tag';
import { offsetOf } from '#http/parameters';
import { Call, Handles, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { jsonEquals } from '#runtime/json';
import { VAULT, type Vault } from '#vault/vault';
import { checkSchedule, checkScheduleIsDue, isStored } from './check-schedule.js';
import { findTask } from './find-owned.js';
import { toJsonObject } from './json-casts.js';
import { writeCurrent } from './notifications.write.js';
import { validatedOfKnown } from './settings-of-known.js';
import { TaskSaver } from './save-task.js';
import * as routes from './schedules.routes.js';
import { openSettings, settable, toTaskAnswer } from './task-answer.js';

/** Behind every time that is stored. */
const farthest = '9999';

/** The slot that the next run belongs to. A plan that has not seen the latest change says nothing about it. */
function nextSlotMs(
  { spec, status, nextRunAt, updatedAt }: TaskDocument,
  plan: Plan | null,
  nowMs: number,
): number | null {
  const schedule = wholeSchedule(spec.schedule);
  const isCurrent = plan !== null && plan.active === (status === 'active') && jsonEquals(plan.schedule, spec.schedule);
  const nextAt = isCurrent ? (plan.nextSlotAt ?? plan.nextDueAt) : nextRunAt;
  if (nextAt === null) return firstSlot(schedule, nowMs);
  // Jitter hides the slot behind the time of the run: it is the first one from the change on.
  const isShifted = !isCurrent && 'jitterSeconds' in schedule && schedule.jitterSeconds > 0;
  return isShifted ? firstSlot(schedule, Date.parse(updatedAt)) : Date.parse(nextAt);
}

@Controller()
export class SchedulesController {
  readonly #readStore: ReadStore;
  readonly #tasks: TaskSaver;
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #config: Config;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(TaskSaver) tasks: TaskSaver,
    @Inject(VAULT) vault: Vault,
    @Inject(CLOCK) clock: Clock,
    @Inject(CONFIG) config: Config,
  ) {
    this.#readStore = readStore;
    this.#tasks = tasks;
    this.#vault = vault;
    this.#clock = clock;
    this.#config = config;
  }

  @Handles(routes.getSchedule)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getSchedule>): Promise<Answer> {
    const { spec, revision } = await findTask(this.#readStore, context.organizationId, ids.id);
    return data(wholeSchedule(spec.schedule), { headers: { etag: entityTag(revision) } });
  }

  @Handles(routes.replaceSchedule)
  async replace(@Call() { ids, body, context, ifMatch }: RouteCall<typeof routes.replaceSchedule>): Promise<Answer> {
    const find = (): Promise<TaskDocument> => findTask(this.#readStore, context.organizationId, ids.id);
    return writeCurrent(this.#tasks, find, expectedRevision(ifMatch), async (task, revision) => {
      // Named by the fields of this body, not by those of the task.
      checkSchedule(body, this.#config.minIntervalSeconds, []);
      if (!isStored(body, task)) checkScheduleIsDue(body, this.#clock.now(), []);
      const known = toTaskAnswer(task, await openSettings(this.#vault, task), task);
      const settings = toJsonObject({ ...settable(known), schedule: body });
      const input = validatedOfKnown(settings, task);
      const { state } = await this.#tasks.replace(input, task, revision, context);
      return data(wholeSchedule(state.spec.schedule), { headers: { etag: entityTag(state.revision) } });
    });
  }

  @Handles(routes.previewSchedule)
  async preview(@Call() { ids, query, context }: RouteCall<typeof routes.previewSchedule>): Promise<Answer> {
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const planned = await this.#readStore.get(schedulesView, task.id);
    const slotMs = nextSlotMs(task, planned?.plan ?? null, this.#clock.now());
    const schedule = wholeSchedule(task.spec.schedule);
    return data({ runs: dueTimes(schedule, task.id, slotMs, query.count).map(toTimestamp) });
  }

  @Handles(routes.previewUnsavedSchedule)
  async previewUnsaved(@Call() { query, body }: RouteCall<typeof routes.previewUnsavedSchedule>): Promise<Answer> {
    const nowMs = this.#clock.now();
    checkSchedule(body, this.#config.minIntervalSeconds, []);
    checkScheduleIsDue(body, nowMs, []);
    const schedule: Schedule = 'jitterSeconds' in body ? { ...body, jitterSeconds: 0 } : body;
    return data({ runs: dueTimes(schedule, '', firstSlot(schedule, nowMs), query.count).map(toTimestamp) });
  }

  @Handles(routes.listSchedules)
  async list(@Call() { query, context }: RouteCall<typeof routes.listSchedules>): Promise<Answer> {
    const { documents, total } = await this.#readStore.page(tasksView, {
      where: [
        { field: 'organizationId', equals: context.organizationId },
        { field: 'nextRunAt', from: '', to: farthest },
      ],
      sort: [{ field: 'nextRunAt', descending: false }],
      limit: query.limit,
      offset: offsetOf(query),
      count: true,
    });
    const shown = documents.map(({ id, name, nextRunAt, spec }) => ({
      notificationId: id,
      name,
      runAt: nextRunAt,
      schedule: wholeSchedule(spec.schedule),
    }));
    return list(shown, query, total ?? 0);
  }
}

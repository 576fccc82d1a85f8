/** HTTP for notification tasks: reads the view, sends commands. */
import { Controller, Inject } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { recentRunsView, toRecentRuns, type RecentRunsDocument } from '#contracts/recent-runs';
import { tasksView, type TaskDocument, type TaskInput } from '#contracts/task';
import { taskHistory } from '#contracts/task-history';
import { data, list, type Answer } from '#http/envelope';
import { entityTag, expectedRevision } from '#http/entity-tag';
import { offsetOf } from '#http/parameters';
import { checkScope } from '#http/route-guard';
import { Call, Handles, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { isJsonObject, type JsonObject } from '#runtime/json';
import { VAULT, type Vault } from '#vault/vault';
import { DependencyTurns } from './dependency-turns.js';
import { awaitFirstRun } from './first-run.js';
import { findTask } from './find-owned.js';
import { toJsonObject } from './json-casts.js';
import { listByRevision } from './paging.js';
import { mergePatch } from './merge-patch.js';
import { momentOf, PastTasks } from './notifications.past.js';
import * as routes from './notifications.routes.js';
import { validatedOfKnown } from './settings-of-known.js';
import { TaskSaver, type SavedTask } from './save-task.js';
import { sortOf, tasksWhere } from './task-list.js';
import { writeCurrent } from './notifications.write.js';
import { noProgress, openSettings, settable, toTaskAnswer, type TaskProgress } from './task-answer.js';

function saved({ state, opened, generated }: SavedTask, progress: TaskProgress, status: number): Answer {
  const headers = { etag: entityTag(state.revision) };
  return data(toTaskAnswer(state, opened, progress, generated), {
    status,
    headers: status === 201 ? { ...headers, location: `/api/notifications/${state.id}` } : headers,
  });
}

/** What a patch is merged into: a schedule whose type changes keeps nothing of the old one, whose fields the new one has not. */
function baseOf({ schedule, ...settings }: JsonObject, patch: object): JsonObject {
  const { schedule: patched } = patch as { readonly schedule?: unknown };
  const type = isJsonObject(patched) ? patched['type'] : undefined;
  const changesType = type !== undefined && isJsonObject(schedule) && type !== schedule['type'];
  return schedule === undefined || changesType ? settings : { ...settings, schedule };
}

@Controller()
export class NotificationsController {
  constructor(
    @Inject(READ_STORE) readonly readStore: ReadStore,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(BUS) private readonly bus: Bus,
    @Inject(TaskSaver) private readonly saver: TaskSaver,
    @Inject(PastTasks) private readonly past: PastTasks,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(DependencyTurns) private readonly dependencies: DependencyTurns,
  ) {}

  @Handles(routes.createNotification)
  async create(@Call() call: RouteCall<typeof routes.createNotification>): Promise<Answer> {
    const created = await this.saver.create(call.body, call.context, call.attempt);
    const { wait } = call.query;
    const task =
      wait === undefined
        ? await this.readStore.get(tasksView, created.state.id)
        : await awaitFirstRun(this, created.state, wait, call.ending());
    return saved(created, task ?? noProgress, 201);
  }

  @Handles(routes.listNotifications)
  async list(@Call() { query, context }: RouteCall<typeof routes.listNotifications>): Promise<Answer> {
    const { documents, total } = await this.readStore.page(tasksView, {
      where: tasksWhere(context.organizationId, query),
      sort: sortOf(query),
      limit: query.limit,
      offset: offsetOf(query),
      count: true,
    });
    const answers = await Promise.all(documents.map((document) => this.#answer(document)));
    if (query.include === undefined) return list(answers, query, total ?? 0);
    const ids = documents.map(({ id }) => id);
    const recent =
      ids.length === 0
        ? new Map<string, { readonly document: RecentRunsDocument | null }>()
        : await this.readStore.load(recentRunsView, ids);
    const withRecent = answers.map((answer, index) => ({
      ...answer,
      recent: toRecentRuns(recent.get(ids[index] ?? '')?.document ?? null),
    }));
    return list(withRecent, query, total ?? 0);
  }

  @Handles(routes.getNotification)
  async get(@Call() { ids, query, context }: RouteCall<typeof routes.getNotification>): Promise<Answer> {
    const present = await findTask(this.readStore, context.organizationId, ids.id);
    const moment = momentOf(query);
    const task = moment === null ? present : await this.past.find(present.id, moment, context);
    return data(await this.#answer(task), { headers: { etag: entityTag(task.revision) } });
  }

  @Handles(routes.replaceNotification)
  async replace(@Call() call: RouteCall<typeof routes.replaceNotification>): Promise<Answer> {
    return this.#write(call, async (task) => validatedOfKnown(call.body, task));
  }

  @Handles(routes.patchNotification)
  async patch(@Call() call: RouteCall<typeof routes.patchNotification>): Promise<Answer> {
    return this.#write(call, async (task) => {
      const patched = mergePatch(baseOf(settable(await this.#answer(task)), call.body), toJsonObject(call.body));
      return validatedOfKnown(patched, task);
    });
  }

  @Handles(routes.deleteNotification)
  async archive(@Call() call: RouteCall<typeof routes.deleteNotification>): Promise<Answer> {
    const { ids, context, ifMatch, query, scopes } = call;
    const revision = expectedRevision(ifMatch);
    if (query.purge === 'true') {
      checkScope(scopes, 'admin');
      await this.saver.purge(ids.id, revision, context);
      return data({ id: ids.id, deleted: true });
    }
    const { id } = await findTask(this.readStore, context.organizationId, ids.id);
    await this.saver.archive(id, revision, context);
    return data({ id, deleted: true });
  }

  @Handles(routes.restoreNotification)
  async restore(@Call() { ids, context }: RouteCall<typeof routes.restoreNotification>): Promise<Answer> {
    const { state } = await this.saver.restore(ids.id, context);
    const restored = { state, opened: await openSettings(this.vault, state), generated: new Map() };
    return saved(restored, (await this.readStore.get(tasksView, state.id)) ?? noProgress, 200);
  }

  @Handles(routes.rollbackNotification)
  async rollback(@Call() call: RouteCall<typeof routes.rollbackNotification>): Promise<Answer> {
    const { ids, body, context, ifMatch } = call;
    const find = () => findTask(this.readStore, context.organizationId, ids.id);
    return writeCurrent(this.saver, find, expectedRevision(ifMatch), async (task, revision) => {
      const result = await this.past.rollBack(task, body.revision, revision, context);
      return saved(result, await this.#progressOf(task), 200);
    });
  }

  @Handles(routes.listHistory)
  async history(@Call() { ids, query, context }: RouteCall<typeof routes.listHistory>): Promise<Answer> {
    const { id } = await findTask(this.readStore, context.organizationId, ids.id);
    return listByRevision(query, async (part) =>
      taskHistory.parse(await this.bus.request(requests.taskHistory, { taskId: id, ...part }, context)),
    );
  }

  async #answer(task: TaskDocument): Promise<JsonObject> {
    return toTaskAnswer(task, await openSettings(this.vault, task), task);
  }

  /** Computes the new settings from the task as it is and writes them; meets other writers by doing so again. */
  async #write(
    { ids, context, ifMatch }: Pick<RouteCall<typeof routes.patchNotification>, 'ids' | 'context' | 'ifMatch'>,
    change: (task: TaskDocument) => Promise<TaskInput>,
  ): Promise<Answer> {
    const wanted = expectedRevision(ifMatch);
    const find = () => findTask(this.readStore, context.organizationId, ids.id);
    return writeCurrent(this.saver, find, wanted, async (task, revision) => {
      const input = await change(task);
      const result = await this.dependencies.write(input.policy.dependsOn, task, () =>
        this.saver.replace(input, task, revision, context),
      );
      return saved(result, await this.#progressOf(task), 200);
    });
  }

  /** Condition and times after the write; as they were before it where the view has not come that far. */
  async #progressOf(task: TaskDocument): Promise<TaskProgress> {
    const document = await this.readStore.get(tasksView, task.id);
    return document === null ? task : document;
  }
}

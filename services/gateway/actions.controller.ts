/** HTTP for the actions of a task: each write is a change of the task. */
import { Controller, Inject } from '@nestjs/common';
import { actionInput, type ActionInput } from '#contracts/action';
import type { TaskDocument } from '#contracts/task';
import { data, list, type Answer } from '#http/envelope';
import { entityTag, expectedRevision } from '#http/entity-tag';
import { offsetOf } from '#http/parameters';
import { Call, Handles, type RouteCall } from '#http/route';
import { validated } from '#http/validation';
import { notFound } from '#runtime/errors';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { actionOf, ActionSaver, reachedBy, type OpenedAction, type SavedAction } from './actions.saver.js';
import { TestMessenger } from './actions.test-message.js';
import * as routes from './actions.routes.js';
import { toDeliveryAnswer } from './deliveries.controller.js';
import { findExecution, findTask } from './find-owned.js';
import { toJsonObject, without } from './json-casts.js';
import { mergePatch } from './merge-patch.js';
import { writeCurrent } from './notifications.write.js';
import { MessagePreviewer } from './preview-messages.js';
import { TaskSaver } from './save-task.js';
import { toActionAnswer } from './task-answer.js';

const saved = ({ action, config, generated, revision }: SavedAction): Answer =>
  data(toActionAnswer(action, config, generated), { headers: { etag: entityTag(revision) } });

@Controller()
export class ActionsController {
  readonly #readStore: ReadStore;
  readonly #tasks: TaskSaver;
  readonly #actions: ActionSaver;
  readonly #tests: TestMessenger;
  readonly #previewer: MessagePreviewer;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(TaskSaver) tasks: TaskSaver,
    @Inject(ActionSaver) actions: ActionSaver,
    @Inject(TestMessenger) tests: TestMessenger,
    @Inject(MessagePreviewer) previewer: MessagePreviewer,
  ) {
    this.#readStore = readStore;
    this.#tasks = tasks;
    this.#actions = actions;
    this.#tests = tests;
    this.#previewer = previewer;
  }

  @Handles(routes.listActions)
  async list(@Call() { ids, query, context }: RouteCall<typeof routes.listActions>): Promise<Answer> {
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const offset = offsetOf(query);
    const page = task.spec.actions.slice(offset, offset + query.limit);
    const opened = await Promise.all(page.map(({ id }) => this.#actions.open(task, id)));
    const shown = opened.map(({ action, config }) => toActionAnswer(action, config));
    return list(shown, query, task.spec.actions.length);
  }

  @Handles(routes.createAction)
  async create(@Call() { ids, body, context, attempt }: RouteCall<typeof routes.createAction>): Promise<Answer> {
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const { action, config, generated, revision } = await this.#actions.add(body, task, context, attempt);
    const location = `/api/notifications/${task.id}/actions/${action.id}`;
    const headers = { etag: entityTag(revision), location };
    return data(toActionAnswer(action, config, generated), { status: 201, headers });
  }

  @Handles(routes.getAction)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getAction>): Promise<Answer> {
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const { action, config } = await this.#actions.open(task, ids.actionId);
    return data(toActionAnswer(action, config), { headers: { etag: entityTag(task.revision) } });
  }

  @Handles(routes.replaceAction)
  async replace(@Call() call: RouteCall<typeof routes.replaceAction>): Promise<Answer> {
    return this.#write(call, () => call.body);
  }

  @Handles(routes.patchAction)
  async patch(@Call() call: RouteCall<typeof routes.patchAction>): Promise<Answer> {
    return this.#write(call, ({ action, config }) => {
      const settable = toJsonObject(without(toActionAnswer(action, config), 'id'));
      return validated(actionInput, mergePatch(settable, toJsonObject(call.body)), 'body');
    });
  }

  @Handles(routes.deleteAction)
  async remove(@Call() { ids, context, ifMatch }: RouteCall<typeof routes.deleteAction>): Promise<Answer> {
    const revision = expectedRevision(ifMatch);
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const { id } = actionOf(task, ids.actionId);
    await this.#actions.remove(task.id, id, revision, context);
    return data({ id, deleted: true });
  }

  @Handles(routes.rotateActionSecret)
  async rotateSecret(@Call() call: RouteCall<typeof routes.rotateActionSecret>): Promise<Answer> {
    const { ids, body, context } = call;
    const find = (): Promise<TaskDocument> => findTask(this.#readStore, context.organizationId, ids.id);
    return writeCurrent(this.#tasks, find, null, async (task) => {
      const known = await this.#actions.open(task, ids.actionId);
      return saved(await this.#actions.rotateSecret(task, known, body.overlapSeconds, call));
    });
  }

  @Handles(routes.testAction)
  async test(@Call() { ids, context, attempt, ending }: RouteCall<typeof routes.testAction>): Promise<Answer> {
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const action = await reachedBy(this.#readStore, task.organizationId, actionOf(task, ids.actionId));
    return data(toDeliveryAnswer(await this.#tests.send(task, action, { context, attempt, signal: ending() })));
  }

  @Handles(routes.previewAction)
  async preview(@Call() { ids, body, context }: RouteCall<typeof routes.previewAction>): Promise<Answer> {
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const action = await reachedBy(this.#readStore, task.organizationId, actionOf(task, ids.actionId));
    const runId = body.executionId ?? task.lastExecution?.id;
    const run = runId === undefined ? null : await findExecution(this.#readStore, context.organizationId, runId);
    if (run !== null && run.notificationId !== task.id) throw notFound('execution');
    const ended = run === null || run.finishedAt === null ? null : { ...run, finishedAt: run.finishedAt };
    return data(await this.#previewer.ofAction(task, action, ended, body.kind, context));
  }

  async #write(
    { ids, context, ifMatch }: Pick<RouteCall<typeof routes.patchAction>, 'ids' | 'context' | 'ifMatch'>,
    change: (action: OpenedAction) => ActionInput,
  ): Promise<Answer> {
    const find = (): Promise<TaskDocument> => findTask(this.#readStore, context.organizationId, ids.id);
    return writeCurrent(this.#tasks, find, expectedRevision(ifMatch), async (task, revision) => {
      const known = await this.#actions.open(task, ids.actionId);
      return saved(await this.#actions.replace(change(known), task, known, revision, context));
    });
  }
}

/** HTTP for the candidate beside a task: the tasks service keeps it, the view `shadows` counts what it did. */
import { Controller, Inject } from '@nestjs/common';
import type { RequestContext } from '#bus/bus';
import { toStoredPolicy, wholePolicy } from '#contracts/policy';
import { noShadowFigures, shadowFigures, shadowsView } from '#contracts/shadow';
import { tasksView, type Shadow, type TaskDocument, type TaskState } from '#contracts/task';
import type { TaskCommand } from '#contracts/task-command';
import { data, type Answer } from '#http/envelope';
import { entityTag } from '#http/entity-tag';
import { Call, Handles, type RouteCall } from '#http/route';
import { refuse } from '#http/validation';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { VAULT, type Vault } from '#vault/vault';
import { CandidateChecker } from './check-candidate.js';
import { DependencyTurns } from './dependency-turns.js';
import { findTask } from './find-owned.js';
import { TaskSaver } from './save-task.js';
import * as routes from './shadows.routes.js';
import { noProgress, openSettings, toTaskAnswer } from './task-answer.js';

/** A view that is further behind is not waited for: what was written stands. */
const viewWaitMs = 5_000;

function shadowOf({ shadow }: Pick<TaskDocument, 'shadow'>): Shadow {
  if (shadow === undefined) throw notFound('shadow');
  return shadow;
}

@Controller()
export class ShadowsController {
  readonly #readStore: ReadStore;
  readonly #saver: TaskSaver;
  readonly #dependencies: DependencyTurns;
  readonly #checker: CandidateChecker;
  readonly #clock: Clock;
  readonly #vault: Vault;
  readonly #waiter: PositionWaiter;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(TaskSaver) saver: TaskSaver,
    @Inject(CandidateChecker) checker: CandidateChecker,
    @Inject(CLOCK) clock: Clock,
    @Inject(VAULT) vault: Vault,
    @Inject(DependencyTurns) dependencies: DependencyTurns,
  ) {
    this.#dependencies = dependencies;
    this.#readStore = readStore;
    this.#saver = saver;
    this.#checker = checker;
    this.#clock = clock;
    this.#vault = vault;
    this.#waiter = createPositionWaiter(readStore, shadowsView);
  }

  @Handles(routes.putShadow)
  async put(@Call() { ids, body, context }: RouteCall<typeof routes.putShadow>): Promise<Answer> {
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const { evaluationFunction = null, policy } = body;
    if (evaluationFunction === null && policy === undefined) {
      throw refuse(['evaluationFunction'], 'required', 'or policy must be given: there would be nothing to compare');
    }
    const codeForm = await this.#checker.check(body, task);
    const settings = {
      evaluationFunction,
      codeForm,
      policy: policy === undefined ? null : toStoredPolicy(policy),
    };
    const startedAt = toTimestamp(this.#clock.now());
    await this.#send({ type: 'startShadow', taskId: task.id, settings, startedAt }, context);
    return this.#shown(await findTask(this.#readStore, context.organizationId, ids.id));
  }

  @Handles(routes.getShadow)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getShadow>): Promise<Answer> {
    return this.#shown(await findTask(this.#readStore, context.organizationId, ids.id));
  }

  @Handles(routes.deleteShadow)
  async remove(@Call() { ids, context }: RouteCall<typeof routes.deleteShadow>): Promise<Answer> {
    const { id } = await findTask(this.#readStore, context.organizationId, ids.id);
    await this.#send({ type: 'endShadow', taskId: id }, context);
    return data({ id, deleted: true });
  }

  @Handles(routes.promoteShadow)
  async promote(@Call() { ids, context }: RouteCall<typeof routes.promoteShadow>): Promise<Answer> {
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const { policy } = shadowOf(task);
    const promote = (): Promise<TaskState> => this.#send({ type: 'promoteShadow', taskId: task.id }, context);
    const state =
      policy === null ? await promote() : await this.#dependencies.write(wholePolicy(policy).dependsOn, task, promote);
    const opened = await openSettings(this.#vault, state);
    const progress = (await this.#readStore.get(tasksView, state.id)) ?? noProgress;
    return data(toTaskAnswer(state, opened, progress), { headers: { etag: entityTag(state.revision) } });
  }

  async #send(command: TaskCommand, context: RequestContext): Promise<TaskState> {
    const { state, position } = await this.#saver.send(command, context);
    if (position !== null) await this.#waiter.reached(position, viewWaitMs);
    return state;
  }

  async #shown(task: TaskDocument): Promise<Answer> {
    const { evaluationFunction, policy, startedAt } = shadowOf(task);
    const counted = await this.#readStore.get(shadowsView, task.id);
    // Figures of a candidate that was replaced say nothing of this one.
    const figures = counted?.startedAt === startedAt ? counted : noShadowFigures;
    return data({
      ...(evaluationFunction === null ? {} : { evaluationFunction }),
      ...(policy === null ? {} : { policy: wholePolicy(policy) }),
      since: startedAt,
      ...shadowFigures.parse(figures),
    });
  }
}

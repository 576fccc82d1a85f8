/** HTTP for explanations and backtests: checked here, answered by the execution service. */
import { Controller, Inject } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { explanation } from '#contracts/explanation';
import { wholePolicy } from '#contracts/policy';
import { backtest } from '#contracts/run';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { refuse } from '#http/validation';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { CandidateChecker } from './check-candidate.js';
import { findTask } from './find-owned.js';
import { toJsonObject } from './json-casts.js';
import * as routes from './past.routes.js';

/** Longer than a backtest may take. */
const deadlineMs = 40_000;

@Controller()
export class PastController {
  readonly #readStore: ReadStore;
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #checker: CandidateChecker;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(BUS) bus: Bus,
    @Inject(CLOCK) clock: Clock,
    @Inject(CandidateChecker) checker: CandidateChecker,
  ) {
    this.#readStore = readStore;
    this.#bus = bus;
    this.#clock = clock;
    this.#checker = checker;
  }

  @Handles(routes.explainNotification)
  async explain(@Call() { ids, query, context }: RouteCall<typeof routes.explainNotification>): Promise<Answer> {
    const { id } = await findTask(this.#readStore, context.organizationId, ids.id);
    const at = query.at ?? toTimestamp(this.#clock.now());
    const answer = await this.#bus.request(requests.runExplain, { taskId: id, at }, context, deadlineMs);
    return data(explanation.parse(answer));
  }

  @Handles(routes.backtestNotification)
  async backtest(@Call() { ids, body, context }: RouteCall<typeof routes.backtestNotification>): Promise<Answer> {
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const { from = null, to = null, limit } = body;
    if (from !== null && to !== null && from > to) throw refuse(['to'], 'invalid', 'must not be before from');
    const { spec } = task;
    const codeForm = await this.#checker.check(body, task);
    const candidate = {
      evaluationFunction: body.evaluationFunction ?? spec.evaluationFunction,
      codeForm: codeForm ?? spec.codeForm,
      policy: body.policy ?? wholePolicy(spec.policy),
    };
    const query = toJsonObject({ taskId: task.id, candidate, from, to, limit });
    return data(backtest.parse(await this.#bus.request(requests.runBacktest, query, context, deadlineMs)));
  }
}

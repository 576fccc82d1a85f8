/** HTTP for taking on what is open at a task. */
import { Controller, Inject } from '@nestjs/common';
import { data, type Answer } from '#http/envelope';
import { entityTag } from '#http/entity-tag';
import { Call, Handles, type RouteCall } from '#http/route';
import { refuse } from '#http/validation';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { VAULT, type Vault } from '#vault/vault';
import * as routes from './acknowledge.routes.js';
import { Acknowledger } from './acknowledger.js';
import { findTask } from './find-owned.js';
import { openSettings, toTaskAnswer } from './task-answer.js';

@Controller()
export class AcknowledgeController {
  readonly #readStore: ReadStore;
  readonly #acknowledger: Acknowledger;
  readonly #clock: Clock;
  readonly #vault: Vault;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(Acknowledger) acknowledger: Acknowledger,
    @Inject(CLOCK) clock: Clock,
    @Inject(VAULT) vault: Vault,
  ) {
    this.#readStore = readStore;
    this.#acknowledger = acknowledger;
    this.#clock = clock;
    this.#vault = vault;
  }

  @Handles(routes.acknowledgeNotification)
  async acknowledge(@Call() call: RouteCall<typeof routes.acknowledgeNotification>): Promise<Answer> {
    const { ids, body, context } = call;
    const untilMs = body.until === undefined ? null : Date.parse(body.until);
    if (untilMs !== null && untilMs <= this.#clock.now()) throw refuse(['until'], 'past', 'must be in the future');
    const task = await findTask(this.#readStore, context.organizationId, ids.id);
    const taken = { until: untilMs === null ? null : toTimestamp(untilMs), note: body.note ?? null };
    const after = await this.#acknowledger.acknowledge(task, taken, context);
    const answer = toTaskAnswer(after, await openSettings(this.#vault, after), after);
    return data(answer, { headers: { etag: entityTag(after.revision) } });
  }
}
